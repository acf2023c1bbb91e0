"""The same run in the terms of three benchmark tools: what each calls TTFT, TPOT, ITL, throughput and a good request.

A row of DIALECTS is a tool: its definitions in a line each, and the function that computes what differs from
`sim.metrics`, which speaks vLLM's language. What a tool does not report (queue, slots, preemptions) stays as it is.

References
----------
vLLM `vllm/benchmarks/serve.py` (0.2x, 0.3x); GuideLLM `schemas/request_stats.py`; AIPerf `metrics/types`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.errors import ScenarioError
from sim.metrics import PERCENTILES, Distribution, Floats, Ints, Measured, distribution_of, named, ratio, summary

CUT = 0.1
"""Share of the run that GuideLLM's warm-up takes, and its cool-down [of the time from first arrival to last output]."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One tool.

    Attributes
    ----------
    name, title : str
        As in a query string, and as its makers write it.
    window : str
        What of the run is measured, in words.
    meanings : Mapping
        A line by name of a metric, for those it defines otherwise than `sim.metrics.METRICS`.
    compute : callable
        Metrics by name that differ.
    """

    name: str
    title: str
    window: str
    meanings: Mapping[str, str]
    compute: Callable[[Measured], dict[str, Any]]


def metrics_in(dialect: str, measured: Measured) -> dict[str, Any]:
    """All metrics by name as a tool defines them; None where it has none, or where one is undefined.

    Raises
    ------
    ScenarioError
        If there is no such dialect.
    """
    if dialect not in DIALECT_BY_NAME:
        raise ScenarioError("dialect", dialect, ", ".join(DIALECT_BY_NAME))
    return summary(measured) | DIALECT_BY_NAME[dialect].compute(measured)


def guidellm(measured: Measured, cut: float = CUT) -> dict[str, Any]:
    """GuideLLM's terms for requests that end inside the window.

    Parameters
    ----------
    measured : Measured
        The run.
    cut : float
        Share of the run cut off at either end; a request counts if its last token falls between the cuts.

    Notes
    -----
    Percentiles are the lower step of the weighted distribution: the least value up to which a share of p of the weight
    lies. The token rates count what comes inside the window, of each request's outputs the first and evenly from there
    to the last, and its prompt with its first output.
    """
    m = measured
    t0, t1, tl = (column[m.is_finished] for column in (m.arrival_s, m.first_s, m.finish_s))
    n = m.output_tokens[m.is_finished].astype(np.int64)
    start_s, end_s = _window(m, cut)
    seconds, inside = end_s - start_s, (tl >= start_s) & (tl <= end_s)
    tpot_s, later = (tl - t0) / n, inside & (n > 1)
    good, errors = int(np.count_nonzero(m.is_good(tpot_s) & inside)), int(m.is_rejected.sum())
    outputs = _outputs_within(t1, tl, n, start_s, end_s)
    prompts = float(m.prompt_tokens[m.is_finished][(t1 >= start_s) & (t1 <= end_s)].sum(dtype=np.int64))
    ones = np.ones(len(n))
    return {
        "ttft_s": stepped((t1 - t0)[inside], ones[inside]),
        "tpot_s": stepped(tpot_s[inside], n[inside]),
        "itl_s": stepped((tl - t1)[later] / (n[later] - 1), n[later] - 1),
        "e2e_s": stepped((tl - t0)[inside], ones[inside]),
        "output_tokens_per_s": ratio(outputs, seconds),
        "total_tokens_per_s": ratio(prompts + outputs, seconds),
        "requests_per_s": ratio(float(np.count_nonzero(inside)), seconds),
        "goodput_rps": ratio(good, seconds),
        "slo_attainment": ratio(good, float(np.count_nonzero(inside)) + errors),
    }


def aiperf(measured: Measured) -> dict[str, Any]:
    """AIPerf's terms: no TPOT; ITL is one mean per request, all equal, and stands in for TPOT in the SLO."""
    later = measured.output_tokens[measured.is_finished] > 1
    return {"tpot_s": distribution_of(np.empty(0)), "itl_s": distribution_of(measured.tpot_s[later])}


def stepped(values: Floats, weights: Floats | Ints) -> Distribution:
    """Weighted mean, and percentiles by the lower step of the weighted empirical distribution.

    Examples
    --------
    >>> stepped(np.array([1.0, 2.0, 9.0]), np.array([1, 1, 8]))["p50"]
    9.0
    """
    total = float(weights.sum())
    if total <= 0:
        return distribution_of(np.empty(0))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order], dtype=np.float64)
    at = np.searchsorted(ends, np.array(PERCENTILES) / 100 * total * (1 - 1e-12), side="left")
    return named([float(values @ weights) / total, *values[order][np.minimum(at, len(values) - 1)]])


def _window(measured: Measured, cut: float) -> tuple[float, float]:
    """Start and end of what is measured [s]; nothing if no request finished."""
    if np.isnan(measured.duration_s):
        return 0.0, 0.0
    first_s = float(np.nanmin(measured.arrival_s))
    return first_s + cut * measured.duration_s, first_s + (1 - cut) * measured.duration_s


def _outputs_within(first_s: Floats, last_s: Floats, outputs: Ints, start_s: float, end_s: float) -> float:
    """Tokens that come between two times [s]: of each request its first, and its others evenly up to its last."""
    # MODEL: GuideLLM knows of a request its first and its last token, so the rate it gives spreads the others evenly.
    firsts = np.count_nonzero((first_s >= start_s) & (first_s <= end_s))
    overlap_s = np.minimum(last_s, end_s) - np.maximum(first_s, start_s)
    length_s = np.maximum(last_s - first_s, 1e-12)
    return float(firsts + ((outputs - 1) * np.clip(overlap_s / length_s, 0, 1)).sum())


DIALECTS: tuple[Dialect, ...] = (
    Dialect("vllm", "vLLM", "the whole run, ramp and drain included", {}, lambda _: {}),
    Dialect(
        "guidellm",
        "GuideLLM",
        f"without the first and the last {CUT * 100:.0f} % of the run, warm-up and cool-down",
        {
            "ttft_s": "From arrival to first token; percentiles are values that occur",
            "tpot_s": "Whole latency / tokens, first one included; weighted by tokens",
            "itl_s": "Mean gap of each request, weighted by its gaps",
            "e2e_s": "From arrival to last token; percentiles are values that occur",
            "output_tokens_per_s": "Tokens that come inside the window / its length",
            "requests_per_s": "Requests that end inside the window / its length",
            "goodput_rps": "Requests inside the window that meet every SLO, TPOT as here / its length",
            "slo_attainment": "Share that meets every SLO, TPOT as here; errors are misses",
        },
        guidellm,
    ),
    Dialect(
        "aiperf",
        "AIPerf",
        "from the first request to the last response",
        {
            "tpot_s": "AIPerf has no TPOT; its ITL is one mean gap per request",
            "itl_s": "Mean gap of each request of two tokens or more, all requests equal",
            "goodput_rps": "Requests that meet every SLO, each one's ITL in place of TPOT / duration",
            "slo_attainment": "Share that meets every SLO, each one's ITL in place of TPOT",
        },
        aiperf,
    ),
)
"""The tools, the default first."""

DIALECT_BY_NAME: dict[str, Dialect] = {dialect.name: dialect for dialect in DIALECTS}
DEFAULT = DIALECTS[0].name
