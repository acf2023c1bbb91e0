"""The load curve as a Plotly figure: four panels over one load, a line per scenario with the band of its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures import LOOKS, in_page, plain_layout


class Panel(NamedTuple):
    """A metric, where its panel stands, and how it is written."""

    path: str
    title: str
    row: int
    col: int
    is_log: bool
    hover: str


PANELS = (
    Panel("ttft_s.p50", "TTFT, median [s]", 1, 1, True, "%{y:.3~g} s"),
    Panel("ttft_s.p95", "TTFT, 95th percentile [s]", 1, 2, True, "%{y:.3~g} s"),
    Panel("output_tokens_per_s", "Throughput [output tokens/s]", 2, 1, False, "%{y:,.4~g} tok/s"),
    Panel("goodput_rps", "Goodput [requests/s within the SLO]", 2, 2, False, "%{y:.3~g} req/s"),
)
GOODPUT = PANELS[3]


def curves_figure(runs: Sequence[tuple[str, str]]) -> go.Figure:
    """TTFT, throughput and goodput of each run over the load.

    Parameters
    ----------
    runs : sequence of (name, label)
        The runs, a first. `meta` of each trace says which run and metric it wants, and which part: the mean over the
        seeds, the band from least to greatest, or the peak.

    Notes
    -----
    Shapes 0 to 3 stand at the load of the scenario, one per panel; 4 and 5, and annotations 4 and 5, are the SLO in the
    TTFT panels.
    """
    figure = make_subplots(rows=2, cols=2, horizontal_spacing=0.09, vertical_spacing=0.2)
    for panel in PANELS:
        for (name, label), look in zip(runs, LOOKS, strict=False):
            figure.add_trace(_band(name, look, panel), row=panel.row, col=panel.col)
            figure.add_trace(_line(name, label, look, panel), row=panel.row, col=panel.col)
    for (name, _), look in zip(runs, LOOKS, strict=False):
        figure.add_trace(_peak(name, look), row=GOODPUT.row, col=GOODPUT.col)
    figure.update_layout(plain_layout() | {"margin": {"l": 44, "r": 8, "t": 22, "b": 36}})
    figure.update_xaxes(fixedrange=True, rangemode="tozero", showgrid=False, zeroline=False, ticks="outside", nticks=8)
    figure.update_yaxes(fixedrange=True, rangemode="tozero", nticks=5, zeroline=False, ticklabeloverflow="allow")
    for number, panel in enumerate(PANELS, start=1):
        if panel.is_log:
            figure.update_yaxes(type="log", nticks=6, dtick=1, tickformat="~g", row=panel.row, col=panel.col)
        figure.add_annotation(_title(panel.title, number))
    for number in (1, 2, 3, 4):
        figure.add_shape(_rule("x", number))
    for number in (1, 2):
        figure.add_shape(_rule("y", number))
        figure.add_annotation(_slo(number))
    return figure


@cache
def curves_json(runs: tuple[tuple[str, str], ...]) -> str:
    """The figure as JSON that may stand inside a page."""
    return in_page(curves_figure(runs))


Look = tuple[str, str, float]


def _line(name: str, label: str, look: Look, panel: Panel) -> go.Scatter:
    colour, dash, width = look
    return go.Scatter(
        name=label,
        mode="lines+markers",
        line={"width": width, "dash": dash},
        marker={"size": 4},
        hovertemplate=panel.hover,
        meta={"run": name, "path": panel.path, "part": "mean", "colour": colour},
    )


def _band(name: str, look: Look, panel: Panel) -> go.Scatter:
    return go.Scatter(
        mode="lines",
        fill="toself",
        line={"width": 0},
        opacity=0.18,
        hoverinfo="skip",
        meta={"run": name, "path": panel.path, "part": "band", "colour": look[0]},
    )


def _peak(name: str, look: Look) -> go.Scatter:
    return go.Scatter(
        mode="markers",
        marker={"size": 11, "symbol": "diamond-open", "line": {"width": 2}},
        hovertemplate="goodput peaks<extra></extra>",
        meta={"run": name, "path": GOODPUT.path, "part": "peak", "colour": look[0]},
    )


def _axis(letter: str, number: int) -> str:
    return f"{letter}{number}" if number > 1 else letter


def _title(text: str, number: int) -> dict[str, Any]:
    """Name of a panel above its top left corner."""
    place = {"x": 0, "xanchor": "left", "xref": f"{_axis('x', number)} domain"}
    place |= {"y": 1, "yanchor": "bottom", "yref": f"{_axis('y', number)} domain", "yshift": 1}
    return {"text": text, "showarrow": False, "font": {"size": 11}} | place


def _slo(number: int) -> dict[str, Any]:
    """Name of the SLO's line, at its right end."""
    place = {"x": 1, "xanchor": "right", "xref": f"{_axis('x', number)} domain", "y": 0, "yanchor": "bottom"}
    return {"text": "SLO", "showarrow": False, "font": {"size": 10}, "yref": _axis("y", number)} | place


def _rule(letter: str, number: int) -> dict[str, Any]:
    """Line across a panel at one x or y."""
    other = "y" if letter == "x" else "x"
    ends = {f"{letter}0": 0, f"{letter}1": 0, f"{other}0": 0, f"{other}1": 1}
    refs = {f"{letter}ref": _axis(letter, number), f"{other}ref": f"{_axis(other, number)} domain"}
    return {"type": "line", "line": {"width": 1, "dash": "dot"}} | ends | refs
