"""Bars of the timeline: every stay of a request in a slot, as arrays, from a run's events alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.record import Kind
from sim.run import Run

BAR = np.dtype(
    [
        ("request", "i4"),
        ("slot", "i4"),
        ("start_s", "f8"),
        ("decode_s", "f8"),
        ("end_s", "f8"),
        ("free_s", "f8"),
        ("preempted", "?"),
    ]
)

Array = NDArray[Any]


def bars_of(run: Run) -> Array:
    """Stays in the order in which they began.

    Returns
    -------
    ndarray of BAR
        `start_s` admission, `decode_s` end of the prompt's computation, `end_s` finish or preemption, `free_s` when the
        slot is given back (later than `end_s` only for a row that a static batch holds) [s].
    """
    steps, events = run.steps, run.events
    step_of = np.searchsorted(steps["events_end"], np.arange(len(events)), side="right")
    step_of = np.minimum(step_of, max(len(steps) - 1, 0))  # a refusal may come after the last step
    ends_s = steps["start_s"] + steps["duration_s"]
    last_s = float(ends_s[-1]) if len(steps) else 0.0
    kind = events["kind"]

    begins = np.flatnonzero((kind == Kind.ADMIT) | (kind == Kind.RESUME))
    bars = np.zeros(len(begins), BAR)
    bars["request"], bars["slot"] = events["request"][begins], events["b"][begins]
    bars["start_s"] = steps["start_s"][step_of[begins]]

    closes = np.flatnonzero((kind == Kind.FINISH) | (kind == Kind.PREEMPT))
    close = _next_of(events["request"], begins, closes)
    is_closed = close >= 0
    bars["preempted"] = is_closed & (kind[close] == Kind.PREEMPT)
    at_start = bars["preempted"] | run.scenario.server.async_scheduling
    closed_s = np.where(at_start, steps["start_s"][step_of[close]], ends_s[step_of[close]])
    bars["end_s"] = np.where(is_closed, closed_s, last_s)

    releases = np.flatnonzero((kind == Kind.RELEASE) | (kind == Kind.VACATE))
    release = _next_of(events["request"], begins, releases)
    released_s = np.where(kind[release] == Kind.VACATE, steps["start_s"][step_of[release]], ends_s[step_of[release]])
    bars["free_s"] = np.where(release >= 0, released_s, bars["end_s"])

    chunk = _last_of(events["request"], begins, close, _prefill_chunks(events))
    bars["decode_s"] = np.minimum(np.where(chunk >= 0, ends_s[step_of[chunk]], bars["start_s"]), bars["end_s"])
    return bars


def _prefill_chunks(events: Array) -> Array:
    """Indices of chunks that are not a decode with drafts; the DRAFT of such a one follows it at once."""
    chunks = np.flatnonzero(events["kind"] == Kind.CHUNK)
    after = np.minimum(chunks + 1, len(events) - 1)
    has_draft = (events["kind"][after] == Kind.DRAFT) & (events["request"][after] == events["request"][chunks])
    return np.asarray(chunks[~has_draft])


def _keys(requests: Array, indices: Array) -> Array:
    """Numbers that order events by request, then by place in the log."""
    return np.asarray(requests[indices].astype(np.int64) * (len(requests) + 1) + indices)


def _next_of(requests: Array, begins: Array, ends: Array) -> Array:
    """For each of `begins` the first of `ends` of the same request after it, -1 if there is none."""
    if not len(ends):
        return np.full(len(begins), -1)
    ordered = ends[np.argsort(_keys(requests, ends))]
    place = np.searchsorted(_keys(requests, ordered), _keys(requests, begins))
    found = ordered[np.minimum(place, len(ordered) - 1)]
    is_same = (place < len(ordered)) & (requests[found] == requests[begins])
    return np.asarray(np.where(is_same, found, -1))


def _last_of(requests: Array, begins: Array, closes: Array, marks: Array) -> Array:
    """For each stay the last of `marks` of its request between its begin and its close, -1 if there is none."""
    if not len(marks):
        return np.full(len(begins), -1)
    ordered = marks[np.argsort(_keys(requests, marks))]
    limit = np.where(closes >= 0, closes, len(requests))
    upper = requests[begins].astype(np.int64) * (len(requests) + 1) + limit
    place = np.searchsorted(_keys(requests, ordered), upper) - 1
    found = ordered[np.maximum(place, 0)]
    is_own = (place >= 0) & (requests[found] == requests[begins]) & (found > begins)
    return np.asarray(np.where(is_own, found, -1))
