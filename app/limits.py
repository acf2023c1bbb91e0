"""What one call may ask of this server: checked on the drawn requests, before anything large is made of them."""

from __future__ import annotations

import math

from app.settings import Settings
from sim.scenario import Scenario, ScenarioError, Workload
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


def _check(field: str, amount: float, most: int, what: str) -> None:
    if amount > most:
        raise ScenarioError(
            field, f"a run with {amount:,.0f} {what}", f"at most {most:,} {what} on this server; lower {field}"
        )


def _roots(workload: Workload) -> int:
    return workload.prefix_groups * workload.shared_prefix_tokens


def _longest(workload: Workload) -> float:
    """Tokens that a request hardly ever exceeds."""
    if workload.session != "none":
        return math.inf
    prompts = workload.prompt_tokens * math.exp(LIKELY_SIGMAS * workload.prompt_sigma) + sum(workload.prompt_list)
    outputs = workload.output_tokens * math.exp(LIKELY_SIGMAS * workload.output_sigma) + sum(workload.output_list)
    return prompts + outputs + workload.shared_prefix_tokens
