"""The logs of llama-server. A step is one decode call; beside `sim.engine.record` it has rows of its own.

A decode token is implicit: every generating slot has one in every batch, in slot order, before the prompt parts
(CHUNK). A batch that finds no room is decoded in several calls.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from sim.engine.compiled import leaf
from sim.engine.layout import Rows
from sim.engine.llama_server.layout import State
from sim.engine.record import Why


class SlotKind(IntEnum):
    """Kinds of event that `sim.engine.record.Kind` does not have, with what `a` and `b` hold; `b` is a slot.

    CHUNK, FIRST, FINISH (a: tokens kept) and GAP are used as there.
    """

    LAUNCH = 64
    DEFER = 65  # no slot is idle, or not the wanted one: to the back of the line
    CACHED = 66  # a: prompt tokens reused
    SHIFT = 67  # a: tokens dropped from the context
    SAVE = 68  # a: tokens copied to host RAM
    DROP = 69  # a: copies dropped from host RAM, b: their tokens
    LOAD = 70  # a: tokens moved back from host RAM
    CLEAR = 71  # a: tokens forgotten
    PURGE = 72  # the same, to make room
    HALVE = 73  # a: tokens that the next call may have
    STOP = 74  # a: Status, if not finished


CALL = np.dtype(
    [
        ("batch_at", "i8"),  # event before which the decode tokens of its batch were put into it
        ("offset", "i4"),
        ("tokens", "i4"),
        ("n_batch", "i4"),
        ("is_new", "u1"),  # first call of its batch
        ("has_room", "u1"),
    ],
    align=True,
)
# Separate KV: `tokens` of each of `slots` slots from `first` on; else slots is 0 and they are the next of the batch.
UBATCH = np.dtype(
    [
        ("first", "i4"),
        ("slots", "i4"),
        ("tokens", "i4"),
        ("bound", "u1"),
        ("duration_s", "f8"),
        ("matmul_s", "f8"),
        ("attention_s", "f8"),
        ("comm_s", "f8"),
        ("host_s", "f8"),
    ],
    align=True,
)
# Events of one slot in one step or at one task (SHIFT, CACHED, CHUNK, FIRST, GAP, FINISH; SAVE, DROP, CLEAR ...).
EVENTS_PER_SLOT = 8

_SLOT = int(Why.SLOT)


@leaf
def has_room(state: State) -> bool:
    """Say whether the logs hold whatever one more task or step can write."""
    config = state.config
    count = state.count
    return (
        count.steps < len(state.steps)
        and count.events + EVENTS_PER_SLOT * (config.n_slots + 2) <= len(state.events)
        and count.ubatches + config.n_batch <= len(state.ubatches)
    )


@leaf
def open_call(state: State, tokens: int) -> Rows:
    """Write what is known before a decode call into the next rows and return the step's."""
    config = state.config
    count = state.count
    call = state.calls[count.steps]
    call.batch_at = count.batch_at
    call.offset = count.offset
    call.tokens = tokens
    call.n_batch = count.n_batch
    call.is_new = count.is_new
    call.has_room = 1
    step = state.steps[count.steps]
    step.start_s = count.now_s
    step.running = count.busy
    step.waiting = count.waiting
    step.free = config.n_ctx - count.cells
    step.why = _SLOT if count.waiting > 0 else 0
    step.admitted = count.admitted
    step.held = 0
    step.padding = 0
    step.drafts = 0
    step.needed = 0
    return step


@leaf
def close_call(state: State) -> None:
    """Write what is known after it."""
    config = state.config
    count = state.count
    step = state.steps[count.steps]
    cached = 0
    for slot in range(config.n_slots):
        if state.slots[slot].request < 0:
            cached += state.slots[slot].kv
    step.prefill = count.prefill
    step.decode = count.decode
    step.sampled = count.sampled
    step.decode_context = count.decode_context
    step.prefill_context = count.prefill_context
    step.prefill_pairs = count.prefill_pairs
    step.regular = count.regular
    step.cached = cached
    step.free_end = config.n_ctx - count.cells
    step.events_end = count.events
    step.ids_end = count.ubatches
    count.steps += 1
