"""The token pool: what requests take and give back, and what of it the tree keeps."""

from __future__ import annotations

from sim.engine.compiled import leaf, part, routine
from sim.engine.layout import Rows
from sim.engine.sglang.layout import ROOT, State
from sim.engine.sglang.tree import evict, insert, lock_path, unlock_path


@leaf
def text_of(state: State, index: int) -> int:
    """Return the number of a request's text."""
    config = state.config
    return int(config.num_roots + index)


@leaf
def whole_pages(state: State, tokens: int) -> int:
    """Tokens rounded up to pages."""
    page = state.config.page_size
    return int(-(-tokens // page) * page)


@routine
def make_free(state: State, tokens: int) -> None:
    """Evict from the tree as much as is short."""
    count = state.count
    if state.config.has_radix and tokens > count.free:
        evict(state, tokens - count.free)


@leaf
def take(state: State, tokens: int) -> None:
    """Allocate; the real server stops with an error if there is not so much."""
    count = state.count
    if tokens > count.free:
        count.is_out = 1
    count.free -= tokens


@routine
def checkpoint(state: State, request: Rows, index: int, tokens: int) -> None:
    """Put a request's first computed tokens into the tree, hand back copies, and move its lock (cache_unfinished_req).

    The leaf is cut where the prompt ends, so that outputs can go without it.
    """
    config = state.config
    count = state.count
    known = min(tokens, int(request.prompt + request.filled))
    if config.has_radix == 0 or known <= 0:
        return
    page = config.page_size
    text = text_of(state, index)
    there = insert(state, text, known)
    node = int(count.node)
    kept = known // page * page
    count.free += max(0, there - request.protected)
    prompt = request.prompt // page * page
    if 0 < prompt < kept:
        insert(state, text, int(request.prompt))
    unlock_path(state, int(request.lock_node))
    lock_path(state, node)
    request.lock_node = node
    request.last_node = node
    request.protected = kept


@routine
def release(state: State, request: Rows, index: int, keeps: bool) -> None:
    """Give back memory and row of a request that is retracted, or ended (keeps: its tokens go into the tree)."""
    count = state.count
    own = int(request.committed)
    if request.ended >= 0:
        own = min(own, int(request.prompt + request.ended))
    if keeps:
        request.filled = request.outputs
        checkpoint(state, request, index, own)
    count.free += _touched(state, int(request.protected), own)
    unlock_path(state, int(request.lock_node))
    request.lock_node = ROOT
    count.free += _touched(state, whole_pages(state, own), int(request.committed))
    request.has_row = 0
    count.rows += 1


@leaf
def _touched(state: State, start: int, end: int) -> int:
    """Tokens of the pages that [start, end) touches; start is a page's beginning."""
    page = state.config.page_size
    size = 0
    if end > start:
        size = int((-(-end // page) + -(start // page)) * page)
    return size


@part
def _new_page_tokens(state: State) -> int:
    """Tokens of the pages that the next token of every running request needs."""
    page = state.config.page_size
    count = state.count
    if page == 1:
        return int(count.running)
    rows = 0
    for i in range(count.running):
        if state.requests[state.seats[i].running].committed % page == 0:
            rows += 1
    return int(rows * page)


@routine
def can_decode(state: State) -> bool:
    """Say whether the next token of every running request fits, after evicting what may be (check_decode_mem)."""
    tokens = _new_page_tokens(state)
    make_free(state, tokens)
    return bool(state.count.free >= tokens)


@routine
def take_for_decode(state: State) -> None:
    """Allocate one token for every running request; in paged mode eviction asks for a page each."""
    count = state.count
    make_free(state, int(count.running * state.config.page_size))
    take(state, _new_page_tokens(state))
    for i in range(count.running):
        state.requests[state.seats[i].running].committed += 1
