"""The logs of a run: what each step was, and the events from which everything drawn follows.

A one-token decode is implicit: a running request that is not chunked, stalled or skipped in a step decoded
one token. Events of ``schedule()`` come first, those of the update after them. Block ids are a stream of
their own; a negative id says that the block's cached content was evicted by this take.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from sim.engine.compiled import leaf
from sim.engine.layout import Rows, State


class Kind(IntEnum):
    """Kinds of event, with what `a` and `b` hold."""

    ADMIT = 1  # a: prefix-hit tokens, b: slot
    RESUME = 2  # the same, after a preemption
    CHUNK = 3  # a: tokens, b: tokens computed before; anything but a one-token decode
    SHARE = 4  # a: ids of cached blocks that are used again
    TAKE = 5  # a: ids of new blocks
    FIRST = 6  # first output token
    PREEMPT = 7  # a: leading blocks that keep a hash
    FINISH = 8  # a: leading blocks that keep a hash (per_slot: tokens kept), b: output tokens
    RELEASE = 9  # static: a finished row gives its slot back; a: as FINISH
    DRAFT = 10  # a: drafts, b: 1 if they are placeholders
    ACCEPT = 11  # a: drafts accepted
    STALL = 12  # a: position in the running list from which the budget left nothing
    SKIP = 13  # a running request that was given nothing
    REJECT = 14  # a: 1 the waiting line is full, 2 it can never fit
    BATCH = 15  # static: a: rows, b: prompt tokens each row is padded to
    EVICT = 16  # per_slot: the sequence kept by slot b is cut to a blocks
    RESERVE = 17  # contiguous: a: blocks, b: id of the first
    GAP = 18  # seconds: time since the request's last token, where that was not the last step's end
    VACATE = 19  # fork to continuous batching: a finished row gives its slot back before the step; a: as FINISH
    FORK = 20  # from this step on the changed settings hold
    RUNNING = 21  # sglang: a: ids that list the running batch, in its order
    WAITING = 22  # sglang: a: ids that list the waiting line after it was sorted
    ABORT = 23  # sglang: a running request is ended with an error, because it does not fit alone
    RIDE = 24  # sglang: a running request decodes in a mixed step; b: tokens computed before


class Why(IntEnum):
    """Why the head of the waiting line is not admitted."""

    NOBODY = 0
    SLOT = 1
    BLOCKS = 2
    BUDGET = 3
    PREEMPTION = 4
    BATCH_RUNNING = 5
    BATCH_FILLING = 6
    WHOLE_PROMPT = 7
    IN_FLIGHT = 8


STEP = np.dtype(
    [
        ("start_s", "f8"),
        ("duration_s", "f8"),
        ("decode_context", "f8"),
        ("prefill_context", "f8"),
        ("prefill_pairs", "f8"),
        ("events_end", "i8"),
        ("ids_end", "i8"),
        ("matmul_s", "f4"),
        ("attention_s", "f4"),
        ("comm_s", "f4"),
        ("host_s", "f4"),
        ("prefill", "i4"),
        ("decode", "i4"),
        ("padding", "i4"),
        ("sampled", "i4"),
        ("running", "i4"),
        ("held", "i4"),
        ("waiting", "i4"),
        ("free", "i4"),
        ("free_end", "i4"),
        ("cached", "i4"),
        ("needed", "i4"),  # blocks for want of which the head of the waiting line is not admitted, 0 if for others
        ("admitted", "i4"),
        ("drafts", "i4"),
        ("regular", "i4"),
        ("bound", "u1"),
        ("why", "u1"),
    ],
    align=True,
)
EVENT = np.dtype([("kind", "u1"), ("request", "i4"), ("a", "i4"), ("b", "i4"), ("seconds", "f8")], align=True)

# Events that one running row can cause in one step (CHUNK, SHARE, TAKE, DRAFT, ACCEPT, FIRST, FINISH, RELEASE ...).
EVENTS_PER_ROW = 12

_GAP = int(Kind.GAP)


@leaf
def emit(state: State, kind: int, request: int, a: int, b: int) -> None:
    """Append one event."""
    count = state.count
    event = state.events[count.events]
    event.kind = kind
    event.request = request
    event.a = a
    event.b = b
    event.seconds = 0.0
    count.events += 1


@leaf
def emit_gap(state: State, request: int, seconds: float) -> None:
    """Append an irregular gap between two tokens of a request [s]."""
    emit(state, _GAP, request, 0, 0)
    state.events[state.count.events - 1].seconds = seconds


@leaf
def emit_id(state: State, block: int) -> None:
    """Append one block id."""
    count = state.count
    state.ids[count.ids] = block
    count.ids += 1


@leaf
def has_room(state: State) -> bool:
    """Say whether the logs hold whatever one more step can write."""
    config = state.config
    count = state.count
    seats = len(state.seats)
    open_seats = min(seats - count.running, count.waiting) + 1
    # A preemption frees blocks that the same step hands out again, but none twice.
    ids = config.usable_blocks + open_seats * (config.table_width + 1)
    return (
        count.steps < len(state.steps)
        and count.events + EVENTS_PER_ROW * (seats + 2) <= len(state.events)
        and count.ids + ids <= len(state.ids)
    )


@leaf
def open_step(state: State) -> Rows:
    """Write what is known after ``schedule()`` into the next step row and return it."""
    count = state.count
    step = state.steps[count.steps]
    step.start_s = count.now_s
    step.why = count.why
    step.prefill = count.prefill
    step.decode = count.decode
    step.padding = count.padding
    step.sampled = count.sampled
    step.running = count.running - count.held
    step.held = count.held
    step.waiting = count.waiting
    step.free = count.free
    step.needed = count.needed
    step.admitted = count.admitted
    step.drafts = count.drafted
    step.decode_context = count.decode_context
    step.prefill_context = count.prefill_context
    step.prefill_pairs = count.prefill_pairs
    return step


@leaf
def close_step(state: State, step: Rows) -> None:
    """Write what is known after the update."""
    count = state.count
    step.regular = count.regular
    step.free_end = count.free
    step.cached = count.cached
    step.events_end = count.events
    step.ids_end = count.ids
    count.steps += 1
