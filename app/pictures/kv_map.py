"""The block map: each block of KV memory at a step in the colour of its owner, laid out as by static/js/kvdraw.js."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from app.blocks import memory_caption, owners_of
from app.moment import moment_of
from app.pictures.document import Drawing, Key, Picture
from app.pictures.setup import setup_parts
from app.pictures.shapes import group, label, number, path, rect, wrapped
from app.view import SERIES
from sim.frame import Pool, Row
from sim.run import Run

MOST_CELLS, MOST_PITCH, LABEL_FROM, LEVELS = 16_384, 26.0, 14.0, 4
HEIGHT, LINE = 220.0, 15.0
FREE, CACHED, OWN, HELD, SHARED, KEPT, RESERVED = range(7)

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cells:
    """What each block holds, by its id; block 0 is nobody's."""

    kind: Ints
    owner: Ints
    tokens: Ints
    users: Ints


@dataclass(frozen=True, slots=True)
class Layout:
    """Cells in rows as in memory; one stands for `per` blocks."""

    per: int
    count: int
    columns: int
    across: float
    down: float

    @property
    def pitch(self) -> float:
        return min(self.across, self.down)

    @property
    def rows(self) -> int:
        return ceil(self.count / self.columns)

    def corner(self, cell: int) -> tuple[float, float]:
        row, column = divmod(cell, self.columns)
        return column * self.across, row * self.down


def kv_map_picture(run: Run, name: str, t_s: float | None) -> Picture:
    """Blocks of a run at a time [s]; without one at the step that uses most."""
    step = _busiest(run) if t_s is None else moment_of(run, t_s).step
    pool = run.pool(step) if step >= 0 else None
    time_s = float(run.steps["start_s"][step]) if t_s is None and step >= 0 else t_s or 0.0
    usable, config = run.plan.usable_blocks, run.setting.config
    cells = cells_of(pool, usable, config.block_size, is_contiguous=config.region_blocks > 0)
    layout = layout_of(usable, 1.0, 1.0)
    told = _told(run, pool)
    where = f"step {step} · " if step >= 0 else ""
    scale = f" · a cell is {layout.per} blocks and shows the first of them in use" if layout.per > 1 else ""
    return Picture(
        title=f"KV blocks, {name.lower()}",
        subtitle=f"{where}t = {time_s:.3f} s{scale}",
        description=told,
        draw=lambda width, height: _draw(cells, usable, told, width, height),
        legend=_legend(cells, config.region_blocks > 0),
        caption=setup_parts(run.scenario),
        is_timed=run.scenario.server.cost != "unit",
    )


def layout_of(blocks: int, width: float, height: float) -> Layout:
    """Layout of a pool in a field of that size."""
    per = ceil(blocks / MOST_CELLS)
    count = ceil(blocks / per)
    columns = ceil(sqrt(count * width / height))
    rows = ceil(count / columns)
    return Layout(per, count, columns, min(width / columns, MOST_PITCH), min(height / rows, MOST_PITCH))


def cells_of(pool: Pool | None, usable: int, block_size: int, *, is_contiguous: bool) -> Cells:
    """Content of the blocks at a step; before the first all are free."""
    cells = Cells(*(np.zeros(usable + 1, np.int64) for _ in range(4)))
    if pool is None:
        return cells
    cells.kind[pool.cached] = CACHED
    for row in (*pool.frame.running, *pool.frame.done):
        _put(cells, row, HELD if row.phase == "held" else OWN, block_size)
        unused = -(-(row.computed + row.scheduled) // block_size)
        if is_contiguous:
            cells.kind[row.blocks[unused:]] = RESERVED
        np.add.at(cells.users, row.blocks, 1)
    for row in pool.kept:
        _put(cells, row, KEPT, block_size)
    cells.kind[cells.users > 1] = SHARED
    return cells


def _put(cells: Cells, row: Row, kind: int, block_size: int) -> None:
    filled = row.computed + row.scheduled - block_size * np.arange(len(row.blocks))
    cells.kind[row.blocks], cells.owner[row.blocks] = kind, row.request
    cells.tokens[row.blocks] = np.clip(filled, 0, block_size)


def _busiest(run: Run) -> int:
    return int(np.argmin(run.steps["free"])) if len(run.steps) else -1


def _told(run: Run, pool: Pool | None) -> str:
    usable, config = run.plan.usable_blocks, run.setting.config
    if pool is None:
        return f"All {usable:,} blocks are free · {config.block_size} tokens each."
    owners = owners_of(pool.frame)
    return memory_caption(pool.frame, owners, usable, config.block_size, config.region_blocks)


def _legend(cells: Cells, is_contiguous: bool) -> tuple[Key, ...]:
    halves = group(rect("hued", 0, 0, 6, 12), "s1") + group(rect("hued", 6, 0, 6, 12), "s2")
    kinds = set(cells.kind.tolist())
    keys = {
        OWN: Key(halves, "a request's, in its colour"),
        SHARED: Key(rect("part", 0, 0, 12, 12), "shared, ×requests"),
        HELD: Key(group(_hollow(0, 0, 12, 12), "s1"), "done but held"),
        KEPT: Key(rect("idle", 0, 0, 12, 12) + group(path("hued", "M0 0v12h12z"), "s1"), "kept by a free slot"),
        RESERVED: Key(group(rect("tint", 0, 0, 12, 12), "s1"), "reserved, unused"),
        CACHED: Key(rect("idle", 0, 0, 12, 12) + path("edge", "M0 0v12h12z"), "cached, free to take"),
        FREE: Key(rect("idle", 0, 0, 12, 12), "free"),
    }
    always = {OWN, FREE} | ({RESERVED} if is_contiguous else set())
    return tuple(key for kind, key in keys.items() if kind in kinds | always)


def _draw(cells: Cells, usable: int, told: str, width: float, height: float | None) -> Drawing:
    lines = wrapped(told.split(" "), width, " ")
    field = HEIGHT if height is None else max(24.0, height - LINE * len(lines) - 8)
    layout = layout_of(usable, width, field)
    shown = shown_blocks(cells, layout)
    shapes = (
        _runs(cells, layout, shown) + _details(cells, layout, shown) + _grid(layout) + _labels(cells, layout, shown)
    )
    tall = layout.rows * layout.down
    words = "".join(label("muted", 0, tall + 14 + i * LINE, line) for i, line in enumerate(lines))
    return Drawing(shapes + words, tall + 8 + LINE * len(lines))


def shown_blocks(cells: Cells, layout: Layout) -> Ints:
    """Block that each cell shows: the first of its blocks in use, else the first."""
    first = 1 + layout.per * np.arange(layout.count)
    if layout.per == 1:
        return first
    padded = np.zeros(layout.per * layout.count, np.int64)
    padded[: len(cells.kind) - 1] = cells.kind[1:]
    is_used = padded.reshape(layout.count, layout.per) > CACHED
    return np.asarray(first + np.argmax(is_used, axis=1))


def _looks(cells: Cells, shown: Ints) -> Ints:
    """Ground of each cell as a number: its kind and, where it is a request's, the colour."""
    kind = cells.kind[shown]
    ground = np.select([kind <= CACHED, kind == KEPT], [FREE, FREE], kind)
    has_colour = np.isin(ground, (OWN, HELD, RESERVED))
    looks: Ints = ground * SERIES + np.where(has_colour, cells.owner[shown] % SERIES, 0)
    return looks


def _runs(cells: Cells, layout: Layout, shown: Ints) -> str:
    """Grounds of the cells, equal neighbours of a row as one rectangle."""
    looks = _looks(cells, shown)
    place = np.arange(layout.count)
    starts = np.flatnonzero((np.diff(looks, prepend=-1) != 0) | (place % layout.columns == 0))
    pieces: dict[int, str] = {}
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), layout.count], strict=True):
        (x, y), look = layout.corner(start), int(looks[start])
        wide, tall = number((end - start) * layout.across), number(layout.down)
        pieces[look] = pieces.get(look, "") + f"M{number(x)} {number(y)}h{wide}v{tall}h-{wide}z"
    return "".join(_painted(*divmod(look, SERIES), steps) for look, steps in pieces.items())


def _painted(kind: int, series: int, steps: str) -> str:
    style = {FREE: "idle", SHARED: "part", OWN: "hued", HELD: "hued", RESERVED: "tint"}[kind]
    return group(path(style, steps), f"s{series + 1}" if style in ("hued", "tint") else "")


def _details(cells: Cells, layout: Layout, shown: Ints) -> str:
    """What a ground does not tell: how far a block is filled, held ones hollow, content of free ones in a corner."""
    shapes, cached = "", ""
    full = int(cells.tokens.max(initial=1))
    for cell in np.flatnonzero(cells.kind[shown] != FREE).tolist():
        block, (x, y) = int(shown[cell]), layout.corner(cell)
        kind, series = int(cells.kind[block]), int(cells.owner[block]) % SERIES + 1
        level = ceil(LEVELS * int(cells.tokens[block]) / full)
        corner = f"M{number(x)} {number(y)}v{number(layout.down)}h{number(layout.across)}z"
        if kind == CACHED:
            cached += corner
        elif kind == KEPT:
            shapes += group(path("hued", corner), f"s{series}")
        elif kind == HELD:
            shapes += _inside(x, y, layout.across, layout.down)
        elif kind == OWN and level < LEVELS:
            empty = layout.down * (1 - level / LEVELS)
            shapes += rect("card", x, y, layout.across, empty)
            shapes += group(rect("tint", x, y, layout.across, empty), f"s{series}")
    return path("edge", cached) + shapes


def _inside(x: float, y: float, width: float, height: float) -> str:
    line = max(0.75, min(2.0, width / 4))
    return rect("card", x + line, y + line, width - 2 * line, height - 2 * line)


def _hollow(x: float, y: float, width: float, height: float) -> str:
    return rect("hued", x, y, width, height) + _inside(x, y, width, height)


def _grid(layout: Layout) -> str:
    """Gaps between the cells, as lines in the colour of the card."""
    gap = 1.0 if layout.pitch >= 9 else 0.5 if layout.pitch >= 3 else 0.0
    if not gap:
        return ""
    wide, tall = layout.columns * layout.across, layout.rows * layout.down
    lines = "".join(f"M{number(i * layout.across - gap)} 0v{number(tall)}" for i in range(1, layout.columns + 1))
    lines += "".join(f"M0 {number(i * layout.down - gap)}h{number(wide)}" for i in range(1, layout.rows + 1))
    return f'<path class="gap" stroke-width="{gap}" d="{lines}"/>'


def _labels(cells: Cells, layout: Layout, shown: Ints) -> str:
    """The request's number on the first of its neighbouring cells; on shared ones how many share."""
    if layout.pitch < LABEL_FROM:
        return ""
    kind, owner = cells.kind[shown], cells.owner[shown]
    is_new = (np.diff(kind, prepend=-1) != 0) | (np.diff(owner, prepend=-1) != 0)
    is_first = is_new | (np.arange(layout.count) % layout.columns == 0)
    full = int(cells.tokens.max(initial=1))
    shapes = ""
    for cell in np.flatnonzero(is_first & (kind > CACHED)).tolist():
        block, (x, y) = int(shown[cell]), layout.corner(cell)
        series = int(owner[cell]) % SERIES + 1
        is_solid = kind[cell] == OWN and int(cells.tokens[block]) > full / 2
        ink = "card" if kind[cell] == SHARED else f"o{series}" if is_solid else "ink"
        text = f"×{cells.users[block]}" if kind[cell] == SHARED else str(int(owner[cell]) + 1)
        middle = x + (layout.across - 1) / 2
        shapes += label(f"strong middle {ink}", middle, y + layout.down / 2 + 3, text)
    return group(shapes, "small")
