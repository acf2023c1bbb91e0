"""The block pool and the shared prefix cache: vLLM's free queue, reference counts and hash map.

Block 0 is vLLM's null block: never handed out, it anchors the free queue, a circular list through the
blocks. A content id stands for the hash of a full block and all before it; 0 as a block id means none.
Mirrors vllm/v1/core/block_pool.py and kv_cache_manager.py, vLLM 0.33.0.
"""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.layout import Cache, Rows, State
from sim.engine.record import Kind, emit, emit_id

_SHARED = int(Cache.SHARED)
_SHARE = int(Kind.SHARE)
_TAKE = int(Kind.TAKE)


@leaf
def blocks_for(tokens: int, block_size: int) -> int:
    """Blocks that hold so many tokens."""
    return (tokens + block_size - 1) // block_size


@leaf
def _unlink(state: State, block: int) -> None:
    row = state.blocks[block]
    state.blocks[row.prev].next = row.next
    state.blocks[row.next].prev = row.prev


@part
def _register(state: State, block: int, content: int) -> None:
    """Give a full block its hash; of equal blocks the one registered first is found."""
    count = state.count
    row = state.blocks[block]
    entry = state.contents[content]
    row.content = content
    row.older = entry.last
    row.newer = 0
    if entry.last == 0:
        entry.first = block
    else:
        state.blocks[entry.last].newer = block
    entry.last = block
    count.cached += 1


@part
def _forget(state: State, block: int) -> None:
    """Drop the hash of a block that is handed out again."""
    count = state.count
    row = state.blocks[block]
    entry = state.contents[row.content]
    if row.older == 0:
        entry.first = row.newer
    else:
        state.blocks[row.older].newer = row.newer
    if row.newer == 0:
        entry.last = row.older
    else:
        state.blocks[row.newer].older = row.older
    row.content = -1
    count.cached -= 1


@part
def register_full(state: State, request: Rows, tokens: int) -> None:
    """Register the request's blocks that `tokens` fill; vLLM does so when they are allocated, not when computed."""
    config = state.config
    if config.cache != _SHARED:
        return
    full = min(tokens, request.known) // config.block_size
    base = request.slot * config.table_width
    for j in range(request.hashed, full):
        _register(state, state.numbers[base + j], state.numbers[request.content + j])
    if full > request.hashed:
        request.hashed = full


@part
def find_prefix(state: State, request: Rows, slot: int) -> int:
    """Write the cached leading blocks of the request into the slot's table and return how many there are."""
    config = state.config
    if config.cache != _SHARED:
        return 0
    base = slot * config.table_width
    limit = (request.known - 1) // config.block_size
    for j in range(limit):
        block = state.contents[state.numbers[request.content + j]].first
        if block == 0:
            return j
        state.numbers[base + j] = block
    return limit


@part
def count_unused(state: State, base: int, hits: int) -> int:
    """How many of the hit blocks sit in the free queue, so that using them costs free blocks."""
    unused = 0
    for j in range(hits):
        if state.blocks[state.numbers[base + j]].ref == 0:
            unused += 1
    return unused


@part
def share(state: State, index: int, base: int, hits: int) -> None:
    """Use the hit blocks of the table once more."""
    count = state.count
    if hits <= 0:
        return
    emit(state, _SHARE, index, hits, 0)
    for j in range(hits):
        block = state.numbers[base + j]
        row = state.blocks[block]
        if row.ref == 0:
            _unlink(state, block)
            count.free -= 1
        row.ref += 1
        emit_id(state, block)


@part
def take(state: State, index: int, first: int, needed: int) -> None:
    """Hand out blocks from the head of the free queue into the table from position `first` on."""
    if needed <= 0:
        return
    emit(state, _TAKE, index, needed, 0)
    count = state.count
    id_at = count.ids
    block = state.blocks[0].next
    for j in range(needed):
        row = state.blocks[block]
        row.ref = 1
        state.numbers[first + j] = block
        if row.content >= 0:
            _forget(state, block)
            state.ids[id_at + j] = -block
        else:
            state.ids[id_at + j] = block
        block = row.next
    state.blocks[0].next = block
    state.blocks[block].prev = 0
    count.ids += needed
    count.free -= needed


@part
def release_chain(state: State, base: int, end: int, first: int, anchor: int) -> None:
    """Put table entries end - 1 down to `first`, where nobody else uses them, behind `anchor` in the free queue."""
    after = state.blocks[anchor].next
    last = anchor
    freed = 0
    for j in range(end - 1, first - 1, -1):
        block = state.numbers[base + j]
        row = state.blocks[block]
        row.ref -= 1
        if row.ref == 0:
            state.blocks[last].next = block
            row.prev = last
            last = block
            freed += 1
    state.blocks[last].next = after
    state.blocks[after].prev = last
    state.count.free += freed


@part
def release(state: State, base: int, end: int, hashed: int) -> None:
    """Give back the first `end` entries of a table, last block first; the first `hashed` carry a hash.

    A block without a hash goes to the head of the free queue (reused at once), one with a hash to the tail:
    eviction is least recently released first and, within a request, suffix before prefix.
    """
    release_chain(state, base, end, hashed, 0)
    release_chain(state, base, hashed, 0, state.blocks[0].prev)
