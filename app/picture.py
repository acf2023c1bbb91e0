"""The timeline as SVG, for pages without scripts: bars, hatches and numbers as on the canvas, widths in per cent."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from app.bars import bars_of
from app.view import series
from sim.run import Run

ROWS_PERCENT = 84.0
LABEL_PERCENT = 2.2
MOST_BARS = 1500

_HATCHES = "".join(
    f'<pattern id="hatch-{{lane}}-{i}" data-series="{i}" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(-45)"><rect class="tint" width="6" height="6"/>'
    '<rect class="decode" width="6" height="2.4"/></pattern>'
    for i in range(1, 9)
)


Span = tuple[float, float]
"""Start and end of the time that is shown [s]."""


def lane_picture(run: Run, name: str, span_s: Span, now_s: float, most_waiting: int) -> Markup:
    """Slots and waiting line of one run, with a line at `now_s` [s].

    All runs of a figure share `most_waiting`, so that their strips have one scale.
    """
    slots = run.scenario.server.max_num_seqs
    bars = bars_of(run)
    bars = bars[(bars["free_s"] > span_s[0]) & (bars["start_s"] < span_s[1])][:MOST_BARS]
    axis = _Axis(span_s, slots)
    drawn = "".join(_bar(bar, name, axis) for bar in bars)
    lanes = "".join(
        f'<rect class="lane-row" y="{axis.y(i)}" width="100%" height="{axis.height}"/>' for i in range(slots)
    )
    strip = _waiting(run, axis, most_waiting)
    line = f'<rect class="line" x="{axis.x(now_s)}" width="2" height="100%"/>'
    return _svg(f"<defs>{_HATCHES.replace('{lane}', name)}</defs>{lanes}{drawn}{strip}{line}")


def axis_picture(arrivals_s: NDArray[np.float64], span_s: Span) -> Markup:
    """Time axis with a mark where each request arrives."""
    axis = _Axis(span_s, 1)
    seen = arrivals_s[(arrivals_s >= span_s[0]) & (arrivals_s <= span_s[1])][:MOST_BARS]
    marks = "".join(f'<rect class="line" x="{axis.x(float(t))}" width="1.25" y="1" height="7"/>' for t in seen)
    step = _tick_s(span_s[1] - span_s[0])
    ticks = np.arange(np.ceil(span_s[0] / step), np.floor(span_s[1] / step) + 1) * step
    labels = "".join(f'<text class="tick" x="{axis.x(t)}" y="19">{t:.10g} s</text>' for t in ticks.tolist())
    return _svg(marks + labels)


def _tick_s(span_s: float) -> float:
    """Round distance of about eight ticks [s]."""
    power = 10.0 ** np.floor(np.log10(max(span_s, 1e-6) / 8))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor * 8 >= span_s))


def _svg(inside: str) -> Markup:
    # Made of numbers and our own names only.
    return Markup(f'<svg width="100%" height="100%" aria-hidden="true">{inside}</svg>')  # noqa: S704


class _Axis:
    """Places in per cent of the picture."""

    def __init__(self, span_s: Span, slots: int) -> None:
        self.start_s, self.span_s = span_s[0], max(span_s[1] - span_s[0], 1e-9)
        self.pitch = ROWS_PERCENT / slots
        self.height = f"{0.86 * self.pitch:.3f}%"

    def share(self, time_s: float) -> float:
        return min(100.0, max(0.0, 100 * (time_s - self.start_s) / self.span_s))

    def x(self, time_s: float) -> str:
        return f"{self.share(time_s):.3f}%"

    def y(self, slot: int) -> str:
        return f"{slot * self.pitch:.3f}%"


def _rect(style: str, axis: _Axis, slot: int, from_s: float, to_s: float, more: str = "") -> str:
    width = axis.share(to_s) - axis.share(from_s)
    if width <= 0:
        return ""
    place = f'x="{axis.x(from_s)}" y="{axis.y(slot)}" width="{width:.3f}%" height="{axis.height}"'
    return f'<rect class="{style}" {place}{more}/>'


def _bar(bar: NDArray[Any], lane: str, axis: _Axis) -> str:
    request, slot, start_s, decode_s, end_s, free_s, is_preempted = bar.tolist()
    colour = series(request)
    held = _rect("held", axis, slot, end_s, free_s)
    prefill = _rect("prefill", axis, slot, start_s, decode_s, f' fill="url(#hatch-{lane}-{colour})"')
    decode = _rect("decode", axis, slot, decode_s, end_s)
    mark = (
        f'<rect class="mark" x="{axis.x(end_s)}" y="{axis.y(slot)}" width="2" height="{axis.height}"/>'
        if is_preempted
        else ""
    )
    label = ""
    if axis.share(end_s) - axis.share(decode_s) > LABEL_PERCENT and axis.pitch > 5:
        label = f'<text x="{axis.x(decode_s)}" y="{(slot + 0.46) * axis.pitch:.3f}%" dx="4">{request + 1}</text>'
    return f'<g data-series="{colour}">{held}{prefill}{decode}{mark}{label}</g>'


def _waiting(run: Run, axis: _Axis, most: int) -> str:
    steps = run.steps
    first, last = np.searchsorted(steps["start_s"], [axis.start_s, axis.start_s + axis.span_s])
    window = steps[max(0, int(first) - 1) : int(last)]
    if not len(window):
        return ""
    changes = np.flatnonzero(np.diff(window["waiting"], prepend=-1))
    ends_s = np.append(window["start_s"][changes[1:]], window["start_s"][-1] + window["duration_s"][-1])
    unit = (100 - ROWS_PERCENT - 2) / max(4, most)
    parts = []
    for i, to_s in zip(changes.tolist(), ends_s.tolist(), strict=True):
        tall = float(window["waiting"][i]) * unit
        if tall:
            from_s = float(window["start_s"][i])
            width = axis.share(to_s) - axis.share(from_s)
            parts.append(
                f'<rect x="{axis.x(from_s)}" y="{100 - tall:.2f}%" width="{width:.3f}%" height="{tall:.2f}%"/>'
            )
    return f'<g class="queue-strip">{"".join(parts)}</g>'
