"""Embedded figures in Chromium: drawn, moved by their own transport, in a frame of another site, without scripts."""

from collections.abc import Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.gallery import FIGURES, Figure
from app.pictures.kv_map import layout_of
from app.settings import ROOT
from tests.rows import some_always

pytestmark = pytest.mark.browser

QUERY = "rate=3.9&num_requests=24&max_num_seqs=8&b.batching=static&t=1.5"
LAYOUTS = [(384, 932, 220), (2048, 600, 200), (28_802, 932, 220)]
SHOWN = [f for f in FIGURES if f.name == "timeline" or (ROOT / f"templates/figures/{f.name}.html").exists()]


@pytest.fixture(scope="module")
def course(server: str) -> Iterator[str]:
    """Address of another site: /NAME/?… there frames that path of ours."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            frame = f'<iframe src="{server}{escape(self.path)}" width="640" height="420" title="figure"></iframe>'
            page = f'<!doctype html><title>Course</title><link rel="icon" href="data:,">{frame}'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


@pytest.mark.parametrize("figure", some_always(SHOWN, 4), ids=lambda figure: figure.name)
def test_figure_is_shown_in_a_frame_of_another_site(page: Page, course: str, figure: Figure) -> None:
    page.goto(f"{course}/embed/{figure.name}/?{QUERY}")
    frame = page.frame_locator("iframe")
    expect(frame.locator(f'[data-figure="{figure.name}"]')).to_be_visible()
    expect(frame.locator("#scene")).not_to_be_empty()
    expect(frame.locator("#notice")).to_be_hidden()
    page.wait_for_load_state("networkidle")


def test_lab_is_not_shown_in_a_frame_of_another_site(page: Page, course: str, complaints: list[str]) -> None:
    page.goto(f"{course}/lab/?{QUERY}")
    page.wait_for_load_state("networkidle")
    assert [frame.url.split(":")[0] for frame in page.frames[1:]] == ["chrome-error"]
    complaints.clear()


@pytest.mark.parametrize(("width", "height"), some_always([(320, 200), (600, 200), (900, 600)], 2))
def test_timeline_fits_its_frame(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"/embed/timeline/?{QUERY}")
    expect(page.locator("#scene")).not_to_be_empty()
    box = page.locator("#play").bounding_box()
    assert box
    assert box["y"] + box["height"] <= height
    root = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert root[0] <= width
    assert root[1] <= height + 4


@pytest.mark.parametrize("name", some_always(["timeline", "queue", "course"], 3))
def test_steps_move_the_playhead(page: Page, name: str) -> None:
    page.goto(f"/embed/{name}/?{QUERY}")
    expect(page.locator("#scene")).not_to_be_empty()
    page.wait_for_load_state("networkidle")
    clock = page.locator("#clock")
    before = clock.inner_text()
    page.locator("[data-step=forward]").click()
    expect(clock).not_to_have_text(before)
    page.wait_for_load_state("networkidle")
    page.locator("[data-step=start]").click()
    expect(clock).to_contain_text("t = 0.000 s")


def test_step_of_the_server_follows_in_a_figure_that_it_tells(page: Page) -> None:
    page.goto(f"/embed/queue/?{QUERY}")
    expect(page.locator("#scene")).not_to_be_empty()
    page.locator("[data-step=end]").click()
    expect(page.locator('[data-figure="queue"]')).to_contain_text("nobody waits")
    page.locator("[data-focus=b]").click()
    expect(page.locator("#queue-title")).to_contain_text("static")


def test_link_leads_to_the_lab_at_the_same_moment(page: Page) -> None:
    page.goto(f"/embed/timeline/?{QUERY}")
    expect(page.locator("#scene")).not_to_be_empty()
    page.keyboard.press("Home")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Batchscope").click()
    opened.value.wait_for_load_state()
    assert "/lab/?" in opened.value.url
    assert "t=0" in opened.value.url.split("&")
    assert "b.batching=static" in opened.value.url


@pytest.mark.parametrize("name", some_always(["queue", "timeline", "kv-map"], 3))
def test_figure_works_without_scripts(browser: Browser, server: str, name: str) -> None:
    context = browser.new_context(base_url=server, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/embed/{name}/?{QUERY}")
    shown = page.locator('[data-figure="queue"]') if name == "queue" else page.locator("img.picture")
    expect(shown).to_be_visible()
    before = page.locator("#clock").inner_text()
    page.locator("[data-step=forward]").click()
    expect(page.locator("#clock")).not_to_have_text(before)
    assert f"/embed/{name}/" in page.url
    context.close()


@pytest.mark.parametrize(
    ("blocks", "width", "height"), some_always([(384, 932, 220), (2048, 600, 200), (28_802, 932, 220)], 2)
)
def test_block_map_of_page_and_picture_have_one_layout(page: Page, blocks: int, width: int, height: int) -> None:
    page.goto(f"/embed/timeline/?{QUERY}")
    drawn = page.evaluate(
        """async (size) => {
          const { layoutOf } = await import(new URL("../../static/js/kvdraw.js", location.href));
          const { per, count, columns, rows, across, down } = layoutOf(...size, 1);
          return [per, count, columns, rows, across, down];
        }""",
        [blocks, width, height],
    )
    layout = layout_of(blocks, width, height)
    own = [layout.per, layout.count, layout.columns, layout.rows, layout.across, layout.down]
    assert drawn == pytest.approx(own)
