"""The way back: a scenario as a `vllm serve` and a `vllm bench serve` command, and in words what no flag says."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sim.catalog import find_model
from sim.scenario import Scenario, Server, Workload, settings_of

QUANTISATIONS = {"bf16": "", "fp8": "fp8", "int4": "awq", "fp4": "modelopt_fp4"}
"""`--quantization` by format of the weights; int8 has none, it comes with the checkpoint."""


class Option(NamedTuple):
    """A flag with its value ('' for a switch) and the parameters that it says."""

    flag: str
    value: str
    says: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandText:
    """Both commands; `says` names the parameters that they hold, `notes` the others that are not at their default."""

    serve: str
    bench: str
    says: frozenset[str]
    notes: tuple[str, ...]


def command_text(scenario: Scenario) -> CommandText:
    r"""Commands that set up and measure the scenario on a real server.

    Examples
    --------
    >>> from sim.scenario import scenario_from
    >>> print(command_text(scenario_from({"max_num_seqs": 8, "load": "burst", "model": "qwen3-8b"})).serve)
    vllm serve Qwen/Qwen3-8B \
      --gpu-memory-utilization 0.92 \
      --max-num-seqs 8 \
      --no-async-scheduling
    """
    name = _model_name(scenario.server.model)
    serve, bench = list(_serve_options(scenario.server)), list(_bench_options(scenario.workload))
    bench.append(_goodput(scenario))
    says = frozenset({"model", *(name for option in (*serve, *bench) for name in option.says)})
    return CommandText(
        serve=_written(f"vllm serve {name}", serve),
        bench=_written(f"vllm bench serve --model {name}", bench),
        says=says,
        notes=tuple(_notes(scenario, says)),
    )


def _serve_options(server: Server) -> Iterator[Option]:
    if server.tensor_parallel_size > 1:
        yield _option("tensor_parallel_size", server.tensor_parallel_size)
    yield _option("gpu_memory_utilization", f"{server.gpu_memory_utilization:.10g}")
    yield _option("max_num_seqs", server.max_num_seqs)
    for name in ("max_model_len", "max_num_batched_tokens"):
        if getattr(server, name) is not None:
            yield _option(name, getattr(server, name))
    if server.num_gpu_blocks is not None:
        yield Option("--num-gpu-blocks-override", str(server.num_gpu_blocks), ("num_gpu_blocks",))
    if server.block_size != 16:
        yield _option("block_size", server.block_size)
    if server.long_prefill_token_threshold:
        yield _option("long_prefill_token_threshold", server.long_prefill_token_threshold)
    if QUANTISATIONS.get(server.weights):
        yield Option("--quantization", QUANTISATIONS[server.weights], ("weights",))
    if server.kv_cache_dtype != "auto":
        yield _option("kv_cache_dtype", server.kv_cache_dtype)
    yield from _switches(server)


def _switches(server: Server) -> Iterator[Option]:
    if server.prefix_cache == "off":
        yield Option("--no-enable-prefix-caching", "", ("prefix_cache",))
    if server.prefill == "whole":
        yield Option("--no-enable-chunked-prefill", "", ("prefill",))
    if not server.scheduler_reserve_full_isl:
        yield Option("--no-scheduler-reserve-full-isl", "", ("scheduler_reserve_full_isl",))
    if server.num_speculative_tokens:
        config = {"method": "ngram", "num_speculative_tokens": server.num_speculative_tokens}
        yield Option("--speculative-config", json.dumps(config), ("num_speculative_tokens", "async_scheduling"))
    elif not server.async_scheduling:
        yield Option("--no-async-scheduling", "", ("async_scheduling",))
    else:
        yield Option("", "", ("async_scheduling",))


def _bench_options(workload: Workload) -> Iterator[Option]:
    yield Option("--dataset-name", "random", ())
    yield Option("--random-input-len", str(workload.prompt_tokens), ("prompt_tokens",))
    yield Option("--random-output-len", str(workload.output_tokens), ("output_tokens",))
    dists = {workload.prompt_dist, workload.output_dist}
    if dists == {"uniform"}:
        yield Option("--random-range-ratio", "0.5", ("prompt_dist", "output_dist"))
    elif dists == {"fixed"}:
        yield Option("", "", ("prompt_dist", "output_dist"))
    if workload.shared_prefix_tokens and workload.prefix_groups == 1 and workload.prefix_share == 1:
        yield Option("--random-prefix-len", str(workload.shared_prefix_tokens), ("shared_prefix_tokens",))
    yield from _load_options(workload)
    yield Option("--num-prompts", str(workload.num_requests), ("num_requests",))
    yield Option("--seed", str(workload.seed), ("seed",))
    yield Option("--ignore-eos", "", ())


def _load_options(workload: Workload) -> Iterator[Option]:
    if workload.load == "open":
        yield Option("--request-rate", f"{workload.rate:.10g}", ("load", "rate"))
        if workload.burstiness != 1 and math.isfinite(workload.burstiness):
            yield Option("--burstiness", f"{workload.burstiness:.10g}", ("burstiness",))
        if workload.rescale_arrivals:
            yield Option("", "", ("rescale_arrivals",))
    elif workload.load == "closed":
        yield Option("--max-concurrency", str(workload.concurrency), ("load", "concurrency"))
    elif workload.load == "burst":
        yield Option("--request-rate", "inf", ("load",))


def _goodput(scenario: Scenario) -> Option:
    limits = f"ttft:{scenario.slo.slo_ttft_ms:.10g} tpot:{scenario.slo.slo_tpot_ms:.10g}"
    return Option("--goodput", limits, ("slo_ttft_ms", "slo_tpot_ms"))


def _notes(scenario: Scenario, says: frozenset[str]) -> Iterator[str]:
    """What the commands do not say: a sentence where there is something to do about it, else the parameter."""
    server, workload = scenario.server, scenario.workload
    settings = settings_of(scenario, defaults=False)
    yield f"The GPU is whatever the command runs on: {server.tensor_parallel_size} x {server.gpu} is simulated."
    if server.num_speculative_tokens:
        yield "The scenario has no method of drafting: ngram stands for it, and its acceptance is what the texts give."
    if server.weights == "int8":
        yield "int8 weights come with the checkpoint: serve one that is quantised so."
    elif server.weights in ("int4", "fp4"):
        yield f"{server.weights} weights need a checkpoint that is quantised so; the model named may not be one."
    if "prompt_dist" not in says:
        dists = " and ".join(dict.fromkeys((workload.prompt_dist, workload.output_dist)))
        yield (
            f"Lengths are {dists} here; the benchmark's random dataset is "
            "fixed at the medians, so its percentiles are narrower."
        )
    if workload.load == "trace":
        yield "A recorded trace has no flag of vLLM's benchmark: replay the file with a client of your own."
    if workload.load == "open" and not workload.rescale_arrivals:
        yield "vLLM's benchmark stretches arrivals so that the last is at N/rate (rescale_arrivals = true here)."
    said_above = {"gpu", "engine", "weights", "prompt_dist", "output_dist", "load", "trace", "model"}
    for name, value in settings.items():
        if name not in says and name not in said_above:
            yield f"No flag says {name} = {_text(value)}."


def _model_name(model_id: str) -> str:
    """Name under which the hub has the model, as far as the catalogue knows it."""
    model = find_model(model_id)
    hub_names = [alias for alias in model.aliases if "/" in alias and " " not in alias and "FP8" not in alias.upper()]
    matching = [alias for alias in hub_names if model.name.lower() in alias.lower()]
    return next(iter([*matching, *hub_names]), model.name)


def _option(name: str, value: Any) -> Option:
    return Option(f"--{name.replace('_', '-')}", str(value), (name,))


def _written(head: str, options: list[Option]) -> str:
    """Command with an option a line."""
    words = [f"{flag} {_quoted(flag, value)}".rstrip() for flag, value, _ in options if flag]
    return " \\\n  ".join([head, *words])


def _quoted(flag: str, value: str) -> str:
    return value if flag == "--goodput" or not value else shlex.quote(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
