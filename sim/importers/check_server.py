"""What the figures of a server's log say together: memory, pool, trends, in words with the numbers."""

from __future__ import annotations

from typing import Any

from sim.catalog import GIB, find_model
from sim.importers.check_result import TOLERANCE, differ, positive
from sim.importers.reading import Draft
from sim.sizes import kv_bytes_per_token

CLOSE_GIB = 0.02
BUDGET = 8192
"""vLLM's default token budget on a GPU of 70 GiB or more."""


def check_server(draft: Draft) -> None:
    """Add to the warnings what a log's figures say together."""
    for check in (_nothing_left, _budget, _graphs, _padding, _context, _bytes_per_token, _admissions, _use, _line):
        check(draft)


def _nothing_left(draft: Draft) -> None:
    kv_gib, blocks = draft.figures.get("kv_gib", 1), draft.figures.get("num_gpu_blocks", 1)
    if kv_gib <= 0 or blocks <= 0:
        amount = f"{kv_gib:g} GiB" if kv_gib <= 0 else "0 blocks"
        draft.warn(
            f"{amount} for KV: weights and activations take all the memory that may be used; the server does not start."
        )


def _budget(draft: Draft) -> None:
    """The terms of GPU memory, as far as they are logged."""
    figures, share = draft.figures, draft.params.get("gpu_memory_utilization")
    weights, peak = figures.get("weights_gib"), figures.get("peak_torch_gib")
    if peak is not None and weights is not None:
        figures.setdefault("activation_gib", round(peak - weights, 4))
    elif weights is not None and "activation_gib" in figures:
        peak = weights + figures["activation_gib"]
    total, kv, other = figures.get("gpu_memory_gib"), figures.get("kv_gib"), figures.get("non_torch_gib", 0.0)
    if share is None or total is None or kv is None or peak is None:
        return
    left = share * total - peak - other
    verdict = "agrees with" if abs(left - kv) < max(CLOSE_GIB, TOLERANCE * abs(kv)) else "is not"
    draft.warn(
        f"{share:g} x {total:g} - {peak:.4g} - {other:g} = {left:.2f} GiB for KV, which {verdict} the {kv:g} GiB "
        "logged."
    )


def _graphs(draft: Draft) -> None:
    equivalent, share = draft.figures.get("equivalent_utilization"), draft.params.get("gpu_memory_utilization")
    if not equivalent or not share:
        return
    graphs = draft.figures.get("cuda_graph_gib")
    taken = f", {graphs:g} GiB," if graphs else ""
    total = f": a GPU of {graphs / (share - equivalent):.0f} GiB" if graphs and share > equivalent else ""
    draft.warn(
        f"CUDA graphs{taken} are inside the budget (since vLLM 0.21), so a utilisation of {share:g} leaves as much "
        "for KV "
        f"as {equivalent:g} did before{total}."
    )


def _padding(draft: Draft) -> None:
    layers, waste = draft.figures.get("padding_layers"), draft.figures.get("padding_waste_percent")
    if layers is not None and waste is not None:
        draft.warn(
            f"{layers:g} padding layers, so that layers of different kinds share one pool: up to {waste:g} % of the KV "
            "memory holds nothing. A hybrid model, which is not modelled."
        )


def _context(draft: Draft) -> None:
    """The pool against the longest request."""
    tokens, longest = positive(draft.figures.get("kv_tokens")), positive(draft.params.get("max_model_len"))
    if not tokens or not longest or draft.engine == "llama-server":
        return
    stated = positive(draft.figures.get("max_concurrency"))
    if tokens < longest:
        draft.warn(
            f"The pool holds {tokens:,} tokens, less than one request of max_model_len, {longest:,}: the server does "
            "not "
            "start."
        )
    elif stated and differ(tokens / longest, stated):
        draft.warn(
            f"{tokens:,} tokens / {longest:,} = {tokens / longest:.2f}, but {stated:g} requests of that length are "
            "said to "
            "fit: not every layer keeps every token (hybrid or sliding window)."
        )


def _bytes_per_token(draft: Draft) -> None:
    figures, params = draft.figures, draft.params
    tokens, kv_gib = positive(figures.get("kv_tokens")), positive(figures.get("kv_gib"))
    if not tokens or not kv_gib:
        return
    logged = kv_gib * GIB / tokens
    sentence = f"{kv_gib:.2f} GiB / {tokens:,} tokens = {logged:,.0f} bytes a token on each GPU"
    if "model" in params:
        kv_format, tp = params.get("kv_cache_dtype", "auto"), params.get("tensor_parallel_size", 1)
        ours = kv_bytes_per_token(find_model(params["model"]), kv_format, tp)
        sentence += f", {'not the' if differ(logged, ours) else 'as'} {ours:,} of {params['model']}"
    draft.warn(f"{sentence}.")


def _admissions(draft: Draft) -> None:
    """Prompts' length from how fast requests are admitted, and the steps a second that a budget allows."""
    gained, length, mean = _gained(draft), _prompt_tokens(draft), _mean_prompt_rate(draft)
    if not length:
        return
    interval = draft.figures["sample_interval_s"]
    budget = draft.params.get("max_num_batched_tokens", BUDGET)
    draft.warn(
        f"+{gained:g} running every {interval:g} s at {mean:,.0f} prompt tokens/s: prompts of about {length:,.0f} "
        "tokens, "
        f"one after another. At a budget of {budget:,} tokens a step that is {mean / budget:.1f} steps a second, and "
        "no "
        "stream gets more tokens a second than that."
    )


def _use(draft: Draft) -> None:
    """KV of a request, and the pool that follows."""
    usage, running = draft.figures.get("kv_usage"), draft.figures.get("running")
    if not isinstance(usage, list) or not isinstance(running, list) or not usage[-1] > 0 or not running[-1]:
        return
    share = usage[-1] / running[-1]
    sentence = (
        f"{usage[-1]:.1%} of KV for {running[-1]} requests: {share:.2%} each, so about {1 / share:,.0f} would fit"
    )
    length = _prompt_tokens(draft)
    if length:
        draft.figure("kv_tokens_estimate", round(length / share))
        sentence += f"; with prompts of {length:,.0f} tokens the pool has about {length / share / 1e6:.2f} million"
    draft.warn(f"{sentence}.")


def _line(draft: Draft) -> None:
    running, waiting, usage = (draft.figures.get(name) for name in ("running", "waiting", "kv_usage"))
    if not isinstance(waiting, list) or not isinstance(running, list) or len(waiting) < 2:
        return
    if waiting[-1] > waiting[0]:
        draft.warn(f"The waiting line grows from {waiting[0]} to {waiting[-1]}: more comes than is served.")
    is_steady = min(waiting) > 0 and running[0] == running[-1]
    if is_steady and isinstance(usage, list) and max(usage) < 0.9:
        draft.warn("Requests wait though KV is free and none is admitted: max_num_seqs is the limit.")


def _gained(draft: Draft) -> float:
    """Requests that running grows by from sample to sample."""
    running = draft.figures.get("running")
    if not isinstance(running, list) or len(running) < 2:
        return 0.0
    return float(max(running[-1] - running[0], 0) / (len(running) - 1))


def _mean_prompt_rate(draft: Draft) -> float:
    """Prompt tokens per second, the first sample left out: its window began before the first request."""
    rates: Any = draft.figures.get("prompt_tokens_per_s")
    return sum(rates[1:]) / len(rates[1:]) if isinstance(rates, list) and len(rates) > 1 else 0.0


def _prompt_tokens(draft: Draft) -> float:
    """Length of a prompt, from admissions at a steady rate of prefill; 0 where it cannot be told."""
    interval, gained = draft.figures.get("sample_interval_s"), _gained(draft)
    return _mean_prompt_rate(draft) * interval / gained if interval and gained else 0.0
