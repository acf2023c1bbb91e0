"""Results of AIPerf and GenAI-Perf in JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sim.importers.bench_tables import TO_MS
from sim.importers.models import set_model
from sim.importers.quantities import number_of
from sim.importers.reading import Draft

AIPERF_LATENCIES = {
    "time_to_first_token": "ttft_ms",
    "time_to_second_token": "ttst_ms",
    "inter_token_latency": "itl_ms",
    "request_latency": "e2e_ms",
}
AIPERF_FIGURES = {
    "request_throughput": "requests_per_s",
    "output_token_throughput": "output_tokens_per_s",
    "total_token_throughput": "total_tokens_per_s",
    "request_count": "requests",
    "error_request_count": "failed_requests",
    "output_sequence_length": "mean_output_tokens",
    "input_sequence_length": "mean_prompt_tokens",
    "benchmark_duration": "duration_s",
    "goodput": "goodput_rps",
}
AIPERF_LOADS = {
    "concurrency": "max_concurrency",
    "request_rate": "request_rate",
    "request_count": "num_prompts",
    "arrival_pattern": "arrival_pattern",
    "input_tokens.mean": "input_len",
    "output_tokens.mean": "output_len",
}
"""What of the load by how a path in `input_config` ends."""


def is_aiperf(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a result of AIPerf or GenAI-Perf: measurements with an average and a unit."""
    measured = (document.get(key) for key in (*AIPERF_FIGURES, *AIPERF_LATENCIES))
    return any(isinstance(value, dict) and "avg" in value for value in measured)


def read_aiperf(document: Mapping[str, Any], draft: Draft) -> bool:
    """Read a result; what is measured has its unit in a field of its own."""
    draft.load.setdefault("tool", "aiperf")
    for key, figure in AIPERF_LATENCIES.items():
        if isinstance(document.get(key), dict):
            _note_latency(document[key], figure, draft)
            draft.understand(f"{key} [{document[key].get('unit', 'ms')}]")
    for key, figure in AIPERF_FIGURES.items():
        value = (
            number_of(document[key].get("avg")) if isinstance(document.get(key), dict) else number_of(document.get(key))
        )
        if value is not None:
            draft.figure(figure, value)
            draft.understand(f"{key}: {value:,.10g}")
    _read_aiperf_input(document.get("input_config"), draft)
    return True


def _note_latency(measured: Mapping[str, Any], figure: str, draft: Draft) -> None:
    factor = TO_MS.get(str(measured.get("unit", "ms")).lower())
    if factor is None:
        draft.ignore(f"{figure} in {measured['unit']}", "no unit of time that is known")
        return
    for statistic, raw in measured.items():
        value = number_of(raw)
        if value is not None and re.fullmatch(r"avg|min|max|std|p\d{1,2}(\.\d+)?", statistic):
            draft.latency(figure, "mean" if statistic == "avg" else statistic, value * factor)


def _read_aiperf_input(config: Any, draft: Draft) -> None:
    """Load of an AIPerf run, from the configuration that its file repeats."""
    flat = dict(_leaves(config)) if isinstance(config, dict) else {}
    for end, key in AIPERF_LOADS.items():
        value = next((value for path, value in flat.items() if path.endswith(end) and value), None)
        if isinstance(value, str) or number_of(value) is not None:
            draft.load[key] = value
    names = next((value for path, value in flat.items() if path.endswith("model_names")), None)
    if isinstance(names, list) and names and isinstance(names[0], str):
        set_model(draft, names[0], f"model {names[0]}")


def _leaves(tree: Mapping[str, Any], path: str = "", depth: int = 0) -> list[tuple[str, Any]]:
    leaves: list[tuple[str, Any]] = []
    for key, value in tree.items():
        if isinstance(value, dict) and depth < 8:
            leaves += _leaves(value, f"{path}{key}.", depth + 1)
        else:
            leaves.append((f"{path}{key}", value))
    return leaves
