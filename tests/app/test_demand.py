"""What users ask of the KV memory by formula, against what the engine makes of them."""

from typing import Any

import pytest

from app.demand import asked_users, context_tokens, demand_of, kv_bytes, kv_bytes_per_token, users_that_fit
from sim.memory import kv_plan
from sim.run import simulate
from sim.scenario import scenario_from

TIGHT = {"load": "burst", "num_requests": "12", "prompt_dist": "fixed", "output_dist": "fixed", "num_gpu_blocks": "257"}


def running_most(**settings: str) -> int:
    return int(simulate(scenario_from(TIGHT | settings)).steps["running"].max())


@pytest.mark.parametrize(
    "settings",
    [
        {"prompt_tokens": "1008", "output_tokens": "2"},
        {"kv": "contiguous", "max_model_len": "800", "prompt_tokens": "100", "output_tokens": "30"},
        {"shared_prefix_tokens": "512", "prompt_tokens": "500", "output_tokens": "8"},
    ],
    ids=["paged", "contiguous", "shared"],
)
def test_engine_runs_as_many_as_fit(settings: dict[str, str]) -> None:
    demand = demand_of(scenario_from(TIGHT | settings))
    assert demand is not None
    assert 0 < demand.fits == running_most(**settings) < demand.seats


def test_bytes_are_those_of_the_plan() -> None:
    scenario = scenario_from({"kv_cache_dtype": "fp8", "tensor_parallel_size": "2"})
    plan = kv_plan(scenario.server)
    assert (kv_bytes(scenario), kv_bytes_per_token(scenario)) == (plan.kv_bytes, plan.kv_bytes_per_token)


@pytest.mark.parametrize(
    ("settings", "users"),
    [
        ({"load": "closed", "concurrency": "9", "num_requests": "30"}, 9),
        ({"load": "closed", "concurrency": "40", "num_requests": "30"}, 30),
        ({"load": "burst", "prompt_list": "5,6,7"}, 3),
        ({"load": "open"}, None),
        ({"load": "burst", "arrival_list": "0,1,2"}, None),
    ],
)
def test_users_are_known_unless_they_come_at_a_rate(settings: dict[str, Any], users: int | None) -> None:
    assert asked_users(scenario_from(settings)) == users


def test_no_more_run_at_once_than_there_are_slots() -> None:
    demand = demand_of(scenario_from({"load": "closed", "concurrency": "40", "max_num_seqs": "8"}))
    assert demand is not None
    assert (demand.users, demand.seats) == (40, 8)


def test_request_above_the_longest_context_does_not_fit() -> None:
    assert users_that_fit(scenario_from({"max_model_len": "1000"}), 1001) == 0


@pytest.mark.parametrize("settings", [{"prompt_dist": "azure-conv"}, {"session": "chat"}])
def test_lengths_that_are_no_formula_have_no_demand(settings: dict[str, str]) -> None:
    assert context_tokens(scenario_from(settings)) is None
    assert demand_of(scenario_from(settings)) is None
