"""The block pool: reuse of full blocks by content, reference counts, eviction of the least recently released.

A content id stands for the tokens of a full block and all before it. A whole prompt's blocks are taken with its first
chunk, one more when a generated token needs it; full blocks become findable when the prompt is computed, or the request
ends or is paused.
"""

from __future__ import annotations

from sim.engine.blocks import blocks_for
from sim.engine.compiled import leaf, part
from sim.engine.layout import Rows, State
from sim.engine.queues import leave_slot, take_slot
from sim.engine.record import Kind, emit, emit_id

_SHARE = int(Kind.SHARE)
_TAKE = int(Kind.TAKE)


@part
def findable_blocks(state: State, request: Rows) -> int:
    """Leading full blocks of the prompt that are in the cache."""
    config = state.config
    full = request.prompt // config.tokens_per_block
    for j in range(full):
        if state.contents[state.numbers[request.content + j]].block == 0:
            return j
    return full


@part
def reusable_blocks(state: State, request: Rows) -> int:
    """Leading blocks of the prompt that it can reuse: at least one token is left to compute."""
    config = state.config
    return min(findable_blocks(state, request), (request.prompt - 1) // config.tokens_per_block)


@part
def count_used(state: State, request: Rows, blocks: int) -> int:
    """How many of the leading cached blocks somebody holds now, so that using them costs no free block."""
    used = 0
    for j in range(blocks):
        block = state.contents[state.numbers[request.content + j]].block
        if state.blocks[block].ref > 0:
            used += 1
    return used


@part
def count_own(state: State, request: Rows) -> int:
    """Blocks that become free if this request gives up its own."""
    config = state.config
    own = 0
    base = request.slot * config.table_width
    for j in range(request.held):
        if state.blocks[state.numbers[base + j]].ref == 1:
            own += 1
    return own


@leaf
def _unlink(state: State, block: int) -> None:
    row = state.blocks[block]
    state.blocks[row.prev].next = row.next
    state.blocks[row.next].prev = row.prev
    state.count.cached -= 1


@leaf
def _append(state: State, block: int) -> None:
    last = state.blocks[0].prev
    state.blocks[last].next = block
    state.blocks[block].prev = last
    state.blocks[block].next = 0
    state.blocks[0].prev = block
    state.count.cached += 1


@part
def _take(state: State) -> int:
    """Hand out a block without content, else evict the least recently released; 0 if there is none."""
    count = state.count
    block = int(count.empty)
    if block > 0:
        count.empty = state.blocks[block].next
        emit_id(state, block)
    else:
        block = int(state.blocks[0].next)
        if block == 0:
            count.missing += 1
            return 0
        _unlink(state, block)
        state.contents[state.blocks[block].content].block = 0
        state.blocks[block].content = -1
        emit_id(state, -block)
    state.blocks[block].ref = 1
    count.free -= 1
    return block


@part
def allocate(state: State, request: Rows, index: int, blocks: int) -> None:
    """Take blocks until the request holds so many."""
    config = state.config
    if blocks <= request.held:
        return
    emit(state, _TAKE, index, blocks - request.held, 0)
    base = request.slot * config.table_width
    for j in range(request.held, blocks):
        state.numbers[base + j] = _take(state)
    request.held = blocks
    request.room = blocks * config.tokens_per_block


@part
def _share(state: State, request: Rows, index: int, hits: int) -> None:
    """Use the cached leading blocks once more."""
    config = state.config
    count = state.count
    if hits == 0:
        return
    emit(state, _SHARE, index, hits, 0)
    base = request.slot * config.table_width
    for j in range(hits):
        block = int(state.contents[state.numbers[request.content + j]].block)
        row = state.blocks[block]
        if row.ref == 0:
            _unlink(state, block)
            count.free -= 1
        row.ref += 1
        state.numbers[base + j] = block
        emit_id(state, block)


@part
def add_sequence(state: State, request: Rows, index: int, hits: int) -> None:
    """Give a request a slot and the blocks of its whole prompt, the first `hits` of them cached ones."""
    config = state.config
    slot = int(state.count.lowest_slot)
    take_slot(state, slot, index)
    state.count.running += 1
    request.slot = slot
    request.held = 0
    _share(state, request, index, hits)
    request.held = hits
    allocate(state, request, index, blocks_for(request.prompt, config.tokens_per_block))
    request.tokens = request.prompt


@part
def store_blocks(state: State, request: Rows, tokens: int) -> None:
    """Make the full blocks of the first `tokens` findable; of equal blocks the one stored first is found."""
    config = state.config
    if config.enable_block_reuse == 0:
        return
    # MODEL: a prompt's blocks are found when all of it is computed; TensorRT-LLM's own pool may store them earlier.
    base = request.slot * config.table_width
    for j in range(tokens // config.tokens_per_block):
        content = state.numbers[request.content + j]
        block = state.numbers[base + j]
        if state.contents[content].block == 0:
            state.contents[content].block = block
            state.blocks[block].content = content


@part
def remove_sequence(state: State, request: Rows, tokens: int) -> None:
    """Store what the first `tokens` fill, then give back all blocks, last one first, and the slot."""
    config = state.config
    count = state.count
    store_blocks(state, request, tokens)
    base = request.slot * config.table_width
    for j in range(request.held - 1, -1, -1):
        block = int(state.numbers[base + j])
        row = state.blocks[block]
        row.ref -= 1
        if row.ref == 0 and block > 0:
            count.free += 1
            if row.content >= 0:
                _append(state, block)
            else:
                row.next = count.empty
                count.empty = block
    leave_slot(state, request.slot)
    count.running -= 1
    request.slot = -1
    request.held = 0
    request.room = 0
