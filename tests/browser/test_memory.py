"""The memory bar: its terms against sim.memory, its KV against the engine, what is asked of it against app.demand."""

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.demand import demand_of, kv_bytes
from sim.engine.record import Kind
from sim.memory import memory_terms
from sim.run import simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, PLAIN, gib, step, wait_for_picture

pytestmark = pytest.mark.browser

SETTINGS = {"rate": "3.9", "num_requests": "24", "max_num_seqs": "8"}


def test_memory_tells_the_terms_and_the_kv_of_the_step(page: Page) -> None:
    page.goto(f"{LAB}&views=timeline,memory")
    wait_for_picture(page)
    run = simulate(scenario_from(SETTINGS))
    terms, usable = memory_terms(run.scenario.server), run.plan.usable_blocks
    twin = page.locator("#fig-memory [data-twin]")
    for _ in range(4):
        number = int(str(page.locator("#clock").inner_text()).rpartition("step ")[2])
        frame = run.frame(number)
        used = usable - frame.free_blocks
        blocks = f"Step {number}: {used} of {usable} blocks in use, {frame.cached_blocks} cached."
        expect(twin).to_contain_text(blocks)
        expect(twin).to_contain_text(f"weights {gib(terms.weights_bytes)}")
        expect(twin).to_contain_text(f"KV in use {gib(used * terms.block_bytes)}")
        expect(twin).to_contain_text(f"KV cached {gib(frame.cached_blocks * terms.block_bytes)}")
        step(page, "forward")


def test_memory_shows_by_how_much_a_model_does_not_fit(page: Page, complaints: list[str]) -> None:
    page.goto(f"{LAB}&views=timeline,memory")
    wait_for_picture(page)
    page.locator("select[name=model]").select_option("llama-3.1-70b")
    card = page.locator("#fig-memory")
    missing = memory_terms(scenario_from({**SETTINGS, "model": "llama-3.1-70b"}).server).missing_bytes
    expect(card.locator(".verdict").first).to_have_text(f"does not fit: {gib(missing)} too much")
    expect(card.locator(".over").first).to_be_visible()
    for gone in (".memory-ask", ".memory-peak", ".demand"):
        expect(card.locator(gone).first).to_be_hidden()
    expect(page.locator("#notice")).to_be_visible()
    complaints.clear()


SERVERS: tuple[dict[str, str], ...] = ({}, {"kv": "contiguous", "max_model_len": "4096"}, {"model": "llama-3.1-70b"})
WORKLOADS: tuple[dict[str, str], ...] = (
    {},
    {"load": "closed", "concurrency": "300", "num_requests": "400", "max_num_seqs": "128", "prompt_tokens": "9000"},
    {"load": "burst", "prompt_list": "5,600,7001", "output_list": "9,9,10"},
    {"load": "burst", "shared_prefix_tokens": "3000", "prefix_groups": "3", "num_requests": "250"},
    {"shared_prefix_tokens": "3000", "prefix_share": "0.4", "output_dist": "azure-code"},
)
DEMANDS = """async ([server, workloads]) => {
  const { askedOf, demandOf } = await import("/static/js/demand.js");
  const costsOf = async (settings) => (await fetch(`/api/v1/costs?${new URLSearchParams(settings)}`)).json();
  const old = await costsOf({ ...server, load: "closed", concurrency: 5, prompt_tokens: 77, max_num_seqs: 100 });
  const demands = [];
  for (const workload of workloads) {
    const fresh = await costsOf({ ...server, ...workload });
    const asked = askedOf(old, String(new URLSearchParams(workload)));
    demands.push([demandOf(fresh), demandOf({ ...asked, memory: fresh.memory })]);
  }
  return demands;
}"""
READINGS = """async (settings) => {
  const { mount } = await import("/static/js/figures/memory.js");
  const query = String(new URLSearchParams(settings));
  const costs = await (await fetch(`/api/v1/costs?${query}`)).json();
  const card = document.createElement("section");
  card.innerHTML = "<div class=memories></div><p data-twin></p>";
  let told = 0;
  const view = mount(card, {
    costs: { runs: { a: costs } }, state: { scenarioQuery: () => query }, scene: null, playhead: { isPlaying: true },
    frame: () => null, labelOf: () => "A", dispatchEvent: (event) => { told += event.type === "readings"; },
  });
  view.draw();
  view.move();
  return [view.readings(), told];
}"""
MOVE = """([name, value]) => {
  const field = document.querySelector(`#controls [name=${name}]`);
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return document.querySelector("#fig-memory .memory-ask").textContent;
}"""
TIGHT = {
    "load": "burst",
    "num_requests": "6",
    "prompt_tokens": "200",
    "prompt_dist": "fixed",
    "output_tokens": "200",
    "output_dist": "fixed",
    "num_gpu_blocks": "65",
}


def test_demand_of_the_page_equals_the_servers_also_before_formulas_come(page: Page) -> None:
    page.goto(PLAIN)
    for server in SERVERS:
        demands: list[list[dict[str, Any] | None]] = page.evaluate(DEMANDS, [server, WORKLOADS])
        for workload, own in zip(WORKLOADS, demands, strict=True):
            demand = demand_of(scenario_from(server | workload))
            assert own == [demand and asdict(demand)] * 2, (server, workload)


def test_readings_are_told_when_they_change(page: Page) -> None:
    page.goto(PLAIN)
    settings = TIGHT | {"max_num_seqs": "4"}
    readings, told = page.evaluate(READINGS, settings)
    scenario = scenario_from(settings)
    demand = demand_of(scenario)
    assert demand is not None
    assert told == 1
    assert readings == {
        "a.kv_bytes": kv_bytes(scenario),
        "a.needed_bytes": demand.needed_bytes,
        "a.fits": demand.fits,
        "a.asked": demand.users,
        "a.used_share": None,
        "a.waiting": None,
        "a.preemptions": None,
        "a.missing_bytes": 0,
    }


def test_memory_tells_who_waits_who_was_preempted_and_follows_a_control_without_the_server(page: Page) -> None:
    run = simulate(scenario_from(TIGHT))
    place = int(np.flatnonzero(run.events["kind"] == Kind.PREEMPT)[0])
    at_s = run.steps["start_s"][np.searchsorted(run.steps["events_end"], place, side="right")]
    page.goto(f"/lab/?{urlencode(TIGHT)}&views=memory&t={at_s + 1e-4:.6f}")
    wait_for_picture(page)
    card, steps = page.locator("#fig-memory"), run.steps
    expect(card.locator(".memory-peak")).to_have_text(
        f"Running at most {steps['running'].max()} · waiting at most {steps['waiting'].max()}, "
        f"{steps['waiting'][steps['why'] == 2].max()} of them for memory · preemptions {run.metrics()['preemptions']}"
    )
    lost = int(run.events["request"][place]) + 1
    expect(card.locator(".memory-now")).to_contain_text(f"Request {lost} was preempted at {at_s:.2f} s")
    page.route("**/api/v1/**", lambda _: None)  # no answer comes
    assert page.evaluate(MOVE, ["num_requests", "2"]) == "2 users × 400 tokens need 0.10 GiB of 0.13 GiB KV: all fit."
    assert page.evaluate(MOVE, ["num_requests", "9"]).endswith("need 0.44 GiB, there are 0.13: 2 fit, 7 wait.")
    page.unroute_all(behavior="ignoreErrors")
