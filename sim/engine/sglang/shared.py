"""What the engine takes over from vLLM's: events, arrivals, the waiting ring.

These parts read a state by the names of its fields, which are the same here; its type is not, hence Any.
"""

from __future__ import annotations

from typing import Any

from sim.engine import queues, record

emit: Any = record.emit
emit_gap: Any = record.emit_gap
push_back: Any = queues.push_back
waiting_at: Any = queues.waiting_at
next_arrival_s: Any = queues.next_arrival_s
receive: Any = queues.receive
release_followers: Any = queues.release_followers
