"""The lesson Batching is cheap until memory fills by hand: guesses, tasks, and numbers that are those of the engine."""

from math import log2

import pytest
from playwright.sync_api import Locator, Page, expect

from app.batching import Batching, batching_of
from app.demand import users_that_fit
from app.lessons.batching_is_cheap import BATCHING_IS_CHEAP
from app.params import parse_query, read_query
from sim.catalog import find_model
from sim.run import simulate
from sim.scenario import Scenario
from sim.work import work_of
from tests.browser.test_lesson_static import PLACE, answer_wrong_then_right, assert_reads

pytestmark = pytest.mark.browser

SECTIONS = {section.name: section for section in BATCHING_IS_CHEAP.sections}
MOST_STEPS = 12


def scenario_of(name: str, run: str = "a", **others: str) -> Scenario:
    pairs = dict(parse_query(SECTIONS[name].query)) | others
    return read_query(pairs.items()).scenarios[run]


def formulas_of(name: str, run: str = "a", **others: str) -> Batching:
    return batching_of(scenario_of(name, run, **others))


def open_section(page: Page, name: str) -> Locator:
    section = page.locator(f"#{name}")
    section.scroll_into_view_if_needed()
    expect(section.locator(".scene")).not_to_be_empty()
    return section


def slide(section: Locator, name: str, value: str) -> None:
    slider = section.locator(f"input[data-values][id$=-{name}]")
    slider.evaluate(PLACE, str(slider.get_attribute("data-values")).split().index(value))


def choose(section: Locator, users: int, context: int) -> None:
    """A batch size, typed, and a context on the slider of the batch curve."""
    section.locator("[data-batch=context]").evaluate(PLACE, round(8 * log2(context / 16)))
    section.locator("[data-typed]").fill(str(users))


def assert_done(section: Locator, *tasks: str) -> None:
    expect(section.locator(".task.done")).to_have_count(len(tasks))
    for task in tasks:
        expect(section.locator(f'.task.done[data-task="{task}"]')).to_have_count(1)


def see_formula(section: Locator) -> None:
    formulas = formulas_of("formula")
    choose(section, 64, 2048)
    assert_done(section, "drag")
    for users, context in ((64, 2048), (256, 256)):
        choose(section, users, context)
        parts = formulas.parts(users, context)
        assert_reads(section, "batch-curve.formula_ms / 1000", "ms", parts.read_s)
        assert_reads(section, "batch-curve.step_ms / 1000", "ms", parts.step_s)
        assert_reads(section, "batch-curve.arithmetic_ms / 1000", "ms", parts.arithmetic_s)
    assert_done(section, "drag", "misses")


def see_memory(section: Locator) -> None:
    scenario = scenario_of("kv-memory")
    slide(section, "concurrency", "64")
    assert_done(section, "wall")
    assert_reads(section, "memory.a.fits", "count", users_that_fit(scenario, 8592))
    assert_reads(section, "a.metrics.preemptions", "count", preemptions_of(concurrency="64"))
    slide(section, "prompt_tokens", "16384")
    assert_done(section, "wall", "double")
    assert_reads(section, "memory.a.fits", "count", users_that_fit(scenario, 16784))


def preemptions_of(**others: str) -> float:
    return float(simulate(scenario_of("kv-memory", **others)).metrics()["preemptions"])


def see_bandwidth(section: Locator) -> None:
    formulas = formulas_of("kv-bandwidth")
    for (users, context), done in (((8, 16384), ["equal"]), ((4, 32768), ["equal", "half"])):
        choose(section, users, context)
        assert_done(section, *done)
        assert_reads(section, "batch-curve.kv_bytes", "GB", users * formulas.kv_bytes(context))
        assert_reads(section, "batch-curve.at_kv", "count", formulas.limits(context).kv or 0)


def see_compute(section: Locator) -> None:
    slide(section, "num_requests", "256")
    assert_reads(section, "a.now.running", "count", 256)
    assert_done(section)
    slide(section, "num_requests", "512")
    assert_done(section, "ridge")
    scenario = scenario_of("compute", num_requests="512")
    steps, rates = simulate(scenario).steps, batching_of(scenario).rates
    row = steps[steps["start_s"] <= SECTIONS["compute"].opens_s][-1]
    flop, moved = matmuls_of(scenario, int(row["decode"]))
    assert_reads(section, "roofline.intensity", "number", flop / moved)
    assert_reads(section, "roofline.peak_share", "percent", flop / float(row["matmul_s"]) / rates.peak_flops)
    assert_reads(section, "roofline.ridge", "count", rates.peak_flops / rates.bandwidth_bytes_per_s)
    assert_reads(section, "roofline.step_s", "ms", float(row["duration_s"]))


def matmuls_of(scenario: Scenario, tokens: int) -> tuple[float, float]:
    """FLOP and bytes of the matrix products of a step that decodes."""
    work = work_of(scenario.server, find_model(scenario.server.model))
    flop = (work.dense_token_flop + work.head_sampled_flop) * tokens
    return flop, work.dense_bytes + work.head_bytes + work.activation_token_bytes * tokens


def see_roofline(section: Locator) -> None:
    forward = section.locator("[data-step=forward]")
    expect(section.locator('[data-reading="roofline.attention_intensity"]')).not_to_have_text("–")
    forward.click()
    assert_done(section, "decode")
    slide(section, "num_requests", "32")
    clock = section.locator(".clock")
    for _ in range(MOST_STEPS):
        if section.locator('[data-reading="a.now.decode"]').inner_text() == "32":
            break
        before = clock.inner_text()
        forward.click()
        expect(clock).not_to_have_text(before)
    assert_done(section, "decode", "right")
    flop, moved = matmuls_of(scenario_of("roofline"), 32)
    assert_reads(section, "roofline.intensity", "number", flop / moved)


def see_levers(section: Locator) -> None:
    section.get_by_role("switch").check()
    assert_done(section, "fp8")
    choose(section, 16, 2048)
    assert_done(section, "fp8")  # the one or the other, to compare them
    section.get_by_role("switch").uncheck()
    assert_done(section, "fp8", "context")
    for run in "ab":
        formulas = formulas_of("levers", run)
        assert_reads(section, f"batch-curve.{run}.at_memory", "count", formulas.limits(2048).memory)
        assert_reads(section, f"batch-curve.{run}.step_ms / 1000", "ms", formulas.step_s(16, 2048))


def test_guesses_tasks_and_numbers(page: Page) -> None:
    page.goto(f"/{BATCHING_IS_CHEAP.path}")
    for name, see in SEEN.items():
        section = open_section(page, name)
        answer_wrong_then_right(section)
        see(section)
    expect(page.locator(".rail .done")).to_have_count(len(SECTIONS))


SEEN = {
    "formula": see_formula,
    "kv-memory": see_memory,
    "kv-bandwidth": see_bandwidth,
    "compute": see_compute,
    "roofline": see_roofline,
    "levers": see_levers,
}
