"""The update of a step: tokens arrive, drafts are judged, requests finish and give back what they held."""

from __future__ import annotations

from sim.engine.blocks import register_full, release
from sim.engine.compiled import leaf, part
from sim.engine.layout import Cache, Rows, State, Status
from sim.engine.queues import forget_waiting, leave_slot, release_followers
from sim.engine.record import Kind, emit, emit_gap
from sim.engine.slots import keep

_RUNNING = int(Status.RUNNING)
_FINISHED = int(Status.FINISHED)
_PER_SLOT = int(Cache.PER_SLOT)
_ACCEPT = int(Kind.ACCEPT)
_FIRST = int(Kind.FIRST)
_FINISH = int(Kind.FINISH)
_RELEASE = int(Kind.RELEASE)
_VACATE = int(Kind.VACATE)


@part
def _give_back(state: State, request: Rows, index: int) -> None:
    """Release a request's blocks, or leave them in its slot as its last sequence."""
    config = state.config
    count = state.count
    if config.region_blocks > 0:
        count.free += config.region_blocks
    if config.cache == _PER_SLOT:
        keep(state, request, index)
    elif config.region_blocks == 0:
        release(state, request.slot * config.table_width, request.held, request.hashed)
    request.held = 0
    request.hashed = 0
    request.room = 0


@leaf
def _leave(state: State, request: Rows) -> None:
    leave_slot(state, request.slot)
    request.slot = -1


@part
def _hold(state: State, request: Rows) -> None:
    """Keep a finished row in its slot until the static batch ends; rows that are dropped give their blocks back."""
    config = state.config
    state.count.held += 1
    if config.drops_finished_rows and config.region_blocks == 0 and config.cache != _PER_SLOT:
        release(state, request.slot * config.table_width, request.held, request.hashed)
        request.held = 0
        request.hashed = 0


@part
def _finish(state: State, request: Rows, index: int, time_s: float) -> None:
    """End a request: everything back at once, or held until the static batch ends."""
    config = state.config
    left = request.computed if config.cache == _PER_SLOT else request.hashed
    emit(state, _FINISH, index, left, request.known - request.prompt)
    request.finish_s = time_s
    if request.status != _RUNNING:
        forget_waiting(state, index)
    elif not config.is_static:
        _give_back(state, request, index)
        _leave(state, request)
    else:
        _hold(state, request)
    request.status = _FINISHED
    release_followers(state, index, time_s)


@leaf
def _count_gap(state: State, request: Rows, index: int, time_s: float) -> None:
    """Note when the request's tokens arrived: regular gaps are counted by step, others listed."""
    count = state.count
    if request.known == request.prompt:
        request.first_s = time_s
        emit(state, _FIRST, index, 0, 0)
    elif request.last_step == count.steps - 1:
        count.regular += 1
    else:
        emit_gap(state, index, time_s - request.last_s)
    request.last_step = count.steps
    request.last_s = time_s


@part
def _judge_drafts(state: State, request: Rows, index: int, drafts: int) -> int:
    """Accept the leading drafts that the target model agrees with; roll the others back (their blocks stay)."""
    config = state.config
    accepted = 0
    if drafts > 0:
        position = (index * config.accept_stride + request.verified) % config.num_accepts
        accepted = min(int(state.numbers[config.accepts_at + position]), drafts)
        request.verified += 1
    emit(state, _ACCEPT, index, accepted, 0)
    request.computed -= abs(drafts) - accepted
    return accepted


@leaf
def _update_row(state: State, row: Rows, time_s: float) -> bool:
    """Bring the result of one planned row home; say whether its request ended."""
    config = state.config
    index = int(row.request)
    request = state.requests[index]
    if request.status == _FINISHED:
        return False
    is_stale = request.stale > 0
    if config.is_async:
        request.in_flight -= row.tokens
        if is_stale:
            request.stale -= row.tokens
    if row.samples == 0:
        return False
    _count_gap(state, request, index, time_s)
    outputs = 1
    if row.drafts != 0:
        outputs += _judge_drafts(state, request, index, row.drafts)
    surplus = max(request.known + outputs - request.end, 0)
    request.known += outputs - surplus
    request.computed -= surplus
    placeholders = request.placeholders
    if not is_stale and placeholders > 0:
        request.placeholders -= outputs
    if not is_stale and request.status == _RUNNING and (placeholders > 0 or config.num_speculative_tokens > 0):
        register_full(state, request, request.computed - request.in_flight)
    if request.known >= request.end:
        _finish(state, request, index, time_s)
        return True
    if request.is_chunked == 0:
        request.drafts = config.num_speculative_tokens
    return False


@part
def _close_ranks(state: State) -> None:
    """Take the finished out of the running list; a static batch leaves as a whole."""
    config = state.config
    count = state.count
    kept = 0
    for i in range(count.running):
        index = state.seats[i].running
        if state.requests[index].status != _FINISHED:
            if not config.is_static:
                state.seats[kept].running = index
            kept += 1
    if not config.is_static:
        count.running = kept
    elif kept == 0:
        _end_batch(state)


@part
def _end_batch(state: State) -> None:
    count = state.count
    for i in range(count.running):
        index = int(state.seats[i].running)
        request = state.requests[index]
        emit(state, _RELEASE, index, request.hashed, 0)
        _give_back(state, request, index)
        _leave(state, request)
    count.running = 0
    count.held = 0


@part
def let_go(state: State) -> None:
    """Let the finished rows that a static batch holds leave before it ends."""
    count = state.count
    kept = 0
    for i in range(count.running):
        index = int(state.seats[i].running)
        request = state.requests[index]
        if request.status == _FINISHED:
            emit(state, _VACATE, index, request.hashed, 0)
            _give_back(state, request, index)
            _leave(state, request)
        else:
            state.seats[kept].running = index
            kept += 1
    count.running = kept
    count.held = 0


@part
def update(state: State, parity: int, planned: int, time_s: float) -> None:
    """Bring home the results of a planned step that ended at `time_s`."""
    config = state.config
    count = state.count
    has_finished = False
    base = parity * len(state.seats)
    for i in range(planned):
        has_finished |= _update_row(state, state.plan[base + i], time_s)
    if planned > 0 or count.flowing > 0:
        count.emitted_s = time_s
    is_all_held = config.is_static and count.running > 0 and count.sampled == 0
    if has_finished or is_all_held:
        _close_ranks(state)
