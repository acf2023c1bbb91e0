"""The formulas of a batch size: closed forms, the engine's own price, and what the page begins with."""

import json
from types import SimpleNamespace

import pytest

from app.batching import batching_of, limits, step_s, tokens_s
from app.batchview import batch_view
from sim.cost import make_cost, price
from sim.memory import kv_plan
from sim.scenario import scenario_from

CONTEXT = 2048
SERVERS = (
    {},
    {"cost": "simple", "kv_cache_dtype": "fp8"},
    {"model": "mixtral-8x7b", "tensor_parallel_size": "4", "num_speculative_tokens": "3", "draft_cost": "0.2"},
    {"model": "gemma-3-12b", "gpu": "a100-sxm-80", "kv": "contiguous", "max_model_len": "4096"},
    {"cost": "unit"},
)


def test_step_is_weights_and_kv_over_bandwidth_when_cost_is_simple() -> None:
    scenario = scenario_from({"cost": "simple"})
    weights, kv, eta, bandwidth = 16.06e9, 2 * 32 * 8 * 128 * 2 * CONTEXT, 0.7, 3.35e12
    assert step_s(scenario, 10, CONTEXT) == pytest.approx((weights + 10 * kv) / (eta * bandwidth))
    assert tokens_s(scenario, 10, CONTEXT) == pytest.approx(10 / step_s(scenario, 10, CONTEXT))
    assert limits(scenario, CONTEXT).kv == -(-weights // kv)
    assert batch_view(scenario, 10, CONTEXT).text["eta"] == "0.70"


@pytest.mark.parametrize("settings", SERVERS, ids=json.dumps)
def test_parts_add_up_to_the_step_of_the_engine(settings: dict[str, str]) -> None:
    scenario = scenario_from(settings)
    batching, drafts = batching_of(scenario), scenario.server.num_speculative_tokens
    out = SimpleNamespace()
    expected = price(make_cost(scenario.server), 12 * (1 + drafts), 12, 12 * CONTEXT, 0, 0, 12, 0, drafts, out)
    parts = batching.parts(12, CONTEXT)
    assert parts.step_s == expected
    assert parts.read_s + parts.arithmetic_s + parts.links_s + parts.host_s == pytest.approx(expected)
    assert min(parts.weights_s, parts.kv_s, parts.arithmetic_s, parts.links_s, parts.host_s) >= 0


@pytest.mark.parametrize("settings", SERVERS, ids=json.dumps)
def test_limits_are_where_they_begin_to_hold(settings: dict[str, str]) -> None:
    scenario = scenario_from(settings)
    batching, found, plan = batching_of(scenario), limits(scenario, CONTEXT), kv_plan(scenario.server)
    length = plan.max_model_len if scenario.server.kv == "contiguous" else CONTEXT
    assert found.memory == plan.usable_blocks // -(-length // scenario.server.block_size)
    holds = {
        "kv": lambda parts: parts.kv_s >= parts.weights_s,
        "slo": lambda parts: 1000 * parts.step_s / batching.tokens_per_pass >= scenario.slo.slo_tpot_ms,
    }
    for name, is_past in holds.items():
        batch = getattr(found, name)
        if batch is None:
            assert scenario.server.cost == "unit"
        else:
            assert [is_past(batching.parts(each, CONTEXT)) for each in (batch - 1, batch)] == [False, True], name


def test_users_without_memory_wait_outside_the_batch() -> None:
    scenario = scenario_from({})
    wall = limits(scenario, CONTEXT).memory
    within, beyond = (batch_view(scenario, users, CONTEXT).reading for users in (wall, wall + 20))
    assert (within["past_memory"], beyond["past_memory"]) == (0, 1)
    assert beyond["batch"] == wall
    assert beyond["tokens_s"] == within["tokens_s"]
