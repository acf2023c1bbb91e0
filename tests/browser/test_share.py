"""The share menu in Chromium: by keyboard, with the state of now; lines are copied, pictures have something in them."""

import base64
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, expect

from app.params import read_query
from tests.browser.helpers import LAB, drag, picture, query, wait_for_picture

pytestmark = pytest.mark.browser

COLOURS = """async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data: bytes } = pen.getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (let i = 0; i < bytes.length; i += 4) {
    const colour = `${bytes[i]},${bytes[i + 1]},${bytes[i + 2]}`;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return { width: image.width, height: image.height, most: Math.max(...counts.values()), colours: counts.size };
}"""


def open_menu(page: Page, button: str = "Share") -> None:
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator("#share-link")).to_be_visible()


def link_of(page: Page) -> str:
    return page.locator("#share-link").input_value()


def test_menu_opens_and_closes_by_keyboard(lab: Page) -> None:
    button = lab.get_by_role("button", name="Share", exact=True)
    button.focus()
    lab.keyboard.press("Enter")
    expect(lab.get_by_role("dialog", name="Share this page")).to_be_visible()
    expect(lab.locator("#share-link")).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    lab.keyboard.press("Tab")
    expect(lab.locator("[data-copy=share-link]")).to_be_focused()
    lab.keyboard.press("Escape")
    expect(lab.locator("#share")).to_be_hidden()
    expect(button).to_be_focused()


def test_link_follows_the_state_of_the_page_and_restores_it(lab: Page) -> None:
    drag(lab, "output_tokens", 760)
    lab.wait_for_load_state("networkidle")
    lab.locator("[data-step=forward]").click()
    lab.locator("[data-view=queue]").click()
    lab.wait_for_load_state("networkidle")
    lab.wait_for_timeout(300)
    before = [picture(lab, "a"), picture(lab, "b"), lab.locator("#clock").inner_text()]
    shown = read_query(query(lab).items())
    open_menu(lab)
    shared = read_query(parse_qsl(urlsplit(link_of(lab)).query, keep_blank_values=True))
    assert (shared.scenarios, shared.t, shared.views) == (shown.scenarios, shown.t, shown.views)
    lab.goto(link_of(lab))
    wait_for_picture(lab)
    assert before == [picture(lab, "a"), picture(lab, "b"), lab.locator("#clock").inner_text()]
    expect(lab.locator("[data-figure=queue]")).to_be_hidden()


@pytest.mark.parametrize("is_secure", [True, False])
def test_link_is_copied_with_and_without_the_clipboard_of_secure_pages(lab: Page, is_secure: bool) -> None:
    lab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    if not is_secure:
        lab.evaluate("() => Object.defineProperty(navigator.clipboard, 'writeText', { value: () => Promise.reject() })")
    open_menu(lab)
    lab.locator("[data-copy=share-link]").click()
    expect(lab.locator("#live")).to_have_text("Link copied.")
    assert lab.evaluate("() => navigator.clipboard.readText()") == link_of(lab)


def test_lines_follow_the_figure_that_is_chosen(lab: Page) -> None:
    open_menu(lab, "Embed")
    expect(lab.locator("#share-figure")).to_be_focused()
    lab.locator("#share-figure").select_option("kv-map")
    assert "/embed/kv-map/?" in lab.locator("#share-frame").input_value()
    assert "/embed/kv-map.svg?" in lab.locator("#share-image").input_value()
    lab.locator("#share-figure").select_option("queue")
    assert "/embed/queue/?" in lab.locator("#share-frame").input_value()
    expect(lab.locator("#share-image")).to_be_hidden()


def test_every_open_figure_is_saved_as_a_picture_that_is_not_blank(lab: Page, tmp_path: Path) -> None:
    lab.goto(LAB)
    expect(lab.locator("[data-figure=course] .main-svg").first).to_be_visible()
    open_menu(lab)
    names = [str(option.get_attribute("value")) for option in lab.locator("#share-png option").all()]
    assert {"timeline", "kv-map", "queue", "step", "course"} <= set(names)
    for name in names:
        lab.locator("#share-png").select_option(name)
        with lab.expect_download() as download:
            lab.locator("#share-png-save").click()
        assert download.value.suggested_filename == f"batchscope-{name}.png"
        download.value.save_as(tmp_path / name)
        seen = lab.evaluate(COLOURS, base64.b64encode((tmp_path / name).read_bytes()).decode())
        assert seen["width"] > 300, name
        assert seen["colours"] > 20, name
        assert seen["most"] < 0.97 * seen["width"] * seen["height"], name


def test_menu_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto("/lab/?rate=3&num_requests=12&max_num_seqs=4&t=1")
    wait_for_picture(page)
    open_menu(page)
    box = page.locator("#share").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320


def test_server_gone_is_said_in_the_menu(lab: Page, complaints: list[str]) -> None:
    lab.route(re.compile("/share/"), lambda route: route.abort())
    lab.get_by_role("button", name="Share", exact=True).click()
    expect(lab.locator("#share")).to_have_text("The server does not answer.")
    complaints.clear()
