"""Launch a batch, and bring its results home: at once, or in the overlap loop one step later."""

from __future__ import annotations

from sim.engine.compiled import leaf, routine
from sim.engine.layout import Rows, Status
from sim.engine.record import Kind
from sim.engine.sglang.layout import State
from sim.engine.sglang.pool import checkpoint, release
from sim.engine.sglang.record import Mode
from sim.engine.sglang.shared import emit, emit_gap, release_followers

_DECODE = int(Mode.DECODE)
_FIRST = int(Kind.FIRST)
_FINISH = int(Kind.FINISH)
_FINISHED = int(Status.FINISHED)

# What a row samples: nothing (a chunk), a token, or the token that ends the text.
NOTHING, TOKEN, END = 0, 1, 2


@leaf
def _sample(state: State, row: Rows, index: int) -> None:
    """Decide what the model will return for a row, from the place of the token it computes."""
    request = state.requests[index]
    place = request.committed - request.prompt
    row.request = index
    row.token = TOKEN
    if request.ignore_eos == 0 and place + 1 >= request.output and place + 1 < request.max_new:
        row.token = END
    request.launch = state.count.launches


@leaf
def launch(state: State) -> int:
    """Start the step's batch: note who is in it and what each row will return; say how many rows it has."""
    count = state.count
    base = int(count.parity * len(state.seats))
    count.launches += 1
    if count.mode == _DECODE:
        count.decode = count.running
        count.sampled = count.running
        for i in range(count.running):
            index = int(state.seats[i].running)
            row = state.results[base + i]
            row.is_decode = 1
            _sample(state, row, index)
            count.decode_context += float(state.requests[index].committed)
        return int(count.running)
    for i in range(count.batch):
        index = int(state.seats[i].batch)
        row = state.results[base + i]
        row.is_decode = 1 if i >= count.extended else 0
        _sample(state, row, index)
        if i < count.extended and index == count.last_chunk:
            row.token = NOTHING
    return int(count.batch)


@leaf
def _count_gap(state: State, request: Rows, index: int, time_s: float) -> None:
    """Note when the token arrived: regular gaps are counted by step, others listed."""
    count = state.count
    if request.outputs == 0:
        request.first_s = time_s
        emit(state, _FIRST, index, 0, 0)
    elif request.last_step == count.steps - 1:
        count.regular += 1
    else:
        emit_gap(state, index, time_s - request.last_s)
    request.last_step = count.steps
    request.last_s = time_s


@leaf
def _finish(state: State, request: Rows, index: int, is_end: bool, time_s: float) -> None:
    request.is_finished = 1
    request.ended = request.outputs if is_end else request.max_new
    release(state, request, index, True)
    emit(state, _FINISH, index, int(request.protected), int(request.outputs))
    request.status = _FINISHED
    request.finish_s = time_s
    release_followers(state, index, time_s)


@routine
def bring_home(state: State, parity: int, rows: int, mode: int, time_s: float) -> None:
    """Handle the results of a batch that ended at `time_s`, row by row (process_batch_result)."""
    base = parity * len(state.seats)
    for i in range(rows):
        row = state.results[base + i]
        index = int(row.request)
        request = state.requests[index]
        if request.is_retracted or (request.is_finished and request.chunks <= 0):
            continue
        if request.chunks > 0 and mode != _DECODE:
            request.chunks -= 1
            continue
        _count_gap(state, request, index, time_s)
        request.outputs += 1
        is_end = row.token == END and request.ignore_eos == 0
        if is_end or request.outputs >= request.max_new:
            _finish(state, request, index, is_end, time_s)
        elif row.is_decode == 0:
            checkpoint(state, request, index, int(request.end))
            request.prefix = request.end
