"""The micro-batch scheduler: who of those that fit in memory runs in this step, and how much of each prompt.

Mirrors MicroBatchScheduler; tokens that a prompt reuses are free in the token budget of its first chunk.
"""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.layout import Rows, State
from sim.engine.record import Kind, Why, emit
from sim.engine.tensorrt_llm.capacity import active_at
from sim.engine.tensorrt_llm.layout import ContextChunkingPolicy

_OFF = int(ContextChunkingPolicy.OFF)
_EQUAL_PROGRESS = int(ContextChunkingPolicy.EQUAL_PROGRESS)
_SKIP = int(Kind.SKIP)
_SLOT = int(Why.SLOT)
_BUDGET = int(Why.BUDGET)
_WHOLE_PROMPT = int(Why.WHOLE_PROMPT)


@leaf
def _rest(request: Rows) -> int:
    return int(request.prompt - request.position)


@leaf
def _reusable(request: Rows) -> int:
    return int(request.reusable if request.position == request.prepopulated else 0)


@part
def _cost(chunk: int, reusable: int, rest: int) -> int:
    """Tokens that a chunk costs: reused ones are free if it reaches the end, else its window is only moved right."""
    if reusable <= 0 or reusable + chunk < rest:
        return chunk
    return max(0, rest - reusable)


@part
def _set_chunks_equal_progress(state: State, room: int) -> None:
    """In rounds, every prompt gets one more unit, or its rest, if it still fits; until nothing changes."""
    config = state.config
    count = state.count
    done = 0
    progress = 1
    while done < room and progress > 0:
        progress = 0
        for i in range(count.contexts):
            request = state.requests[state.plan[i].context]
            rest = _rest(request)
            reusable = min(_reusable(request), rest)
            before = int(request.chunk)
            chunk = min(before + config.chunk_unit_size, rest)
            more = _cost(chunk, reusable, rest) - _cost(before, reusable, rest)
            if done + more > room or chunk > config.max_num_tokens:
                continue
            request.chunk = chunk
            done += more
            progress += chunk - before


@part
def _set_chunks_first_come_first_served(state: State, room: int) -> None:
    """In order, everything that is left; a chunk that is cut is rounded down to whole units."""
    config = state.config
    limit = config.max_num_tokens
    for i in range(state.count.contexts):
        request = state.requests[state.plan[i].context]
        rest = _rest(request)
        reusable = min(_reusable(request), rest)
        chunk = rest
        if room < _cost(rest, reusable, rest):
            chunk = room
        if _cost(chunk, reusable, rest) > limit:
            chunk = min(limit, rest)
        if chunk < rest:
            chunk = chunk // config.chunk_unit_size * config.chunk_unit_size
        request.chunk = chunk
        room -= _cost(chunk, reusable, rest)


@part
def _sort_contexts(state: State) -> None:
    """Put prompts that do not end in this step first, and leave out those that got nothing."""
    count = state.count
    kept = 0
    for is_last in range(2):
        for i in range(count.contexts):
            index = state.plan[i].context
            request = state.requests[index]
            ends = 1 if request.chunk == _rest(request) else 0
            if request.chunk > 0 and ends == is_last:
                state.plan[kept].sorted = index
                kept += 1
    count.contexts = kept
    for i in range(kept):
        state.plan[i].context = state.plan[i].sorted


@part
def _cut_prompts(state: State, room: int) -> None:
    """Set the chunk sizes of the noted prompts by policy."""
    config = state.config
    for i in range(state.count.contexts):
        state.requests[state.plan[i].context].chunk = 0
    if config.context_chunking_policy == _EQUAL_PROGRESS:
        _set_chunks_equal_progress(state, room)
    else:
        _set_chunks_first_come_first_served(state, room)
    _sort_contexts(state)


@leaf
def _skip_unplanned(state: State, scanned: int) -> None:
    """Record who fits but does not run: all behind the end of the scan, and prompts that got no chunk."""
    count = state.count
    reason = _SLOT if scanned >= state.config.max_batch_size else _BUDGET
    if state.config.context_chunking_policy == _OFF and reason == _BUDGET:
        reason = _WHOLE_PROMPT
    for i in range(count.fitting):
        index = int(state.plan[i].fitting)
        request = state.requests[index]
        if i >= scanned or (request.is_context != 0 and request.chunk == 0):
            emit(state, _SKIP, index, 1, 0)
            if count.why == 0 and request.held == 0:
                count.why = reason


@part
def _skip_unfitting(state: State) -> None:
    """Record which generating requests are not among those that fit; both lists are in the same order."""
    count = state.count
    i = 0
    left = int(count.generating)
    position = 0
    while left > 0:
        index = active_at(state, position)
        position += 1
        if state.requests[index].is_context != 0:
            continue
        left -= 1
        while i < count.fitting and state.requests[state.plan[i].fitting].is_context != 0:
            i += 1
        if i < count.fitting and state.plan[i].fitting == index:
            i += 1
        else:
            emit(state, _SKIP, index, 0, 0)


@part
def schedule_micro_batch(state: State) -> None:
    """Plan the step: prompts with their chunks (`plan.context`), then generating requests (`plan.decode`)."""
    config = state.config
    count = state.count
    limit = config.max_num_tokens
    is_chunked = config.context_chunking_policy != _OFF
    contexts, decodes, generating = 0, 0, 0
    used, noted_tokens, scanned = 0, 0, 0
    fits = True
    while scanned < count.fitting and scanned < config.max_batch_size:
        index = state.plan[scanned].fitting
        request = state.requests[index]
        if request.is_context == 0:
            if used + 1 > limit:
                break
            state.plan[decodes].decode = index
            decodes += 1
            used += 1
        else:
            rest = _rest(request)
            tokens = _cost(rest, _reusable(request), rest)
            if is_chunked:
                fits = fits and tokens <= limit
                noted_tokens += min(tokens, limit)
            else:
                tokens = max(1, tokens)
                if used + tokens > limit:
                    break
                used += tokens
            request.chunk = rest
            state.plan[contexts].context = index
            contexts += 1
        scanned += 1
    count.contexts = contexts
    count.decodes = decodes
    if contexts > 0 and not (fits and noted_tokens <= limit - used):
        _cut_prompts(state, limit - used)
    if count.contexts + decodes < count.fitting:
        _skip_unplanned(state, scanned)
    for i in range(scanned, count.fitting):
        generating += 1 - state.requests[state.plan[i].fitting].is_context
    if decodes + generating < count.generating:
        _skip_unfitting(state)
