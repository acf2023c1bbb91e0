"""The logs of an SGLang run: its step rows, and what is told of the running batch and the waiting line."""

from __future__ import annotations

from enum import IntEnum

from sim.engine.compiled import leaf
from sim.engine.layout import Rows
from sim.engine.record import Kind
from sim.engine.sglang.layout import State
from sim.engine.sglang.queues import MOST_SORTED
from sim.engine.sglang.shared import emit, waiting_at


class Mode(IntEnum):
    """What a step ran (SGLang's ForwardMode)."""

    IDLE = 0
    DECODE = 1
    EXTEND = 2
    MIXED = 3


# ADMIT, CHUNK, FIRST or GAP, FINISH or PREEMPT of one request in one step.
EVENTS_PER_REQUEST = 6
SPARE_EVENTS = 8

_RUNNING = int(Kind.RUNNING)
_WAITING = int(Kind.WAITING)


def least_room(max_running_requests: int) -> tuple[int, int]:
    """Events and ids that one step can write at most."""
    rows = max_running_requests + 2
    return EVENTS_PER_REQUEST * rows + SPARE_EVENTS, rows + MOST_SORTED


@leaf
def has_room(state: State) -> bool:
    """Say whether the logs hold whatever one more step can write."""
    config = state.config
    count = state.count
    return (
        count.steps < len(state.steps)
        and count.events + config.step_events <= len(state.events)
        and count.ids + config.step_ids <= len(state.ids)
    )


@leaf
def _write_id(state: State, request: int) -> None:
    count = state.count
    state.ids[count.ids] = request
    count.ids += 1


@leaf
def tell_running(state: State) -> None:
    """Write down the running batch if it is not what it was."""
    count = state.count
    if count.has_moved == 0:
        return
    count.has_moved = 0
    emit(state, _RUNNING, -1, int(count.running), 0)
    for i in range(count.running):
        _write_id(state, int(state.seats[i].running))


@leaf
def tell_waiting(state: State) -> None:
    """Write down the order of the waiting line after it was sorted."""
    count = state.count
    emit(state, _WAITING, -1, int(count.waiting), 0)
    for i in range(count.waiting):
        _write_id(state, waiting_at(state, i))


@leaf
def open_step(state: State) -> Rows:
    """Write what is known after scheduling into the next step row and return it."""
    count = state.count
    step = state.steps[count.steps]
    step.start_s = count.now_s
    step.why = count.why
    step.prefill = count.prefill
    step.decode = count.decode
    step.padding = 0
    step.sampled = count.sampled
    step.running = state.config.max_running_requests - count.rows
    step.held = 0
    step.waiting = count.waiting
    step.free = count.free
    step.needed = count.needed
    step.admitted = count.admitted
    step.drafts = 0
    step.decode_context = count.decode_context
    step.prefill_context = count.prefill_context
    step.prefill_pairs = count.prefill_pairs
    step.mode = count.mode
    step.is_full = count.is_full
    step.chunk = count.chunk
    step.evictable = count.evictable
    step.ratio = count.ratio
    return step


@leaf
def close_step(state: State, step: Rows) -> None:
    """Write what is known after the results."""
    count = state.count
    step.regular = count.regular
    step.free_end = count.free
    step.cached = count.evictable
    step.ratio_end = count.ratio
    step.events_end = count.events
    step.ids_end = count.ids
    count.steps += 1
