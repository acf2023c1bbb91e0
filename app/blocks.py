"""Block tables and KV memory of a frame, in words and as slices of a bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from app.view import Slice, series
from sim.frame import Frame

MOST_RUNS = 40


def table_text(blocks: Sequence[int], owners: Counter[int]) -> str:
    """Physical blocks in the order of the text, runs joined; ×n says how many requests share them.

    Examples
    --------
    >>> table_text([4, 5, 6, 9], Counter({4: 2, 5: 2, 6: 1, 9: 1}))
    '4–5×2 6 9'
    """
    runs: list[list[int]] = []
    for block in blocks:
        if runs and block == runs[-1][1] + 1 and owners[block] == owners[runs[-1][1]]:
            runs[-1][1] = block
        else:
            runs.append([block, block])
    texts = [_run_text(first, last, owners[first]) for first, last in runs[:MOST_RUNS]]
    return " ".join(texts) + (" …" if len(runs) > MOST_RUNS else "")


def owners_of(frame: Frame) -> Counter[int]:
    """How many requests have each block in their table."""
    return Counter(block for row in frame.running for block in row.blocks)


def memory_slices(frame: Frame, owners: Counter[int], usable: int) -> tuple[Slice, ...]:
    """Blocks by owner: of one request in its colour, shared and cached neutral; what is left of the bar is free."""
    own = [(row.request, sum(owners[block] == 1 for block in row.blocks)) for row in frame.running]
    shared = sum(count > 1 for count in owners.values())
    slices = [Slice(_percent(n, usable), series(r), "", f"request {r + 1}: {n} blocks") for r, n in own if n]
    slices.insert(0, Slice(_percent(shared, usable), 0, "shared", f"{shared} shared blocks"))
    slices.append(Slice(_percent(frame.cached_blocks, usable), 0, "cached", f"{frame.cached_blocks} cached and free"))
    return tuple(piece for piece in slices if piece.percent)


def memory_caption(frame: Frame, owners: Counter[int], usable: int, block_size: int) -> str:
    """Numbers of the bar."""
    shared = sum(count > 1 for count in owners.values())
    parts = [f"{usable - frame.free_blocks:,} of {usable:,} blocks in use"]
    parts += [f"{shared:,} of them shared"] if shared else []
    parts += [f"{frame.cached_blocks:,} more cached, free to take"] if frame.cached_blocks else []
    return f"{', '.join(parts)} · {block_size} tokens each"


def shares(amounts: Iterable[float], whole: float, least: float) -> list[float]:
    """Widths in per cent, none below `least`, so that a single token can be seen; together never over 100."""
    widths = [max(least, _percent(amount, whole)) for amount in amounts]
    total = sum(widths)
    return [width * 100 / total if total > 100 else width for width in widths]


def _run_text(first: int, last: int, owners: int) -> str:
    span = str(first) if first == last else f"{first}–{last}"
    return f"{span}×{owners}" if owners > 1 else span


def _percent(amount: float, whole: float) -> float:
    return round(100 * amount / whole, 3) if whole else 0.0
