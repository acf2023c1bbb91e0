"""The load curve in the lab: drawn from the sweep's numbers, said in words, kept in the address."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import wait_for_picture

pytestmark = pytest.mark.browser

CARD = "#fig-load-curve"
QUERY = "num_requests=60&max_num_seqs=4&output_tokens=40&b.batching=static"
CURVE = f"/lab/?{QUERY}&views=timeline,load-curve"
DRAWN = """path => document.querySelector("#fig-load-curve .chart-box").data
  ?.filter(trace => trace.meta.part === "mean" && trace.meta.path === path)
  .map(trace => [trace.meta.run, [...trace.x], [...trace.y]])"""


def wait_for_curve(page: Page) -> None:
    expect(page.locator(CARD)).not_to_have_attribute("aria-busy", "true")
    expect(page.locator(".curve-words li")).to_have_count(2)


def assert_drawn(page: Page, path: str, points: list[dict]) -> None:
    """The lines of a metric come to show these points of the sweep."""
    lines_of = {run: [point for point in points if point["curve"] == run] for run in "ab"}
    expected = {
        run: ([p["x"] for p in line], [p["metrics"][path]["mean"] for p in line]) for run, line in lines_of.items()
    }
    lines: list[list] = []
    for _ in range(400):
        lines = page.evaluate(DRAWN, path) or []
        if {run: (x, y) for run, x, y in lines} == expected:
            return
        page.wait_for_timeout(50)
    pytest.fail(f"{path} is {lines}, not {expected}")


def sweep(page: Page, query: str) -> list[dict]:
    return [json.loads(line) for line in page.request.get(f"/api/v1/sweep?{query}").text().splitlines()]


def test_curve_shows_the_numbers_of_the_sweep(page: Page) -> None:
    page.goto(f"{CURVE}&x=rate:2:20:4&seeds=1")
    wait_for_curve(page)
    _, *points, _ = sweep(page, f"{QUERY}&x=rate:2:20:4&seeds=1")
    for path in ("ttft_s.p50", "goodput_rps"):
        assert_drawn(page, path, points)


def test_words_name_the_peak_and_the_crossing(page: Page) -> None:
    page.goto(f"{CURVE}&x=rate:2:40:9&seeds=2&cross_s=0.5")
    wait_for_curve(page)
    *_, tail = sweep(page, f"{QUERY}&x=rate:2:40:9&seeds=2&cross_s=0.5")
    first = page.locator(".curve-words li").first
    expect(first).to_contain_text(f"goodput peaks at {tail['peaks']['a']['x']:.3g} req/s")
    expect(first).to_contain_text(f"median TTFT reaches 0.5 s at {tail['crossing']['curves']['a']['mean']:.3g} req/s")


def test_own_range_goes_into_the_address_and_comes_back(page: Page) -> None:
    page.goto(CURVE)
    wait_for_curve(page)
    low, high = page.locator(CARD).get_by_label("From", exact=True), page.locator(CARD).get_by_label("to req/s")
    low.fill("3")
    low.press("Tab")
    high.fill("11")
    high.press("Tab")
    expect(page).to_have_url(re.compile("x=rate:3:11:9"))
    wait_for_curve(page)
    page.reload()
    wait_for_curve(page)
    assert [low.input_value(), high.input_value()] == ["3", "11"]
    page.get_by_role("button", name="Automatic range").click()
    expect(page).not_to_have_url(re.compile("x=rate"))


def test_moving_a_control_asks_anew(page: Page) -> None:
    page.goto(f"{CURVE}&x=rate:2:20:4&seeds=1")
    wait_for_curve(page)
    page.locator("#c-output_tokens").fill("80")
    _, *points, _ = sweep(page, f"{QUERY}&x=rate:2:20:4&seeds=1".replace("output_tokens=40", "output_tokens=80"))
    assert_drawn(page, "output_tokens_per_s", points)


def test_table_has_a_row_per_load(page: Page) -> None:
    page.goto(f"{CURVE}&x=rate:2:20:4&seeds=1")
    wait_for_curve(page)
    page.locator(CARD).get_by_text("Numbers of the curve").click()
    expect(page.locator(".curve-table tbody tr")).to_have_count(4)
    expect(page.locator(".curve-table tbody th").first).to_have_text("2")


def test_load_without_a_rate_says_so(page: Page, complaints: list[str]) -> None:
    page.goto("/lab/?load=burst&num_requests=12&views=timeline,load-curve")
    wait_for_picture(page)
    expect(page.locator(f"{CARD} .message")).to_contain_text("no rate to vary")
    assert all("422" in text for text in complaints)
    complaints.clear()


def test_refused_range_is_said_in_one_line(page: Page, complaints: list[str]) -> None:
    page.goto(CURVE)
    wait_for_curve(page)
    page.locator(CARD).get_by_label("From", exact=True).fill("90")
    page.locator(CARD).get_by_label("From", exact=True).press("Tab")
    expect(page.locator(f"{CARD} .message")).to_contain_text("LOW not above HIGH")
    complaints.clear()
