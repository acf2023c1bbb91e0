"""Results as benchmarks write them in JSON: vLLM and SGLang, AIPerf and GenAI-Perf, trtllm-bench, GuideLLM."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sim.errors import ScenarioError
from sim.importers.aiperf_json import is_aiperf, read_aiperf
from sim.importers.bench_console import set_backend
from sim.importers.guidellm_json import read_guidellm
from sim.importers.models import set_model
from sim.importers.quantities import number_of
from sim.importers.reading import Draft

_STATISTIC = re.compile(
    r"(mean|median|std|min|max|p\d{1,2}(?:\.\d+)?)_(ttft|tpot|itl|e2el|e2e_latency|latency)(?:_ms)?"
)
_PERCENTILES = re.compile(r"percentiles_(ttft|tpot|itl|e2el)_ms")
_LATENCIES = {
    "ttft": "ttft_ms",
    "tpot": "tpot_ms",
    "itl": "itl_ms",
    "e2el": "e2e_ms",
    "e2e_latency": "e2e_ms",
    "latency": "e2e_ms",
}

FIGURES: dict[str, str] = {
    "duration": "duration_s",
    "completed": "requests",
    "failed": "failed_requests",
    "total_input_tokens": "total_prompt_tokens",
    "total_output_tokens": "total_output_tokens",
    "total_output_tokens_retokenized": "retokenized_output_tokens",
    "request_throughput": "requests_per_s",
    "request_goodput": "goodput_rps",
    "request_goodput:": "goodput_rps",  # as vLLM spelled it until 2025
    "input_throughput": "prompt_tokens_per_s",
    "output_throughput": "output_tokens_per_s",
    "total_token_throughput": "total_tokens_per_s",
    "total_throughput": "total_tokens_per_s",
    "max_output_tokens_per_s": "peak_output_tokens_per_s",
    "max_concurrent_requests": "peak_concurrent_requests",
    "concurrency": "concurrency",
    "accept_length": "accept_length",
}
"""Figures by the key of vLLM's and SGLang's result files."""
LOADS = {
    "num_prompts": "num_prompts",
    "max_concurrency": "max_concurrency",
    "burstiness": "burstiness",
    "random_input_len": "input_len",
    "random_output_len": "output_len",
    "random_range_ratio": "range_ratio",
    "dataset_name": "dataset",
}
TRTLLM_FIGURES = {
    "request_throughput_req_s": "requests_per_s",
    "system_output_throughput_tok_s": "output_tokens_per_s",
    "system_total_throughput_tok_s": "total_tokens_per_s",
}


def find_json(text: str) -> Any:
    """First JSON object or list of objects in a text, Infinity and NaN allowed; None if the text has none.

    Raises
    ------
    ScenarioError
        If the text is JSON from its start on, but broken: says where.
    """
    decoder, stripped = json.JSONDecoder(), text.lstrip()
    is_whole = stripped.startswith(("{", "["))
    for start in _starts(text):
        try:
            return decoder.raw_decode(text, start)[0]
        except json.JSONDecodeError as error:
            if is_whole and start == len(text) - len(stripped) and '"' in stripped[:200]:
                line, column = text.count("\n", 0, error.pos) + 1, error.pos - text.rfind("\n", 0, error.pos)
                raise ScenarioError("text", f"line {line}, column {column}", f"JSON: {error.msg}") from None
        except (RecursionError, ValueError):
            raise ScenarioError("text", "JSON", "JSON that is not nested or long beyond all use") from None
    return None


def _starts(text: str) -> list[int]:
    """Places where JSON may begin: the first characters of lines, a few of them."""
    return [found.start(1) for found in re.finditer(r"^[ \t]*([{\[])(?=\s*[\"{}\]])", text, re.MULTILINE)][:20]


def read_json(document: Any, draft: Draft) -> bool:
    """Read a benchmark's result; say whether it is one of a benchmark that is known."""
    if isinstance(document, list):
        document = next((item for item in document if isinstance(item, dict)), None)
    if not isinstance(document, dict):
        return False
    if isinstance(document.get("benchmarks"), list):
        return read_guidellm(document["benchmarks"], document, draft)
    if isinstance(document.get("performance"), dict):
        return _read_trtllm(document, draft)
    if is_aiperf(document):
        return read_aiperf(document, draft)
    inner = next(
        (
            document[key]
            for key in ("records", "llm_metrics", "results", "metrics")
            if isinstance(document.get(key), dict)
        ),
        None,
    )
    if inner is not None:
        return read_json({**inner, **{k: v for k, v in document.items() if k == "input_config"}}, draft)
    return _read_flat(document, draft)


def _read_flat(document: Mapping[str, Any], draft: Draft) -> bool:
    """Read a file of vLLM or SGLang: one flat object."""
    found = 0
    for key, value in document.items():
        found += _read_flat_key(key, value, draft)
    if not found:
        return False
    is_sglang = "total_output_tokens_retokenized" in document or str(document.get("backend", "")).startswith("sglang")
    draft.load.setdefault("tool", "sglang" if is_sglang else "vllm")
    rate = number_of(document.get("request_rate"))
    if rate is not None:
        draft.load["request_rate"] = rate
    if isinstance(document.get("backend"), str):
        set_backend(draft, document["backend"])
    name = document.get("model_id") or document.get("model")
    if isinstance(name, str):
        set_model(draft, name, f"model_id {name}")
    return True


def _read_flat_key(key: str, value: Any, draft: Draft) -> int:
    number, statistic, percentiles = number_of(value), _STATISTIC.fullmatch(key), _PERCENTILES.fullmatch(key)
    if percentiles and isinstance(value, list):
        for pair in value:
            if (
                isinstance(pair, list)
                and len(pair) == 2
                and (at := number_of(pair[0]))
                and (ms := number_of(pair[1])) is not None
            ):
                draft.latency(_LATENCIES[percentiles[1]], f"p{at:g}", ms)
        return 1
    if key in LOADS and value is not None:
        draft.load[LOADS[key]] = value if isinstance(value, str) else number
        draft.understand(f"{key}: {value}")
        return 0
    if number is None:
        return 0
    if statistic:
        draft.latency(_LATENCIES[statistic[2]], {"median": "p50"}.get(statistic[1], statistic[1]), number)
    elif key in FIGURES:
        draft.figure(FIGURES[key], number)
    else:
        return 0
    draft.understand(f"{key}: {number:,.10g}")
    return 1


def _read_trtllm(document: Mapping[str, Any], draft: Draft) -> bool:
    draft.engine = draft.engine or "tensorrt-llm"
    performance = document["performance"]
    for key, figure in TRTLLM_FIGURES.items():
        if (value := number_of(performance.get(key))) is not None:
            draft.figure(figure, value)
            draft.understand(f"{key}: {value:,.10g}")
    if (total := number_of(performance.get("total_latency_ms"))) is not None:
        draft.figure("duration_s", total / 1000)
    if (mean := number_of(performance.get("avg_request_latency_ms"))) is not None:
        draft.latency("e2e_ms", "mean", mean)
    streaming = document.get("streaming_metrics")
    for key, figure in (("avg_ttft_ms", "ttft_ms"), ("avg_tpot_ms", "tpot_ms")):
        if isinstance(streaming, dict) and (mean := number_of(streaming.get(key))) is not None:
            draft.latency(figure, "mean", mean)
    return bool(draft.figures)
