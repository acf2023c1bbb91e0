"""A run as NDJSON: one line of scenario, facts and requests, lines of some hundred steps, one line of metrics.

All numbers are integers, times in microseconds. A column of small differences compresses to about a bit per value, so
slowly moving columns are sent as differences from the value before (the first of a line from 0), and a column that is
zero throughout a line is left out (but `dur`). `static/js/run.js` is the other side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from sim.engine.record import Kind
from sim.workload.requests import Requests

STEPS_PER_LINE = 512
PLAIN_COLUMNS = ("prefill", "why", "bound")
DELTA_COLUMNS = ("decode", "running", "waiting", "free", "free_end", "cached")
BLOCK_EVENTS = (Kind.SHARE, Kind.TAKE)

Array = NDArray[Any]


def head_line(scenario: Mapping[str, Any], facts: Mapping[str, Any], requests: Requests) -> bytes:
    """First line: what was asked for, and the requests before any is served."""
    columns: dict[str, Any] = {
        "arrival_us": microseconds(requests.arrival_s),
        "prompt": requests.prompt_tokens,
        "output": requests.output_tokens,
    }
    if (requests.after >= 0).any():
        columns |= {"after": requests.after, "gap_us": microseconds(requests.gap_s)}
    if (requests.parent >= 0).any():
        columns |= {"parent": requests.parent, "common": requests.common_tokens}
    return _line({"scenario": scenario, "facts": facts, "requests": columns})


def steps_line(steps: Array, events: Array, ids: Array | None, first: int, last: int) -> bytes:
    """Steps `first` up to but without `last` of a run's record, with their events.

    Without `ids` the events that only count blocks (SHARE, TAKE) are left out too.
    """
    window = steps[first:last]
    log = events[_end(steps, "events_end", first) : _end(steps, "events_end", last)]
    per_step = np.diff(steps["events_end"][first:last], prepend=_end(steps, "events_end", first))
    if ids is None:
        is_kept = ~np.isin(log["kind"], BLOCK_EVENTS)
        ends = np.concatenate(([0], np.cumsum(is_kept)))[np.cumsum(per_step)]
        log, per_step = log[is_kept], np.diff(ends, prepend=0)
    columns = {**_times(steps, first, last), "ev": per_step}
    columns |= {name: window[name] for name in PLAIN_COLUMNS} | {name: _delta(window[name]) for name in DELTA_COLUMNS}
    line = {"from": first, "count": len(window), "steps": _without_zeros(columns), "events": _events(log)}
    if ids is not None:
        line["events"] |= _ids(ids[_end(steps, "ids_end", first) : _end(steps, "ids_end", last)])
    return _line(line)


def tail_line(metrics: Mapping[str, Any], rejected: Sequence[Any], requests: Requests, results: Array) -> bytes:
    """Last line: only a stream that has it is complete."""
    columns: dict[str, Any] = {
        "scheduled_us": microseconds(results["scheduled_s"]),
        "first_us": microseconds(results["first_s"]),
        "finish_us": microseconds(results["finish_s"]),
        "preemptions": np.ascontiguousarray(results["preemptions"]),
        "hit": np.ascontiguousarray(results["hit_tokens"]),
    }
    if np.isnan(requests.arrival_s).any():
        columns["arrival_us"] = microseconds(results["arrival_s"])
    return _line({"metrics": metrics, "rejected": rejected, "results": columns})


def microseconds(seconds: Array) -> Array | list[int | None]:
    """Whole microseconds; None where there is no time."""
    is_missing = np.isnan(seconds)
    whole = _whole(np.where(is_missing, 0, seconds))
    if not is_missing.any():
        return whole
    return [None if missing else value for value, missing in zip(whole.tolist(), is_missing.tolist(), strict=True)]


def _times(steps: Array, first: int, last: int) -> dict[str, Array]:
    """Gap before each step and its duration; a step's end is exact to the microsecond, errors do not add up."""
    before = steps[first - 1 : last] if first else steps[first:last]
    ends = _whole(before["start_s"] + before["duration_s"])
    previous = ends[:-1] if first else np.concatenate(([0], ends[:-1]))
    ends = ends[1:] if first else ends
    starts = np.clip(_whole(steps["start_s"][first:last]), previous, ends)
    return {"dur": _delta(ends - starts), "gap_us": starts - previous}


def _events(log: Array) -> dict[str, Array]:
    columns = {"kind": log["kind"], "request": _delta(log["request"]), "a": log["a"], "b": log["b"]}
    return {name: np.ascontiguousarray(column) for name, column in columns.items()}


def _ids(ids: Array) -> dict[str, Array]:
    return {"ids": _delta(np.abs(ids)), "evicted": np.flatnonzero(ids < 0)}


def _end(steps: Array, column: str, step: int) -> int:
    return int(steps[column][step - 1]) if step else 0


def _delta(column: Array) -> Array:
    return np.diff(column.astype(np.int64), prepend=0)


def _whole(seconds: Array) -> Array:
    return np.rint(seconds * 1e6).astype(np.int64)


def _without_zeros(columns: Mapping[str, Array]) -> dict[str, Array]:
    return {name: np.ascontiguousarray(column) for name, column in columns.items() if name == "dur" or column.any()}


def _line(content: Mapping[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
