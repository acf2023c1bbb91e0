"""How latencies are distributed: columns for the page, and the Plotly figure that it puts them into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from app.figures import LOOKS, in_page, plain_layout
from sim.run import FINISHED, Run

MOST_POINTS = 400
PANELS = (("ttft_s", "time to first token [ms]"), ("tpot_s", "time per output token [ms]"), ("itl_s", "gaps [ms]"))
Floats = NDArray[np.float64]


def latencies_of(runs: Mapping[str, Run]) -> dict[str, dict[str, Any]]:
    """By run and metric the share of all values that are at most so long: `ms` ascending and `share`."""
    return {name: {metric: _curve(*values) for metric, values in _values_of(run).items()} for name, run in runs.items()}


def _values_of(run: Run) -> dict[str, tuple[Floats, NDArray[Any]]]:
    """Latencies of finished requests, and all gaps between tokens [s]; and how often each occurs."""
    results = run.results[run.results["status"] == FINISHED]
    later = results[results["outputs"] > 1]
    ttft_s = results["first_s"] - results["arrival_s"]
    tpot_s = (later["finish_s"] - later["first_s"]) / (later["outputs"] - 1)
    return {
        "ttft_s": (ttft_s, np.ones(len(ttft_s), np.int64)),
        "tpot_s": (tpot_s, np.ones(len(tpot_s), np.int64)),
        "itl_s": run.gaps(),
    }


def _curve(values_s: Floats, counts: NDArray[Any]) -> dict[str, Any]:
    """Cumulative shares, thinned to what a screen can show; the ends are kept."""
    order = np.argsort(values_s, kind="stable")
    ends = np.cumsum(counts[order], dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    ranks = np.unique(np.linspace(1, total, min(MOST_POINTS, total)).astype(np.int64))
    places = np.unique(np.searchsorted(ends, ranks))
    return {
        "ms": np.round(1000 * values_s[order][places], 4),
        "share": np.round(ends[places] / max(total, 1), 5),
        "count": total,
    }


def latency_figure(runs: Sequence[tuple[str, str]]) -> go.Figure:
    """Share of values that are at most so long, a panel each for TTFT, TPOT and the gaps between tokens.

    Parameters
    ----------
    runs : sequence of (name, label)
        The runs, a first. `meta` of each trace says which run and metric it wants, and whether the curve or the signs
        at its median, 95th and 99th percentile.

    Notes
    -----
    Shapes 0 and 1 are the SLOs of TTFT and TPOT.
    """
    figure = make_subplots(rows=1, cols=len(PANELS), horizontal_spacing=0.06, shared_yaxes=True)
    for col, (metric, _) in enumerate(PANELS, start=1):
        for (name, label), (colour, dash, width) in zip(runs, LOOKS, strict=False):
            meta = {"run": name, "metric": metric, "colour": colour}
            line: dict[str, Any] = {"width": width, "dash": dash, "shape": "hv"}
            curve = {"name": label, "line": line, "hovertemplate": "%{y:.1%} within %{x:.4~g} ms"}
            figure.add_trace(go.Scatter(mode="lines", meta=meta | {"part": "curve"}, **curve), row=1, col=col)
            signs = {"marker": {"size": 7, "symbol": "circle-open", "line": {"width": 2}}, "hoverinfo": "skip"}
            figure.add_trace(go.Scatter(mode="markers", meta=meta | {"part": "signs"}, **signs), row=1, col=col)
    margin = {"l": 40, "r": 10, "t": 22, "b": 26}
    figure.update_layout(plain_layout() | {"margin": margin, "hovermode": "closest"})
    figure.update_xaxes(type="log", fixedrange=True, showgrid=False, dtick="D2", tickformat="~g", ticks="outside")
    figure.update_yaxes(fixedrange=True, range=[0, 1.03], tickformat=".0%", nticks=5, zeroline=False)
    for number, (_, title) in enumerate(PANELS, start=1):
        figure.add_annotation(_title(title, number))
    for number in (1, 2):
        axis = _axis("x", number)
        slo = {"type": "line", "xref": axis, "yref": f"{_axis('y', number)} domain", "x0": 1, "x1": 1, "y0": 0, "y1": 1}
        figure.add_shape(line={"width": 1.5, "dash": "1px,2px"}, **slo)
    return figure


def _axis(letter: str, number: int) -> str:
    return f"{letter}{number}" if number > 1 else letter


def _title(text: str, number: int) -> dict[str, Any]:
    """Name of a panel above its top left corner."""
    place = {"x": 0, "xanchor": "left", "xref": f"{_axis('x', number)} domain"}
    place |= {"y": 1, "yanchor": "bottom", "yref": f"{_axis('y', number)} domain", "yshift": 1}
    return {"text": text, "showarrow": False, "font": {"size": 11}} | place


@cache
def latency_json(runs: tuple[tuple[str, str], ...]) -> str:
    """The figure as JSON that may stand inside a page."""
    return in_page(latency_figure(runs))
