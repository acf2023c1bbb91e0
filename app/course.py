"""The course of a run too long to draw whole: running, waiting and memory in bins of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.moment import end_of
from sim.run import Run

BINS = 720
MOST_STEPS, MOST_REQUESTS = 12_000, 600
"""What a timeline draws whole; of a longer run it shows a window."""


def courses_of(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Columns of BINS bins over the time of the longest run, for each run.

    `step` is the first step that starts in the bin or later, so that a window of time can be asked for by steps.
    """
    end_s = max(end_of(run) for run in runs.values())
    edges_s = np.linspace(0, end_s, BINS + 1)
    courses = {name: _course(run, edges_s) for name, run in runs.items()}
    return {"end_s": end_s, "is_long": is_long(runs), "runs": courses}


def is_long(runs: Mapping[str, Run]) -> bool:
    """Whether some run is too long to draw whole."""
    return any(len(run.steps) > MOST_STEPS or len(run.results) > MOST_REQUESTS for run in runs.values())


def _course(run: Run, edges_s: NDArray[np.float64]) -> dict[str, Any]:
    steps, usable = run.steps, run.plan.usable_blocks
    first, last = (np.clip(np.searchsorted(edges_s, times, "right") - 1, 0, BINS - 1) for times in _bounds_s(run))

    def most(column: NDArray[Any]) -> NDArray[np.int64]:
        """Largest value of the steps that begin or end in each bin."""
        values = np.zeros(BINS, np.int64)
        np.maximum.at(values, first, column)
        np.maximum.at(values, last, column)
        return values

    return {
        "running": most(steps["running"] + steps["held"]),
        "waiting": most(steps["waiting"]),
        "blocks": np.round(most(usable - steps["free"]) / max(1, usable), 4),
        "step": np.searchsorted(steps["start_s"], edges_s[:-1]),
        "steps": len(steps),
        "slots": run.slots,
    }


def _bounds_s(run: Run) -> tuple[NDArray[Any], NDArray[Any]]:
    return run.steps["start_s"], run.steps["start_s"] + run.steps["duration_s"]
