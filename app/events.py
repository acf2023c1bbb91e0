"""The event list of a run as the page prints it: a page of entries around the playhead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.codec import MOST_DRIFT_US, Ticks, ticks
from app.fields import Choice
from app.moment import moment_of
from app.params import Views, parse_query, write_query
from app.view import EventPage, EventRow, EventsView, Neighbour, series
from sim.history import EVENT_KINDS, NO_REQUEST, History, history_of
from sim.run import Run

PAGE = 30
FILTERS = ("kind", "request")
SNAP_US = MOST_DRIFT_US + 1
"""Rounding of the stream's clock: an entry this near a boundary of its step is at it."""


def events_view(runs: Mapping[str, Run], views: Views) -> EventsView:
    """The event list of the focused run; while it is closed, without entries."""
    name = views.run if views.run in runs else "a"
    return EventsView(
        kinds=tuple(Choice(kind.name, kind.label) for kind in EVENT_KINDS),
        kind=views.kind,
        request=str(views.request or ""),
        hidden=_Links(views, name).pairs,
        page=event_page(runs, views) if "events" in views.views else None,
    )


def event_page(runs: Mapping[str, Run], views: Views) -> EventPage:
    """Entries of the focused run: the page asked for, else the one with the time shown."""
    name = views.run if views.run in runs else "a"
    run, links, now_us = runs[name], _Links(views, name), round((views.t or 0.0) * 1e6)
    history, clock = history_of(run), ticks(run.steps)
    chosen = history.chosen((views.kind,) if views.kind else (), views.request and views.request - 1)
    times_us = _times_us(history, clock, chosen)
    before, after = np.searchsorted(times_us, now_us, "left"), np.searchsorted(times_us, now_us, "right")
    pages = max(1, -(-len(chosen) // PAGE))
    number = min(views.page_number or max(int(after) - 1, 0) // PAGE + 1, pages)
    shown = slice((number - 1) * PAGE, number * PAGE)
    span = _step_us(run, clock, views.t or 0.0)
    return EventPage(
        rows=tuple(_row(history, *entry, span, links) for entry in zip(chosen[shown], times_us[shown], strict=True)),
        total=len(chosen),
        first=shown.start + 1,
        before=links.neighbour(int(times_us[before - 1])) if before else None,
        after=links.neighbour(int(times_us[after])) if after < len(chosen) else None,
        earlier=links.page(number - 1) if number > 1 else "",
        later=links.page(number + 1) if number < pages else "",
    )


class _Links:
    """Queries of the links in the list: the page at another time, or another page of the list."""

    def __init__(self, views: Views, run: str) -> None:
        self._views, self._focus = views, None if run == "a" else run
        self._base = write_query(views.scenarios, run=self._focus, **views.page)

    def at(self, us: int) -> str:
        """At another time."""
        return f"{self._base}&t={us / 1e6:.6f}".rstrip("0").rstrip(".")

    def neighbour(self, us: int) -> Neighbour:
        """The entry next to the time shown."""
        return Neighbour(us, self.at(us))

    def page(self, number: int) -> str:
        """Another page of the list."""
        return self._query(self._views.page | {"page": number})

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a form that filters the list sends along."""
        rest = {name: value for name, value in self._views.page.items() if name not in FILTERS}
        return tuple(parse_query(self._query(rest)))

    def _query(self, page: Mapping[str, Any]) -> str:
        return write_query(self._views.scenarios, t=self._views.t, run=self._focus, **page)


def _times_us(history: History, clock: Ticks, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Times on the clock of the stream, so that a link to an entry leads to its step."""
    times = np.rint(history.time_s[chosen] * 1e6).astype(np.int64)
    if not len(clock.starts):
        return times
    for boundary in (clock.ends[history.step[chosen]], clock.starts[history.step[chosen]]):
        times = np.where(np.abs(times - boundary) <= SNAP_US, boundary, times)
    return np.maximum.accumulate(times)


def _step_us(run: Run, clock: Ticks, t_s: float) -> tuple[int, int]:
    """Start and end of the step at a time."""
    step = moment_of(run, t_s).step
    return (int(clock.starts[step]), int(clock.ends[step])) if step >= 0 else (-1, -1)


def _row(history: History, position: int, us: int, span: tuple[int, int], links: _Links) -> EventRow:
    position, us = int(position), int(us)
    request, kind = int(history.request[position]), EVENT_KINDS[history.kind[position]]
    return EventRow(
        us=us,
        time=f"{us / 1e6:.3f} s",
        step=int(history.step[position]),
        kind=kind.name,
        label=kind.label,
        request=request,
        series=series(request) if request != NO_REQUEST else 0,
        text=history.sentence(position),
        query=links.at(us),
        is_now=span[0] <= us < span[1],
    )
