"""A run as NDJSON: a line of scenario, facts and requests, lines of steps with their events, a line of metrics.

All numbers are whole, times in microseconds. Slowly moving columns are sent as differences from the value before (the
first of a line from 0), and a column that is zero throughout a line is left out (but `dur`): so coded, a step of plain
decode compresses to a few bits. A stream with blocks tells all that happens, the parts of each step's time included;
one without them what a timeline needs. `static/js/run.js` is the other side.
What happens after the last step, refusals of late requests, is told by the last line alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from sim.engine.record import Kind
from sim.replay import Log
from sim.workload import Requests

STEPS_PER_LINE = 4096
PLAIN_COLUMNS = ("prefill", "why", "bound")
DELTA_COLUMNS = ("decode", "running", "held", "waiting", "free")
BLOCK_PLAIN_COLUMNS = ("needed", "padding", "prefill_context", "prefill_pairs")
BLOCK_DELTA_COLUMNS = ("free_end", "cached", "sampled", "decode_context")
PART_COLUMNS = ("matmul", "attention", "comm", "host")  # of the step's time
BLOCK_EVENTS = (Kind.SHARE, Kind.TAKE)
INNER_EVENTS = (Kind.GAP,)
MOST_DRIFT_US = 16

Array = NDArray[Any]


class Clock(NamedTuple):
    """Where a step ends on the clock of the stream, and where it would without corrections [us]."""

    end_us: int = 0
    raw_us: int = 0


ZERO = Clock()


class Ticks(NamedTuple):
    """Start and end of steps on the clock of the stream [us], and the clock after them."""

    starts: Array
    ends: Array
    clock: Clock


def ticks(steps: Array, first: int = 0, last: int | None = None, clock: Clock = ZERO) -> Ticks:
    """Steps `first` up to but without `last` on the clock of the stream, which `clock` says for the step before.

    Durations are rounded one by one, for rounded ends would make them flicker, which does not compress. Once the ends
    have drifted by more than MOST_DRIFT_US from the exact ones, one duration takes the correction.
    """
    starts_s, durations_s = steps["start_s"][first:last], steps["duration_s"][first:last]
    exact_ends_s = starts_s + durations_s
    before_s = steps["start_s"][first - 1] + steps["duration_s"][first - 1] if first else 0.0
    gaps = _whole(starts_s - np.concatenate(([before_s], exact_ends_s[:-1])))
    raw = clock.raw_us + np.cumsum(gaps + _whole(durations_s))
    unit = 2 * MOST_DRIFT_US
    corrected = raw - unit * np.rint((raw - exact_ends_s * 1e6) / unit).astype(np.int64)
    ends = np.maximum.accumulate(np.maximum(corrected, clock.end_us))
    starts = np.minimum(np.concatenate(([clock.end_us], ends[:-1])) + gaps, ends)
    return Ticks(starts, ends, Clock(int(ends[-1]), int(raw[-1])) if len(ends) else clock)


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
        columns |= {"parent": requests.parent, "common": requests.common_tokens, "roots": requests.root_tokens}
    return _line({"scenario": scenario, "facts": facts, "requests": columns})


class StepCoder:
    """Makes the lines of steps, one after the other.

    Parameters
    ----------
    first : int
        First step of the window.
    with_blocks : bool
        Whether block ids are sent. Without them the columns and events that only tell of blocks are left out.
    before : mapping
        How things stood before a window in mid-run; sent with the first line.
    """

    def __init__(self, first: int, with_blocks: bool, before: Mapping[str, Any]) -> None:
        self.next, self.first, self.with_blocks, self.before = first, first, with_blocks, before
        self._clock: Clock | None = None

    def line(self, log: Log, last: int) -> bytes:
        """Steps from the next one up to but without `last`, with their events."""
        steps, first, self.next = log.steps, self.next, last
        clock = self._clock or ticks(steps, 0, first).clock
        starts, ends, self._clock = ticks(steps, first, last, clock)
        events, per_step = self._events(log, first, last)
        columns = {
            "dur": _delta(ends - starts),
            "gap_us": starts - np.concatenate(([clock.end_us], ends[:-1])),
            "ev": per_step,
            **{name: steps[name][first:last] for name in PLAIN_COLUMNS},
            **{name: _delta(steps[name][first:last]) for name in DELTA_COLUMNS},
            **(_block_columns(steps[first:last]) if self.with_blocks else {}),
        }
        line = {"from": first, "count": last - first, "steps": _without_zeros(columns), "events": events}
        if first == self.first and first:
            line |= {"end_us": clock.end_us, **self.before}
        return _line(line)

    def _events(self, log: Log, first: int, last: int) -> tuple[dict[str, Array], Array]:
        """Columns of the events, and how many there are in each step."""
        start, end = _end(log.steps, "events_end", first), _end(log.steps, "events_end", last)
        events = log.events[start:end]
        is_sent = ~np.isin(events["kind"], INNER_EVENTS if self.with_blocks else INNER_EVENTS + BLOCK_EVENTS)
        ends = np.concatenate(([0], np.cumsum(is_sent)))[log.steps["events_end"][first:last] - start]
        columns = _event_columns(events[is_sent])
        if self.with_blocks:
            columns |= _id_columns(log.ids[_end(log.steps, "ids_end", first) : _end(log.steps, "ids_end", last)])
        return columns, np.diff(ends, prepend=0)


def tail_line(
    metrics: Mapping[str, Any], rejected: Sequence[Any], requests: Requests, results: Array, with_blocks: bool
) -> bytes:
    """Last line: only a stream that has it is complete. What became of a request is in its events."""
    tail: dict[str, Any] = {"metrics": metrics, "rejected": rejected}
    if np.isnan(requests.arrival_s).any():
        tail["results"] = {"arrival_us": microseconds(results["arrival_s"])}
    if with_blocks:
        tail |= _order_lost(results["arrival_s"])
    return _line(tail)


def _order_lost(arrival_s: Array) -> dict[str, Array]:
    """Order of the arrivals, if it cannot be seen from their microseconds."""
    order, rounded = np.argsort(arrival_s, kind="stable"), np.argsort(np.rint(arrival_s * 1e6), kind="stable")
    return {} if (order == rounded).all() else {"order": order}


def microseconds(seconds: Array) -> Array | list[int | None]:
    """Whole microseconds; None where there is no time."""
    is_missing = np.isnan(seconds)
    whole = _whole(np.where(is_missing, 0, seconds))
    if not is_missing.any():
        return whole
    return [None if missing else value for value, missing in zip(whole.tolist(), is_missing.tolist(), strict=True)]


def _block_columns(steps: Array) -> dict[str, Array]:
    return {
        **{f"{name}_us": _delta(_whole(steps[f"{name}_s"].astype(np.float64))) for name in PART_COLUMNS},
        **{name: _delta(steps[name]) for name in BLOCK_DELTA_COLUMNS},
        **{name: steps[name].astype(np.int64) for name in BLOCK_PLAIN_COLUMNS},
    }


def _event_columns(events: Array) -> dict[str, Array]:
    columns = {"kind": events["kind"], "request": _delta(events["request"]), "a": events["a"], "b": events["b"]}
    return {name: np.ascontiguousarray(column) for name, column in columns.items()}


def _id_columns(ids: Array) -> dict[str, Array]:
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
