"""What slots hold, compared token by token."""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.llama_server.layout import State


@leaf
def token_at(state: State, index: int, position: int) -> int:
    """Token of a sequence at a position."""
    row = state.sequences[index]
    at = row.head_at if position < row.head else row.tail_at
    return state.tokens[at + position]


@part
def common_prefix(state: State, first: int, second: int) -> int:
    """Tokens that two sequences have in common from their beginning on; stretches of one text are not read."""
    a = state.sequences[first]
    b = state.sequences[second]
    limit = min(a.length, b.length)
    p = 0
    while p < limit:
        end = limit
        at = a.tail_at
        bt = b.tail_at
        if p < a.head:
            at = a.head_at
            end = min(end, a.head)
        if p < b.head:
            bt = b.head_at
            end = min(end, b.head)
        if at == bt:
            p = end
        while p < end:
            if state.tokens[at + p] != state.tokens[bt + p]:
                return p
            p += 1
    return p


@part
def begins_with(state: State, index: int, beginning: int) -> bool:
    """Say whether one sequence begins with another; its last token, most often another, is looked at first."""
    length = state.sequences[beginning].length
    if state.sequences[index].length < length:
        return False
    if token_at(state, index, length - 1) != token_at(state, beginning, length - 1):
        return False
    return common_prefix(state, index, beginning) == length


@leaf
def copy_sequence(state: State, to: int, index: int) -> None:
    """Let one row stand for the same tokens as another."""
    target = state.sequences[to]
    source = state.sequences[index]
    target.head_at = source.head_at
    target.tail_at = source.tail_at
    target.head = source.head
    target.length = source.length


@leaf
def set_beginning(state: State, index: int, text: int, length: int) -> None:
    """Let a row stand for the first tokens of a text."""
    row = state.sequences[index]
    row.head_at = text
    row.tail_at = text
    row.head = 0
    row.length = length


@part
def write_out(state: State, index: int, keep: int, drop: int) -> None:
    """Copy a sequence of more than two stretches into spare room, without `drop` tokens after the first `keep`.

    Only the defect (`imitates_defect`) makes such sequences.
    """
    count = state.count
    row = state.sequences[index]
    spare = count.spare
    assert spare + row.length <= len(state.tokens)
    for p in range(row.length - drop):
        state.tokens[spare + p] = token_at(state, index, p if p < keep else p + drop)
    row.head_at = spare
    row.tail_at += drop
    row.length -= drop
    row.head = row.length
    count.spare += row.length
