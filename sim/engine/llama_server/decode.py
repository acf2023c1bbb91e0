"""One decode call: a piece of the batch is computed and its outputs sampled, or there is no room for it."""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.layout import Rows
from sim.engine.llama_server.layout import SlotState, State, Status
from sim.engine.llama_server.ram import hold_cells, prompt_clear
from sim.engine.llama_server.record import SlotKind, close_call, open_call
from sim.engine.llama_server.shared import emit, emit_gap
from sim.engine.llama_server.tasks import release
from sim.engine.llama_server.ubatches import cut_view, split
from sim.engine.record import Kind

_IDLE = int(SlotState.IDLE)
_DONE = int(SlotState.DONE_PROMPT)
_GENERATING = int(SlotState.GENERATING)
_FINISHED = int(Status.FINISHED)
_OVERFLOWN = int(Status.OVERFLOWN)
_FIRST = int(Kind.FIRST)
_CLEAR = int(SlotKind.CLEAR)
_PURGE = int(SlotKind.PURGE)
_HALVE = int(SlotKind.HALVE)


@leaf
def _clear_totals(state: State) -> None:
    count = state.count
    count.prefill = 0
    count.decode = 0
    count.sampled = 0
    count.regular = 0
    count.decode_context = 0.0
    count.prefill_context = 0.0
    count.prefill_pairs = 0.0


@leaf
def _add_up(state: State, step: Rows, first: int) -> None:
    """Write into the step what its ubatches take; it is bound by what bound the longest."""
    matmul_s = 0.0
    attention_s = 0.0
    comm_s = 0.0
    host_s = 0.0
    longest_s = -1.0
    step.bound = 4
    for i in range(first, state.count.ubatches):
        row = state.ubatches[i]
        matmul_s += row.matmul_s
        attention_s += row.attention_s
        comm_s += row.comm_s
        host_s += row.host_s
        if row.duration_s > longest_s:
            longest_s = row.duration_s
            step.bound = row.bound
    step.matmul_s = matmul_s
    step.attention_s = attention_s
    step.comm_s = comm_s
    step.host_s = host_s


@part
def _count_gap(state: State, index: int, time_s: float) -> None:
    """Note when a request's token arrived: regular gaps are counted by step, others listed."""
    count = state.count
    request = state.requests[index]
    if request.generated == 0:
        request.first_s = time_s
        emit(state, _FIRST, index, 0, 0)
    elif request.last_step == count.steps - 1:
        count.regular += 1
    else:
        emit_gap(state, index, time_s - request.last_s)
    request.last_step = count.steps
    request.last_s = time_s


@leaf
def _sample(state: State, first: int, end: int, time_s: float) -> None:
    """Sample from every output between two places of the batch, in slot order; end what has reached its limit."""
    config = state.config
    for slot in range(config.n_slots):
        row = state.slots[slot]
        if not first <= row.i_batch < end:
            continue
        index = row.request
        request = state.requests[index]
        _count_gap(state, index, time_s)
        row.state = _GENERATING
        row.i_batch = -1
        request.generated += 1
        is_full = not config.context_shift and state.sequences[slot].length + 1 >= config.n_ctx_slot
        if is_full and request.generated < request.n_predict:
            request.truncated = 1
        if is_full or request.generated >= request.n_predict:
            release(state, slot, _FINISHED, time_s)


@leaf
def _fill_cells(state: State, first: int, end: int) -> None:
    for i in range(state.count.parts):
        row = state.parts[i]
        tokens = min(end, row.start + row.tokens) - max(first, row.start)
        if tokens > 0:
            hold_cells(state, row.slot, state.slots[row.slot].kv + tokens)


@leaf
def _fail_all(state: State) -> None:
    """End every busy slot's request with an error and forget what it holds: not even one token has room."""
    count = state.count
    for slot in range(state.config.n_slots):
        if state.slots[slot].state != _IDLE:
            release(state, slot, _OVERFLOWN, count.now_s)
            prompt_clear(state, slot, _CLEAR)
    count.batch = 0
    count.offset = 0


@part
def _make_room(state: State) -> None:
    """Purge the lowest idle slot that holds anything, else halve the call, else give up."""
    count = state.count
    if count.n_batch == 1:
        _fail_all(state)
        return
    for slot in range(state.config.n_slots):
        if state.slots[slot].state == _IDLE and state.sequences[slot].length > 0:
            prompt_clear(state, slot, _PURGE)
            return
    count.n_batch //= 2
    emit(state, _HALVE, -1, count.n_batch, -1)


@leaf
def _compute(state: State, tokens: int) -> bool:
    """Cut and price a call of so many tokens, write its step, and move the clock; False if the pool has no room."""
    config = state.config
    count = state.count
    has_room = not config.kv_unified or count.cells + tokens <= config.n_ctx
    step = open_call(state, tokens)
    first = count.ubatches
    cut_view(state, count.offset, count.offset + tokens)
    duration_s = split(state, tokens)
    _add_up(state, step, first)
    if not has_room:  # MODEL: a decode call that finds no room in the unified pool takes no time.
        state.calls[count.steps].has_room = 0
        step.needed = count.cells + tokens - config.n_ctx
        duration_s = 0.0
        step.matmul_s = 0.0
        step.attention_s = 0.0
        step.comm_s = 0.0
        step.host_s = 0.0
    if config.has_unit_steps:
        duration_s = 1.0
    step.duration_s = duration_s
    count.now_s += duration_s
    return has_room


@part
def decode(state: State) -> None:
    """Decode the next piece of the batch and record the step."""
    count = state.count
    tokens = min(count.n_batch, count.batch - count.offset)
    end = count.offset + tokens
    _clear_totals(state)
    if _compute(state, tokens):
        _fill_cells(state, count.offset, end)
        count.n_batch = state.config.n_batch
        _sample(state, count.offset, end, count.now_s)
        count.offset = end
    else:
        _make_room(state)
    count.is_new = 0
    count.admitted = 0
    close_call(state)
