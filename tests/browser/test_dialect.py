"""The select above the figures: the same run in other words, at once with scripts and by a form without."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers import LAB, wait_for_picture

pytestmark = pytest.mark.browser

TPOT = '[data-metric="tpot_s.p50"]'


def figure(page: Page) -> str:
    return page.locator(f"{TPOT} [data-value=a]").inner_text()


def test_dialect_changes_figures_meanings_and_address(lab: Page) -> None:
    plain = figure(lab)
    lab.get_by_label("Metrics as").select_option("aiperf")
    expect(lab.locator(f"{TPOT} [data-value=a]")).to_have_text("–")
    expect(lab.locator(f"{TPOT} .meaning")).to_contain_text("AIPerf has no TPOT")
    expect(lab).to_have_url(re.compile("dialect=aiperf"))
    lab.get_by_label("Metrics as").select_option("vllm")
    expect(lab.locator(f"{TPOT} [data-value=a]")).to_have_text(plain)
    expect(lab).not_to_have_url(re.compile("dialect"))


def test_dialect_stays_when_a_control_moves_and_over_a_reload(lab: Page) -> None:
    lab.get_by_label("Metrics as").select_option("guidellm")
    lab.locator("#c-max_num_seqs").fill("4")
    expect(lab).to_have_url(re.compile("max_num_seqs=4.*dialect=guidellm"))
    query = "rate=3.9&num_requests=24&max_num_seqs=4&dialect=guidellm"
    tpot_s = lab.request.get(f"/api/v1/run?{query}").json()["metrics"]["tpot_s"]["p50"]
    for _ in range(2):
        expect(lab.locator(f"{TPOT} [data-value=a]")).to_have_text(f"{tpot_s * 1000:.1f}")
        expect(lab.get_by_label("Metrics as")).to_have_value("guidellm")
        lab.reload()
        wait_for_picture(lab)


def test_what_drives_a_figure_leads_to_its_control(lab: Page) -> None:
    card = lab.locator('[data-metric="ttft_s.p50"]')
    card.locator("summary").click()
    card.get_by_role("link", name="Arrival rate").click()
    expect(lab).to_have_url(re.compile("#c-rate$"))
    expect(lab.locator("#c-rate")).to_be_in_viewport()


def test_without_scripts_it_is_a_form(browser: Browser, server: str) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=server)
    page = context.new_page()
    page.goto(LAB)
    page.get_by_label("Metrics as").select_option("aiperf")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(f"{TPOT} [data-value=a]")).to_have_text("–")
    expect(page).to_have_url(re.compile(r"max_num_seqs=8.*b\.batching=static.*t=1\.5"))
    expect(page.locator("[data-step=forward]")).to_have_attribute("href", re.compile("dialect=aiperf"))
    context.close()
