"""The plan of one step: which request gets how many tokens, and the totals that the cost model prices."""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.layout import Rows, State
from sim.engine.record import Kind, emit

_CHUNK = int(Kind.CHUNK)
_DRAFT = int(Kind.DRAFT)


@leaf
def clear_totals(state: State) -> None:
    """Begin a step: nothing planned, nothing counted."""
    count = state.count
    count.planned = 0
    count.tokens = 0
    count.prefill = 0
    count.decode = 0
    count.sampled = 0
    count.padding = 0
    count.admitted = 0
    count.needed = 0
    count.drafted = 0
    count.regular = 0
    count.flowing = 0
    count.decode_context = 0.0
    count.prefill_context = 0.0
    count.prefill_pairs = 0.0


@part
def plan_row(state: State, request: Rows, index: int, tokens: int, drafts: int) -> None:
    """Put a request into the step's plan and count what its tokens will cost."""
    config = state.config
    count = state.count
    row = state.plan[count.parity * len(state.seats) + count.planned]
    count.planned += 1
    row.request = index
    row.tokens = tokens
    row.drafts = drafts
    before = request.computed
    ahead = request.known + request.placeholders
    is_decode = ahead > request.prompt and before >= ahead - 1
    if tokens != 1 or not is_decode:
        emit(state, _CHUNK, index, tokens, before)
    if drafts != 0:
        emit(state, _DRAFT, index, abs(drafts), 1 if drafts < 0 else 0)
        count.drafted = max(count.drafted, abs(drafts))
    if is_decode:
        count.decode += tokens
        count.decode_context += before + tokens
    else:
        count.prefill += tokens
        count.prefill_context += before
        count.prefill_pairs += float(tokens) * (before + 0.5 * (tokens + 1))
    count.tokens += tokens
    request.computed = before + tokens
    ends = request.computed >= ahead
    request.is_chunked = 0 if ends else 1
    row.samples = 1 if ends else 0
    if ends:
        count.sampled += 1
    if config.is_async:
        request.in_flight += tokens
        if ends:
            request.placeholders += 1
