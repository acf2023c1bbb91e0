"""From a scenario's server and its memory plan to the engine's settings, and what of the scenario does not apply."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.cost import Cost, make_cost
from sim.engine.layout import Cache, Config
from sim.memory import KvPlan, kv_plan
from sim.scenario import Scenario, ScenarioError, Server
from sim.workload import Requests
from sim.workload.draws import Use, generator

CACHES = {"off": Cache.OFF, "shared": Cache.SHARED, "per_slot": Cache.PER_SLOT}
ACCEPT_DRAWS = 65_521  # a prime, so that requests that start at different places do not meet soon
ACCEPT_STRIDE = 7_919


class Setting(NamedTuple):
    """A scenario as the engine runs it: settings, prices, which requests can never fit, drafts accepted, remarks.

    `later` is what holds from its fork on; block tables are as wide as both need.
    """

    config: Config
    cost: Cost
    refusals: tuple[tuple[int, str], ...]
    accepts: NDArray[np.int32]
    notes: tuple[str, ...]
    later: Setting | None = None


def setting_of(scenario: Scenario, plan: KvPlan, requests: Requests) -> Setting:
    """Settings with which the engine runs the scenario.

    Parameters
    ----------
    scenario : Scenario
    plan : KvPlan
        Of its server.
    requests : Requests
        Of its workload.

    Raises
    ------
    ScenarioError
        If the server cannot go on as the fork has it.
    """
    setting = _setting_of(scenario, plan, requests)
    if not scenario.fork:
        return setting
    later = _setting_of(scenario.forked, later_plan(scenario, plan), requests)
    width = max(setting.config.table_width, later.config.table_width)
    setting, later = (each._replace(config=each.config._replace(table_width=width)) for each in (setting, later))
    return setting._replace(later=later)


def later_plan(scenario: Scenario, plan: KvPlan) -> KvPlan:
    """Memory plan from the fork on: the pool and the longest request stay as they were laid out at the start.

    Raises
    ------
    ScenarioError
        If the changes need more memory than there is, or a whole prompt does not fit the new budget.
    """
    # MODEL: what a token budget or more slots take of the memory in mid-run is not taken from the KV blocks.
    forked = scenario.forked.server
    pinned = replace(forked, num_gpu_blocks=plan.num_gpu_blocks, max_model_len=plan.max_model_len)
    try:
        return kv_plan(pinned)
    except ScenarioError as error:
        raise scenario.fork_error(error) from None


def _setting_of(scenario: Scenario, plan: KvPlan, requests: Requests) -> Setting:
    server = scenario.server
    refusals = _refusals(plan, requests)
    return Setting(
        config=_config(server, plan, _longest(requests, refusals)),
        cost=make_cost(server),
        refusals=refusals,
        accepts=_accepts(scenario),
        notes=_notes(server),
    )


def _refusals(plan: KvPlan, requests: Requests) -> tuple[tuple[int, str], ...]:
    """Requests that can never be served, each with the reason."""
    prompts, outputs = requests.prompt_tokens.astype(np.int64), requests.output_tokens
    limit = f"over max_model_len = {plan.max_model_len:,}"
    return tuple(
        (int(i), f"a prompt of {prompts[i]:,} and an output of {outputs[i]:,} tokens are {limit}")
        for i in np.flatnonzero(prompts + outputs > plan.max_model_len)
    )


def _longest(requests: Requests, refusals: tuple[tuple[int, str], ...]) -> int:
    totals = requests.prompt_tokens.astype(np.int64) + requests.output_tokens
    totals[[i for i, _ in refusals]] = 0
    return int(totals.max(initial=1))


def _cache(server: Server) -> Cache:
    if server.kv == "contiguous" and server.prefix_cache == "shared":
        return Cache.OFF
    return CACHES[server.prefix_cache]


def _config(server: Server, plan: KvPlan, longest: int) -> Config:
    size = server.block_size
    region = -(-plan.max_model_len // size) if server.kv == "contiguous" else 0
    reach = min(longest + server.num_speculative_tokens, plan.max_model_len)
    return Config(
        max_num_seqs=server.max_num_seqs,
        max_num_batched_tokens=plan.max_num_batched_tokens,
        block_size=size,
        max_model_len=plan.max_model_len,
        usable_blocks=plan.usable_blocks,
        long_prefill_token_threshold=server.long_prefill_token_threshold,
        is_chunked=int(server.prefill == "chunked"),
        cache=int(_cache(server)),
        reserves_full_isl=int(server.scheduler_reserve_full_isl),
        watermark_blocks=int(server.watermark * plan.num_gpu_blocks),
        num_speculative_tokens=server.num_speculative_tokens,
        is_async=int(server.async_scheduling and server.batching != "static"),
        is_static=int(server.batching == "static"),
        drops_finished_rows=int(server.static_rows == "dropped"),
        region_blocks=region,
        num_seats=min(server.max_num_seqs, plan.usable_blocks // region) if region else server.max_num_seqs,
        max_waiting=server.max_waiting or 0,
        emits_idle_steps=0,
        table_width=1 if region else -(-reach // size) + 1,
        accept_stride=ACCEPT_STRIDE,
        static_wait_s=float(server.static_wait_s),
    )


def _accepts(scenario: Scenario) -> NDArray[np.int32]:
    """Drafts accepted by successive verifications: each with the acceptance rate, up to the first rejection."""
    drafts, rate = scenario.server.num_speculative_tokens, scenario.server.acceptance
    if drafts == 0:
        return np.zeros(1, np.int32)
    draws = generator(scenario.workload.seed, Use.ACCEPTANCE).random((ACCEPT_DRAWS, drafts))
    return np.cumprod(draws < rate, axis=1, dtype=np.int32).sum(axis=1, dtype=np.int32)


def _notes(server: Server) -> tuple[str, ...]:
    notes = []
    if server.kv == "contiguous" and server.prefix_cache == "shared":
        notes.append("prefix_cache=shared needs kv=paged, so nothing is shared here")
    if server.batching == "static" and server.async_scheduling:
        notes.append("async_scheduling has no meaning with batching=static, so it is off here")
    if server.batching == "static":
        notes.append("batching=static knows no token budget: a batch's prompts run in one step")
    return tuple(notes)
