"""What one call may ask of this server: checked on the drawn requests, before anything large is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.settings import Settings
from sim.catalog import load_lengths
from sim.parameters import RECORDED
from sim.scenario import Scenario, ScenarioError, Workload
from sim.sweep import Spot
from sim.workload import Trace, make_requests

LIKELY_SIGMAS = 6


def check_size(scenario: Scenario, trace: Trace | None, settings: Settings) -> None:
    """Refuse a run that is too large.

    Raises
    ------
    ScenarioError
        Names the parameter to lower, and says the limit.
    """
    workload, block_size = scenario.workload, scenario.server.block_size
    count = trace.rows if trace is not None and workload.load == "trace" else workload.num_requests
    _check("prefix_groups", _roots(workload) / block_size, settings.max_blocks, "blocks of shared text")
    if trace is None and count * _longest(workload) < min(settings.max_blocks, settings.max_tokens):
        return
    requests = make_requests(workload, trace)
    field = "trace_to_s" if trace is not None and workload.load == "trace" else "num_requests"
    outputs = int(requests.output_tokens.sum(dtype="int64"))
    prompts = int(requests.prompt_tokens.sum(dtype="int64"))
    _check(field, outputs, settings.max_tokens, "output tokens")
    _check(field, (prompts + outputs) / block_size, settings.max_blocks, "KV blocks of text")


def check_sweep(todo: Sequence[Spot], trace: Trace | None, settings: Settings) -> None:
    """Refuse a sweep whose runs are too many, or together larger than one run may be.

    Raises
    ------
    ScenarioError
        Names what to lower, and says the limit.
    """
    runs = sum(len(spot.scenarios) for spot in todo)
    if runs > settings.max_sweep_runs:
        allowed = f"at most {settings.max_sweep_runs} runs, points x scenarios x seeds, on this server"
        raise ScenarioError("x", f"a sweep of {runs:,} runs", allowed)
    outputs = 0
    for spot in todo:
        check_size(spot.scenarios[0], trace, settings)
        requests = make_requests(spot.scenarios[0].workload, trace)
        outputs += len(spot.scenarios) * int(requests.output_tokens.sum(dtype="int64"))
        _check("x", outputs, settings.max_tokens, "output tokens", "the points or seeds")


def _check(field: str, amount: float, most: int, what: str, lower: str = "") -> None:
    if amount > most:
        allowed = f"at most {most:,} {what} on this server; lower {lower or field}"
        raise ScenarioError(field, f"a run with {amount:,.0f} {what}", allowed)


def _roots(workload: Workload) -> int:
    return workload.prefix_groups * workload.shared_prefix_tokens


def _longest(workload: Workload) -> float:
    """Tokens that a request hardly ever exceeds."""
    if workload.session != "none":
        return math.inf
    w = workload
    prompts = _longest_drawn(w.prompt_dist, w.prompt_tokens, w.prompt_sigma) + sum(w.prompt_list)
    outputs = _longest_drawn(w.output_dist, w.output_tokens, w.output_sigma) + sum(w.output_list)
    return prompts + outputs + workload.shared_prefix_tokens


def _longest_drawn(dist: str, median: int, sigma: float) -> float:
    if dist in RECORDED:
        table = load_lengths()[dist]
        return max(*table.prompt, *table.output)
    return median * math.exp(LIKELY_SIGMAS * sigma)
