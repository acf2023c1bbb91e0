"""One token for every running request; when memory runs out, some are retracted."""

from __future__ import annotations

from sim.engine.compiled import leaf, routine
from sim.engine.layout import Status
from sim.engine.record import Kind, Why
from sim.engine.sglang.layout import ROOT, State
from sim.engine.sglang.pool import can_decode, make_free, release, take_for_decode
from sim.engine.sglang.record import Mode
from sim.engine.sglang.shared import emit, push_back

KEEP = 20  # tokens held ready per remaining request at a retraction (SGLANG_RETRACT_DECODE_STEPS)
_IDLE = int(Mode.IDLE)
_DECODE = int(Mode.DECODE)
_PREEMPT = int(Kind.PREEMPT)
_ABORT = int(Kind.ABORT)
_PREEMPTED = int(Status.PREEMPTED)
_REFUSED = int(Status.REFUSED)
_PREEMPTION = int(Why.PREEMPTION)


@routine
def drop_finishing(state: State) -> bool:
    """Overlap loop: take out those whose pending token is their last by length; say whether there were any."""
    config = state.config
    count = state.count
    if config.is_overlap == 0 or count.pending == 0:
        return False
    kept = 0
    for i in range(count.running):
        index = state.seats[i].running
        request = state.requests[index]
        if request.launch != count.launches or request.outputs + 1 < request.max_new:
            state.seats[kept].running = index
            kept += 1
    if kept == count.running:
        return False
    count.running = kept
    count.has_moved = 1
    return True


@leaf
def _sort_running(state: State) -> None:
    """Most outputs first, then shorter prompts first; stable."""
    for i in range(1, state.count.running):
        index = state.seats[i].running
        request = state.requests[index]
        place = i
        while place > 0:
            other = state.requests[state.seats[place - 1].running]
            is_after = other.outputs > request.outputs or (
                other.outputs == request.outputs and other.prompt <= request.prompt
            )
            if is_after:
                break
            state.seats[place].running = state.seats[place - 1].running
            place -= 1
        state.seats[place].running = index


@routine
def _drop_last(state: State) -> int:
    """Take the last running request out; its memory is freed, not put into the tree (reset_for_retract)."""
    count = state.count
    count.running -= 1
    index = int(state.seats[count.running].running)
    request = state.requests[index]
    kept = int(request.protected)
    release(state, request, index, False)
    make_free(state, int(count.running * KEEP))
    emit(state, _PREEMPT, index, kept, 0)
    request.prefix = 0
    request.protected = 0
    request.committed = 0
    request.last_node = ROOT
    request.chunks = 0
    request.is_retracted = 1
    request.status = _PREEMPTED
    request.retractions += 1
    return index


@leaf
def _estimate_ratio(state: State) -> None:
    """Set the token ratio from what the remaining requests have written."""
    count = state.count
    written = 0
    most = 0
    for i in range(count.running):
        request = state.requests[state.seats[i].running]
        written += int(request.outputs)
        most += int(request.max_new)
    count.ratio = min(1.0, (written + KEEP * count.running) / (most + 1))


@leaf
def _retract(state: State) -> None:
    """Retract requests until the rest can decode: at least one, never the last, which is aborted (retract_decode)."""
    count = state.count
    _sort_running(state)
    count.has_moved = 1
    count.why = _PREEMPTION
    is_first = True
    while is_first or not can_decode(state):
        if count.running == 1:
            break
        is_first = False
        index = _drop_last(state)
        state.requests[index].is_seen = 0
        state.requests[index].was_retracted = 1
        push_back(state, index)
    if count.running <= 1 and not can_decode(state):
        index = _drop_last(state)
        state.requests[index].status = _REFUSED
        emit(state, _ABORT, index, 0, 0)
    _estimate_ratio(state)


@routine
def decode(state: State) -> int:
    """Prepare a decode step of all running requests; return the mode, idle if nobody is left (update_running_batch)."""
    config = state.config
    count = state.count
    before = count.running
    has_finishing = drop_finishing(state)
    if count.running == 0:
        count.is_full = 0
        return _IDLE
    if not can_decode(state):
        if has_finishing:
            count.is_full = 0
            return _IDLE
        _retract(state)
    else:
        count.ratio = max(count.ratio - config.ratio_decay, config.least_ratio)
    if count.running < before:
        count.is_full = 0
    if count.running == 0:
        return _IDLE
    take_for_decode(state)
    return _DECODE
