"""The capacity scheduler: which requests of the active list fit in memory, and who has to be paused for them.

Mirrors GuaranteedNoEvictPolicy, StaticBatch and MaxUtilizationPolicy of the Python scheduler.
"""

from __future__ import annotations

from sim.engine.blocks import blocks_for
from sim.engine.compiled import leaf, part
from sim.engine.layout import Rows, State
from sim.engine.record import Why
from sim.engine.tensorrt_llm.layout import CapacitySchedulerPolicy
from sim.engine.tensorrt_llm.pool import count_own, count_used, findable_blocks, reusable_blocks

_MAX_UTILIZATION = int(CapacitySchedulerPolicy.MAX_UTILIZATION)
_STATIC_BATCH = int(CapacitySchedulerPolicy.STATIC_BATCH)
_SLOT = int(Why.SLOT)
_BLOCKS = int(Why.BLOCKS)
_PREEMPTION = int(Why.PREEMPTION)
_BATCH_RUNNING = int(Why.BATCH_RUNNING)
_IN_FLIGHT = int(Why.IN_FLIGHT)


@leaf
def active_at(state: State, position: int) -> int:
    """Return the request at a position of the active list, 0 being the oldest."""
    place = state.count.wait_head + position
    size = state.config.line_size
    return int(state.lines[place if place < size else place - size].waiting)


@leaf
def is_first_chunk(request: Rows) -> bool:
    """Say whether nothing of the prompt is computed yet but what was reused."""
    return request.is_context != 0 and request.position == request.prepopulated


@leaf
def _add(state: State, index: int) -> None:
    count = state.count
    state.plan[count.fitting].fitting = index
    count.fitting += 1


@part
def _note_started_prefixes(state: State) -> None:
    """Note the block that each half-computed prompt will make findable."""
    config = state.config
    count = state.count
    if config.is_prefix_aware == 0:
        return
    left = int(count.partial)
    position = 0
    while left > 0:
        request = state.requests[active_at(state, position)]
        position += 1
        if request.is_context != 0 and request.position != request.prepopulated:
            left -= 1
            _is_noted(state, request)


@part
def _is_noted(state: State, request: Rows) -> bool:
    """Say whether the first block that a prompt has to compute was noted in this step; note it."""
    config = state.config
    blocks = findable_blocks(state, request)
    if blocks >= request.prompt // config.tokens_per_block:
        return False
    content = state.contents[state.numbers[request.content + blocks]]
    stamp = state.count.steps + 1
    is_noted = content.seen == stamp
    content.seen = stamp
    return is_noted


@leaf
def _beneficial_to_skip(state: State, request: Rows) -> bool:
    """Say whether a new prompt had better wait until another one has computed their common blocks."""
    return state.config.is_prefix_aware != 0 and is_first_chunk(request) and _is_noted(state, request)


@part
def _credit(state: State, request: Rows) -> int:
    """Estimate the tokens a prompt can reuse, and count the cached blocks it gets for no free one."""
    config = state.config
    if config.enable_block_reuse == 0:
        return 0
    # MODEL: GUARANTEED_NO_EVICT takes a cached block that nobody holds for a new one, as MAX_UTILIZATION does.
    blocks = reusable_blocks(state, request)
    request.reusable = blocks * config.tokens_per_block
    return count_used(state, request, blocks)


@part
def _remaining_blocks_to_completion(state: State, request: Rows) -> int:
    """Blocks that a prompt may still take until it has all of its max_new_tokens."""
    credit = 0
    if is_first_chunk(request) and request.held == 0:
        credit = _credit(state, request)
    return request.blocks_to_completion - request.held - credit


@part
def _needed_blocks_one_step(state: State, request: Rows) -> int:
    """Blocks that a request takes in this step: the whole prompt's at first, later one where a token crosses."""
    config = state.config
    if request.is_context == 0:
        ahead = min(1 + config.two_step_lookahead, request.limit - request.tokens)
        if request.tokens + ahead <= request.room and ahead >= 0:
            return 0
        return blocks_for(request.tokens + ahead, config.tokens_per_block) - request.held
    if request.position != request.prepopulated:
        return 0
    credit = _credit(state, request)
    return blocks_for(request.prompt, config.tokens_per_block) - credit


@leaf
def _reserve_generating(state: State) -> int:
    """Take in all generating requests; return the blocks that are free beyond what those may still take."""
    config = state.config
    count = state.count
    free = int(count.free)
    position = 0
    while count.fitting < count.generating and count.fitting < config.max_num_requests:
        index = active_at(state, position)
        position += 1
        request = state.requests[index]
        if request.is_context == 0:
            _add(state, index)
            free -= request.blocks_to_completion - request.held
    return free


@part
def _guaranteed_no_evict(state: State) -> None:
    """All that generate, then prompts in order while they fit to completion; nobody is ever paused."""
    config = state.config
    count = state.count
    free = _reserve_generating(state)
    if config.capacity_scheduler_policy == _STATIC_BATCH:
        if count.fitting > 0:
            count.why = _BATCH_RUNNING
            return
    else:
        _note_started_prefixes(state)
    is_aware = config.capacity_scheduler_policy != _STATIC_BATCH
    for position in range(count.waiting):
        index = active_at(state, position)
        request = state.requests[index]
        if request.is_context == 0:
            continue
        if is_aware and _beneficial_to_skip(state, request):
            count.why = _IN_FLIGHT
            continue
        if count.fitting >= config.max_num_requests:
            count.why = _SLOT
            return
        needed = _remaining_blocks_to_completion(state, request)
        if needed > free:
            count.why = _BLOCKS
            count.needed = needed
            return
        _add(state, index)
        free -= needed


@leaf
def _last_started(state: State, end: int) -> int:
    """Position of the last request before `end` of which something is computed; there is one."""
    position = end - 1
    while is_first_chunk(state.requests[active_at(state, position)]):
        position -= 1
    return position


@part
def _max_utilization(state: State) -> None:
    """Everyone in order by what this step takes; for one that does not fit, the last started is paused."""
    config = state.config
    count = state.count
    _note_started_prefixes(state)
    free = int(count.free)
    used = 0
    started = int(count.generating + count.partial)  # at `position` or behind
    end = int(count.waiting)
    position = 0
    while position < end:
        index = active_at(state, position)
        request = state.requests[index]
        if _beneficial_to_skip(state, request):
            count.why = _IN_FLIGHT
            position += 1
            continue
        is_full = count.fitting >= config.max_num_requests
        if not is_full:
            needed = _needed_blocks_one_step(state, request)
            if used + needed <= free:
                used += needed
                _add(state, index)
                started -= 0 if is_first_chunk(request) else 1
                position += 1
                continue
            count.needed = used + needed
        count.why = _SLOT if is_full else _BLOCKS
        if started == 0:
            return
        end = _last_started(state, end)
        victim = active_at(state, end)
        free += count_own(state, state.requests[victim])
        state.plan[count.paused].paused = victim
        count.paused += 1
        started -= 1
    if count.paused > 0:
        count.why = _PREEMPTION


@leaf
def schedule_capacity(state: State) -> None:
    """Choose from the active list who fits (`plan.fitting`) and who is to be paused (`plan.paused`)."""
    config = state.config
    count = state.count
    count.fitting = 0
    count.paused = 0
    count.why = 0
    count.needed = 0
    if config.capacity_scheduler_policy == _MAX_UTILIZATION:
        _max_utilization(state)
    else:
        _guaranteed_no_evict(state)
