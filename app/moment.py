"""A time of a run as a step: which one runs, where the step buttons lead. On the microseconds of the stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.codec import ticks
from sim.run import Run


@dataclass(frozen=True, slots=True)
class Moment:
    """Time `t_s` in a run: `step` is the one that runs or was last, -1 before the first."""

    t_s: float
    step: int
    is_running: bool
    is_over: bool


def moment_of(run: Run, t_s: float) -> Moment:
    """The step at a time."""
    starts, ends, _ = ticks(run.steps)
    t_us = round(t_s * 1e6)
    step = int(np.searchsorted(starts, t_us, side="right")) - 1
    is_running = step >= 0 and (t_us < ends[step] or starts[step] == ends[step])
    return Moment(t_s, step, is_running, is_over=step == len(starts) - 1 and not is_running)


def end_of(run: Run) -> float:
    """End of the last step [s]."""
    steps = run.steps
    return float(steps["start_s"][-1] + steps["duration_s"][-1]) if len(steps) else 0.0


def boundaries(run: Run, moment: Moment) -> dict[str, float | None]:
    """Times the buttons start, back, forward and end lead to [s]; None where there is nothing to go to."""
    starts = ticks(run.steps).starts
    count, step, t_us = len(starts), moment.step, round(moment.t_s * 1e6)
    if not count:
        return dict.fromkeys(("start", "back", "forward", "end"))
    back = step if step >= 0 and t_us > starts[step] else step - 1
    return {
        "start": 0.0 if t_us > 0 else None,
        "back": starts[back] / 1e6 if back >= 0 else None,
        "forward": starts[step + 1] / 1e6 if step + 1 < count else None,
        "end": starts[-1] / 1e6 if t_us != starts[-1] else None,
    }
