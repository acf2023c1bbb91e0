"""The tour: by keyboard alone, by touch, without motion, without a server; each figure follows its control."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from app.lessons.tour import TOUR
from app.numbers import written
from app.params import parse_query, read_query
from sim.run import simulate

pytestmark = pytest.mark.browser

SECTIONS = {section.name: section for section in TOUR.sections}
NAMES = list(SECTIONS)
KNOB = ":is(.knobs input, [data-batch=users])"
PICTURES = {
    "one-user": ".step-boxes canvas",
    "free-batching": ".batch-box",
    "static-penalty": "[data-lane=a] canvas",
    "memory-limit": ".memory-bar",
}
"""Sections with sliders, and what has to be in sight on a phone while one is dragged."""


def section_of(page: Page, name: str) -> Locator:
    return page.locator(f"#{name}")


def open_stage(page: Page, name: str) -> Locator:
    """Bring a section into sight and wait until its stage has its runs and its words know them."""
    section = section_of(page, name)
    section.evaluate("(node) => node.scrollIntoView({ behavior: 'instant' })")
    expect(section.locator(".scene")).not_to_be_empty()
    expect(section.locator(".reading").filter(has_text=re.compile("^–$"))).to_have_count(0)
    return section


def readings(section: Locator) -> list[str]:
    return section.locator(".reading").all_inner_texts()


def assert_readings_change(section: Locator, before: list[str]) -> None:
    section.page.wait_for_function(
        "([node, before]) => [...node.querySelectorAll('.reading')].map((each) => each.innerText).join() !== before",
        arg=[section.element_handle(), ",".join(before)],
    )


def tab_to(page: Page, selector: str, most: int = 60) -> None:
    """Press Tab until the focus is on what is looked for."""
    for _ in range(most):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{selector} is not reached by Tab")


def slide(slider: Locator, place: int) -> None:
    slider.evaluate(
        "(node, place) => { node.value = place; node.dispatchEvent(new Event('input', { bubbles: true })); }", place
    )


def test_whole_tour_by_keyboard_alone_and_going_back_finds_it_as_it_was_left(page: Page) -> None:
    page.goto("/")
    left: dict[str, list[str]] = {}
    for i, name in enumerate(NAMES):
        if i:
            page.keyboard.press("n")
            expect(section_of(page, name)).to_be_focused()
        section = open_stage(page, name)
        tab_to(page, f"#{name} .question input")
        page.keyboard.press("Space")
        expect(section.locator(".answer")).to_have_attribute("open", "")

        tab_to(page, f"#{name} {KNOB}")
        before = readings(section)
        page.keyboard.press("Space" if page.evaluate("() => document.activeElement.role") == "switch" else "ArrowRight")
        assert_readings_change(section, before)

        if name != "free-batching":  # a formula has no steps
            clock = section.locator(".clock")
            tab_to(page, f"#{name} button[data-step=forward]")
            at = clock.inner_text()
            page.keyboard.press("Enter")
            expect(clock).not_to_have_text(at)
        page.wait_for_timeout(200)
        left[name] = readings(section)
    for name in reversed(NAMES[:-1]):
        page.keyboard.press("p")
        expect(section_of(page, name)).to_be_focused()
        assert readings(section_of(page, name)) == left[name]
    assert len(left) == len(NAMES)


def test_questions_and_tasks_work_right_and_wrong_and_lead_into_the_lab(page: Page) -> None:
    page.goto("/")
    for name in NAMES:
        section = open_stage(page, name)
        answer_wrong_then_right(section)
        tasks = section.locator(".task")
        assert "done" not in " ".join(tasks.evaluate_all("(nodes) => nodes.map((node) => node.className)")), name
        for i, do in enumerate(DEEDS[name]):
            do(section)
            expect(tasks.nth(i)).to_have_class(re.compile(r"\bdone\b"))
            for later in range(i + 1, tasks.count()):
                expect(tasks.nth(later)).not_to_have_class(re.compile(r"\bdone\b"))
        expect(page.locator(f'[data-rail="{name}"]')).to_have_class(re.compile(r"\bdone\b"))
    assert_quotes(section_of(page, "static-penalty"), output_list="40,3,25,5,120,4,18,6,33,2,50,8")
    assert_quotes(section_of(page, "one-user"), prompt_tokens="8192")

    stage = section_of(page, "static-penalty")
    stage.locator(".seek").focus()
    page.keyboard.press("End")
    clock = stage.locator(".clock").inner_text()
    stage.locator("[data-lab]").click()
    expect(page.locator("#scene")).not_to_be_empty()
    views = read_query(parse_query(page.url.partition("?")[2]))
    assert views.scenarios["a"].workload.output_list[4] == 120
    assert clock.startswith(f"t = {views.t:.3f} s")
    expect(page.locator("#clock")).to_have_text(clock)


def answer_wrong_then_right(section: Locator) -> None:
    question = section.locator(".question")
    question.locator("label:not(:has([data-right]))").first.click()
    expect(question.locator(".said")).to_contain_text("Not quite.")
    expect(question.locator(".answer")).to_have_attribute("open", "")
    question.locator("label:has([data-right])").click()
    expect(question.locator(".said")).to_contain_text("That is it.")


def assert_quotes(section: Locator, **asked: str) -> None:
    """The numbers beside a stage are those of the engine for what its sliders ask."""
    query = SECTIONS[str(section.get_attribute("id"))].query
    scenarios = read_query((dict(parse_query(query)) | asked).items()).scenarios
    for run, scenario in scenarios.items():
        metrics: Any = simulate(scenario).metrics()
        for reading in section.locator(f'[data-reading^="{run}.metrics."]').all():
            value = metrics
            for key in str(reading.get_attribute("data-reading")).split(".")[2:]:
                value = value[key]
            expect(reading).to_have_text(written(value, str(reading.get_attribute("data-unit"))))


def press_steps(section: Locator) -> None:
    for _ in range(3):
        section.locator("button[data-step=forward]").click()


def step_until_c(section: Locator) -> None:
    for _ in range(4):
        section.locator("button[data-step=forward]").click()
    section.locator(".seek").evaluate("(node) => { node.value = 4500; node.dispatchEvent(new Event('input')); }")


DEEDS: dict[str, list[Any]] = {
    "one-user": [press_steps, lambda it: slide(it.locator("[data-values]"), 6)],
    "free-batching": [
        lambda it: slide(it.locator("[data-batch=users]"), 60),
        lambda it: slide(it.locator("[data-batch=context]"), 90),
    ],
    "static-penalty": [lambda it: slide(it.locator("[data-values]"), 6)],
    "paged-kv": [step_until_c, lambda it: it.locator(".switch input").click()],
    "memory-limit": [
        lambda it: slide(it.locator("[data-values]").first, 3),
        lambda it: it.locator("[data-knob=paged]").click(),
    ],
    "five-techniques": [
        lambda it: it.locator("[data-knob=continuous]").click(),
        lambda it: [it.locator(f"[data-knob={each}]").click() for each in ("paged", "prefix", "chunked", "drafts")],
    ],
}
"""What does each task of a section, in order."""


@pytest.mark.browser_context_args(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
def test_by_touch_slider_and_picture_are_in_sight_together_and_two_fingers_zoom(page: Page) -> None:
    page.goto("/")
    fingers = page.context.new_cdp_session(page)
    for name, picture in PICTURES.items():
        section = open_stage(page, name)
        slider = section.locator(f".lesson-stage {KNOB}").first
        slider.evaluate("(node) => node.scrollIntoView({ behavior: 'instant', block: 'start' })")
        page.mouse.wheel(0, -60)
        page.wait_for_timeout(300)
        before = readings(section)
        assert_in_sight(page, slider)
        assert_in_sight(page, section.locator(picture))
        drag_by_finger(fingers, slider)
        assert_readings_change(section, before)

    section = open_stage(page, "static-penalty")
    lane = section.locator("[data-lane=a] canvas")
    lane.evaluate("(node) => node.scrollIntoView({ behavior: 'instant', block: 'center' })")
    pinch(fingers, lane)
    expect(section.locator(".window-text")).to_have_text(re.compile(r"of 1\d\d"))
    shown = section.locator(".window-text").inner_text()
    pinch(fingers, lane, spread=0, move=-60)
    expect(section.locator(".window-text")).not_to_have_text(shown)
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def assert_in_sight(page: Page, place: Locator) -> None:
    box = place.bounding_box()
    assert box is not None
    assert box["y"] >= 0, place
    assert box["y"] + box["height"] <= 640, place


def drag_by_finger(fingers: CDPSession, slider: Locator) -> None:
    """From where the slider stands a third of its width to the right."""
    box = slider.bounding_box()
    assert box is not None
    share = slider.evaluate("(node) => (node.value - node.min) / (node.max - node.min)")
    x, y = box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2
    touch(fingers, "touchStart", [(x, y)])
    for i in range(1, 7):
        touch(fingers, "touchMove", [(min(x + i * box["width"] / 18, box["x"] + box["width"] - 2), y)])
    touch(fingers, "touchEnd", [])


def pinch(fingers: CDPSession, place: Locator, spread: float = 80, move: float = 0) -> None:
    """Two fingers on a picture, apart by `spread` more and moved sideways."""
    box = place.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch(fingers, "touchStart", [(x - 30, y), (x + 30, y)])
    for i in range(1, 9):
        apart, along = 30 + spread * i / 16, move * i / 8
        touch(fingers, "touchMove", [(x - apart + along, y), (x + apart + along, y)])
    touch(fingers, "touchEnd", [])


def touch(fingers: CDPSession, kind: str, points: list[tuple[float, float]]) -> None:
    places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
    fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})


def test_without_motion_it_plays_in_steps_and_nothing_glides(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/")
    stage = open_stage(page, "static-penalty")
    assert page.evaluate("() => getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    with counted_clocks(page) as clocks:
        stage.locator(".play-button").click()
        page.wait_for_timeout(1800)
        stage.locator(".play-button").click()
    assert 1 <= clocks() <= 5


@contextmanager
def counted_clocks(page: Page) -> Iterator[Any]:
    """How often the clock of the static penalty changed."""
    page.evaluate(
        """() => {
          window.changes = 0;
          const what = { childList: true, characterData: true, subtree: true };
          new MutationObserver(() => window.changes++).observe(document.getElementById("static-penalty-clock"), what);
        }"""
    )
    yield lambda: page.evaluate("() => window.changes")


def test_without_a_server_formulas_follow_and_figures_keep_what_they_have(page: Page, complaints: list[str]) -> None:
    page.goto("/")
    batch, memory = open_stage(page, "free-batching"), open_stage(page, "memory-limit")
    expect(batch.locator(".batch-box")).to_have_attribute("data-drawn", "true")
    page.context.set_offline(True)
    try:
        before = batch.locator("[data-says=formula]").first.inner_text()
        slide(batch.locator("[data-batch=users]"), 40)
        expect(batch.locator("[data-says=formula]").first).not_to_have_text(before)

        asked, lanes = readings(memory), memory.locator("[data-lane=a] canvas").evaluate("(node) => node.toDataURL()")
        slide(memory.locator("[data-values]").first, 5)
        assert_readings_change(memory, asked)
        expect(memory.locator(".notice")).to_contain_text("keeps what it has")
        assert memory.locator("[data-lane=a] canvas").evaluate("(node) => node.toDataURL()") == lanes
    finally:
        page.context.set_offline(False)
    complaints.clear()  # the browser says that it had no network


def test_model_that_does_not_fit_is_said_in_the_figure_and_there_is_a_way_back(page: Page) -> None:
    page.goto("/?model=llama-3.1-70b#one-user")
    stage = section_of(page, "one-user").locator(".lesson-stage")
    expect(stage).to_contain_text("GiB")
    stage.get_by_role("link", name=re.compile("Back to")).click()
    open_stage(page, "one-user")
