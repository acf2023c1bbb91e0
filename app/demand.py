"""How much KV the users of a scenario ask for, and how many of them fit: by formula, before anything runs.

The page follows its sliders with the same formulas: `static/js/demand.js`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from app.costs import memory_of
from sim.catalog import find_model
from sim.scenario import Scenario, Workload

TYPICAL = ("fixed", "uniform", "lognormal")
"""Distributions whose median is a parameter."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What the users of a scenario ask of the KV memory of one GPU.

    Attributes
    ----------
    users : int or None
        Who ask at the same time; None where requests come at a rate, so that it depends on how fast they are served.
    seats : int
        How many of them may run at once; without users, as many as there are slots.
    context : int
        Prompt and output of a typical request [tokens].
    fits : int
        Requests of that length that fit into the pool together.
    """

    users: int | None
    seats: int
    context: int
    needed_bytes: int
    fits: int


def demand_of(scenario: Scenario) -> Demand | None:
    """Demand of a scenario; None if its lengths are no formula: recorded ones, a trace, turns of a session."""
    context = context_tokens(scenario)
    if context is None:
        return None
    users = asked_users(scenario)
    seats = min(scenario.workload.num_requests if users is None else users, scenario.server.max_num_seqs)
    return Demand(users, seats, context, needed_bytes(scenario, seats, context), users_that_fit(scenario, context))


def asked_users(scenario: Scenario) -> int | None:
    """Requests that are there at the same time; None if that depends on how fast they are served."""
    workload = scenario.workload
    if workload.load == "closed":
        return min(workload.concurrency, workload.num_requests)
    return workload.num_requests if workload.load == "burst" and not any(workload.arrival_list) else None


def context_tokens(scenario: Scenario) -> int | None:
    """Tokens of a typical request when its last token comes; None if they are no formula."""
    workload = scenario.workload
    prompt = _typical(workload.prompt_list, workload.prompt_dist, workload.prompt_tokens)
    output = _typical(workload.output_list, workload.output_dist, workload.output_tokens)
    if prompt is None or output is None or workload.session != "none" or workload.trace:
        return None
    return _prefix_tokens(workload) + prompt + output


def kv_bytes_per_token(scenario: Scenario) -> int:
    """KV bytes of a token on each GPU."""
    return memory_of(scenario.server)["block_bytes"] // scenario.server.block_size


def kv_bytes(scenario: Scenario) -> int:
    """Bytes of the KV pool on each GPU."""
    return memory_of(scenario.server)["kv_bytes"]


def room_tokens(scenario: Scenario) -> int:
    """Tokens whose KV one GPU has room for if the scenario does not set the number of blocks."""
    server = replace(scenario.server, num_gpu_blocks=None)
    return max(kv_bytes(replace(scenario, server=server)), 0) // kv_bytes_per_token(scenario)


def longest_text(scenario: Scenario) -> int:
    """Longest text that the model is made for [tokens]."""
    return find_model(scenario.server.model).max_context


def needed_bytes(scenario: Scenario, users: int, context: int) -> int:
    """KV bytes on each GPU that so many requests of so many tokens take together."""
    own, common, groups = _blocks(scenario, context)
    return (users * own + min(groups, users) * common) * memory_of(scenario.server)["block_bytes"]


def users_that_fit(scenario: Scenario, context: int) -> int:
    """How many requests of so many tokens the KV pool holds together; 0 if the server takes none that long."""
    memory = memory_of(scenario.server)
    own, common, groups = _blocks(scenario, context)
    if context > memory["max_model_len"]:
        return 0
    apart = memory["usable_blocks"] // (own + common)
    return apart if apart <= groups else (memory["usable_blocks"] - groups * common) // own


def _blocks(scenario: Scenario, context: int) -> tuple[int, int, int]:
    """Blocks of a request alone, those it has in common with its group, and the number of groups."""
    server, workload = scenario.server, scenario.workload
    if server.kv == "contiguous":
        return ceil(memory_of(server)["max_model_len"] / server.block_size), 0, 1
    is_shared = server.prefix_cache == "shared"
    common = min(_prefix_tokens(workload), context - 1) // server.block_size if is_shared else 0
    return ceil(context / server.block_size) - common, common, workload.prefix_groups


def _prefix_tokens(workload: Workload) -> int:
    """Shared text in front of a typical request [tokens]."""
    return workload.shared_prefix_tokens if workload.prefix_share >= 0.5 else 0


def _typical(values: tuple[int, ...], dist: str, median: int) -> int | None:
    if values:
        return ceil(sum(values) / len(values))
    return median if dist in TYPICAL else None
