"""axe finds nothing on tour, lessons and contents with every stage begun, light and dark; they fit a narrow phone."""

import pytest
from playwright.sync_api import Page, expect

from app.lessons import ALL
from tests.a11y.test_lab_axe import violations
from tests.rows import some_always

pytestmark = pytest.mark.browser

PAGES = {lesson.path: [section.name for section in lesson.sections if section.query] for lesson in ALL} | {
    "lessons/": []
}


@pytest.mark.parametrize("path", some_always(PAGES, every=3))
def test_page_has_no_axe_violation_in_light_and_dark_and_fits_a_narrow_phone(page: Page, path: str) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(f"/{path}")
    for name in PAGES[path]:
        page.locator(f"#{name}").evaluate("(node) => node.scrollIntoView()")
        expect(page.locator(f"#{name} .scene")).not_to_be_empty()
    for summary in page.locator("main details > summary").all():
        summary.evaluate("(node) => { node.parentElement.open = true; }")
    page.wait_for_load_state("networkidle")
    assert violations(page) == []

    page.emulate_media(color_scheme="dark")
    assert violations(page) == []

    page.set_viewport_size({"width": 320, "height": 640})
    page.wait_for_function(
        "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth", timeout=10_000
    )
