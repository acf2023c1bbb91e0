"""What the executor does with a plan: pause, run prompts and generating requests, bring tokens home, end requests."""

from __future__ import annotations

from sim.engine.blocks import blocks_for
from sim.engine.compiled import leaf, part
from sim.engine.layout import Rows, State, Status
from sim.engine.queues import release_followers, remove_waiting
from sim.engine.record import Kind, emit, emit_gap
from sim.engine.tensorrt_llm.capacity import active_at
from sim.engine.tensorrt_llm.pool import add_sequence, allocate, remove_sequence, reusable_blocks, store_blocks

_RUNNING = int(Status.RUNNING)
_PREEMPTED = int(Status.PREEMPTED)
_FINISHED = int(Status.FINISHED)
_ADMIT = int(Kind.ADMIT)
_RESUME = int(Kind.RESUME)
_CHUNK = int(Kind.CHUNK)
_FIRST = int(Kind.FIRST)
_PREEMPT = int(Kind.PREEMPT)
_FINISH = int(Kind.FINISH)


@leaf
def _findable(state: State, tokens: int) -> int:
    """Blocks that stay findable when a request with so many tokens gives them back."""
    config = state.config
    return tokens // config.tokens_per_block if config.enable_block_reuse else 0


@part
def _pause(state: State, index: int) -> None:
    """Take all blocks from a request; its outputs become part of its prompt, and it keeps its place in the list."""
    count = state.count
    request = state.requests[index]
    tokens = int(request.position)
    if request.is_context == 0:
        tokens = int(request.tokens)
        count.generating -= 1
    else:
        count.partial -= 1
    emit(state, _PREEMPT, index, _findable(state, tokens), 0)
    remove_sequence(state, request, tokens)
    request.is_context = 1
    request.prompt = request.known
    request.position = 0
    request.prepopulated = 0
    request.reusable = 0
    request.chunk = 0
    request.status = _PREEMPTED
    request.preemptions += 1


@leaf
def pause_victims(state: State) -> None:
    """Pause those whom the capacity scheduler chose."""
    for i in range(state.count.paused):
        _pause(state, state.plan[i].paused)


@part
def _start(state: State, request: Rows, index: int) -> None:
    """Give a prompt its blocks; what it reuses moves its first chunk right, whose end then falls to a block's."""
    config = state.config
    count = state.count
    hits = reusable_blocks(state, request) if config.enable_block_reuse else 0
    reused = hits * config.tokens_per_block
    kind = _RESUME if request.status == _PREEMPTED else _ADMIT
    emit(state, kind, index, reused, count.lowest_slot)
    add_sequence(state, request, index, hits)
    count.admitted += 1
    if kind == _ADMIT:
        request.hit = reused
        request.scheduled_s = count.now_s
    request.status = _RUNNING
    request.prepopulated = reused
    if reused > 0:
        end = reused + request.chunk
        if end < request.prompt:
            end = end // config.tokens_per_block * config.tokens_per_block
        request.position = reused
        request.chunk = min(end, request.prompt) - reused


@part
def run_contexts(state: State) -> None:
    """Take the blocks of the planned prompts and count what their chunks will cost."""
    count = state.count
    for i in range(count.contexts):
        index = int(state.plan[i].context)
        request = state.requests[index]
        if request.held == 0:
            if count.missing > 0:
                count.contexts = i
                return
            _start(state, request, index)
        before, tokens = int(request.position), int(request.chunk)
        emit(state, _CHUNK, index, tokens, before)
        count.prefill += tokens
        count.prefill_context += before
        count.prefill_pairs += float(tokens) * (before + 0.5 * (tokens + 1))
        if before + tokens == request.prompt:
            count.sampled += 1


@part
def run_decodes(state: State) -> None:
    """Take the blocks that the tokens of generating requests need."""
    config = state.config
    count = state.count
    context = 0
    for i in range(count.decodes):
        index = int(state.plan[i].decode)
        request = state.requests[index]
        tokens = request.tokens + 1
        request.tokens = tokens
        context += tokens
        if tokens > request.room:
            allocate(state, request, index, blocks_for(tokens, config.tokens_per_block))
    count.decode = count.decodes
    count.sampled += count.decodes
    count.decode_context += context


@leaf
def _receive_token(state: State, request: Rows, index: int, time_s: float) -> None:
    """Note an output token and when it came: regular gaps are counted by step, others listed."""
    count = state.count
    if request.last_step == count.steps - 1:
        count.regular += 1
    elif request.known == request.first_prompt:
        request.first_s = time_s
        emit(state, _FIRST, index, 0, 0)
    else:
        emit_gap(state, index, time_s - request.last_s)
    request.last_step = count.steps
    request.last_s = time_s
    request.known += 1
    if request.known >= request.target:
        count.ending += 1


@part
def update_contexts(state: State, time_s: float) -> None:
    """Move the prompts on; one that is complete gives a token, and its full blocks are found from now on."""
    count = state.count
    for i in range(count.contexts):
        index = int(state.plan[i].context)
        request = state.requests[index]
        was_partial = 1 if request.position != request.prepopulated else 0
        request.position += request.chunk
        if request.position == request.prompt:
            store_blocks(state, request, request.prompt)
            request.is_context = 0
            count.partial -= was_partial
            count.generating += 1
            _receive_token(state, request, index, time_s)
        elif request.position != request.prepopulated:
            count.partial += 1 - was_partial


@part
def update_decodes(state: State, time_s: float) -> None:
    """Bring the tokens of the generating requests home."""
    for i in range(state.count.decodes):
        index = int(state.plan[i].decode)
        _receive_token(state, state.requests[index], index, time_s)


@part
def end_finished(state: State, time_s: float) -> None:
    """Take those that have all their tokens out of the active list, oldest first."""
    count = state.count
    position = 0
    while count.ending > 0:
        index = active_at(state, position)
        request = state.requests[index]
        if request.known < request.target:
            position += 1
            continue
        emit(state, _FINISH, index, _findable(state, request.tokens), request.known - request.first_prompt)
        remove_sequence(state, request, request.tokens)
        remove_waiting(state, position)
        request.status = _FINISHED
        request.finish_s = time_s
        count.generating -= 1
        count.ending -= 1
        release_followers(state, index, time_s)
