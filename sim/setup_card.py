"""The set-up that figures were taken with, line by line: without it nobody can compare them."""

from __future__ import annotations

from typing import NamedTuple

import sim
from sim.catalog import find_gpu, find_model, load_lengths
from sim.dialects import DEFAULT, DIALECT_BY_NAME
from sim.parameters import RECORDED
from sim.run import Run
from sim.scenario import Server, Workload

MIMICKED = {"vllm": "vLLM 0.33"}
"""Engine and version whose recorded schedules are reproduced."""


class Line(NamedTuple):
    """A line of the card."""

    label: str
    value: str


def setup_card(run: Run, dialect: str = DEFAULT, address: str = "") -> list[Line]:
    """Lines of the card: model, quantisation, context, load, hardware, runtime, engine, definitions, times, seed.

    Parameters
    ----------
    run : Run
        Whose figures are quoted.
    dialect : str
        Whose definitions of the metrics they follow.
    address : str
        Where the run can be seen again; left out if empty.
    """
    server, workload, slo = run.scenario.server, run.scenario.workload, run.scenario.slo
    tool = DIALECT_BY_NAME[dialect]
    lines = [
        Line("Model", find_model(server.model).name),
        Line("Quantisation", f"weights {server.weights}, KV cache {_kv_format(server)}"),
        Line("Context", f"at most {run.plan.max_model_len:,} tokens"),
        Line("Load", _load(workload)),
        Line("Lengths", "; ".join(_lengths(workload))),
        Line("Hardware", f"{server.tensor_parallel_size} × {find_gpu(server.gpu).name}"),
        Line("Driver and runtime", "not modelled"),
        Line("Engine", f"{MIMICKED[server.engine]}: its scheduling rules, simulated"),
        Line("Server", "; ".join(_server(run))),
        Line("SLO", f"TTFT {slo.slo_ttft_ms:,g} ms, TPOT {slo.slo_tpot_ms:,g} ms"),
        Line("Metrics", f"as {tool.title} defines them, {tool.window}"),
        Line("Step times", _times(run)),
        Line("Seed", str(workload.seed)),
        Line("Made with", f"Batchscope {sim.__version__}"),
    ]
    return [*lines, Line("Address", address)] if address else lines


def card_text(lines: list[Line]) -> str:
    """The card as plain text, a line each.

    Examples
    --------
    >>> card_text([Line("Seed", "1")])
    'Seed: 1'
    """
    return "\n".join(f"{line.label}: {line.value}" for line in lines)


def _kv_format(server: Server) -> str:
    return "16 bit" if server.kv_cache_dtype == "auto" else server.kv_cache_dtype


def _load(workload: Workload) -> str:
    count = f"{workload.num_requests:,} requests"
    if workload.load == "trace":
        speed = f" at {workload.trace_scale:g} times its rate" if workload.trace_scale != 1 else ""
        return f"trace {workload.trace[:12]}{speed}"
    if workload.load == "closed":
        return f"closed loop, {workload.concurrency:,} users, {workload.think_time_s:g} s between requests; {count}"
    if workload.arrival_list:
        return f"arrivals as listed; {count}"
    if workload.load == "burst":
        return f"all at once; {count}"
    return f"open loop, {workload.rate:g} requests/s, {_arrivals(workload.burstiness)}; {count}"


def _arrivals(burstiness: float) -> str:
    names = {1.0: "Poisson", float("inf"): "constant gaps"}
    return names.get(burstiness, f"gamma gaps of shape {burstiness:g}")


def _lengths(workload: Workload) -> list[str]:
    w = workload
    if w.trace:
        parts = ["prompts and outputs of the trace"]
    else:
        parts = [
            f"prompts {_length(w.prompt_dist, w.prompt_tokens, w.prompt_sigma, bool(w.prompt_list))}",
            f"outputs {_length(w.output_dist, w.output_tokens, w.output_sigma, bool(w.output_list))}",
        ]
    if w.shared_prefix_tokens:
        whose = f"{w.prefix_share:.0%} of requests" if w.prefix_share < 1 else "every request"
        parts.append(f"{w.shared_prefix_tokens:,} shared tokens in front of {whose}, {w.prefix_groups:,} groups")
    if w.session != "none":
        parts.append(f"{w.session} of {w.turns} turns, {w.turn_gap_s:g} s apart")
    return parts


def _length(dist: str, tokens: int, sigma: float, is_listed: bool) -> str:
    if is_listed:
        return "as listed"
    if dist in RECORDED:
        return f"like {load_lengths()[dist].name}"
    spread = f", sigma {sigma:g}" if dist == "lognormal" else ""
    return f"{dist}, {'' if dist == 'fixed' else 'median '}{tokens:,} tokens{spread}"


def _server(run: Run) -> list[str]:
    s, plan = run.scenario.server, run.plan
    drafts = [f"{s.num_speculative_tokens} drafts, {s.acceptance:.0%} accepted"] if s.num_speculative_tokens else []
    limit = [f"at most {s.max_waiting:,} waiting"] if s.max_waiting is not None else []
    return [
        f"{s.batching} batching, {s.max_num_seqs:,} slots",
        f"{plan.max_num_batched_tokens:,} tokens a step, prefill {s.prefill}",
        f"{s.kv} KV, {plan.num_gpu_blocks:,} blocks of {s.block_size} tokens, prefix cache {s.prefix_cache}",
        *drafts,
        *(["async scheduling"] if s.async_scheduling else []),
        *limit,
    ]


def _times(run: Run) -> str:
    if run.scenario.server.cost == "unit":
        return "every step one second, for counting"
    model = "roofline" if run.scenario.server.cost == "roofline" else "the simple textbook formula"
    return f"{model}, {'calibrated' if run.facts['calibrated'] else 'not calibrated to measurements'}"
