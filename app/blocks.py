"""Block tables and KV memory of a frame, in words and as slices of a bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from app.view import Slice, series
from sim.frame import Frame, Row

MOST_RUNS = 40


def table_text(blocks: Sequence[int], owners: Counter[int]) -> str:
    """Block table, logical → physical, runs up or down joined; ×n says how many requests share the blocks.

    Examples
    --------
    >>> table_text([4, 5, 6, 9, 8, 7], Counter({4: 2, 5: 2, 6: 1, 9: 1, 8: 1, 7: 1}))
    '0–1→4–5×2 2→6 3–5→9–7'
    """
    texts: list[str] = []
    start = 0
    while start < len(blocks) and len(texts) < MOST_RUNS:
        end = _run_end(blocks, owners, start)
        texts.append(_run_text(start, blocks[start:end], owners[blocks[start]]))
        start = end
    return " ".join(texts) + (" …" if start < len(blocks) else "")


def _run_end(blocks: Sequence[int], owners: Counter[int], start: int) -> int:
    """Where the run of blocks that begins at `start` ends: they rise or fall by one and have equally many users."""
    end = start + 1
    if end == len(blocks) or (way := blocks[end] - blocks[start]) not in (1, -1):
        return end
    while end < len(blocks) and blocks[end] - blocks[end - 1] == way and owners[blocks[end]] == owners[blocks[start]]:
        end += 1
    return end


def owners_of(frame: Frame) -> Counter[int]:
    """How many requests have each block in their table."""
    return Counter(block for row in (*frame.running, *frame.done) for block in row.blocks)


def memory_slices(frame: Frame, owners: Counter[int], usable: int) -> tuple[Slice, ...]:
    """Blocks by owner: of one request in its colour, shared and cached neutral; what is left of the bar is free."""
    rows = (*frame.running, *frame.done)
    own = [(row.request, sum(owners[block] == 1 for block in row.blocks)) for row in rows]
    shared = sum(count > 1 for count in owners.values())
    slices = [Slice(_percent(n, usable), series(r), "", f"request {r + 1}: {n} blocks") for r, n in own if n]
    slices.insert(0, Slice(_percent(shared, usable), 0, "shared", f"{shared} shared blocks"))
    slices.append(Slice(_percent(frame.cached_blocks, usable), 0, "cached", f"{frame.cached_blocks} cached and free"))
    return tuple(piece for piece in slices if piece.percent)


def memory_caption(frame: Frame, owners: Counter[int], usable: int, block_size: int, region: int) -> str:
    """Numbers of the bar, and what of the blocks in use is not used; static/js/kvwords.js says the same."""
    shared = sum(count > 1 for count in owners.values())
    parts = [f"{usable - frame.free_blocks:,} of {usable:,} blocks in use"]
    parts += [f"{shared:,} of them shared"] if shared else []
    parts += [f"{frame.kept_blocks:,} of them kept by free slots"] if frame.kept_blocks else []
    parts += [f"{frame.cached_blocks:,} more cached, free to take"] if frame.cached_blocks else []
    waste = _region_waste(frame, usable, block_size, region) if region else _block_waste(frame, len(owners), block_size)
    return f"{', '.join(parts)} · {block_size} tokens each. {waste}".strip()


def _block_waste(frame: Frame, blocks: int, block_size: int) -> str:
    """Paged KV wastes in the last block of a table only."""
    rows = [row for row in (*frame.running, *frame.done) if row.blocks]
    unused = sum(len(row.blocks) * block_size - _tokens(row) for row in rows)
    if not rows:
        return ""
    return f"Reserved but unused: {unused:,} tokens ({in_percent(unused, blocks * block_size)}), all in last blocks."


def _region_waste(frame: Frame, usable: int, block_size: int, region: int) -> str:
    """Both kinds of fragmentation, and how many more requests like those that run blocks would hold."""
    rows = [*frame.running, *frame.done]
    reserved, used = len(rows) * region * block_size, sum(_tokens(row) for row in rows)
    outside = frame.free_blocks % region
    inside = f"Internal fragmentation: {reserved - used:,} of {reserved:,} reserved tokens unused"
    texts = [f"{inside} ({in_percent(reserved - used, reserved)})."] if rows else []
    texts += [f"External: {outside:,} free blocks in which no reservation of {region:,} fits."]
    blocks = sum(-(-_tokens(row) // block_size) for row in rows)
    if blocks:
        more = usable * len(rows) // blocks - len(rows)
        mean = tenths(blocks, len(rows))
        texts += [f"Paged, with the {mean} blocks that each uses on average now, {more:,} more requests would fit."]
    return " ".join(texts)


def _tokens(row: Row) -> int:
    """Tokens whose keys and values are there once the step is done."""
    return row.computed + row.scheduled


def in_percent(part: int, whole: int) -> str:
    """Per cent with one digit, rounded as the page's script rounds it."""
    return f"{tenths(100 * part, whole)}\N{NO-BREAK SPACE}%"


def tenths(part: int, whole: int) -> str:
    """Quotient with one digit.

    Examples
    --------
    >>> tenths(49, 4)
    '12.3'
    """
    rounded = (20 * part + whole) // (2 * whole) if whole else 0
    return f"{rounded // 10:,}.{rounded % 10}"


def shares(amounts: Iterable[float], whole: float, least: float) -> list[float]:
    """Widths in per cent, none below `least`, so that a single token can be seen; together never over 100."""
    widths = [max(least, _percent(amount, whole)) for amount in amounts]
    total = sum(widths)
    return [width * 100 / total if total > 100 else width for width in widths]


def _run_text(start: int, blocks: Sequence[int], owners: int) -> str:
    text = f"{_span(start, start + len(blocks) - 1)}→{_span(blocks[0], blocks[-1])}"
    return f"{text}×{owners}" if owners > 1 else text


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _percent(amount: float, whole: float) -> float:
    return round(100 * amount / whole, 3) if whole else 0.0
