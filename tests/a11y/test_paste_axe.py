"""axe finds nothing on the paste box with an answer and commands in it, in light and dark."""

import pytest
from playwright.sync_api import Page, expect

from tests.a11y.test_lab_axe import LAB, SCHEMES, violations
from tests.rows import some_always

pytestmark = pytest.mark.browser
RESULT = "vllm serve Qwen/Qwen3-8B --max_num_seqs 8 --foo\nSuccessful requests:  20\nMean TTFT (ms):  50.00\n"


@pytest.mark.parametrize("scheme", some_always(SCHEMES, 2))
def test_open_paste_box_has_no_axe_violation(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(LAB)
    expect(page.locator("#scene")).not_to_be_empty()
    page.locator("#paste > summary").click()
    page.get_by_label("vllm serve").fill(RESULT)
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("#pasted table")).to_be_visible()
    page.locator("[data-commands]").click()
    expect(page.locator("#command-serve")).to_be_visible()
    assert violations(page) == []
