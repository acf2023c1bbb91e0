"""axe finds nothing on the load curve, the set-up card and what drives the figures, all unfolded."""

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.a11y.test_lab_axe import SCHEMES, violations
from tests.rows import some_always

pytestmark = pytest.mark.browser

CURVE = "/lab/?num_requests=24&max_num_seqs=4&b.batching=static&views=timeline,load-curve&x=rate:2:20:4&seeds=1"


@pytest.mark.parametrize("scheme", some_always(SCHEMES, 2))
@pytest.mark.parametrize("width", [1440, 320])
def test_unfolded_curve_and_cards_have_no_axe_violation(
    page: Page, scheme: Literal["light", "dark"], width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(CURVE)
    expect(page.locator("#fig-load-curve .main-svg").first).to_be_visible()
    expect(page.locator(".curve-words li")).to_have_count(2)
    page.get_by_text("Set-up of these figures").click()
    page.locator(".metric summary").first.click()
    page.locator("#fig-load-curve summary").click()
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
