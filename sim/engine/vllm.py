"""vLLM's V1 scheduler: one token budget for decode and prompt chunks, running requests first.

One step = ``schedule()``, run, ``update()``. A request needs known - computed tokens; there is no other
difference between prefill and decode. Mirrors vllm/v1/core/sched/scheduler.py, vLLM 0.33.0, whose recorded
behaviour is in tests/conformance; the textbook axes (static batches, contiguous KV, caches by slot) hang on
the same loop, so that one idea can be switched at a time.
"""

from __future__ import annotations

from sim.engine.admission import admit_waiting
from sim.engine.blocks import blocks_for, register_full, release, take
from sim.engine.compiled import leaf, part
from sim.engine.layout import Cache, Rows, State, Status
from sim.engine.plan import clear_totals, plan_row
from sim.engine.queues import leave_slot, push_front
from sim.engine.record import Kind, Why, emit
from sim.engine.slots import make_room
from sim.engine.static import hold, last_active

_FINISHED = int(Status.FINISHED)
_PREEMPTED = int(Status.PREEMPTED)
_PER_SLOT = int(Cache.PER_SLOT)
_PREEMPT = int(Kind.PREEMPT)
_SKIP = int(Kind.SKIP)
_STALL = int(Kind.STALL)
_PREEMPTION = int(Why.PREEMPTION)
UNLIMITED = 1 << 30  # tokens; a static batch knows no budget


@part
def _try_to_grow(state: State, request: Rows, index: int, tokens: int) -> bool:
    """Take the blocks that `tokens` more tokens of a running request need: all of them or none."""
    config = state.config
    count = state.count
    if config.region_blocks > 0:
        return True
    total = min(request.computed + tokens, config.max_model_len)
    needed = blocks_for(total, config.block_size) - request.held
    if needed > 0:
        spare = count.cached if config.cache == _PER_SLOT else 0
        if needed > count.free + spare:
            return False
        if spare > 0:
            make_room(state, needed, -1)
        first = request.slot * config.table_width + request.held
        take(state, index, first, needed)
        request.held += needed
        request.room = request.held * config.block_size
    register_full(state, request, request.computed + tokens)
    return True


@part
def _pause(state: State, index: int) -> None:
    """Remember when a request's last token came, since none comes in this step."""
    request = state.requests[index]
    if request.last_step == state.count.steps - 1:
        request.last_s = state.count.emitted_s


@part
def _preempt(state: State) -> int:
    """Throw out the newest running request: blocks freed, computed tokens forgotten, back to the head of the line."""
    config = state.config
    count = state.count
    position = count.running - 1
    if config.is_static:
        position = last_active(state)
    index = int(state.seats[position].running)
    for p in range(position, count.running - 1):
        state.seats[p].running = state.seats[p + 1].running
    count.running -= 1
    victim = state.requests[index]
    _pause(state, index)
    emit(state, _PREEMPT, index, victim.hashed, 0)
    release(state, victim.slot * config.table_width, victim.held, victim.hashed)
    leave_slot(state, victim.slot)
    victim.status = _PREEMPTED
    victim.slot = -1
    victim.held = 0
    victim.room = 0
    victim.hashed = 0
    victim.computed = 0
    victim.drafts = 0
    victim.stale = victim.in_flight
    victim.placeholders = 0
    victim.preemptions += 1
    push_front(state, index)
    return index


@leaf
def _plan_running(state: State, request: Rows, index: int, tokens: int) -> None:
    """Plan a running request, with the drafts that the budget left it."""
    drafts = 0
    if request.drafts > 0:
        verified = tokens + request.computed - request.known - request.placeholders
        drafts = min(max(verified, 0), request.drafts)
        request.drafts = 0
    plan_row(state, request, index, tokens, drafts)


@part
def _tokens_to_plan(state: State, request: Rows, threshold: int, budget: int) -> int:
    """Tokens that a running request would get, by need, threshold, budget and the model's length."""
    config = state.config
    if request.placeholders > 0 and request.computed + 2 - request.placeholders >= request.target:
        return 0
    tokens = request.known + request.drafts + request.placeholders - request.computed
    if 0 < threshold < tokens:
        tokens = threshold
    return min(tokens, budget, config.max_model_len - request.computed - 1)


@part
def _flow(state: State, i: int, budget: int) -> int:
    """Decode the running requests from place `i` on whose next token is like the last; return where they end.

    The hot path, plain engine only: the token falls inside a block, follows a token of the step before and is
    not the last, so its outcome is known now and nothing has to be planned or recorded.
    """
    count = state.count
    first = i
    last = min(int(count.running), i + budget)
    step = count.steps
    context = 0
    while i < last:
        request = state.requests[state.seats[i].running]
        known = request.known
        if request.last_step != step - 1 or known != request.computed + 1:
            break
        if known >= request.room or known + 1 >= request.end:
            break
        request.computed = known
        request.known = known + 1
        request.last_step = step
        context += known
        i += 1
    count.decode += i - first
    count.regular += i - first
    count.decode_context += context
    return i


@part
def _stall(state: State, i: int) -> None:
    """Note that the budget left nothing for the running requests from place `i` on."""
    count = state.count
    emit(state, _STALL, -1, i, 0)
    for place in range(i, count.running):
        _pause(state, state.seats[place].running)


@part
def schedule(state: State) -> None:
    """Plan one step: running requests in order, then the waiting line if nobody had to be preempted."""
    config = state.config
    count = state.count
    clear_totals(state)
    budget = UNLIMITED if config.is_static else config.max_num_batched_tokens
    threshold = config.long_prefill_token_threshold if count.running + count.waiting > 1 else 0
    if count.held > 0:
        hold(state)
    is_plain = not config.is_async and config.num_speculative_tokens == 0
    has_prefill = False
    has_preempted = False
    i = 0
    while i < count.running and budget > 0:
        if is_plain:
            flowing = _flow(state, i, budget) - i
            i += flowing
            budget -= flowing
            if i == count.running or budget <= 0:
                break
        index = int(state.seats[i].running)
        request = state.requests[index]
        i += 1
        if request.status == _FINISHED:
            continue
        tokens = _tokens_to_plan(state, request, threshold, budget)
        if tokens == 0:
            _pause(state, index)
            emit(state, _SKIP, index, 0, 0)
            continue
        victim = -1
        while victim != index and not _try_to_grow(state, request, index, tokens):
            victim = _preempt(state)
            has_preempted = True
        if victim == index:
            break
        has_prefill |= request.is_chunked != 0
        _plan_running(state, request, index, tokens)
        budget -= tokens
    if i < count.running and budget <= 0:
        _stall(state, i)
    count.sampled += count.regular
    count.tokens += count.regular
    count.flowing = count.regular
    count.why = _PREEMPTION if count.waiting > 0 else 0
    if not has_preempted:
        admit_waiting(state, budget, threshold, has_prefill)
