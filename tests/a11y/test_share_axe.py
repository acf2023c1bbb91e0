"""axe finds nothing on embedded figures, on the share menu, and on the page it is without scripts."""

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from app.gallery import FIGURES
from app.settings import ROOT
from tests.a11y.test_lab_axe import LAB, SCHEMES, violations
from tests.rows import some_always

pytestmark = pytest.mark.browser

QUERY = LAB.partition("?")[2]
SHOWN = [f.name for f in FIGURES if f.name == "timeline" or (ROOT / f"templates/figures/{f.name}.html").exists()]


@pytest.mark.parametrize("name", some_always(SHOWN, 6))
def test_embedded_figure_has_no_axe_violation(page: Page, name: str) -> None:
    page.set_viewport_size({"width": 640, "height": 420})
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.goto(f"/embed/{name}/?{QUERY}")
        expect(page.locator("#scene")).not_to_be_empty()
        page.wait_for_load_state("networkidle")
        assert violations(page) == [], scheme


@pytest.mark.parametrize("scheme", some_always(SCHEMES, 2))
def test_share_menu_has_no_axe_violation(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(LAB)
    expect(page.locator("#scene")).not_to_be_empty()
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("#share-link")).to_be_focused()
    assert violations(page) == []


@pytest.mark.parametrize("path", [f"/share/?{QUERY}", "/embed/nothing/", "/embed/timeline/?rate=-1"])
def test_plain_page_has_no_axe_violation(page: Page, path: str, complaints: list[str]) -> None:
    page.goto(path)
    assert violations(page) == []
    complaints.clear()  # the status of the answer
