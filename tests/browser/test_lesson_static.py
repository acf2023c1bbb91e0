"""The lesson Static or continuous by hand: guesses, tasks, and numbers that are those of the engine."""

from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.lessons.static_or_continuous import STATIC_OR_CONTINUOUS
from app.numbers import written
from app.params import parse_query, read_query
from app.sections import Section, Slider, Switch
from sim.run import simulate

pytestmark = pytest.mark.browser

SECTIONS = {section.name: section for section in STATIC_OR_CONTINUOUS.sections}
PLACE = """(slider, place) => {
  slider.value = place;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def slider_of(name: str) -> Slider:
    return next(knob for knob in SECTIONS[name].knobs if isinstance(knob, Slider))


def metrics_of(section: Section, **others: str) -> dict[str, Mapping[str, Any]]:
    """Metrics of a section's runs once its reader has set parameters."""
    pairs = dict(parse_query(section.query)) | others
    scenarios = read_query([pair for pair in pairs.items() if pair[0] not in ("x", "cross_s")]).scenarios
    return {name: simulate(scenario).metrics() for name, scenario in scenarios.items()}


def open_section(page: Page, name: str) -> Locator:
    """The section with its stage begun and all its figures drawn."""
    section = page.locator(f"#{name}")
    section.scroll_into_view_if_needed()
    if SECTIONS[name].query:
        expect(section.locator(".scene")).not_to_be_empty()
    return section


def answer_wrong_then_right(section: Locator) -> None:
    question = section.locator(".question")
    question.locator("label:not(:has([data-right]))").first.click()
    expect(question).to_have_attribute("data-given", "wrong")
    expect(question.locator(".answer")).to_have_attribute("open", "")
    question.locator("label:has([data-right])").click()
    expect(question).to_have_attribute("data-given", "right")
    expect(question.locator(".said")).to_contain_text("That is it.")


def assert_reads(section: Locator, path: str, unit: str, value: float) -> None:
    expect(section.locator(f'[data-reading="{path}"]').first).to_have_text(written(value, unit))


def slide_and_see(section: Locator, name: str, value: str, readings: Mapping[str, str]) -> None:
    """A slider at a value ticks the section's task, and the words quote the engine for it."""
    slider = slider_of(name)
    expect(section.locator(".task.done")).to_have_count(0)
    section.locator("input[data-values]").evaluate(PLACE, slider.values.index(value))
    expect(section.locator(".task.done")).to_have_count(1)
    metrics: Any = metrics_of(SECTIONS[name], **dict(slider.settings(value)))
    for path, unit in readings.items():
        run, _, *keys = path.split(".")
        expected = metrics[run]
        for key in keys:
            expected = expected[key]
        assert_reads(section, path, unit, expected)


def test_guesses_tasks_and_numbers(page: Page) -> None:
    page.goto("/lessons/static-or-continuous/")
    for name in SECTIONS:
        answer_wrong_then_right(open_section(page, name))
    formation = open_section(page, "formation")
    slide_and_see(formation, "formation", "0.3", {"b.metrics.ttft_s.mean": "s", "a.metrics.ttft_s.mean": "s"})
    assert_reads(formation, "b.steps.running.0", "count", 4)
    head = open_section(page, "head-of-line")
    slide_and_see(head, "head-of-line", "100", {"b.metrics.held_slot_share": "percent", "b.metrics.ttft_s.p50": "s"})
    metrics = metrics_of(SECTIONS["head-of-line"], **dict(slider_of("head-of-line").settings("100")))["b"]
    assert_reads(head, "timeline.b.held_s", "s", metrics["held_slot_share"] * 4 * metrics["duration_s"])
    shares = {"a.metrics.padding_share": "percent", "b.metrics.padding_share": "percent"}
    slide_and_see(open_section(page, "padding"), "padding", "1000", shares)
    tokens = {"a.metrics.tpot_s.p50": "ms", "b.metrics.ttft_s.p50": "s"}
    slide_and_see(open_section(page, "price"), "price", "0.1", tokens)
    see_remedies(open_section(page, "saturation"))
    assert page.evaluate("location.search") == ""


def see_remedies(section: Locator) -> None:
    """Each switch ticks its task, and the curve that stands beside the words is the sweep's."""
    card = section.locator("[data-figure=load-curve]")
    for knob in SECTIONS["saturation"].knobs:
        assert isinstance(knob, Switch)
        switch = section.locator(f"[data-knob={knob.name}]")
        switch.check()
        metrics = metrics_of(SECTIONS["saturation"], **dict(parse_query(knob.on)))["a"]
        assert_reads(section, "a.metrics.requests_per_s", "requests_s", metrics["requests_per_s"])
        expect(card).not_to_have_attribute("aria-busy", "true")
        expect(section.locator(f'.task.done[data-task="{knob.name}"]')).to_have_count(1)
        switch.uncheck()
    assert_reads(section, "a.metrics.rejected", "count", 0)
    expect(card).not_to_have_attribute("aria-busy", "true")
    expect(card.locator(".curve-words li")).to_have_count(2)
    expect(card.locator(".curve-words li").first).to_contain_text("median TTFT reaches 1 s at")
