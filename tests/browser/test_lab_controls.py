"""Dragging a control: both timelines, the figures and the address follow, and the newest value wins."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.helpers import LAB, drag, figures, picture, query, wait_for_picture

pytestmark = pytest.mark.browser


def test_slider_changes_both_timelines_figures_and_address(lab: Page) -> None:
    before = [picture(lab, "a"), picture(lab, "b"), figures(lab), lab.url]
    drag(lab, "output_tokens", 760)
    expect(lab).to_have_url(re.compile("output_tokens="))
    lab.wait_for_load_state("networkidle")
    after = [picture(lab, "a"), picture(lab, "b"), figures(lab), lab.url]
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_field_beside_slider_sets_the_same_value(lab: Page) -> None:
    lab.locator("#c-max_num_seqs").fill("4")
    expect(lab).to_have_url(re.compile("max_num_seqs=4"))
    expect(lab.locator('[data-for="max_num_seqs"]')).to_have_attribute("aria-valuetext", "4 slots")
    expect(lab.locator("table.slots tbody tr")).to_have_count(4)


def test_default_is_left_out_of_the_address(lab: Page) -> None:
    lab.locator("#c-rate").fill("6")
    expect(lab).not_to_have_url(re.compile(r"[?&]rate="))


def test_reload_restores_the_same_state(lab: Page) -> None:
    drag(lab, "rate", 700)
    lab.locator("[data-step=forward]").click()
    lab.wait_for_load_state("networkidle")
    expect(lab).to_have_url(re.compile("rate="))
    lab.wait_for_timeout(300)
    before = [picture(lab, "a"), picture(lab, "b"), figures(lab), lab.locator("#clock").inner_text(), query(lab)]
    lab.reload()
    wait_for_picture(lab)
    after = [picture(lab, "a"), picture(lab, "b"), figures(lab), lab.locator("#clock").inner_text(), query(lab)]
    assert before == after


def test_stale_answer_never_wins(lab: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    lab.route(re.compile(r"/api/v1/steps\?.*max_num_seqs=2\b"), hold)
    lab.locator("#c-max_num_seqs").fill("2")
    lab.wait_for_timeout(100)
    lab.locator("#c-max_num_seqs").fill("6")
    expect(lab.locator("table.slots tbody tr")).to_have_count(6)
    assert held
    for route in held:
        route.fulfill(status=200, body='{"requests": {}}\n{"metrics": {"steps": 0}}\n')
    lab.wait_for_timeout(300)
    assert query(lab)["max_num_seqs"] == "6"
    expect(lab.locator('[data-lane="a"]')).to_have_attribute("style", re.compile("--slots: 6"))


def test_stale_frame_never_wins(lab: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    lab.route(re.compile(r"/lab/frame/"), hold, times=1)
    lab.locator("[data-step=forward]").click()
    lab.wait_for_timeout(50)
    with lab.expect_response(re.compile("/lab/frame/")):
        lab.locator("[data-step=forward]").click()
    lab.wait_for_timeout(200)
    newest = lab.locator("#frame").get_attribute("data-t")
    assert held
    assert newest != "1.5"
    for route in held:
        route.fulfill(status=200, body='<section id="frame" data-t="0">stale</section>')
    lab.wait_for_timeout(200)
    expect(lab.locator("#frame")).to_have_attribute("data-t", str(newest))


def test_bad_value_is_explained_at_the_control_and_keeps_the_picture(lab: Page, complaints: list[str]) -> None:
    before = picture(lab, "a")
    lab.locator("#c-max_num_seqs").fill("0")
    expect(lab.locator("#notice")).to_contain_text("max_num_seqs")
    expect(lab.locator("#c-max_num_seqs")).to_have_attribute("aria-invalid", "true")
    assert picture(lab, "a") == before
    lab.locator("#c-max_num_seqs").fill("8")
    expect(lab.locator("#notice")).to_be_hidden()
    complaints.clear()


def test_server_gone_keeps_what_there_is(lab: Page, complaints: list[str]) -> None:
    before = picture(lab, "b")
    lab.route("**/api/v1/steps*", lambda route: route.abort())
    drag(lab, "rate", 640)
    expect(lab.locator("#notice")).to_contain_text("does not answer")
    assert picture(lab, "b") == before
    complaints.clear()


def test_server_and_page_write_figures_alike(page: Page, server: str) -> None:
    page.goto(LAB)
    wait_for_picture(page)
    drawn = page.locator("[data-metric]").all_text_contents()
    html = page.request.get(LAB).text()
    page.set_content(re.sub(r"<(script|link|meta)[^>]*>", "", html))
    served = page.locator("[data-metric]").all_text_contents()
    assert [text.split() for text in served] == [text.split() for text in drawn]


def test_names_follow_the_controls(page: Page) -> None:
    page.goto("/lab/?rate=3&num_requests=12&max_num_seqs=4&t=1")
    wait_for_picture(page)
    expect(page.get_by_role("heading", level=2, name="Continuous batching")).to_be_visible()
    page.get_by_role("radio", name="static", exact=True).check(force=True)
    page.locator("#c-max_num_seqs").fill("3")
    expect(page.get_by_role("heading", level=2, name="Static batching")).to_be_visible()
    expect(page.locator("[data-focus=a]")).to_have_text("Static")
    expect(page.locator("#timeline-head")).to_contain_text("3 slots")


def test_help_opens_by_keyboard_and_names_the_flags(lab: Page) -> None:
    name = lab.locator("#controls").get_by_role("button", name="Token budget per step", exact=True)
    name.press("Enter")
    tip = lab.locator("#h-max_num_batched_tokens")
    expect(tip).to_be_visible()
    for flag in ("--max-num-batched-tokens", "--chunked-prefill-size", "--max_num_tokens", "--batch-size"):
        expect(tip).to_contain_text(flag)
    lab.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(name).to_be_focused()


def test_reset_appears_with_a_value_and_takes_it_back(lab: Page) -> None:
    back = lab.get_by_role("button", name="Reset Block size")
    expect(back).to_be_hidden()
    lab.locator("#c-block_size").fill("32")
    back.click()
    expect(lab.locator("#c-block_size")).to_have_value("16")
    expect(back).to_be_hidden()
    expect(lab).not_to_have_url(re.compile("block_size="))


def test_reset_all_leaves_the_comparison(lab: Page) -> None:
    lab.get_by_role("button", name="Reset all").click()
    expect(lab).not_to_have_url(re.compile(r"[?&](rate|max_num_seqs|num_requests)="))
    expect(lab).to_have_url(re.compile(r"b\.batching=static"))
    expect(lab.locator("#c-max_num_seqs")).to_have_value("256")


def test_choice_takes_effect_away_from_other_controls_and_says_why(lab: Page) -> None:
    lab.locator("summary", has_text="of Memory").click()
    share = lab.locator("#c-gpu_memory_utilization")
    expect(share).to_be_enabled()
    lab.locator("#c-num_gpu_blocks").fill("2049")
    expect(share).to_be_disabled()
    expect(lab.locator("#w-gpu_memory_utilization")).to_have_text("the number of KV blocks is set")
    lab.locator('#controls select[name="load"]').select_option("closed")
    expect(lab.locator('#controls [data-control="rate"]')).to_be_hidden()
    expect(lab.locator("#c-concurrency")).to_be_visible()


def test_auto_shows_what_it_comes_to(lab: Page) -> None:
    result = lab.locator('[data-resolved="num_gpu_blocks"]')
    expect(result).to_have_text(re.compile(r"auto: [\d,]+"))
    before = result.inner_text()
    lab.locator("#c-block_size").fill("32")
    expect(result).not_to_have_text(before)
    lab.locator("#c-num_gpu_blocks").fill("2049")
    expect(result).to_have_text("")


def test_message_opens_the_fold_it_is_in(lab: Page, complaints: list[str]) -> None:
    lab.locator("#c-watermark").evaluate(
        """(field) => {
          field.value = "7";
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    expect(lab.locator("#m-watermark")).to_contain_text("watermark")
    expect(lab.locator("#m-watermark")).to_be_visible()
    lab.locator("#c-watermark").fill("0.1")
    expect(lab.locator("#m-watermark")).to_be_hidden()
    expect(lab.locator("summary", has_text="of Server")).to_contain_text("1 changed")
    complaints.clear()


def test_list_is_taken_when_it_is_complete(lab: Page) -> None:
    lab.locator("summary", has_text="of Workload").click()
    field = lab.locator("#c-output_list")
    field.press_sequentially("5,6,")
    expect(lab.locator("#notice")).to_be_hidden()
    field.press_sequentially("7")
    field.press("Enter")
    expect(lab).to_have_url(re.compile("output_list=5,6,7"))
    expect(lab.locator("#c-num_requests")).to_be_disabled()
