"""Who is admitted in one prefill pass: budgets, reserved outputs, and what each admission is charged (PrefillAdder)."""

from __future__ import annotations

from enum import IntEnum

from sim.engine.compiled import leaf, part, routine
from sim.engine.layout import Rows
from sim.engine.sglang.futures import fits_in_future
from sim.engine.sglang.layout import State
from sim.engine.sglang.pool import whole_pages
from sim.engine.sglang.tree import lock_path, unlock_path

CLIP = 4096  # most output tokens that an estimate counts [tokens]


class Add(IntEnum):
    """What the pass may do next (AddReqResult)."""

    CONTINUE = 0
    NO_TOKEN = 1
    OTHER = 2


_CONTINUE = int(Add.CONTINUE)
_NO_TOKEN = int(Add.NO_TOKEN)
_OTHER = int(Add.OTHER)


@leaf
def begin_pass(state: State) -> None:
    """Set the budgets: what running requests may still write is reserved, at the token ratio unless ignore_eos."""
    config = state.config
    count = state.count
    mixed = int(count.running) if config.is_mixed else 0
    reserved = 0.0
    for i in range(count.running):
        request = state.requests[state.seats[i].running]
        rest = float(min(request.max_new - request.outputs, CLIP))
        reserved += rest if request.ignore_eos else rest * count.ratio
    count.left_input = config.max_prefill_tokens - mixed
    count.left_chunk = config.chunked_prefill_size - mixed
    count.current = mixed
    count.total = mixed + reserved
    count.new_chunk = -1
    count.futures = -1
    count.batch = 0


@leaf
def _left_total(state: State) -> float:
    count = state.count
    return float(count.free + count.evictable - count.total)


@leaf
def _left_current(state: State) -> int:
    count = state.count
    return int(count.free + count.evictable - count.current)


@part
def budget_state(state: State) -> int:
    """Say whether the pass may go on."""
    count = state.count
    if not (_left_total(state) > 0 and _left_current(state) > 0):
        return _NO_TOKEN
    if count.left_input <= 0 or (state.config.chunked_prefill_size > 0 and count.left_chunk <= 0):
        return _OTHER
    return _CONTINUE


@part
def _charge(state: State, tokens: int, max_new: int) -> None:
    count = state.count
    pages = whole_pages(state, tokens)
    page = state.config.page_size
    count.total += pages + page + max_new
    count.current += pages + page
    count.left_input -= pages
    count.left_chunk -= pages


@leaf
def _put(state: State, index: int, end: int) -> None:
    count = state.count
    state.requests[index].end = end
    state.seats[count.batch].batch = index
    count.batch += 1


@leaf
def add_chunked(state: State, index: int) -> bool:
    """Go on with the unfinished prompt, which is never refused for memory; say whether it is still unfinished."""
    count = state.count
    request = state.requests[index]
    request.filled = request.outputs
    most = min(int(count.left_chunk), int(_left_total(state)))
    if most <= 0:
        most = int(count.left_chunk)
    rest = int(request.prompt + request.filled - request.prefix)
    tokens = min(rest, most)
    _put(state, index, int(request.prefix + tokens))
    is_cut = rest > most
    _charge(state, tokens, 0 if is_cut else min(int(request.max_new), CLIP))
    return is_cut


@leaf
def _add_simulated(state: State, request: Rows, index: int) -> int:
    """Admit an ignore_eos request without radix cache, if its future has room (add_one_req_ignore_eos)."""
    config = state.config
    count = state.count
    rest = int(request.prompt + request.filled - request.prefix)
    paged = whole_pages(state, rest) + config.page_size
    if paged > min(float(_left_current(state)), _left_total(state)):
        return _NO_TOKEN
    if not fits_in_future(state, index, _left_current(state) - paged):
        return _NO_TOKEN
    if config.chunked_prefill_size == 0 or rest <= count.left_chunk:
        _put(state, index, int(request.prompt + request.filled))
        _charge(state, rest, min(int(request.max_new), CLIP))
        return budget_state(state)
    if count.left_chunk <= 0:
        return _OTHER
    tokens = int(count.left_chunk)
    _put(state, index, int(request.prefix + tokens))
    count.new_chunk = index
    _charge(state, tokens, 0)
    return budget_state(state)


@leaf
def _add_locked(state: State, request: Rows, index: int) -> int:
    """Admit the head whose prefix is locked, whole or cut to the chunk budget."""
    config = state.config
    count = state.count
    page = config.page_size
    rest = int(request.prompt + request.filled - request.prefix)
    ahead = min(max(int(request.max_new - request.outputs), 0), CLIP)
    short = rest + ahead + page - _left_total(state)
    if not short < 0:
        count.needed = int(short) + 1
        return _NO_TOKEN
    is_chunked = config.chunked_prefill_size > 0
    if not is_chunked and count.batch > 0 and whole_pages(state, rest) >= count.left_input:
        return _OTHER
    tokens = rest
    max_new = min(int(request.max_new), CLIP)
    is_cut = bool(is_chunked and whole_pages(state, rest) > count.left_chunk)
    if is_cut:
        tokens = int((request.prefix + count.left_chunk // page * page) // page * page - request.prefix)
        if tokens <= 0:
            return _OTHER
        max_new = 0
        count.new_chunk = index
    _put(state, index, int(request.prefix + tokens))
    lock_path(state, int(request.last_node))
    request.lock_node = request.last_node
    _charge(state, tokens, max_new)
    return _CONTINUE


@routine
def add_request(state: State, index: int) -> int:
    """Admit the head of the line or say why not; its prefix does not count as evictable meanwhile (add_one_req)."""
    config = state.config
    request = state.requests[index]
    if config.prefill_max_requests > 0 and state.count.batch >= config.prefill_max_requests:
        return _OTHER
    if request.ignore_eos and config.has_radix == 0:
        return _add_simulated(state, request, index)
    node = int(request.last_node)
    lock_path(state, node)
    result = _add_locked(state, request, index)
    unlock_path(state, node)
    if result != _CONTINUE:
        return result
    return budget_state(state)
