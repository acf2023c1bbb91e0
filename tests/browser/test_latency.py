"""Distributions of latencies: the route against the metrics, the card's words and table against both."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from sim.run import simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, wait_for_picture

pytestmark = pytest.mark.browser

SETTINGS = {"rate": "3.9", "num_requests": "24", "max_num_seqs": "8"}


def test_latencies_tell_the_percentiles_of_the_metrics(page: Page) -> None:
    page.goto(f"{LAB}&views=latency")
    wait_for_picture(page)
    card = page.locator("#fig-latency")
    expect(card.locator("tbody tr")).to_have_count(6)
    for run, settings in (("continuous", SETTINGS), ("static", {**SETTINGS, "batching": "static"})):
        metrics = simulate(scenario_from(settings)).metrics()
        for name, title in (("ttft_s", "TTFT"), ("tpot_s", "TPOT"), ("itl_s", "ITL")):
            p50, p95 = (1000 * metrics[name][p] for p in ("p50", "p95"))
            texts = [f"{ms:,.{1 if ms < 100 else 0}f}" for ms in (p50, p95)]
            row = card.locator("tbody tr", has_text=f"{title}, {run}")
            shown = row.locator("td").all_inner_texts()
            wanted = [float(text.replace(",", "")) for text in texts]
            np.testing.assert_allclose([float(shown[i].replace(",", "")) for i in (0, 2)], wanted, atol=0.11)
    expect(card.locator("[data-twin]")).to_contain_text("TTFT, static: median")
    expect(card.locator(".chart-box[data-drawn]")).to_be_visible()
