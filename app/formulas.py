"""Figures of what follows from a formula: step time and throughput against the batch size, and the roofline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures import LOOKS, in_page, plain_layout

Runs = Sequence[tuple[str, str]]
RADII = (9, 9, 4)
"""Of the points in the roofline: matrix products, attention, the whole step [px]."""


def batch_curve_figure(runs: Runs) -> go.Figure:
    """Step time above throughput, both against the batch size, each axis by powers of ten.

    Parameters
    ----------
    runs : sequence of (name, label)
        The runs, a first. `meta` of each trace says which run and column it wants, and whether the part that fits into
        memory or what would come beyond it; `ideal` is one step's time for any batch.

    Notes
    -----
    Shape 0 stands at the batch size of the current step, 1 and 2 are its points; the browser adds the limits.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.12)
    for row, column in enumerate(("step_ms", "tokens_s"), start=1):
        figure.add_trace(_ideal(column), row=row, col=1)
        for (name, label), (colour, dash, width) in zip(runs, LOOKS, strict=False):
            line: dict[str, Any] = {"width": width, "dash": dash}
            meta = {"run": name, "column": column, "colour": colour}
            fits = {"name": label, "line": line, "hovertemplate": _hover(column), "meta": meta | {"part": "fits"}}
            beyond = {"line": line, "opacity": 0.35, "hoverinfo": "skip", "meta": meta | {"part": "beyond"}}
            figure.add_trace(go.Scatter(mode="lines", **beyond), row=row, col=1)
            figure.add_trace(go.Scatter(mode="lines", **fits), row=row, col=1)
    figure.update_layout(plain_layout() | {"margin": {"l": 44, "r": 8, "t": 20, "b": 42}})
    figure.update_xaxes(type="log", fixedrange=True, showgrid=False, dtick=1, tickformat=",d", ticks="outside")
    figure.update_xaxes(title={"text": "requests in the batch", "standoff": 10}, row=2, col=1)
    figure.update_yaxes(type="log", fixedrange=True, dtick=1, tickformat="~s", zeroline=False)
    figure.update_yaxes(dtick="D2", tickformat="~g", row=1, col=1)
    for number, text in ((1, "step time [ms]"), (2, "output tokens/s")):
        figure.add_annotation(_title(text, f"y{number if number > 1 else ''} domain"))
    figure.add_shape(type="line", xref="x", yref="paper", x0=1, x1=1, y0=0, y1=1, line={"width": 2}, visible=False)
    for number in (1, 2):
        figure.add_shape(_point(f"y{number if number > 1 else ''}", 5))
    return figure


def roofline_figure(runs: Runs) -> go.Figure:
    """Attainable FLOP/s against FLOP per byte, and where the current step and its parts are.

    Notes
    -----
    Shapes 0 to 2 are the points of the step's matrix products, its attention and all of it.
    """
    figure = go.Figure()
    for (name, label), (colour, dash, width) in zip(runs, LOOKS, strict=False):
        line: dict[str, Any] = {"width": width + 0.4, "dash": dash}
        meta = {"run": name, "part": "roof", "colour": colour}
        figure.add_trace(go.Scatter(name=label, mode="lines", line=line, hoverinfo="skip", meta=meta))
    figure.add_trace(
        go.Scatter(
            mode="lines+markers+text",
            line={"width": 1},
            marker={"size": 4},
            textposition="bottom right",
            textfont={"size": 10},
            hovertemplate="matmuls of a batch of %{text}<extra></extra>",
            meta={"run": "focus", "part": "trail", "colour": "edge"},
        )
    )
    figure.update_layout(plain_layout() | {"margin": {"l": 44, "r": 8, "t": 20, "b": 42}, "hovermode": "closest"})
    figure.update_xaxes(type="log", fixedrange=True, showgrid=False, dtick=1, tickformat="~g", ticks="outside")
    figure.update_xaxes(title={"text": "FLOP per byte read", "standoff": 10})
    figure.update_yaxes(type="log", fixedrange=True, dtick=1, tickformat="~s", ticksuffix="", zeroline=False)
    figure.add_annotation(_title("FLOP/s of one GPU", "y domain"))
    for radius in RADII:
        figure.add_shape(_point("y", radius))
    return figure


def _ideal(column: str) -> go.Scatter:
    meta = {"run": "focus", "column": column, "part": "ideal", "colour": "edge"}
    return go.Scatter(mode="lines", line={"width": 1, "dash": "1px,3px"}, hoverinfo="skip", meta=meta)


def _hover(column: str) -> str:
    return "%{y:.3~g} ms" if column == "step_ms" else "%{y:,.4~g} tok/s"


def _point(yref: str, radius: int) -> dict[str, Any]:
    """A circle of fixed size that the playhead moves."""
    size = {"xsizemode": "pixel", "ysizemode": "pixel", "x0": -radius, "x1": radius, "y0": -radius, "y1": radius}
    return {"type": "circle", "xref": "x", "yref": yref, "xanchor": 1, "yanchor": 1, "visible": False} | size


def _title(text: str, yref: str) -> dict[str, Any]:
    """Name of a panel above its top left corner."""
    place = {"x": 0, "xanchor": "left", "xref": "paper", "y": 1, "yanchor": "bottom", "yref": yref, "yshift": 1}
    return {"text": text, "showarrow": False, "font": {"size": 11}} | place


@cache
def batch_curve_json(runs: tuple[tuple[str, str], ...]) -> str:
    """The figure as JSON that may stand inside a page."""
    return in_page(batch_curve_figure(runs))


@cache
def roofline_json(runs: tuple[tuple[str, str], ...]) -> str:
    """The figure as JSON that may stand inside a page."""
    return in_page(roofline_figure(runs))
