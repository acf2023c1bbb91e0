"""How far two texts are equal, without their tokens.

A text is a shared root or a request's prompt and outputs (`sim.workload.requests`). Its first `common` tokens are its
parent's, all others are its own, but for the end token a request may close with, which is the same for all.
"""

from __future__ import annotations

from sim.engine.compiled import leaf, routine
from sim.engine.sglang.layout import ENDLESS, State


@leaf
def _common_by_parents(state: State, a: int, b: int) -> int:
    """Equal leading tokens of two texts by whose beginnings they repeat."""
    x = a
    y = b
    most = ENDLESS
    while x != y:
        if state.texts[x].depth >= state.texts[y].depth:
            most = min(most, int(state.texts[x].common))
            x = int(state.texts[x].parent)
        else:
            most = min(most, int(state.texts[y].common))
            y = int(state.texts[y].parent)
    return most


@routine
def common_tokens(state: State, a: int, b: int) -> int:
    """Equal leading tokens of two texts, however long they are by now."""
    if a == b:
        return ENDLESS
    text = state.texts[a]
    other = state.texts[b]
    if text.origin != other.origin:
        return 0
    most = _common_by_parents(state, a, b)
    if text.stop == other.stop and text.stop <= most:
        return int(text.stop) + 1
    return min(most, int(text.stop), int(other.stop))


@leaf
def _owner(state: State, text: int, position: int) -> int:
    """Text whose own a token is."""
    owner = text
    while position < state.texts[owner].common:
        owner = int(state.texts[owner].parent)
    return owner


@routine
def page_key(state: State, text: int, start: int) -> int:
    """Tell the page that begins at `start` from others that follow on the same tokens.

    Two texts that own the same token are equal up to it, so the owner of a page's last token stands for the page.
    """
    page = state.config.page_size
    last = start + page - 1
    if last < state.texts[text].stop:
        return _owner(state, text, last) * 2
    if page == 1:
        return 1
    return _owner(state, text, last - 1) * 2 + 1
