"""The record of a run as named columns: what files of steps and events hold, with kinds and reasons in words."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.codec import INNER_EVENTS
from sim.cost import BOUNDS
from sim.engine.record import Kind, Why
from sim.run import Run

STEP_COLUMNS = (
    *("start_s", "duration_s", "matmul_s", "attention_s", "comm_s", "host_s"),
    *("prefill", "decode", "padding", "sampled", "drafts", "admitted"),
    *("running", "held", "waiting", "free", "free_end", "cached"),
)
"""Columns of `sim.engine.record.STEP` that are given as they are; `why` and `bound` are added in words."""
ROWS_PER_PIECE = 2048

_WHY = np.array([why.name.lower() for why in Why])
_BOUND = np.array(BOUNDS)
_KIND = np.array(["", *(kind.name.lower() for kind in Kind)])


class Window(NamedTuple):
    """Steps `first` up to but without `last`."""

    first: int
    last: int


def step_columns(run: Run, window: Window) -> dict[str, NDArray[Any]]:
    """Columns with a value per step, numbered from 0."""
    steps = run.steps[window.first : window.last]
    columns: dict[str, NDArray[Any]] = {"step": np.arange(window.first, window.first + len(steps))}
    columns |= {name: np.ascontiguousarray(steps[name]) for name in STEP_COLUMNS}
    return columns | {"bound": _BOUND[steps["bound"]], "why": _WHY[steps["why"]]}


def event_columns(run: Run, window: Window) -> dict[str, NDArray[Any]]:
    """Columns with a value per event of the window's steps, requests numbered from 1 and 0 where it is nobody's."""
    ends = run.steps["events_end"]
    start, end = (int(ends[step - 1]) if step else 0 for step in window)
    if window.last == len(ends):
        end = len(run.events)  # a refusal may come after the last step
    events = run.events[start:end]
    is_told = ~np.isin(events["kind"], INNER_EVENTS)
    step = np.searchsorted(ends, np.arange(start, end), side="right")
    return {
        "step": np.minimum(step, max(len(ends) - 1, 0))[is_told],
        "kind": _KIND[events["kind"][is_told]],
        "request": events["request"][is_told] + 1,
        "a": np.ascontiguousarray(events["a"][is_told]),
        "b": np.ascontiguousarray(events["b"][is_told]),
    }


def steps_csv(run: Run, window: Window) -> Iterator[bytes]:
    """Pieces of the columns of steps as CSV."""
    for first in range(window.first, max(window.last, window.first + 1), ROWS_PER_PIECE):
        columns = step_columns(run, Window(first, min(first + ROWS_PER_PIECE, window.last)))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if first == window.first:
            writer.writerow(columns)
        writer.writerows(zip(*(cells(column) for column in columns.values()), strict=True))
        yield text.getvalue().encode()


def cells(column: NDArray[Any]) -> list[Any]:
    """Values of a column, single precision with the digits it has."""
    return [str(value) for value in column] if column.dtype == np.float32 else column.tolist()
