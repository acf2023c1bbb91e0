"""Batch curve and roofline: the page's formulas against the engine's, and what the cards say against its frames."""

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim.catalog import find_gpu, find_model
from sim.cost import make_cost, price
from sim.memory import kv_plan
from sim.run import simulate
from sim.scenario import Scenario, scenario_from
from sim.work import rates_of, work_of
from tests.browser.helpers import LAB, wait_for_picture
from tests.rows import some_always

pytestmark = pytest.mark.browser

CONTEXT = 700
SERVERS = (
    {},
    {"cost": "simple", "kv_cache_dtype": "fp8"},
    {"model": "mixtral-8x7b", "tensor_parallel_size": "4", "num_speculative_tokens": "3"},
    {"model": "gemma-3-12b", "gpu": "a100-sxm-80", "kv": "contiguous", "max_model_len": "4096"},
)
LIMITS = """async ([query, context]) => {
  const { limitsOf } = await import(new URL("../static/js/batch.js", location.href));
  const costs = await (await fetch(`../api/v1/costs?${new URLSearchParams(query)}`)).json();
  return limitsOf(costs, context);
}"""


def parts_at(scenario: Scenario, batch: int) -> tuple[float, float, float, float]:
    """Time of a step of so many decodes [s]; of reading KV, of reading the weights, of computing."""
    cost, drafts = make_cost(scenario.server), scenario.server.num_speculative_tokens
    out, tokens = SimpleNamespace(), batch * (1 + drafts)
    duration_s = price(cost, tokens, batch, batch * CONTEXT, 0, 0, batch, 0, drafts, out)
    passes = 1 + drafts * cost.draft_cost
    hit = 1 - cost.expert_miss**tokens
    reads_s = cost.dense_s + cost.head_s + cost.experts_s * hit
    flop_s = (cost.dense_token_s + cost.experts_token_s) * tokens + cost.head_sampled_s * batch
    return duration_s, out.attention_s / passes, reads_s, flop_s


@pytest.mark.parametrize("settings", some_always(SERVERS, 2), ids=json.dumps)
def test_limits_are_where_the_engine_has_them(page: Page, settings: dict[str, str]) -> None:
    scenario = scenario_from(settings)
    page.goto(LAB)
    limits: dict[str, Any] = page.evaluate(LIMITS, [settings, CONTEXT])

    def kv_is_as_long(batch: int) -> bool:
        _, kv_s, reads_s, _ = parts_at(scenario, batch)
        return kv_s >= reads_s

    def computes_longer(batch: int) -> bool:
        _, kv_s, reads_s, flop_s = parts_at(scenario, batch)
        return flop_s > reads_s + (kv_s if scenario.server.cost == "simple" else 0)

    def is_too_slow(batch: int) -> bool:
        a, k = scenario.server.acceptance, scenario.server.num_speculative_tokens
        tokens = sum(a**i for i in range(k + 1))
        return 1000 * parts_at(scenario, batch)[0] / tokens >= scenario.slo.slo_tpot_ms

    for name, holds in {"kv": kv_is_as_long, "compute": computes_longer, "slo": is_too_slow}.items():
        if limits[name] is None:
            assert not holds(65_536), name
        else:
            assert [holds(limits[name] - 1), holds(limits[name])] == [False, True], name
    plan = kv_plan(scenario.server)
    length = plan.max_model_len if scenario.server.kv == "contiguous" else CONTEXT
    assert limits["memory"] == plan.usable_blocks // -(-length // scenario.server.block_size)


def test_batch_curve_tells_the_step_of_the_engine(page: Page) -> None:
    page.goto(f"{LAB}&views=batch-curve")
    wait_for_picture(page)
    run = simulate(scenario_from({"rate": "3.9", "num_requests": "24", "max_num_seqs": "8"}))
    twin = page.locator("#fig-batch-curve [data-twin]")
    expect(twin).to_contain_text("decodes")
    step, batch = map(int, re.findall(r"Step (\d+) decodes (\d+) requests", twin.inner_text())[0])
    assert batch == sum(row.phase == "decode" and row.scheduled > 0 for row in run.frame(step).running)
    assert f"in {1000 * run.steps['duration_s'][step]:.2f} ms" in twin.inner_text()


def test_batch_curve_follows_a_slider_without_a_run(page: Page) -> None:
    page.goto(f"{LAB}&views=batch-curve")
    wait_for_picture(page)
    wall = page.locator("#fig-batch-curve [data-limit=memory]")
    before = wall.inner_text()
    page.route("**/api/v1/steps*", lambda route: None)
    page.locator("[name=kv_cache_dtype][value=fp8], select[name=kv_cache_dtype]").first.evaluate(
        """field => {
          if (field.type === "radio") field.checked = true; else field.value = "fp8";
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    expect(wall).not_to_have_text(before)
    page.unroute_all(behavior="ignoreErrors")


def test_context_of_the_batch_curve_can_be_chosen_and_given_back(page: Page) -> None:
    page.goto(f"{LAB}&views=batch-curve")
    wait_for_picture(page)
    card = page.locator("#fig-batch-curve")
    expect(card.locator("output")).to_have_text("602 tokens")
    card.locator("input[type=range]").evaluate(
        "slider => { slider.value = 100; slider.dispatchEvent(new Event('input', { bubbles: true })) }"
    )
    expect(card.locator("output")).to_have_text("131,072 tokens")
    card.get_by_role("button", name="as in the scenario").click()
    expect(card.locator("output")).to_have_text("602 tokens")


def test_roofline_tells_the_work_of_the_step(page: Page) -> None:
    page.goto(f"{LAB}&views=roofline")
    wait_for_picture(page)
    scenario = scenario_from({"rate": "3.9", "num_requests": "24", "max_num_seqs": "8"})
    run, server = simulate(scenario), scenario.server
    twin = page.locator("#fig-roofline [data-twin]")
    expect(twin).to_contain_text("matmuls")
    step = int(re.findall(r"step (\d+)", twin.inner_text())[0])
    row, work = run.steps[step], work_of(server, find_model(server.model))
    tokens = int(row["prefill"]) + int(row["decode"])
    flop = work.dense_token_flop * tokens + work.head_sampled_flop * int(row["sampled"])
    moved = work.dense_bytes + work.head_bytes + work.activation_token_bytes * tokens
    assert f"matmuls {flop / moved:#.3g} FLOP/byte at {flop / float(row['matmul_s']) / 1e12:#.3g} TFLOP/s" in (
        twin.inner_text()
    )
    rates = rates_of(server, find_gpu(server.gpu))
    ridge = f"from {rates.peak_flops / rates.bandwidth_bytes_per_s:.0f} FLOP per byte on"
    expect(page.locator("#fig-roofline .verdict")).to_contain_text(ridge)
