"""The waiting line: its order (fcfs or longest prefix first), and who is held back."""

from __future__ import annotations

from sim.engine.compiled import leaf, routine
from sim.engine.sglang.layout import State
from sim.engine.sglang.pool import text_of
from sim.engine.sglang.shared import waiting_at
from sim.engine.sglang.texts import common_tokens
from sim.engine.sglang.tree import match_prefix

MOST_SORTED = 128  # waiting requests up to which lpm looks everybody up
IN_BATCH_TOKENS = 32  # thresholds of in-batch prefix caching: look up, and hold back
TOUCH_PASSES = 32
LAST = 1  # above every -match


@leaf
def drop_heads(state: State, heads: int) -> None:
    """Take so many requests off the head of the waiting line."""
    count = state.count
    count.wait_head = (count.wait_head + heads) % state.config.line_size
    count.waiting -= heads


@leaf
def _known(state: State, index: int) -> int:
    request = state.requests[index]
    return int(request.prompt + request.outputs)


@leaf
def _is_held_back(state: State, position: int, index: int) -> bool:
    """Say whether a prompt shares its beginning with an earlier one that is not cached either."""
    best = 0
    known = _known(state, index)
    text = text_of(state, index)
    for i in range(position):
        row = state.scratch[i]
        if row.is_first:
            other = int(row.request)
            common = common_tokens(state, text_of(state, other), text)
            best = max(best, min(common, known, _known(state, other)))
    return bool(best >= IN_BATCH_TOKENS)


@leaf
def _rate_waiting(state: State) -> None:
    """Look everybody up, which refreshes the tree, and rate them: longest hit first, those held back last."""
    for i in range(state.count.waiting):
        index = waiting_at(state, i)
        request = state.requests[index]
        known = _known(state, index)
        request.prefix = match_prefix(state, text_of(state, index), known)
        request.last_node = state.count.node
        row = state.scratch[i]
        row.request = index
        row.key = -min(int(request.prefix), max(known - 1, 0))
        row.is_first = 0
        if request.prefix <= IN_BATCH_TOKENS:
            if _is_held_back(state, i, index):
                row.key = LAST
            else:
                row.is_first = 1


@leaf
def _sort_waiting(state: State) -> bool:
    """Sort the rated line, stable; say whether that changed it."""
    has_changed = False
    size = state.config.line_size
    head = state.count.wait_head
    for i in range(state.count.waiting):
        index = int(state.scratch[i].request)
        key = state.scratch[i].key
        place = i
        while place > 0 and state.scratch[place - 1].key > key:
            state.scratch[place].key = state.scratch[place - 1].key
            state.scratch[place].request = state.scratch[place - 1].request
            place -= 1
            has_changed = True
        state.scratch[place].key = key
        state.scratch[place].request = index
    for i in range(state.count.waiting):
        state.lines[(head + i) % size].waiting = state.scratch[i].request
    return has_changed


@leaf
def _touch_waiting(state: State) -> None:
    """Refresh the prefixes of the first waiting requests, the head last."""
    for i in range(min(int(state.count.waiting), MOST_SORTED) - 1, -1, -1):
        index = waiting_at(state, i)
        match_prefix(state, text_of(state, index), _known(state, index))


@routine
def order_waiting(state: State) -> bool:
    """Bring the waiting line in the policy's order (SchedulePolicy.calc_priority); say whether that changed it."""
    config = state.config
    count = state.count
    if config.is_lpm and count.waiting <= MOST_SORTED:
        _rate_waiting(state)
        return _sort_waiting(state)
    if count.waiting > 0 and config.has_radix:
        if count.touches % TOUCH_PASSES == 0:
            _touch_waiting(state)
        count.touches += 1
    return False
