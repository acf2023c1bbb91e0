"""The glossary is clean under axe, wide and narrow, light and dark; a word says what it means without a click."""

import pytest
from playwright.sync_api import Page, expect

from tests.a11y.test_lab_axe import SCHEMES, violations

pytestmark = pytest.mark.browser


def test_glossary_has_no_axe_violation_and_its_words_explain_themselves(page: Page) -> None:
    page.goto("/glossary/")
    word = page.locator("button.term").first
    note = page.locator(f"#{word.get_attribute('popovertarget')}")
    expect(note).to_be_hidden()
    word.hover()
    expect(note).to_be_visible()
    for width in (1440, 320):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert violations(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    word.click()
    page.mouse.move(0, 0)
    expect(note).to_be_visible()
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(word).to_be_focused()
    expect(note).to_be_visible()
    page.keyboard.press("Tab")
    expect(note.get_by_role("link")).to_be_focused()
    page.keyboard.press("Tab")
    expect(note).to_be_hidden()
