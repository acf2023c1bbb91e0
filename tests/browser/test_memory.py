"""The memory bar: its terms against sim.memory, its KV against the engine's frames, and a model that does not fit."""

import pytest
from playwright.sync_api import Page, expect

from sim.memory import memory_terms
from sim.run import simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, gib, step, wait_for_picture

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
    expect(page.locator("#notice")).to_be_visible()
    complaints.clear()
