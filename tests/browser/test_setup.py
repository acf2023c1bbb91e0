"""The set-up under the figures follows the controls, and is copied with the address."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import wait_for_picture

pytestmark = pytest.mark.browser


def test_set_up_follows_the_controls(lab: Page) -> None:
    lab.get_by_text("Set-up of these figures").click()
    expect(lab.locator("#setup")).to_contain_text("continuous batching, 8 slots")
    lab.locator("#c-max_num_seqs").fill("4")
    expect(lab.locator("#setup")).to_contain_text("continuous batching, 4 slots")
    expect(lab.locator("#setup")).to_contain_text(re.compile("Static\\s*batching static"))


def test_set_up_is_copied_as_text(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/lab/?rate=3.9&num_requests=24&max_num_seqs=8&seed=7")
    wait_for_picture(page)
    page.get_by_text("Set-up of these figures").click()
    page.get_by_role("button", name="Copy as text").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    text = page.evaluate("() => navigator.clipboard.readText()")
    assert "Seed: 7\n" in text
    assert re.search(r"\nAddress: http://.*seed=7", text)
