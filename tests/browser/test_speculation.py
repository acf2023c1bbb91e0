"""Speculation: what each step drafted and accepted, against the record; the formula beside it; how to turn it on."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from sim.engine.record import Kind
from sim.run import simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, step, total, wait_for_picture

pytestmark = pytest.mark.browser

SETTINGS = {"rate": "3.9", "num_requests": "24", "max_num_seqs": "8", "num_speculative_tokens": "3"}
QUERY = "&".join(f"{name}={value}" for name, value in SETTINGS.items())


def test_speculation_counts_drafts_as_the_engine_does(page: Page) -> None:
    run = simulate(scenario_from(SETTINGS))
    last = len(run.steps) - 1
    page.goto(f"/lab/?{QUERY}&t=1.5&views=timeline,speculation")
    wait_for_picture(page)
    twin = page.locator("#fig-speculation [data-twin]")
    for _ in range(4):
        now = int(page.locator("#clock").inner_text().rpartition("step ")[2])
        drafted, accepted = total(run, Kind.DRAFT, now, now), total(run, Kind.ACCEPT, now, now)
        expect(twin).to_contain_text(f"step {now}: {drafted} drafted, {accepted} accepted;")
        drafted, accepted = total(run, Kind.DRAFT, 0, now), total(run, Kind.ACCEPT, 0, now)
        expect(twin).to_contain_text(f"so far {drafted} drafted, {accepted} accepted;")
        step(page, "forward")
    drafted, accepted = total(run, Kind.DRAFT, 0, last), total(run, Kind.ACCEPT, 0, last)
    expect(twin).to_contain_text(f"in all {drafted} drafted, {accepted} accepted.")


def test_speculation_lays_the_formula_beside_what_came(page: Page) -> None:
    run = simulate(scenario_from(SETTINGS))
    page.goto(f"/lab/?{QUERY}&t=1.5&views=speculation")
    wait_for_picture(page)
    a, k = run.scenario.server.acceptance, 3
    passes = int((run.events["kind"] == Kind.DRAFT).sum())
    lengths = run.events["a"][run.events["kind"] == Kind.ACCEPT]
    counts = np.bincount(lengths[lengths > 0], minlength=k + 1)
    counts[0] = passes - counts.sum()
    rows = page.locator("#fig-speculation tbody tr")
    expect(rows).to_have_count(k + 1)
    for i in range(k + 1):
        share = a**i * (1 - a) if i < k else a**k
        cells = [cell.replace(",", "") for cell in rows.nth(i).locator("td").all_inner_texts()[1:]]
        assert cells == [str(counts[i]), f"{100 * counts[i] / passes:.0f} %", f"{100 * share:.0f} %"]
    expected = (1 - a ** (k + 1)) / (1 - a)
    expect(page.locator("#fig-speculation p").nth(1)).to_contain_text(f"{expected:.2f} by the formula for 3 drafts")


def test_speculation_that_is_off_says_how_to_turn_it_on(page: Page) -> None:
    page.goto(f"{LAB}&views=speculation")
    wait_for_picture(page)
    page.locator("#fig-speculation .offer a").click()
    wait_for_picture(page)
    expect(page.locator("#fig-speculation .meters").first).to_be_visible()
    assert re.search(r"\bnum_speculative_tokens=3\b", page.url)
