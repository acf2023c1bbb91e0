"""Results as benchmarks print them: vLLM and SGLang, trtllm-bench, and the tables of AIPerf and GuideLLM."""

from __future__ import annotations

import re

from sim.importers.quantities import read_plain
from sim.importers.reading import Draft

_ROW = re.compile(
    r"^[ \t|]*([A-Za-z#][^:\n|]{2,70}):[ \t]+(-?[\d,.]+(?:[eE][+-]?\d+)?|inf|nan|N/A)(?:[ \t|]+\([^)\n]*\))?[ \t|]*$",
    re.MULTILINE,
)
_LATENCY = re.compile(
    r"(Mean|Median|Std|Min|Max|Average|P\d{1,2}(?:\.\d+)?) (TTFT|TPOT|ITL|E2EL|E2E Latency|E2E latency|Latency) \(ms\)"
)
_BACKEND = re.compile(r"^Backend:\s+(\S+)\s*$", re.MULTILINE)

LATENCIES = {
    "TTFT": "ttft_ms",
    "TPOT": "tpot_ms",
    "ITL": "itl_ms",
    "E2EL": "e2e_ms",
    "E2E LATENCY": "e2e_ms",
    "LATENCY": "e2e_ms",
}
STATISTICS = {"mean": "mean", "average": "mean", "avg": "mean", "median": "p50", "mdn": "p50"}

FIGURES: dict[str, str] = {
    "successful requests": "requests",
    "number of requests": "requests",
    "failed requests": "failed_requests",
    "benchmark duration (s)": "duration_s",
    "total input tokens": "total_prompt_tokens",
    "total generated tokens": "total_output_tokens",
    "total generated tokens (retokenized)": "retokenized_output_tokens",
    "request throughput (req/s)": "requests_per_s",
    "request throughput (req/sec)": "requests_per_s",
    "request goodput (req/s)": "goodput_rps",
    "input token throughput (tok/s)": "prompt_tokens_per_s",
    "output token throughput (tok/s)": "output_tokens_per_s",
    "total output throughput (tokens/sec)": "output_tokens_per_s",
    "total token throughput (tok/s)": "total_tokens_per_s",
    "total token throughput (tokens/sec)": "total_tokens_per_s",
    "peak output token throughput (tok/s)": "peak_output_tokens_per_s",
    "peak concurrent requests": "peak_concurrent_requests",
    "concurrency": "concurrency",
    "accept length": "accept_length",
    "total num prompt tokens": "total_prompt_tokens",
    "total num output tokens": "total_output_tokens",
}
"""Figures by the label that vLLM's, SGLang's and TensorRT-LLM's benchmarks print, in lower case."""

LOADS = {
    "maximum request concurrency": "max_concurrency",
    "max request concurrency": "max_concurrency",
    "max reqeuest concurrency": "max_concurrency",  # as SGLang spelled it until 2025
    "request rate configured (rps)": "request_rate",
    "traffic request rate": "request_rate",
    "burstiness factor": "burstiness",
    "issue rate (req/sec)": "request_rate",
    "issue rate (requests/sec)": "request_rate",
}
TRTLLM_MS = {
    "average request latency (ms)": ("e2e_ms", "mean"),
    "average time-to-first-token [ttft] (ms)": ("ttft_ms", "mean"),
    "average time-per-output-token [tpot] (ms)": ("tpot_ms", "mean"),
}
_THROUGHPUT = re.compile(
    r"^Throughput: (\d+\.?\d*) requests/s(?:, (\d+\.?\d*) (?:total )?tokens/s)?(?:, (\d+\.?\d*) output tokens/s)?",
    re.MULTILINE,
)
_LATENCY_LINE = re.compile(r"^(?:Avg|(\d{1,2})% percentile) latency: (\d+\.?\d*) seconds", re.MULTILINE)
_TRTLLM_PERCENTILE = re.compile(
    r"^\[(TTFT|TPOT|Latency|LATENCY)\]\s+(P\d\d|AVERAGE|MINIMUM|MAXIMUM)\s*:\s+([\d.,]+)", re.MULTILINE
)
_TRTLLM_LENGTH = re.compile(r"^Average (Input|Output) Length \(tokens\):\s+([\d.,]+)", re.MULTILINE)


def read_console(text: str, draft: Draft) -> bool:
    """Read a benchmark's console output; say whether anything of it was found."""
    rows = [(" ".join(label.split()), value) for label, value in _ROW.findall(text)]
    found = False
    for label, value in rows:
        found = _read_row(label, value, draft) or found
    backend = _BACKEND.search(text)
    if found and backend:
        draft.load.setdefault("tool", "sglang")
        set_backend(draft, backend[1])
    return found


def set_backend(draft: Draft, backend: str) -> None:
    """Engine from a benchmark's word for it; a word for the protocol (openai) names none."""
    names = {
        "vllm": "vllm",
        "sglang": "sglang",
        "trt": "tensorrt-llm",
        "tensorrt-llm": "tensorrt-llm",
        "llama.cpp": "llama-server",
    }
    word = backend.lower()
    engine = next((engine for name, engine in names.items() if word == name or word.startswith(f"{name}-")), "")
    draft.engine = draft.engine or engine


def _read_row(label: str, value: str, draft: Draft) -> bool:
    try:
        number = read_plain(value)
    except ValueError:
        return False
    key, latency = label.lower(), _LATENCY.fullmatch(label)
    if latency:
        draft.latency(LATENCIES[latency[2].upper()], statistic_name(latency[1]), number)
    elif key in TRTLLM_MS:
        draft.engine = draft.engine or "tensorrt-llm"
        draft.latency(*TRTLLM_MS[key], number)
    elif key == "total latency (ms)":
        draft.figure("duration_s", number / 1000)
    elif key in LOADS:
        draft.load[LOADS[key]] = number
    elif key in FIGURES:
        draft.figure(FIGURES[key], number)
    else:
        return False
    draft.understand(f"{label}: {value}")
    return True


def read_offline_bench(text: str, draft: Draft) -> bool:
    """Read `vllm bench throughput` and `vllm bench latency`: one line, and seconds instead of milliseconds."""
    throughput = _THROUGHPUT.search(text)
    if throughput:
        names = ("requests_per_s", "total_tokens_per_s", "output_tokens_per_s")
        for name, value in zip(names, throughput.groups(), strict=True):
            if value:
                draft.figure(name, read_plain(value))
        draft.understand(throughput.group())
    latencies = _LATENCY_LINE.findall(text)
    for percent, value in latencies:
        draft.latency("e2e_ms", f"p{percent}" if percent else "mean", read_plain(value) * 1000)
    return bool(throughput or latencies)


def read_trtllm_bench(text: str, draft: Draft) -> bool:
    """Percentiles and lengths that trtllm-bench prints below its overview."""
    rows = _TRTLLM_PERCENTILE.findall(text)
    names = {"AVERAGE": "mean", "MINIMUM": "min", "MAXIMUM": "max"}
    for metric, statistic, value in rows:
        draft.latency(LATENCIES[metric.upper()], names.get(statistic, statistic.lower()), read_plain(value))
    for which, value in _TRTLLM_LENGTH.findall(text):
        draft.figure({"Input": "mean_prompt_tokens", "Output": "mean_output_tokens"}[which], read_plain(value))
    return bool(rows)


def statistic_name(word: str) -> str:
    """Key of a statistic, such as mean or p99."""
    lower = word.lower()
    return STATISTICS.get(lower, lower.removesuffix(".0"))
