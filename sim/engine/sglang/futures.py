"""The pool's future without shared prefixes: requests end one by one, each giving its tokens back."""

from __future__ import annotations

from sim.engine.compiled import leaf, part, routine
from sim.engine.sglang.layout import State


@leaf
def _left_tokens(state: State, index: int) -> float:
    """Tokens a request is taken to write yet."""
    request = state.requests[index]
    ratio = 1.0 if request.ignore_eos else float(state.count.ratio)
    return float(request.max_new * ratio - request.outputs)


@part
def _insert_at(state: State, place: int, left: float, index: int) -> None:
    count = state.count
    for i in range(count.futures, place, -1):
        state.scratch[i].left = state.scratch[i - 1].left
        state.scratch[i].occupied = state.scratch[i - 1].occupied
    row = state.scratch[place]
    row.left = left
    row.occupied = state.requests[index].prompt + state.requests[index].outputs
    count.futures += 1


@part
def _insert_sorted(state: State, index: int) -> None:
    """Insert behind all that are no later; requests with nothing left are not counted."""
    left = _left_tokens(state, index)
    if left > 0:
        place = int(state.count.futures)
        while place > 0 and state.scratch[place - 1].left > left:
            place -= 1
        _insert_at(state, place, left, index)


@leaf
def _insert_before(state: State, index: int) -> None:
    """Insert before the first that is no earlier; as in the real code, the latest of all goes before the last one."""
    left = _left_tokens(state, index)
    if left > 0:
        most = max(int(state.count.futures) - 1, 0)
        place = 0
        while place < most and not left <= state.scratch[place].left:
            place += 1
        _insert_at(state, place, left, index)


@leaf
def _list_futures(state: State, index: int) -> None:
    count = state.count
    count.futures = 0
    _insert_sorted(state, index)
    for i in range(count.running):
        _insert_sorted(state, int(state.seats[i].running))
    for i in range(count.batch):
        _insert_sorted(state, int(state.seats[i].batch))


@routine
def fits_in_future(state: State, index: int, free: int) -> bool:
    """Say whether memory lasts to every end that is foreseen, if the request is admitted and leaves `free` tokens."""
    count = state.count
    if count.futures < 0:
        _list_futures(state, index)
    else:
        _insert_before(state, index)
    freed = 0
    for i in range(count.futures):
        row = state.scratch[i]
        alive = count.futures - i
        if free + freed - row.left * alive <= alive:
            return False
        freed += row.occupied
    return True
