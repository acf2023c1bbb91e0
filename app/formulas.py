"""Figures of what follows from a formula: step time and throughput against the batch size, and the roofline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures import LOOKS, in_page, plain_layout

Runs = Sequence[tuple[str, str]]
RADII = (12, 9, 9)
"""Of the points in the roofline: the whole step, attention, matrix products [px]."""


def batch_curve_figure(runs: Runs) -> go.Figure:
    """Throughput above the parts of a step's time, both against the batch size.

    Parameters
    ----------
    runs : sequence of (name, label)
        The runs, a first. `meta` of each trace says which run and part it wants: `focus` is the run that the page is
        about, whose step is drawn in layers; of every run there is the line of the whole.

    Notes
    -----
    Shape 0 stands at the chosen batch size, 1 and 2 are its points, 3 and 4 those of the current step; the browser adds
    the limits. `uid` becomes a class of the drawn trace, so that a page can light it.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.17, row_heights=[0.5, 0.5])
    for name, colour, hover in LAYERS:
        figure.add_trace(_layer(name, colour, hover), row=2, col=1)
    figure.add_trace(_focus_line("ideal", "tokens_s", "edge", "5px,4px", 1.2), row=1, col=1)
    figure.add_trace(_focus_line("compute", "step_ms", "compute", "solid", 2.4), row=2, col=1)
    for row, (column, part) in enumerate((("tokens_s", "tokens"), ("step_ms", "step")), start=1):
        figure.add_trace(_focus_line("beyond", column, "edge", "1px,3px", 1.4), row=row, col=1)
        for (name, label), (colour, dash, width) in reversed(list(zip(runs, LOOKS, strict=False))):
            figure.add_trace(
                go.Scatter(
                    name=label,
                    mode="lines",
                    line={"width": width + 0.2, "dash": dash},
                    hovertemplate="%{y:,.3~s} tok/s" if part == "tokens" else "%{y:.3~g} ms",
                    uid=f"{part}-{name}",
                    meta={"run": name, "column": column, "part": part, "colour": colour},
                ),
                row=row,
                col=1,
            )
    figure.update_layout(plain_layout() | {"margin": {"l": 44, "r": 10, "t": 40, "b": 38}})
    figure.update_xaxes(fixedrange=True, showgrid=False, tick0=0, tickformat=",d", ticks="outside", zeroline=False)
    figure.update_xaxes(title={"text": "users in the batch, B", "standoff": 6}, row=2, col=1)
    figure.update_yaxes(fixedrange=True, nticks=4, tickformat="~s", zeroline=False)
    for number, text in ((1, "tokens per second, all together"), (2, "time of a step [ms]")):
        figure.add_annotation(_title(text, f"y{number if number > 1 else ''} domain"))
    figure.add_shape(type="line", xref="x", yref="paper", x0=1, x1=1, y0=0, y1=1, line={"width": 2}, visible=False)
    for radius in (5, 4):
        for number in (1, 2):
            figure.add_shape(_point(f"y{number if number > 1 else ''}", radius))
    return figure


LAYERS = (
    ("weights", "weights", "weights %{y:.3~g} ms"),
    ("kv", "kv", "KV cache %{customdata:.3~g} ms"),
    ("rest", "part", "the rest %{customdata:.3~g} ms"),
)
"""Parts of a step, from below: name, token of the colour, what the pointer is told."""


def _layer(name: str, colour: str, hover: str) -> go.Scatter:
    """A part of the step's time, upon the one before."""
    return go.Scatter(
        mode="lines",
        line={"width": 0},
        fill="tozeroy" if name == "weights" else "tonexty",
        hovertemplate=hover + "<extra></extra>",
        uid=name,
        meta={"run": "focus", "column": "step_ms", "part": name, "colour": colour},
    )


def _focus_line(part: str, column: str, colour: str, dash: str, width: float) -> go.Scatter:
    return go.Scatter(
        mode="lines",
        line={"width": width, "dash": dash},
        hoverinfo="skip",
        uid=part if part != "beyond" else f"beyond-{column}",
        meta={"run": "focus", "column": column, "part": part, "colour": colour},
    )


def roofline_figure(runs: Runs) -> go.Figure:
    """Attainable FLOP/s against FLOP per byte, and where the current step and its parts are.

    Notes
    -----
    Shapes 0 to 2 are the points of the whole step, its attention and its matrix products. The first is larger, so that
    it shows as a rim where the last covers it.
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
        figure.add_shape(_point("y", radius) | {"type": "path", "path": _circle(radius)})
    return figure


def _circle(radius: int) -> str:
    """A circle as four curves: on a logarithmic axis Plotly takes no negative `x0`."""
    r, k = radius, round(0.5523 * radius, 2)
    return f"M{-r},0C{-r},{k} {-k},{r} 0,{r}C{k},{r} {r},{k} {r},0C{r},{-k} {k},{-r} 0,{-r}C{-k},{-r} {-r},{-k} {-r},0Z"


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
