"""How a decode call is cut into ubatches, each of them one pass over the weights."""

from __future__ import annotations

from sim import cost
from sim.engine.compiled import leaf, part
from sim.engine.llama_server.layout import State

_price = part(cost.price)


@part
def cut_view(state: State, first: int, end: int) -> None:
    """Set for every part of the batch which of its tokens lie between two places of the batch."""
    count = state.count
    for i in range(count.parts):
        row = state.parts[i]
        begin = max(first, row.start)
        row.left = max(min(end, row.start + row.tokens) - begin, 0)
        row.at = row.position + begin - row.start


@part
def _price_ubatch(state: State, chosen: int, tokens: int) -> float:
    """Give the next tokens of the chosen parts to one ubatch: `tokens` of each, or so many in all if chosen is 0."""
    count = state.count
    ubatch = state.ubatches[count.ubatches]
    total = 0
    sampled = 0
    decode_context = 0.0
    prefill_context = 0.0
    pairs = 0.0
    for i in range(count.parts):
        row = state.parts[i]
        if row.left == 0 or (chosen > 0 and row.chosen != chosen):
            continue
        n = tokens if chosen > 0 else min(row.left, tokens - total)
        if row.is_prompt:
            count.prefill += n
            prefill_context += row.at
            pairs += n * row.at + n * (n + 1) / 2
        else:
            count.decode += n
            decode_context += row.at + 1
        row.at += n
        row.left -= n
        if row.has_output and row.at == row.position + row.tokens:
            sampled += 1
        total += n
        if chosen == 0 and total == tokens:
            break
    count.sampled += sampled
    count.decode_context += decode_context
    count.prefill_context += prefill_context
    count.prefill_pairs += pairs
    is_last = state.calls[count.steps].tokens == count.prefill + count.decode
    ubatch.duration_s = _price(
        state.cost,
        float(total),
        float(sampled),
        float(decode_context),
        float(prefill_context),
        float(pairs),
        float(count.busy) if is_last else 0.0,
        float(count.admitted) if is_last else 0.0,
        0.0,
        ubatch,
    )
    count.ubatches += 1
    return ubatch.duration_s


@leaf
def _choose(state: State, begin: int, number: int) -> int:
    """Mark the parts of the next ubatch: from the first with tokens left on, those of the slot just above the last."""
    slots = 0
    last = -1
    for i in range(begin, state.count.parts):
        row = state.parts[i]
        if row.left > 0 and (slots == 0 or row.slot == last + 1):
            row.chosen = number
            last = row.slot
            slots += 1
            if slots >= state.config.n_ubatch:
                break
    return slots


@part
def _split_equal(state: State, tokens: int) -> float:
    """Cut with separate KV: a ubatch has equally many tokens of each of its slots, which are neighbours."""
    config = state.config
    count = state.count
    duration_s = 0.0
    begin = 0
    number = 0
    while tokens > 0:
        while state.parts[begin].left == 0:
            begin += 1
        number += 1
        slots = _choose(state, begin, number)
        least = tokens
        for i in range(begin, count.parts):
            row = state.parts[i]
            if row.left > 0 and row.chosen == number:
                least = min(least, row.left)
        each = max(1, min(least, config.n_ubatch // slots))
        ubatch = state.ubatches[count.ubatches]
        ubatch.first = state.parts[begin].slot
        ubatch.slots = slots
        ubatch.tokens = each
        duration_s += _price_ubatch(state, number, each)
        tokens -= slots * each
    return duration_s


@part
def _split_simple(state: State, tokens: int) -> float:
    """Cut with unified KV or one slot: the batch in its order, n_ubatch tokens at a time."""
    count = state.count
    duration_s = 0.0
    while tokens > 0:
        n = min(tokens, state.config.n_ubatch)
        ubatch = state.ubatches[count.ubatches]
        ubatch.first = 0
        ubatch.slots = 0
        ubatch.tokens = n
        duration_s += _price_ubatch(state, 0, n)
        tokens -= n
    return duration_s


@part
def split(state: State, tokens: int) -> float:
    """Cut the view of a decode call into ubatches, priced one by one; return the time of all [s]."""
    for i in range(state.count.parts):
        state.parts[i].chosen = 0
    if state.config.kv_unified or state.config.n_slots == 1:
        return _split_simple(state, tokens)
    return _split_equal(state, tokens)
