"""GuideLLM's benchmarks.json: a list of benchmarks, each with distributions by how requests ended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sim.importers.models import set_model
from sim.importers.reading import Draft

LATENCIES = {
    "time_to_first_token_ms": ("ttft_ms", 1.0),
    "time_per_output_token_ms": ("tpot_ms", 1.0),
    "inter_token_latency_ms": ("itl_ms", 1.0),
    "request_latency": ("e2e_ms", 1000.0),
}
"""Figure, and factor to ms, of each distribution of latencies."""
FIGURES = {
    "requests_per_second": "requests_per_s",
    "output_tokens_per_second": "output_tokens_per_s",
    "tokens_per_second": "total_tokens_per_s",
    "request_concurrency": "concurrency",
    "prompt_token_count": "mean_prompt_tokens",
    "output_token_count": "mean_output_tokens",
}


def read_guidellm(benchmarks: list[Any], document: Mapping[str, Any], draft: Draft) -> bool:
    """Read the first benchmark of a file; say whether it has metrics."""
    usable = [item for item in benchmarks if isinstance(item, dict) and isinstance(item.get("metrics"), dict)]
    if not usable:
        return False
    if len(usable) > 1:
        draft.warn(f"The file has {len(usable)} benchmarks, at different loads; the figures are those of the first.")
    first = usable[0]
    draft.load["tool"] = "guidellm"
    _read_metrics(first["metrics"], draft)
    _read_counts(first, draft)
    _read_strategy(first, draft)
    _read_arguments(document.get("args"), draft)
    return bool(draft.figures)


def _read_metrics(metrics: Mapping[str, Any], draft: Draft) -> None:
    for key, (figure, factor) in LATENCIES.items():
        distribution = _successful(metrics.get(key))
        for statistic, value in _statistics(distribution):
            draft.latency(figure, statistic, value * factor)
        if distribution:
            draft.understand(key)
    for key, figure in FIGURES.items():
        mean = _number(_successful(metrics.get(key)).get("mean"))
        if mean is not None:
            draft.figure(figure, mean)
            draft.understand(f"{key}: {mean:,.10g}")
    for key, figure in (("prompt_token_count", "total_prompt_tokens"), ("output_token_count", "total_output_tokens")):
        total = _number(_successful(metrics.get(key)).get("total_sum"))
        if total is not None:
            draft.figure(figure, total)


def _read_counts(benchmark: Mapping[str, Any], draft: Draft) -> None:
    totals = _object(benchmark["metrics"], "request_totals") or _object(benchmark, "request_totals")
    for key, figure in (
        ("successful", "requests"),
        ("errored", "failed_requests"),
        ("incomplete", "incomplete_requests"),
    ):
        count = _number(totals.get(key))
        if count is not None:
            draft.figure(figure, count)
    spans = [
        _span(part) for part in (benchmark, _object(benchmark, "run_stats"), _object(benchmark, "scheduler_metrics"))
    ]
    duration = next((time for time in (_number(benchmark.get("duration")), *spans) if time), None)
    if duration:
        draft.figure("duration_s", duration)


def _read_strategy(benchmark: Mapping[str, Any], draft: Draft) -> None:
    """What was sent: synchronous, concurrent, throughput, constant or poisson."""
    for part in (benchmark.get("config"), benchmark.get("args"), benchmark.get("scheduler"), benchmark):
        strategy = part.get("strategy") if isinstance(part, dict) else None
        if not isinstance(strategy, dict):
            continue
        kind = str(strategy.get("type_", ""))
        draft.load["rate_type"] = {"async": "poisson"}.get(kind, kind)
        for key in ("rate", "streams", "max_concurrency"):
            value = _number(strategy.get(key))
            if value:
                draft.load["request_rate" if key == "rate" else "max_concurrency"] = value
        return


def _read_arguments(arguments: Any, draft: Draft) -> None:
    if not isinstance(arguments, dict):
        return
    if isinstance(arguments.get("model"), str):
        set_model(draft, arguments["model"], f"model {arguments['model']}")
    data = arguments.get("data")
    if isinstance(data, str | list | dict):
        draft.load["data"] = str(data)[:2000]


def _successful(distributions: Any) -> dict[str, Any]:
    """Distribution over the requests that succeeded; versions that have only one give it bare."""
    if not isinstance(distributions, dict):
        return {}
    inner = distributions.get("successful")
    return inner if isinstance(inner, dict) else (distributions if "mean" in distributions else {})


def _statistics(distribution: Mapping[str, Any]) -> list[tuple[str, float]]:
    percentiles = distribution.get("percentiles")
    pairs = [
        ("mean", distribution.get("mean")),
        ("p50", distribution.get("median")),
        ("std", distribution.get("std_dev")),
    ]
    if isinstance(percentiles, dict):
        pairs += [(name, value) for name, value in percentiles.items() if re.fullmatch(r"p\d{1,2}", name)]
    return [(name, number) for name, value in pairs if (number := _number(value)) is not None]


def _object(part: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = part.get(key)
    return value if isinstance(value, dict) else {}


def _span(part: Mapping[str, Any]) -> float | None:
    start, end = _number(part.get("start_time")), _number(part.get("end_time"))
    return end - start if start is not None and end is not None else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return float(value) if is_number else None
