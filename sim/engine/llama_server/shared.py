"""What llama-server shares with the other engines: arrivals, the waiting ring, events.

These parts read a state by the names of its fields, which are the same here; their types are not, hence Any.
"""

from __future__ import annotations

from typing import Any

from sim.engine import queues, record

emit: Any = record.emit
emit_gap: Any = record.emit_gap
push_back: Any = queues.push_back
waiting_at: Any = queues.waiting_at
remove_waiting: Any = queues.remove_waiting
forget_waiting: Any = queues.forget_waiting
next_arrival_s: Any = queues.next_arrival_s
pop_next: Any = queues.pop_next
release_followers: Any = queues.release_followers
