"""From what a benchmark says of its requests to the parameters of a load."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from sim.importers.quantities import read_number
from sim.importers.reading import Draft

CAP_BINDS = 0.9
"""Measured rate / configured rate below which the cap on requests in flight, not the rate, made the load."""
AT_ONCE = 1e6
"""Requests a second from which on a rate is what a clock makes of sending all at once."""
FULL_RANGE = 0.5
"""The half-width of `uniform` here: 0.5 to 1.5 times the median."""


def settle_load(draft: Draft) -> None:
    """Set the parameters of load and lengths from what was collected in `draft.load`, once all is read."""
    load = draft.load
    if not load:
        return
    if load.get("num_prompts"):
        draft.set("num_requests", load["num_prompts"])
    _read_data_argument(load)
    _set_arrivals(draft, load)
    _set_lengths(draft, load)
    if "seed" in load:
        draft.set("seed", load["seed"])
    _set_goodput(draft, str(load.get("goodput", "")))


def _set_arrivals(draft: Draft, load: Mapping[str, Any]) -> None:
    rate, cap = load.get("request_rate"), load.get("max_concurrency")
    if rate is not None and rate > AT_ONCE:
        rate = math.inf
    is_endless = rate is None or math.isinf(rate)
    kind = str(load.get("rate_type", ""))
    if kind in ("synchronous", "concurrent", "throughput"):
        cap, is_endless = {"synchronous": 1, "concurrent": cap or rate, "throughput": cap}[kind], True
    if rate is not None and math.isinf(rate):
        draft.repair("request rate inf", f"a burst, capped at {cap:g} in flight" if cap else "a burst: all at once")
    if cap and (is_endless or _cap_binds(draft, rate)):
        is_burst = rate is not None and math.isinf(rate) and not load.get("is_command")
        draft.set("load", "burst" if is_burst else "closed")
        draft.set("concurrency", int(cap))
        if not is_endless:
            draft.warn(
                f"The cap of {int(cap)} requests in flight, not the rate of {rate:g} requests/s, made the load: a "
                "closed loop."
            )
    elif rate is not None and not is_endless:
        _set_open(draft, load, float(rate), cap)
    elif rate is not None or load.get("is_command"):
        draft.set("load", "burst")


def _set_open(draft: Draft, load: Mapping[str, Any], rate: float, cap: float | None) -> None:
    draft.set("load", "open")
    draft.set("rate", rate)
    if "burstiness" in load:
        draft.set("burstiness", load["burstiness"])
    if load.get("rate_type") == "constant" or load.get("arrival_pattern") == "constant":
        draft.set("burstiness", "inf")
    if load.get("tool") == "vllm":
        draft.set("rescale_arrivals", value=True)
        draft.understand("vLLM's benchmark stretches arrivals so that the last is at N/rate: rescale_arrivals = true")
    if cap:
        draft.warn(
            f"The benchmark also sends at most {int(cap)} at a time; an open loop with such a cap is not modelled."
        )


def _cap_binds(draft: Draft, rate: float | None) -> bool:
    measured = draft.figures.get("requests_per_s")
    return bool(measured and rate and measured < CAP_BINDS * rate)


def _set_lengths(draft: Draft, load: Mapping[str, Any]) -> None:
    for key, name in (("input_len", "prompt"), ("output_len", "output")):
        if load.get(key):
            _set_length(draft, name, load[key], load)
        elif load.get(f"mean_{key}"):
            _set_mean(draft, name, load[f"mean_{key}"])
    if load.get("prefix_len"):
        draft.set("shared_prefix_tokens", load["prefix_len"])
    dataset = str(load.get("dataset", ""))
    if dataset and "random" not in dataset and not (load.get("input_len") or load.get("mean_input_len")):
        draft.warn(
            f"The lengths of the dataset {dataset} are not in the text, so prompts are this page's unless a result "
            "gives "
            "their mean: distrust TTFT until you set prompt_tokens and output_tokens, or load the requests as a trace."
        )


def _set_mean(draft: Draft, name: str, mean: float) -> None:
    draft.set(f"{name}_tokens", max(1, round(mean)))
    draft.set(f"{name}_dist", "fixed")
    draft.warn(
        f"Of {name} lengths only the mean, {mean:,.1f} tokens, is in the text: all requests get it, so percentiles are "
        "narrower here than where lengths differ."
    )


def _set_length(draft: Draft, name: str, tokens: int, load: Mapping[str, Any]) -> None:
    """Median and distribution: vLLM draws from (1 - r) to (1 + r) times the length, SGLang from r to 1 times it."""
    ratio = load.get("range_ratio")
    is_sglang = load.get("tool") == "sglang"
    is_fixed = ratio == 1 or (not is_sglang and not ratio)
    low, high = (ratio or 0.0, 1.0) if is_sglang else (1 - (ratio or 0.0), 1 + (ratio or 0.0))
    if is_fixed or low >= high:
        draft.set(f"{name}_tokens", tokens)
        draft.set(f"{name}_dist", "fixed")
        return
    draft.set(f"{name}_tokens", max(1, round(tokens * (low + high) / 2)))
    draft.set(f"{name}_dist", "uniform")
    if (low, high) != (FULL_RANGE, 3 * FULL_RANGE):
        draft.warn(
            f"{name} lengths are drawn from {low * tokens:,.0f} to {high * tokens:,.0f} tokens; uniform here is 0.5 "
            "to 1.5 "
            "times the middle, so only the mean agrees."
        )


def _set_goodput(draft: Draft, text: str) -> None:
    """SLOs of `--goodput ttft:500 tpot:50` [ms]."""
    names = {"ttft": "slo_ttft_ms", "tpot": "slo_tpot_ms"}
    for metric, limit in re.findall(r"(\w+)\s*:\s*([\d.]+)", text):
        if metric in names:
            draft.set(names[metric], read_number(limit), f"--goodput {metric}:{limit}")
        else:
            draft.ignore(f"--goodput {metric}:{limit}", "limits here are on TTFT and TPOT")


def _read_data_argument(load: dict[str, Any]) -> None:
    """GuideLLM's `--data prompt_tokens=512,output_tokens=256`, as pairs or JSON."""
    for name, key in (("prompt_tokens", "input_len"), ("output_tokens", "output_len")):
        found = re.search(rf"\b{name}\b[\"']?\s*[=:]\s*(\d{{1,9}})", str(load.get("data", "")))
        if found:
            load[key] = int(found[1])
