"""Admission from the waiting line: strictly from its head, while budget and slots last."""

from __future__ import annotations

from sim.engine.blocks import blocks_for, count_unused, find_prefix, register_full, share, take
from sim.engine.compiled import leaf, part
from sim.engine.layout import Cache, Rows, State, Status
from sim.engine.plan import plan_row
from sim.engine.queues import remove_waiting, take_slot, waiting_at
from sim.engine.record import Kind, Why, emit
from sim.engine.slots import choose_slot, cut_kept, kept_prefix, make_room
from sim.engine.static import pad_prompts

_RUNNING = int(Status.RUNNING)
_PREEMPTED = int(Status.PREEMPTED)
_SHARED = int(Cache.SHARED)
_PER_SLOT = int(Cache.PER_SLOT)
_ADMIT = int(Kind.ADMIT)
_RESUME = int(Kind.RESUME)
_RESERVE = int(Kind.RESERVE)
_BATCH = int(Kind.BATCH)
_SLOT = int(Why.SLOT)
_BLOCKS = int(Why.BLOCKS)
_BUDGET = int(Why.BUDGET)
_BATCH_RUNNING = int(Why.BATCH_RUNNING)
_WHOLE_PROMPT = int(Why.WHOLE_PROMPT)
_IN_FLIGHT = int(Why.IN_FLIGHT)


@part
def _fits(state: State, request: Rows, slot: int, hits: int, hit_tokens: int, tokens: int) -> bool:
    """Say whether there are blocks for this chunk, and by vLLM's gate for the whole known sequence, right now."""
    config = state.config
    count = state.count
    unused = 0 if config.cache == _PER_SLOT else count_unused(state, slot * config.table_width, hits)
    watermark = config.watermark_blocks if count.running > 0 else 0
    whole = 0
    if config.reserves_full_isl:
        whole = max(blocks_for(min(request.known, config.max_model_len), config.block_size) - hits, 0)
    chunk = max(blocks_for(min(hit_tokens + tokens, config.max_model_len), config.block_size) - hits, 0)
    needed = max(whole, chunk) + unused + watermark
    available = int(count.free)
    if config.cache == _PER_SLOT:
        needed += hits
        available += count.cached  # among them the hits
    if needed > available:
        count.needed = needed
        return False
    if config.cache == _PER_SLOT:
        cut_kept(state, slot, hits)
        make_room(state, needed - hits, slot)
    return True


@leaf
def _seat(state: State, request: Rows, index: int, slot: int, hits: int, hit_tokens: int) -> None:
    """Give the request its slot, and the blocks that its prefix hit."""
    config = state.config
    count = state.count
    kind = _ADMIT if request.status != _PREEMPTED else _RESUME
    emit(state, kind, index, hit_tokens, slot)
    row = state.seats[slot]
    if config.cache == _PER_SLOT:
        count.cached -= row.kept_blocks
        row.kept = -1
        row.kept_tokens = 0
        row.kept_blocks = 0
    else:
        share(state, index, slot * config.table_width, hits)
    take_slot(state, slot, index)
    request.slot = slot
    request.held = hits
    request.hashed = hits if config.cache == _SHARED else 0
    request.computed = hit_tokens
    if kind == _ADMIT:
        request.hit = hit_tokens
        request.scheduled_s = count.now_s
    request.status = _RUNNING
    state.seats[count.running].running = index
    count.running += 1
    count.admitted += 1


@leaf
def _fill(state: State, request: Rows, index: int, tokens: int) -> None:
    """Take the blocks of the first chunk, or the whole reservation when KV is contiguous."""
    config = state.config
    count = state.count
    if config.region_blocks > 0:
        emit(state, _RESERVE, index, config.region_blocks, 1 + request.slot * config.region_blocks)
        count.free -= config.region_blocks
        request.room = config.region_blocks * config.block_size + 1
        return
    total = min(request.computed + tokens, config.max_model_len)
    needed = max(blocks_for(total, config.block_size) - request.held, 0)
    first = request.slot * config.table_width + request.held
    take(state, index, first, needed)
    request.held += needed
    request.room = request.held * config.block_size
    register_full(state, request, request.computed + tokens)


@leaf
def _wants_padding(state: State, hit_tokens: int, needed: int, has_prefill: bool, ran: bool) -> bool:
    """Say whether vLLM pads a request with one token left by placeholder drafts (speculation only)."""
    config = state.config
    drafts = config.num_speculative_tokens
    if drafts == 0 or needed != 1 or has_prefill or not (ran or hit_tokens > 0):
        return False
    return hit_tokens + 2 + drafts <= config.max_model_len


@part
def _admit_head(state: State, position: int, budget: int, threshold: int, has_prefill: bool, ran: bool) -> int:
    """Try to admit the request at `position` of the line; return its tokens, or minus the reason why not."""
    config = state.config
    index = int(waiting_at(state, position))
    request = state.requests[index]
    slot = choose_slot(state, request, index)
    hit_tokens = kept_prefix(state, request, index, slot)
    hits = blocks_for(hit_tokens, config.block_size) if config.region_blocks == 0 else 0
    if config.cache != _PER_SLOT:
        hits = find_prefix(state, request, slot)
        hit_tokens = hits * config.block_size
    tokens = int(request.known - hit_tokens)
    drafts = 0
    if _wants_padding(state, hit_tokens, tokens, has_prefill, ran):
        drafts = config.num_speculative_tokens
        tokens = 1 + drafts
        if tokens > budget:
            return -_BUDGET
    if not config.is_static:
        if 0 < threshold < tokens:
            tokens = threshold
        if not config.is_chunked and tokens > budget:
            return -_WHOLE_PROMPT
        tokens = min(tokens, budget)
    if config.region_blocks == 0 and not _fits(state, request, slot, hits, hit_tokens, tokens):
        return -_BLOCKS
    remove_waiting(state, position)
    _seat(state, request, index, slot, hits, hit_tokens)
    _fill(state, request, index, tokens)
    plan_row(state, request, index, tokens, -drafts)
    return tokens


@leaf
def admit_waiting(state: State, budget: int, threshold: int, has_prefill: bool) -> None:
    """Admit from the head of the line until something runs out; say in `count.why` what did."""
    config = state.config
    count = state.count
    ran = count.planned > 0
    skipped = 0
    longest = 0
    longest_pairs = 0.0
    count.why = 0
    if config.is_static and count.running > 0:
        count.why = _BATCH_RUNNING if count.waiting > 0 else 0
        return
    while count.waiting > skipped:
        if budget <= 0:
            count.why = _BUDGET
            break
        if count.running >= config.num_seats:
            count.why = _SLOT if config.num_seats == config.max_num_seqs else _BLOCKS
            break
        if state.requests[waiting_at(state, skipped)].stale > 0:
            skipped += 1
            continue
        pairs = count.prefill_pairs
        taken = _admit_head(state, skipped, budget, threshold, has_prefill, ran)
        if taken < 0:
            count.why = -taken
            break
        budget -= taken
        longest = max(longest, taken)
        longest_pairs = max(longest_pairs, count.prefill_pairs - pairs)
    if count.why == 0 and count.waiting > 0:
        count.why = _IN_FLIGHT
    if config.is_static and count.admitted > 0:
        emit(state, _BATCH, -1, count.admitted, longest)
        pad_prompts(state, longest, longest_pairs)
