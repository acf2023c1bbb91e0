"""What a run comes to, as the command line and the API give it: a summary, and its requests as columns or as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sim
from sim.dialects import DEFAULT
from sim.fork import FORK, PREFIX
from sim.run import FINISHED, PENDING, REFUSED, REJECTED, Run
from sim.scenario import Scenario, settings_of

STATUSES = {PENDING: "pending", FINISHED: "finished", REJECTED: "rejected", REFUSED: "refused"}


def summary_of(run: Run, with_requests: bool = False, dialect: str = DEFAULT) -> dict[str, Any]:
    """Summary as PARAMETERS define it; plain values, None where there is no value.

    In the terms of another tool it says which.
    """
    summary = {
        "scenario": scenario_settings(run.scenario),
        "version": sim.__version__,
        "facts": run.facts,
        "metrics": run.metrics(dialect),
        "rejected": run.rejected,
    }
    if dialect != DEFAULT:
        summary["dialect"] = dialect
    return summary | ({"requests": request_columns(run)} if with_requests else {})


def scenario_settings(scenario: Scenario) -> dict[str, Any]:
    """JSON values of all parameters, with `fork` and `fork.NAME` where something changes in mid-run."""
    fork = scenario.fork
    changes = {PREFIX + name: value for name, value in fork.settings().items()} if fork else {}
    return settings_of(scenario) | ({FORK: fork.time_s} | changes if fork else {})


def request_columns(run: Run) -> dict[str, list[Any]]:
    """Columns with a value per request, numbered from 1; times in seconds, None for what never came."""
    results, requests = run.results, run.requests
    return {
        "request": list(range(1, len(results) + 1)),
        "status": [STATUSES[status] for status in results["status"].tolist()],
        "arrival_s": _seconds(results["arrival_s"]),
        "prompt_tokens": requests.prompt_tokens.tolist(),
        "output_tokens": requests.output_tokens.tolist(),
        "scheduled_s": _seconds(results["scheduled_s"]),
        "first_s": _seconds(results["first_s"]),
        "finish_s": _seconds(results["finish_s"]),
        "outputs": results["outputs"].tolist(),
        "hit_tokens": results["hit_tokens"].tolist(),
        "preemptions": results["preemptions"].tolist(),
    }


def requests_csv(run: Run) -> str:
    """Columns of the requests as CSV; an empty cell is what never came."""
    columns = request_columns(run)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _seconds(times: NDArray[Any]) -> list[float | None]:
    return [None if missing else time for time, missing in zip(times.tolist(), np.isnan(times).tolist(), strict=True)]
