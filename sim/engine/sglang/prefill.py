"""Build a prefill batch: the unfinished prompt first, then the waiting line until something is short."""

from __future__ import annotations

from sim.engine.compiled import leaf, routine
from sim.engine.layout import Status
from sim.engine.record import Kind, Why
from sim.engine.sglang.adder import Add, add_chunked, add_request, begin_pass, budget_state
from sim.engine.sglang.decode import drop_finishing
from sim.engine.sglang.layout import State
from sim.engine.sglang.pool import can_decode, make_free, take, take_for_decode, text_of
from sim.engine.sglang.queues import drop_heads, order_waiting
from sim.engine.sglang.record import Mode, tell_waiting
from sim.engine.sglang.shared import emit, waiting_at
from sim.engine.sglang.tree import match_prefix

_CONTINUE = int(Add.CONTINUE)
_NO_TOKEN = int(Add.NO_TOKEN)
_OTHER = int(Add.OTHER)
_IDLE = int(Mode.IDLE)
_EXTEND = int(Mode.EXTEND)
_MIXED = int(Mode.MIXED)
_NOBODY = int(Why.NOBODY)
_SLOT = int(Why.SLOT)
_BLOCKS = int(Why.BLOCKS)
_BUDGET = int(Why.BUDGET)
_ADMIT = int(Kind.ADMIT)
_RESUME = int(Kind.RESUME)
_CHUNK = int(Kind.CHUNK)
_RIDE = int(Kind.RIDE)
_RUNNING = int(Status.RUNNING)


@leaf
def _look_up(state: State, index: int) -> None:
    """Find the cached prefix of the head; at least one token is computed again (init_next_round_input)."""
    request = state.requests[index]
    request.filled = request.outputs
    known = request.prompt + request.filled
    request.prefix = match_prefix(state, text_of(state, index), max(int(known) - 1, 0))
    request.last_node = state.count.node
    request.protected = request.prefix


@leaf
def _admit_waiting(state: State) -> int:
    """Admit from the head of the line until a budget, a slot or memory is short; return how many."""
    config = state.config
    count = state.count
    slots = min(int(config.max_running_requests - count.running), int(count.rows + count.batch))
    continued = int(count.batch)
    position = 0
    count.why = _NOBODY
    count.needed = 0
    while position < count.waiting:
        if budget_state(state) == _OTHER:
            count.why = _BUDGET
            break
        if count.batch >= slots:
            count.is_full = 1
        if count.is_full:
            count.why = _SLOT
            break
        index = waiting_at(state, position)
        _look_up(state, index)
        before = int(count.batch)
        result = add_request(state, index)
        position += int(count.batch) - before
        if result != _CONTINUE:
            count.why = _BUDGET
            if result == _NO_TOKEN:
                count.why = _BLOCKS
                count.is_full = 1 if count.batch > 0 or count.running > 0 else 0
            break
    return int(count.batch) - continued


@leaf
def _tell_row(state: State, index: int) -> None:
    """Record a row of the batch and count what it costs."""
    count = state.count
    request = state.requests[index]
    tokens = int(request.end - request.prefix)
    if request.is_seen == 0:
        kind = _RESUME if request.was_retracted else _ADMIT
        emit(state, kind, index, int(request.prefix), 0)
        request.is_seen = 1
        count.admitted += 1
        if kind == _ADMIT:
            request.scheduled_s = count.now_s
    request.status = _RUNNING
    emit(state, _CHUNK, index, tokens, int(request.prefix))
    count.prefill += tokens
    count.prefill_context += float(request.prefix)
    count.prefill_pairs += float(tokens) * (float(request.prefix) + 0.5 * (tokens + 1))
    if index != count.chunk:
        count.sampled += 1


@leaf
def _allocate(state: State) -> None:
    """Take rows and memory for the batch; in paged mode eviction asks for a page more a request (alloc_for_extend)."""
    config = state.config
    count = state.count
    page = config.page_size
    tokens = 0
    pages = 0
    for i in range(count.batch):
        request = state.requests[state.seats[i].batch]
        tokens += int(request.end - request.prefix)
        pages += int(-(-request.end // page) - -(-request.prefix // page))
        if request.has_row == 0:
            request.has_row = 1
            count.rows -= 1
    make_free(state, tokens if page == 1 else tokens + int(count.batch) * page)
    take(state, pages * page)
    for i in range(count.batch):
        index = int(state.seats[i].batch)
        request = state.requests[index]
        request.committed = request.end
        request.is_retracted = 0
        _tell_row(state, index)


@leaf
def _mix_in(state: State) -> int:
    """Let the whole running batch decode in the same step if its tokens fit; else it sits out (mix_with_running)."""
    count = state.count
    if drop_finishing(state):
        count.is_full = 0
    if count.running == 0 or not can_decode(state):
        return _EXTEND
    take_for_decode(state)
    for i in range(count.running):
        index = state.seats[i].running
        request = state.requests[index]
        request.filled = request.outputs
        request.end = request.committed
        state.seats[count.batch + i].batch = index
        emit(state, _RIDE, int(index), 1, int(request.committed) - 1)
        count.decode_context += float(request.committed)
    count.batch += count.running
    count.decode = count.running
    count.sampled += count.running
    count.running = 0
    count.has_moved = 1
    return _MIXED


@leaf
def _is_shut(state: State) -> bool:
    """Say whether prefill is not even tried."""
    config = state.config
    count = state.count
    if count.running == 0:
        count.is_full = 0
    is_shut = count.chunk < 0 and (count.is_full != 0 or count.waiting == 0)
    if not is_shut and count.chunk < 0 and min(config.max_running_requests - count.running, count.rows) <= 0:
        count.is_full = 1
        count.why = _SLOT
        is_shut = True
    return is_shut


@routine
def prefill(state: State) -> int:
    """Build a prefill batch if there can be one; return the mode of the step, idle if not (get_new_batch_prefill)."""
    config = state.config
    count = state.count
    if _is_shut(state):
        return _IDLE
    if order_waiting(state):
        tell_waiting(state)
    begin_pass(state)
    if count.chunk >= 0 and not add_chunked(state, int(count.chunk)):
        count.chunk = -1
    admitted = _admit_waiting(state)
    if count.batch == 0:
        return _IDLE
    drop_heads(state, admitted)
    if count.new_chunk >= 0:
        count.chunk = count.new_chunk
    if count.chunk >= 0:
        state.requests[count.chunk].chunks += 1
    count.last_chunk = count.chunk
    _allocate(state)
    count.extended = count.batch
    if config.is_mixed and count.running > 0:
        return _mix_in(state)
    return _EXTEND
