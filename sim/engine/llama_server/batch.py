"""The batch of an iteration: one token of every generating slot, then prompts, too; llama.cpp's update_slots."""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.llama_server.layout import SlotState, State, Status
from sim.engine.llama_server.ram import hold_cells
from sim.engine.llama_server.record import SlotKind
from sim.engine.llama_server.sequences import common_prefix, set_beginning, token_at, write_out
from sim.engine.llama_server.shared import emit
from sim.engine.llama_server.tasks import release
from sim.engine.record import Kind

_STARTED = int(SlotState.STARTED)
_PROMPT = int(SlotState.PROCESSING_PROMPT)
_DONE = int(SlotState.DONE_PROMPT)
_GENERATING = int(SlotState.GENERATING)
_TOO_LONG = int(Status.TOO_LONG)
_CHUNK = int(Kind.CHUNK)
_CACHED = int(SlotKind.CACHED)
_SHIFT = int(SlotKind.SHIFT)


@part
def _shift_context(state: State, slot: int) -> None:
    """Drop half of what a full slot holds after its first n_keep tokens."""
    row = state.sequences[slot]
    request = state.requests[state.slots[slot].request]
    keep = request.n_keep if request.n_keep >= 0 else request.prompt
    keep = min(keep, state.config.n_ctx_slot - 4)
    drop = (row.length - keep) // 2
    if row.head > 0 and row.head != keep:
        write_out(state, slot, keep, drop)
    else:
        if row.head == 0:
            row.head_at = row.tail_at
            row.head = keep
        row.tail_at += drop
        row.length -= drop
    request.truncated = 1
    hold_cells(state, slot, state.slots[slot].kv - drop)
    emit(state, _SHIFT, state.slots[slot].request, drop, slot)


@leaf
def _add_part(state: State, slot: int, is_prompt: int, tokens: int) -> None:
    """Put the next tokens of a slot in the batch; from now on the slot's sequence has them."""
    count = state.count
    sequence = state.sequences[slot]
    row = state.parts[count.parts]
    row.slot = slot
    row.is_prompt = is_prompt
    row.position = sequence.length
    row.tokens = tokens
    row.has_output = 1 - is_prompt
    row.start = count.batch
    sequence.length += tokens
    count.parts += 1
    count.batch += tokens


@leaf
def _add_decodes(state: State) -> None:
    count = state.count
    for slot in range(state.config.n_slots):
        row = state.slots[slot]
        if row.state == _GENERATING:
            request = state.requests[row.request]
            sequence = state.sequences[slot]
            sequence.tail_at = request.text + request.prompt + request.generated - 1 - sequence.length
            row.i_batch = count.batch
            _add_part(state, slot, 0, 1)


@part
def _reused(state: State, slot: int, least: int) -> int:
    """Prompt tokens that need not be computed: the common prefix, and later equal pieces of at least `least` tokens.

    A piece is moved into place by shifting its KV (``--cache-reuse``); the slot's sequence is scanned forward once.
    """
    prompt = state.config.n_slots
    tokens = common_prefix(state, slot, prompt)
    if least <= 0:
        return tokens
    held = state.sequences[slot].length
    wanted = state.sequences[prompt].length
    at = tokens
    while at < held and tokens < wanted:
        piece = 0
        while at + piece < held and tokens + piece < wanted:
            if token_at(state, slot, at + piece) != token_at(state, prompt, tokens + piece):
                break
            piece += 1
        if piece >= least:
            tokens += piece
            at += piece
        else:
            at += 1
    return tokens


@part
def _begin_prompt(state: State, slot: int, index: int) -> None:
    """Keep of a slot what the prompt reuses; at least one token is computed."""
    request = state.requests[index]
    tokens = 0
    if request.cache_prompt:
        set_beginning(state, state.config.n_slots, request.text, request.prompt)
        tokens = _reused(state, slot, request.n_cache_reuse)
    if tokens == request.prompt and tokens > 0:
        tokens -= 1
    request.cached = tokens
    set_beginning(state, slot, request.text, tokens)
    hold_cells(state, slot, tokens)
    state.slots[slot].state = _PROMPT
    emit(state, _CACHED, index, tokens, slot)


@part
def _add_prompt(state: State, slot: int, index: int) -> None:
    """Put as much of a prompt in the batch as fits."""
    count = state.count
    request = state.requests[index]
    sequence = state.sequences[slot]
    tokens = min(request.prompt - sequence.length, state.config.n_batch - count.batch)
    if tokens > 0:
        emit(state, _CHUNK, index, tokens, sequence.length)
        sequence.tail_at = request.text
        _add_part(state, slot, 1, tokens)
    if sequence.length == request.prompt and count.parts > 0:
        state.parts[count.parts - 1].has_output = 1
        state.slots[slot].state = _DONE
        state.slots[slot].i_batch = count.batch - 1


@part
def make_batch(state: State) -> None:
    """Make the batch of one iteration; prompts too long for a slot are refused here, after their launch."""
    config = state.config
    count = state.count
    count.parts = 0
    count.batch = 0
    count.offset = 0
    count.n_batch = config.n_batch
    count.is_new = 1
    for slot in range(config.n_slots):
        if state.slots[slot].state == _GENERATING and state.sequences[slot].length + 1 >= config.n_ctx_slot:
            _shift_context(state, slot)
    count.batch_at = count.events
    _add_decodes(state)
    if not config.cont_batching and count.batch > 0:
        return
    for slot in range(config.n_slots):
        if count.batch >= config.n_batch:
            return
        row = state.slots[slot]
        if row.state == _STARTED:
            index = row.request
            if state.requests[index].prompt >= config.n_ctx_slot:
                release(state, slot, _TOO_LONG, count.now_s)
                continue
            _begin_prompt(state, slot, index)
        if row.state == _PROMPT:
            _add_prompt(state, slot, row.request)
