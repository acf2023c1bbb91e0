"""Batch curve and roofline: the page's formulas against the engine's, and what the cards say against its frames."""

import re
from dataclasses import asdict
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.batching import limits
from app.batchview import batch_view
from sim.catalog import find_gpu, find_model
from sim.run import simulate
from sim.scenario import scenario_from
from sim.work import rates_of, work_of
from tests.browser.helpers import LAB, PLAIN, wait_for_picture

pytestmark = pytest.mark.browser

CONTEXT = 700
SERVERS = (
    {},
    {"cost": "simple", "kv_cache_dtype": "fp8"},
    {"model": "mixtral-8x7b", "tensor_parallel_size": "4", "num_speculative_tokens": "3"},
    {"model": "gemma-3-12b", "gpu": "a100-sxm-80", "kv": "contiguous", "max_model_len": "4096"},
    {"cost": "unit"},
)
TOLD = """async ([queries, users, context]) => {
  const { limitsOf, readingOf } = await import("/static/js/batch.js");
  const { textsOf } = await import("/static/js/batchwords.js");
  return Promise.all(queries.map(async (query) => {
    const costs = await (await fetch(`/api/v1/costs?${new URLSearchParams(query)}`)).json();
    const limits = limitsOf(costs, context);
    const readings = users.map((each) => readingOf(costs, each, context, limits));
    return { limits, readings, texts: readings.map((reading) => textsOf(reading, costs.scenario)) };
  }));
}"""
SAID = """(root) => [...root.querySelectorAll("[data-says], [data-limit]")].map((node) => [
  node.dataset.says ?? node.getAttribute("data-says") ?? node.dataset.limit, node.textContent])"""


def test_page_and_server_tell_the_same_of_a_batch(page: Page) -> None:
    page.goto(PLAIN)
    users = [1, 10, 300, 5000]
    told: list[dict[str, Any]] = page.evaluate(TOLD, [SERVERS, users, CONTEXT])
    for settings, own in zip(SERVERS, told, strict=True):
        scenario = scenario_from(settings)
        assert own["limits"] == asdict(limits(scenario, CONTEXT)), settings
        for batch, reading, texts in zip(users, own["readings"], own["texts"], strict=True):
            view = batch_view(scenario, batch, CONTEXT)
            assert known(reading) == pytest.approx(known(view.reading), rel=1e-9, abs=1e-12), (settings, batch)
            assert texts == view.text, (settings, batch)


def known(reading: dict[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in reading.items() if value is not None}


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
    before = str(wall.text_content())
    page.route("**/api/v1/steps*", lambda route: None)
    page.locator("[name=kv_cache_dtype][value=fp8], select[name=kv_cache_dtype]").first.evaluate(
        """field => {
          if (field.type === "radio") field.checked = true; else field.value = "fp8";
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    expect(wall).not_to_have_text(before)
    page.unroute_all(behavior="ignoreErrors")


def test_batch_and_context_can_be_chosen_and_given_back(page: Page) -> None:
    address = f"{LAB}&views=batch-curve"
    page.goto(address)
    wait_for_picture(page)
    card = page.locator("#fig-batch-curve")
    without_scripts = page.evaluate(
        f"""async (address) => ({SAID})(new DOMParser()
          .parseFromString(await (await fetch(address)).text(), "text/html").querySelector("#fig-batch-curve"))""",
        address,
    )
    assert card.evaluate(SAID) == without_scripts
    expect(card.locator("output")).to_have_text("602 tokens")

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    slide(card, "context", 56)
    expect(card.locator("output")).to_have_text("2,048 tokens")
    slide(card, "users", 10)
    view = batch_view(scenario_from({"rate": "3.9", "num_requests": "24", "max_num_seqs": "8"}), 10, 2048)
    expect(card.locator(".results [data-says=tokens]")).to_have_text(view.text["tokens"])
    expect(card.locator("[data-typed]")).to_have_value("10")
    card.evaluate("card => { card.dataset.users = 240 }")
    expect(card.locator(".verdict")).to_contain_text(f"Memory holds {view.limits['memory']} of these 240")
    assert not asked, "dragging asks no server"

    card.get_by_role("button", name="KV cache").hover()
    expect(card).to_have_attribute("data-lit-term", "kv")
    card.locator("h2").hover()
    expect(card).not_to_have_attribute("data-lit-term", "kv")
    for name in ("Reset users in the batch", "Reset context"):
        card.get_by_role("button", name=name).click()
    expect(card.locator("output")).to_have_text("602 tokens")
    assert card.evaluate(SAID) == without_scripts


def slide(card: Locator, name: str, value: int) -> None:
    card.locator(f"[data-batch={name}]").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })) }",
        value,
    )


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
