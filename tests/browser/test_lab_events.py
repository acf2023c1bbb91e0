"""The event list: click and keys go to events, filters hold, the step at the playhead is marked."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers import query, wait_for_picture

pytestmark = pytest.mark.browser

TIGHT = (
    "rate=8&num_requests=40&prompt_tokens=400&output_tokens=300&max_num_seqs=12&num_gpu_blocks=385&max_model_len=2048"
    "&t=4&views=timeline,events"
)


@pytest.fixture
def events(page: Page) -> Page:
    page.goto(f"/lab/?{TIGHT}")
    wait_for_picture(page)
    return page


def test_click_on_an_event_goes_to_its_step_and_marks_it(events: Page) -> None:
    events.locator("#fig-events select[name=kind]").select_option("admitted")
    expect(events.locator(".events li").first).to_contain_text("gets slot")
    row = events.locator(".events li").nth(3)
    text = row.locator(".event-text").inner_text()
    step = row.locator(".event-step").inner_text()
    row.locator("a").click()
    expect(events.locator("#clock")).to_contain_text(step)
    expect(events.locator(".events li.now", has_text=text)).to_be_visible()
    assert "page" not in query(events)


def test_filter_by_kind_and_keys_to_the_next_and_previous(events: Page) -> None:
    events.locator("#fig-events select[name=kind]").select_option("preempted")
    expect(events.locator(".events li").first).to_contain_text("is preempted")
    expect(events.locator(".events li:not(:has-text('is preempted'))")).to_have_count(0)
    events.locator("#fig-events h2").click()
    events.keyboard.press("]")
    first = events.locator(".events li.now .event-time").first.inner_text()
    events.keyboard.press("]")
    expect(events.locator(".events li.now .event-time").first).not_to_have_text(first)
    events.keyboard.press("[")
    expect(events.locator(".events li.now .event-time").first).to_have_text(first)
    expect(events.locator("#live")).to_contain_text("is preempted")
    expect(events).to_have_url(re.compile("kind=preempted"))


def test_list_comes_along_with_the_playhead(events: Page) -> None:
    events.keyboard.press("End")
    expect(events.locator(".events li").last).to_contain_text("is finished")
    events.keyboard.press("Home")
    expect(events.locator(".events li").first).to_contain_text("Request 1 arrives")


def test_event_key_opens_the_list(page: Page) -> None:
    page.goto(f"/lab/?{TIGHT.replace('timeline,events', 'timeline')}")
    wait_for_picture(page)
    clock = page.locator("#clock").inner_text()
    page.keyboard.press("]")
    expect(page.locator("#fig-events")).to_be_visible()
    expect(page.locator("#clock")).not_to_have_text(clock)


def test_events_without_scripts_are_links_and_a_form(browser: Browser, server: str) -> None:
    context = browser.new_context(base_url=server, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/lab/?{TIGHT}")
    page.locator("#fig-events select[name=kind]").select_option("finished")
    page.locator("#fig-events").get_by_role("button", name="Show").click()
    expect(page.locator(".events li").first).to_contain_text("is finished")
    page.locator(".events a").nth(2).click()
    expect(page.locator(".events li.now")).not_to_have_count(0)
    context.close()
