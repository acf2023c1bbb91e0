"""The radix tree: look-up, insert, split, locks, and eviction of whole leaves, least recently used first.

Mirrors SGLang's UnifiedRadixCache over pages. A node holds a range of a text; children begin with different pages,
and are found by them in one table of chains for all nodes.
Time is a counter that ticks by TICK, so that the nodes of one look-up get times of their own, child after parent.
"""

from __future__ import annotations

from sim.engine.compiled import leaf, part, routine
from sim.engine.sglang.layout import ROOT, State
from sim.engine.sglang.texts import common_tokens, page_key

TICK = 1 << 20
HASH_FACTOR = 1_000_003


@leaf
def _tick(state: State) -> int:
    count = state.count
    count.clock += TICK
    return int(count.clock)


@leaf
def _bucket(state: State, parent: int, key: int) -> int:
    return int((parent * HASH_FACTOR + key) % state.config.buckets)


@leaf
def _find_kid(state: State, node: int, text: int, offset: int) -> int:
    """Child that goes on with the text's next page, 0 if there is none."""
    key = page_key(state, text, offset)
    kid = int(state.nodes[_bucket(state, node, key)].head)
    while kid > 0 and (state.nodes[kid].parent != node or state.nodes[kid].key != key):
        kid = int(state.nodes[kid].next)
    return kid


@leaf
def _equal_until(state: State, node: int, text: int, end: int) -> int:
    """End of the whole pages that a node has in common with a text."""
    page = state.config.page_size
    row = state.nodes[node]
    same = min(common_tokens(state, int(row.text), text), int(row.end), end)
    return same // page * page


@part
def _link(state: State, node: int, parent: int) -> None:
    """Make a node a child of another."""
    row = state.nodes[node]
    key = page_key(state, int(row.text), int(row.start))
    bucket = _bucket(state, parent, key)
    kid = int(state.nodes[bucket].head)
    row.parent = parent
    row.key = key
    row.prev = 0
    row.next = kid
    if kid > 0:
        state.nodes[kid].prev = node
    state.nodes[bucket].head = node
    state.nodes[parent].kids += 1


@part
def _unlink(state: State, node: int) -> None:
    row = state.nodes[node]
    if row.prev > 0:
        state.nodes[row.prev].next = row.next
    else:
        state.nodes[_bucket(state, int(row.parent), int(row.key))].head = row.next
    if row.next > 0:
        state.nodes[row.next].prev = row.prev
    state.nodes[row.parent].kids -= 1


@part
def _new_node(state: State, text: int, start: int, end: int) -> int:
    count = state.count
    node = int(count.free_node)
    if node > 0:
        count.free_node = state.nodes[node].next
    else:
        node = int(count.nodes)
        count.nodes += 1
    row = state.nodes[node]
    row.text = text
    row.start = start
    row.end = end
    row.kids = 0
    row.lock = 0
    return node


@routine
def _split(state: State, node: int, at: int) -> int:
    """Cut a node at a position; return the new upper part. The tail is made the more recent one."""
    row = state.nodes[node]
    text = int(row.text)
    upper = _new_node(state, text, int(row.start), at)
    _unlink(state, node)
    _link(state, upper, int(row.parent))
    state.nodes[upper].lock = row.lock
    state.nodes[upper].time = _tick(state)
    row.start = at
    _link(state, node, upper)
    row.time = _tick(state)
    return upper


@routine
def match_prefix(state: State, text: int, tokens: int) -> int:
    """Cached beginning of the first tokens of a text, in whole pages [tokens]; `count.node` is where it ends.

    Refreshes every node on its path, and cuts the last one where the texts part.
    """
    config = state.config
    count = state.count
    end = tokens // config.page_size * config.page_size
    count.node = ROOT
    if config.has_radix == 0 or end <= 0:
        return 0
    node = ROOT
    offset = 0
    while offset < end:
        kid = _find_kid(state, node, text, offset)
        if kid == 0:
            break
        offset = _equal_until(state, kid, text, end)
        if offset < state.nodes[kid].end:
            node = _split(state, kid, offset)
            break
        node = kid
    count.node = node
    time = _tick(state)
    while node > ROOT:
        state.nodes[node].time = time
        time -= 1
        node = int(state.nodes[node].parent)
    return offset


@routine
def insert(state: State, text: int, tokens: int) -> int:
    """Put the whole pages of a text into the tree; return how much was there. `count.node` is where it ends."""
    config = state.config
    count = state.count
    end = tokens // config.page_size * config.page_size
    node = ROOT
    offset = 0
    while offset < end:
        kid = _find_kid(state, node, text, offset)
        if kid == 0:
            break
        state.nodes[kid].time = _tick(state)
        offset = _equal_until(state, kid, text, end)
        if offset < state.nodes[kid].end:
            kid = _split(state, kid, offset)
        node = kid
    if offset < end:
        parent = node
        node = _new_node(state, text, offset, end)
        _link(state, node, parent)
        state.nodes[node].time = _tick(state)
        count.evictable += end - offset
    count.node = node
    return offset


@routine
def lock_path(state: State, node: int) -> None:
    """Keep a node and all above it from eviction."""
    count = state.count
    while node > ROOT:
        row = state.nodes[node]
        if row.lock == 0:
            count.evictable -= row.end - row.start
        row.lock += 1
        node = int(row.parent)


@routine
def unlock_path(state: State, node: int) -> None:
    """Take one lock from a node and all above it."""
    count = state.count
    while node > ROOT:
        row = state.nodes[node]
        row.lock -= 1
        if row.lock == 0:
            count.evictable += row.end - row.start
        node = int(row.parent)


@leaf
def _oldest_leaf(state: State) -> int:
    """Unlocked leaf that was used longest ago, 0 if there is none."""
    oldest = 0
    time = state.count.clock + 1
    for node in range(1, state.count.nodes):
        row = state.nodes[node]
        if row.end > 0 and row.lock == 0 and row.kids == 0 and row.time < time:
            time = row.time
            oldest = node
    return oldest


@routine
def evict(state: State, tokens: int) -> None:
    """Drop whole leaves, oldest first, until so many tokens more are free or none is left."""
    count = state.count
    target = count.free + tokens
    while count.free < target:
        node = _oldest_leaf(state)
        if node == 0:
            return
        row = state.nodes[node]
        _unlink(state, node)
        count.evictable -= row.end - row.start
        count.free += row.end - row.start
        row.end = 0
        row.next = count.free_node
        count.free_node = node
