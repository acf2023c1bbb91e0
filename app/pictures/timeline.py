"""The timeline: slots over time, a lane for each run above the waiting line of it, all on one axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.bars import bars_of
from app.moment import end_of, moment_of
from app.names import Name, names_of, subtitle_of, title_of
from app.pictures.document import Drawing, Key, Picture
from app.pictures.setup import setup_parts
from app.pictures.shapes import group, hatch, label, number, path, rect, width_of
from app.view import SERIES, series
from sim.fork import FORK
from sim.run import Run

MOST_S = 30.0
"""Longest span; of a longer run the picture shows what is around the time."""
MOST_BARS = 2500
ALL_ROWS = 32
GUTTER, AXIS, STRIP, GAP = 100.0, 26.0, 26.0, 10.0
LABEL_FROM = 17.0
NARROW = 560.0

LEGEND = (
    Key(rect("", 0, 0, 12, 12, ' rx="3" fill="url(#p1)"'), "prefill"),
    Key(group(rect("hued", 0, 0, 12, 12, ' rx="3"'), "s1"), "decode"),
    Key(group(rect("card held", 0.5, 0.5, 11, 11), "s1"), "done, slot held"),
    Key(rect("idle", 0, 0, 12, 12, ' rx="3"'), "slot empty"),
    Key(rect("bad", 4, 0, 3, 12), "preempted"),
    Key(rect("wait", 0, 3, 12, 9), "waiting line"),
    Key(rect("ink", 5, 1, 1.5, 9), "arrives"),
)
HATCHES = "".join(hatch(f"p{i}", f"s{i}") for i in range(1, SERIES + 1))


def timeline_picture(runs: Mapping[str, Run], t_s: float | None) -> Picture:
    """The runs, the last at the top; a playhead if there is a time [s]."""
    scenarios = {name: run.scenario for name, run in runs.items()}
    names = names_of(scenarios)
    clock = "" if t_s is None else f" · t = {t_s:.3f} s"
    return Picture(
        title=title_of(names, scenarios),
        subtitle=subtitle_of(scenarios) + clock,
        description=" ".join(_told(run, names[name].label, t_s) for name, run in runs.items()),
        draw=lambda width, height: _draw(runs, names, t_s, width, height),
        definitions=HATCHES,
        legend=LEGEND,
        caption=setup_parts(scenarios["a"]),
        is_timed=scenarios["a"].server.cost != "unit",
    )


def _told(run: Run, name: str, t_s: float | None) -> str:
    metrics = run.metrics()
    text = f"{name}: {metrics['finished']} of {len(run.results)} requests finish in {end_of(run):.2f} s"
    if t_s is None:
        return f"{text}."
    step = moment_of(run, t_s)
    row = run.steps[step.step] if step.is_running else None
    now = "the server is idle" if row is None else f"{row['running']} running, {row['waiting']} waiting"
    return f"{text}; at {t_s:.2f} s {now}."


class _Axis(NamedTuple):
    """Time along the width."""

    start_s: float
    end_s: float
    width: float

    def x(self, time_s: float) -> float:
        share = (time_s - self.start_s) / max(self.end_s - self.start_s, 1e-9)
        return self.width * min(1.0, max(0.0, share))


class _Lane(NamedTuple):
    """One run with its bars, where it is drawn and how."""

    run: Run
    name: Name
    bars: NDArray[Any]
    rows: int
    height: float

    @property
    def pitch(self) -> float:
        return (self.height - STRIP - 4) / self.rows


def span_of(end_s: float, t_s: float) -> tuple[float, float]:
    """Time that a picture shows [s]: all of a short run, of a long one what is around the time."""
    if end_s <= 2 * MOST_S:
        return 0.0, end_s
    start_s = min(max(0.0, t_s - MOST_S / 2), end_s - MOST_S)
    return start_s, start_s + MOST_S


def _draw(
    runs: Mapping[str, Run], names: Mapping[str, Name], t_s: float | None, width: float, height: float | None
) -> Drawing:
    is_narrow = width < NARROW
    gutter, head = (0.0, 18.0) if is_narrow else (GUTTER, 0.0)
    now_s = t_s or 0.0
    axis = _Axis(*span_of(max(end_of(run) for run in runs.values()), now_s), width - gutter)
    share = None if height is None else (height - AXIS) / len(runs) - GAP - head
    lanes = [_lane(run, names[name], axis, share) for name, run in reversed(list(runs.items()))]
    most = max(int(lane.run.steps["waiting"].max(initial=0)) for lane in lanes)
    shapes, y = "", 0.0
    for run, lane in zip(reversed(list(runs)), lanes, strict=True):
        mark = _fork_mark(axis, runs, run, lane.height)
        shapes += group(_lane_name(lane, is_narrow), y=y + (0 if is_narrow else lane.height / 2 - 22))
        shapes += group(_lane_shapes(lane, axis, most, t_s, mark), x=gutter, y=y + head)
        y += head + lane.height + GAP
    shapes += group(_axis_shapes(axis, runs["a"].results["arrival_s"]), x=gutter, y=y - 4)
    return Drawing(shapes, y - 4 + AXIS)


def _lane(run: Run, name: Name, axis: _Axis, height: float | None) -> _Lane:
    bars = bars_of(run)
    slots = run.slots
    used = int(bars["slot"].max(initial=0)) + 1
    rows = slots if slots <= ALL_ROWS else min(slots, max(used, ALL_ROWS // 2))
    seen = bars[(bars["free_s"] > axis.start_s) & (bars["start_s"] < axis.end_s)]
    tall = min(rows * 19, 120 + rows * 4, 380) + STRIP + 4
    return _Lane(run, name, seen[:MOST_BARS], rows, tall if height is None else max(height, STRIP + 12))


def _lane_name(lane: _Lane, is_narrow: bool) -> str:
    slots = lane.run.slots
    notes = [lane.name.note] if lane.name.note else []
    notes += [f"1–{lane.rows} of {slots} slots drawn"] if lane.rows < slots else []
    notes += [f"first {MOST_BARS:,} bars drawn"] if len(lane.bars) == MOST_BARS else []
    if is_narrow:
        name = label("ink strong", 0, 11, lane.name.label)
        return name + label("muted", 8 + width_of(lane.name.label, is_bold=True), 11, " · ".join(notes))
    lines = [line for text in (lane.name.label, *notes) for line in _broken(text)]
    names = len(_broken(lane.name.label))
    return "".join(
        label("ink strong" if i < names else "muted", 0, 11 + 14 * i, line) for i, line in enumerate(lines[:6])
    )


def _broken(text: str) -> list[str]:
    """Lines that fit beside a lane."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}") <= GUTTER - 8:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _lane_shapes(lane: _Lane, axis: _Axis, most_waiting: int, t_s: float | None, mark: str) -> str:
    gap = 3.0 if lane.pitch >= 8 else 1.0 if lane.pitch >= 4 else 0.0
    tall = lane.pitch - gap
    rows = "".join(rect("lane", 0, i * lane.pitch, axis.width, tall) for i in range(lane.rows))
    bars = "".join(_bar(bar, axis, bar["slot"] * lane.pitch, tall) for bar in lane.bars if bar["slot"] < lane.rows)
    strip = group(_waiting(lane.run, axis, most_waiting), y=lane.height - STRIP)
    return rows + bars + strip + mark + (_playhead(lane, axis, t_s) if t_s is not None else "")


def _fork_mark(axis: _Axis, runs: Mapping[str, Run], run: str, height: float) -> str:
    """Where the plain run and its fork part: a dashed line in both, and in the fork's lane the same past is faint."""
    fork = runs[FORK].scenario.fork if FORK in runs and runs[FORK].fork_step is not None else None
    if not fork or run not in ("a", FORK):
        return ""
    x = axis.x(fork.time_s)
    veil = rect("card", 0, 0, x, height, ' opacity="0.62"') if run == FORK else ""
    is_seen = axis.start_s <= fork.time_s <= axis.end_s
    return veil + "".join(rect("ink", x - 0.75, y, 1.5, 5) for y in range(0, int(height), 9) if is_seen)


def _bar(bar: NDArray[Any], axis: _Axis, y: float, tall: float) -> str:
    request, colour = int(bar["request"]), series(int(bar["request"]))
    start, decode, end, free = (axis.x(float(bar[name])) for name in ("start_s", "decode_s", "end_s", "free_s"))
    gap = 1.0 if end - start > 4 else 0.0
    shapes = ""
    if free - end > 2:
        shapes += rect("card held", end + 0.5, y + 0.5, free - end - 2, max(tall - 1, 0.5))
    if decode > start or end == start:
        shapes += rect("", start, y, max(1.0, min(decode, end - gap) - start), tall, f' fill="url(#p{colour})"')
    if end - decode - gap > 0:
        shapes += rect("hued", decode, y, end - decode - gap, tall)
    if bar["preempted"]:
        shapes += _preempted(end, y, tall)
    if tall >= 9 and end - decode >= LABEL_FROM + 6 * (len(str(request + 1)) - 2):
        shapes += label(f"strong o{colour}", decode + 4, y + tall / 2 + 4, request + 1)
    return group(shapes, f"s{colour}")


def _preempted(x: float, y: float, tall: float) -> str:
    wing = min(6.0, tall / 2)
    middle = f"M{number(x - 3)} {number(y + tall / 2 - wing)}"
    arrow = f"{middle}l{number(-wing)} {number(wing)} {number(wing)} {number(wing)}z"
    return rect("card", x - 4, y, 4, tall) + rect("bad", x - 3, y, 2, tall) + path("bad", arrow)


def _waiting(run: Run, axis: _Axis, most: int) -> str:
    """The waiting line as an area: for every pixel the most that waited."""
    base = rect("line", 0, STRIP - 1, axis.width, 1)
    steps = run.steps
    if not len(steps) or not axis.width:
        return base
    edges_s = np.linspace(axis.start_s, axis.end_s, int(axis.width) + 1)
    first = np.maximum(np.searchsorted(steps["start_s"], edges_s[:-1], "right") - 1, 0)
    last = np.maximum(np.searchsorted(steps["start_s"], edges_s[1:], "left") - 1, first)
    waiting = np.append(steps["waiting"], 0)
    tallest = np.maximum.reduceat(waiting, np.column_stack([first, last + 1]).ravel())[::2]
    is_idle = (first == last) & (run.ends_s()[first] <= edges_s[:-1])
    heights = np.where(is_idle, 0, tallest) * (STRIP - 2) / max(4, most)
    changes = np.flatnonzero(np.diff(heights, prepend=0))
    outline = "".join(f"H{x}V{number(STRIP - h)}" for x, h in zip(changes, heights[changes], strict=True))
    return base + path("wait", f"M0 {number(STRIP)}{outline}H{len(heights)}V{number(STRIP)}z" if outline else "")


def _playhead(lane: _Lane, axis: _Axis, t_s: float) -> str:
    moment = moment_of(lane.run, t_s)
    waiting = int(lane.run.steps["waiting"][moment.step]) if moment.is_running else 0
    x, text = axis.x(t_s), f"{waiting} waiting"
    line = rect("ink", x - 1, 0, 2, lane.height + (0 if axis.width < NARROW - GUTTER else GAP))
    is_left = x > axis.width - 90
    wide = width_of(text, is_bold=True) + 8
    back = rect("card", x - 3 - wide if is_left else x + 3, lane.height - 16, wide, 15, ' rx="4" fill-opacity=".85"')
    return (
        line
        + back
        + label("ink strong" + (" num" if is_left else ""), x - 7 if is_left else x + 7, lane.height - 5, text)
    )


def _axis_shapes(axis: _Axis, arrivals_s: NDArray[np.float64]) -> str:
    seen = arrivals_s[(arrivals_s >= axis.start_s) & (arrivals_s <= axis.end_s)]
    places = np.unique(np.round([axis.x(t) for t in seen.tolist()], 1)).tolist()
    marks = path("stroke", "".join(f"M{number(x + 0.5)} 1v7" for x in places))
    step = tick_s(axis.end_s - axis.start_s, axis.width)
    ticks = np.arange(np.ceil(axis.start_s / step), np.floor(axis.end_s / step) + 1) * step
    return marks + "".join(_tick(axis, t) for t in ticks.tolist())


def _tick(axis: _Axis, t_s: float) -> str:
    x, text = axis.x(t_s), f"{t_s:.10g} s"
    half = width_of(text) / 2
    mark = rect("edge", min(x, axis.width - 1), 10, 1, 3)
    return mark + label("muted", min(axis.width - 2 * half, max(0, x - half)), 23, text)


def tick_s(span_s: float, width: float) -> float:
    """Round distance of ticks that leaves each label room [s]."""
    least = max(span_s, 1e-6) / max(2.0, min(10.0, width / 64))
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9)))
