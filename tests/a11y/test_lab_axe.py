"""axe finds nothing on the lab, in light and dark; and it fits a narrow phone."""

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from app.gallery import FIGURE_BY_NAME

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "static" / "vendor" / "axe.min.js"
LAB = "/lab/?rate=3.9&num_requests=24&max_num_seqs=8&b.batching=static&t=1.5"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def violations(page: Page) -> list[str]:
    page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate("() => axe.run(document).then((result) => result.violations)")
    return [f"{rule['id']}: {[node['html'][:120] for node in rule['nodes'][:3]]}" for rule in found]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lab_has_no_axe_violation(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(LAB)
    expect(page.locator("#fig-course .main-svg").first).to_be_visible(timeout=15_000)
    assert violations(page) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lab_with_every_figure_open_has_no_axe_violation(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{LAB}&num_speculative_tokens=2&views={','.join(FIGURE_BY_NAME)}")
    for name in ("course", "latency", "batch-curve", "roofline", "load-curve"):
        expect(page.locator(f"#fig-{name} .main-svg").first).to_be_visible(timeout=60_000)
    assert violations(page) == []


def test_narrow_phone_has_no_axe_violation(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(LAB)
    expect(page.locator("#scene")).not_to_be_empty()
    assert violations(page) == []


@pytest.mark.parametrize(("width", "height"), [(320, 640), (740, 360)])
def test_page_does_not_scroll_sideways(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(LAB)
    expect(page.locator("#fig-course .main-svg").first).to_be_visible(timeout=15_000)
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_timeline_is_in_sight_while_a_control_is_dragged_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(LAB)
    expect(page.locator("#scene")).not_to_be_empty()
    page.locator('input[type=range][data-for="slo_tpot_ms"]').scroll_into_view_if_needed()
    expect(page.locator('[data-lane="b"]')).to_be_in_viewport(ratio=0.9)
    expect(page.locator('[data-lane="a"]')).to_be_in_viewport(ratio=0.9)


def test_every_slider_says_its_value(page: Page) -> None:
    page.goto(LAB)
    expect(page.locator("#scene")).not_to_be_empty()
    for slider in page.locator("input[type=range]:visible").all():
        assert slider.get_attribute("aria-valuetext")
        assert slider.get_attribute("aria-label") or slider.evaluate("e => e.labels.length")
