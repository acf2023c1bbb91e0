"""Playing, stepping, seeking: with the run here, without it, and without scripts."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers import LAB, query, step, wait_for_picture

pytestmark = pytest.mark.browser


def test_step_forward_and_back_returns_to_the_same_frame(lab: Page) -> None:
    step(lab, "forward")
    lab.wait_for_timeout(300)
    before = [
        lab.locator("#frame").inner_html(),
        lab.locator("#scene").text_content(),
        lab.locator("#clock").inner_text(),
    ]
    step(lab, "forward")
    assert lab.locator("#frame").inner_html() != before[0]
    step(lab, "back")
    lab.wait_for_timeout(300)
    assert before == [
        lab.locator("#frame").inner_html(),
        lab.locator("#scene").text_content(),
        lab.locator("#clock").inner_text(),
    ]


def test_stepping_works_with_the_run_stream_blocked(page: Page, complaints: list[str]) -> None:
    page.route("**/api/v1/steps*", lambda route: route.abort())
    page.goto(LAB)
    expect(page.locator("#notice")).to_be_visible()
    complaints.clear()
    first = page.locator("#frame").get_attribute("data-t")
    step(page, "forward")
    second = page.locator("#frame").get_attribute("data-t")
    step(page, "forward")
    third = page.locator("#frame").get_attribute("data-t")
    assert float(str(first)) < float(str(second)) < float(str(third))
    step(page, "back")
    expect(page.locator("#frame")).to_have_attribute("data-t", str(second))
    assert query(page)["t"] == second


def test_keys_step_and_play(lab: Page) -> None:
    clock = lab.locator("#clock")
    before = clock.inner_text()
    lab.keyboard.press("ArrowRight")
    expect(clock).not_to_have_text(before)
    lab.keyboard.press("ArrowLeft")
    lab.keyboard.press("Home")
    expect(clock).to_contain_text("t = 0.000 s")
    lab.keyboard.press("Space")
    expect(lab.locator("#play")).to_have_text("Pause")
    lab.keyboard.press("Space")
    expect(lab.locator("#play")).to_have_text("Play")
    lab.keyboard.press("End")
    lab.wait_for_timeout(300)
    assert float(query(lab)["t"]) > 1


def test_click_on_the_timeline_seeks(lab: Page) -> None:
    box = lab.locator('[data-lane="a"]').bounding_box()
    assert box
    lab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    lab.wait_for_timeout(300)
    end = float(lab.evaluate("() => document.getElementById('seek').ariaValueText.split(' ')[0]"))
    assert float(query(lab)["t"]) == pytest.approx(end, abs=0.02)


def test_focus_names_the_run_that_steps(lab: Page) -> None:
    lab.locator("[data-focus=b]").click()
    expect(lab).to_have_url(re.compile("run=b"))
    expect(lab.locator("#clock")).to_contain_text("static")
    expect(lab.locator("#kv-map-title")).to_contain_text("static")


def test_lab_starts_paused_when_motion_is_unwelcome(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/lab/")
    wait_for_picture(page)
    expect(page.locator("#play")).to_have_text("Play")


def test_lab_plays_when_opened_without_a_time(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto("/lab/")
    expect(page.locator("#play")).to_have_text("Pause")


def test_playing_stops_off_screen(lab: Page) -> None:
    lab.locator("#speed").select_option("0.03")
    lab.locator("#play").click()
    lab.set_viewport_size({"width": 1200, "height": 300})
    lab.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    expect(lab.locator("#play")).to_have_text("Play")


def test_chart_follows_the_playhead(page: Page) -> None:
    page.goto(LAB)
    expect(page.locator("#fig-course .main-svg").first).to_be_visible(timeout=15_000)
    page.wait_for_timeout(300)
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('#fig-course .chart-box').layout.shapes[0].x0 === 0")


def test_stepping_works_without_scripts(browser: Browser, server: str) -> None:
    context = browser.new_context(base_url=server, java_script_enabled=False)
    page = context.new_page()
    page.goto(LAB)
    first = page.locator("#frame").inner_text()
    page.locator("[data-step=forward]").click()
    page.wait_for_load_state()
    second = page.locator("#frame").inner_text()
    assert second != first
    expect(page.locator("#lanes img.picture")).to_have_js_property("complete", True)
    assert page.request.get(str(page.locator("#lanes img.picture").get_attribute("src"))).ok
    expect(page.locator("[data-value=a]").first).not_to_be_empty()
    page.locator("[data-step=forward]").click()
    page.wait_for_load_state()
    page.locator("[data-step=back]").click()
    page.wait_for_load_state()
    assert page.locator("#frame").inner_text() == second
    context.close()


def test_form_works_without_scripts(browser: Browser, server: str) -> None:
    context = browser.new_context(base_url=server, java_script_enabled=False)
    page = context.new_page()
    page.goto(LAB)
    page.locator("#c-max_num_seqs").fill("3")
    page.locator("#controls").get_by_role("button", name="Run").click()
    expect(page.locator("table.slots tbody tr")).to_have_count(3)
    expect(page.get_by_role("link", name="Static", exact=True)).to_be_visible()
    context.close()
