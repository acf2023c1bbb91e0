"""Prefix cache by slot: a free slot keeps its last sequence, and the next prompt may begin like it.

The textbook axis ``prefix_cache=per_slot``: longest common prefix in tokens; the free slot with the longest
match, else the least recently used. Kept blocks are given up, oldest slot first, when others need the room.
"""

from __future__ import annotations

from sim.engine.blocks import blocks_for, release_chain
from sim.engine.compiled import leaf, part
from sim.engine.layout import Cache, Rows, State
from sim.engine.record import Kind, emit

_PER_SLOT = int(Cache.PER_SLOT)
_EVICT = int(Kind.EVICT)


@part
def common_tokens(state: State, a: int, b: int, most: int) -> int:
    """Tokens that two texts begin with in common, at most `most`.

    A text is a node: it repeats the first `common` tokens of its parent and goes on by itself; parents
    have smaller numbers.
    """
    common = most
    while a != b:
        if a < b:
            a, b = b, a
        common = min(common, state.lines[a].common)
        a = state.lines[a].parent
        if a < 0:
            return 0
    return common


@part
def _match(state: State, request: Rows, index: int, slot: int) -> int:
    config = state.config
    row = state.seats[slot]
    if row.kept < 0:
        return 0
    roots = config.num_roots
    most = min(row.kept_tokens, request.known - 1)
    return common_tokens(state, roots + index, roots + row.kept, most)


@part
def choose_slot(state: State, request: Rows, index: int) -> int:
    """Return the slot that the request would get: by match and age per slot, else the lowest free one."""
    config = state.config
    count = state.count
    if config.cache != _PER_SLOT:
        return int(count.lowest_slot)
    best = -1
    best_match = 0
    for slot in range(config.num_seats):
        row = state.seats[slot]
        if row.request >= 0:
            continue
        match = _match(state, request, index, slot)
        if best < 0 or match > best_match or (match == best_match and row.used_at < state.seats[best].used_at):
            best = slot
            best_match = match
    return best


@leaf
def kept_prefix(state: State, request: Rows, index: int, slot: int) -> int:
    """Tokens that the request can reuse of what the slot keeps."""
    config = state.config
    if config.cache != _PER_SLOT:
        return 0
    return _match(state, request, index, slot)


@part
def cut_kept(state: State, slot: int, blocks: int) -> None:
    """Give up the blocks of a kept sequence beyond the first `blocks`."""
    config = state.config
    count = state.count
    row = state.seats[slot]
    if row.kept < 0:
        return
    if config.region_blocks == 0 and row.kept_blocks > blocks:
        release_chain(state, slot * config.table_width, row.kept_blocks, blocks, 0)
        count.cached -= row.kept_blocks - blocks
        row.kept_blocks = blocks
        emit(state, _EVICT, row.kept, blocks, slot)
    if blocks == 0:
        row.kept = -1
        row.kept_tokens = 0
        row.kept_blocks = 0


@part
def make_room(state: State, needed: int, spared: int) -> None:
    """Give up kept sequences, least recently used slot first, until `needed` blocks are free; not slot `spared`."""
    count = state.count
    while count.free < needed:
        oldest = -1
        for slot in range(len(state.seats)):
            row = state.seats[slot]
            has_blocks = row.request < 0 and row.kept_blocks > 0 and slot != spared
            if has_blocks and (oldest < 0 or row.used_at < state.seats[oldest].used_at):
                oldest = slot
        if oldest < 0:
            return
        cut_kept(state, oldest, 0)


@part
def keep(state: State, request: Rows, index: int) -> None:
    """Leave the finished request's computed tokens, and their blocks, in its slot."""
    config = state.config
    count = state.count
    row = state.seats[request.slot]
    row.kept = index
    row.kept_tokens = request.computed
    if config.region_blocks == 0:
        row.kept_blocks = blocks_for(request.computed, config.block_size)
        release_chain(state, request.slot * config.table_width, request.held, row.kept_blocks, 0)
        count.cached += row.kept_blocks
