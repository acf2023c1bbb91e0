"""Plotly figures, built once without data; the page fills them with columns, a notebook with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import orjson
import plotly.graph_objects as go
from plotly.subplots import make_subplots

PANELS = (("slots", "slots in use"), ("waiting", "waiting"), ("blocks", "KV blocks in use"))
LOOKS = (("ink", "solid", 1.8), ("edge", "4px,3px", 1.5), ("wait", "1px,2px", 1.5), ("accent", "8px,3px", 1.5))
CONFIG = {
    "displayModeBar": False,
    "responsive": True,
    "showSendToCloud": False,
    "scrollZoom": False,
    "doubleClick": False,
}


def course_figure(runs: Sequence[tuple[str, str]]) -> go.Figure:
    """Slots in use, waiting and KV blocks of each run over time, one above the other on one axis, with a playhead.

    Parameters
    ----------
    runs : sequence of (name, label)
        The runs, a first. `meta` of each trace says which run and column it wants and which token its colour is.
    """
    figure = make_subplots(rows=len(PANELS), cols=1, shared_xaxes=True, vertical_spacing=0.09)
    for row, (column, _) in enumerate(PANELS, start=1):
        for (name, label), (colour, dash, width) in zip(runs, LOOKS, strict=False):
            figure.add_trace(
                go.Scatter(
                    name=label,
                    mode="lines",
                    line={"shape": "hv", "width": width, "dash": dash},
                    hovertemplate="%{y:,}",
                    meta={"run": name, "column": column, "colour": colour},
                ),
                row=row,
                col=1,
            )
    figure.update_layout(plain_layout())
    for row, (_, title) in enumerate(PANELS, start=1):
        figure.add_annotation(_title(title, f"y{row if row > 1 else ''} domain"))
    figure.update_xaxes(fixedrange=True, showgrid=False, ticks="", showticklabels=False, ticklabeloverflow="allow")
    figure.update_xaxes(showticklabels=True, ticksuffix=" s", row=len(PANELS), col=1)
    figure.update_yaxes(fixedrange=True, rangemode="tozero", nticks=3, zeroline=False, ticklabeloverflow="allow")
    figure.add_shape(type="line", xref="x", yref="paper", x0=0, x1=0, y0=0, y1=1, line={"width": 2})
    return figure


def _title(text: str, yref: str) -> dict[str, Any]:
    """Name of a panel above its top left corner."""
    place = {"x": 0, "xanchor": "left", "xref": "paper", "y": 1, "yanchor": "bottom", "yref": yref, "yshift": 1}
    return {"text": text, "showarrow": False, "font": {"size": 11}} | place


def plain_layout() -> dict[str, Any]:
    """Layout that every figure starts from: no decoration, the page's colours and fonts are added in the browser."""
    return {
        "template": None,
        "margin": {"l": 48, "r": 0, "t": 22, "b": 22},
        "font": {"size": 11},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "x unified",
        "showlegend": False,
        "dragmode": False,
    }


@cache
def course_json(runs: tuple[tuple[str, str], ...]) -> str:
    """The figure and its config as JSON that may stand inside a page."""
    return in_page(course_figure(runs))


def in_page(figure: go.Figure) -> str:
    """A figure and its config as JSON that may stand inside a page."""
    content = figure.to_plotly_json() | {"config": CONFIG}
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY).decode().replace("</", "<\\/")
