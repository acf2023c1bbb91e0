"""The lesson Paged KV by hand: guesses, tasks, and block tables whose numbers are those of the engine."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.blocktally import Tally, tally_of
from app.lessons.paged_kv import PAGED_KV
from app.numbers import written
from app.params import parse_query, read_query
from sim.run import Run, simulate
from tests.browser.test_lesson_static import PLACE, answer_wrong_then_right

pytestmark = pytest.mark.browser

SECTIONS = {section.name: section for section in PAGED_KV.sections}
MOST_STEPS = 30


def runs_of(name: str, **others: str) -> dict[str, Run]:
    pairs = dict(parse_query(SECTIONS[name].query)) | others
    return {run: simulate(scenario) for run, scenario in read_query(pairs.items()).scenarios.items()}


def open_section(page: Page, name: str) -> Locator:
    section = page.locator(f"#{name}")
    section.scroll_into_view_if_needed()
    expect(section.locator(".bt-run").first).to_be_visible()
    return section


def slide(section: Locator, value: str) -> None:
    slider = section.locator("input[data-values]")
    values = str(slider.get_attribute("data-values")).split()
    slider.evaluate(PLACE, values.index(value))


def step_until(section: Locator, task: str, time_s: int) -> None:
    """Forward step by step: the task is ticked at the step of the time, and not before."""
    clock = section.locator(".clock")
    for _ in range(MOST_STEPS):
        before = clock.inner_text()
        if before.startswith(f"t = {time_s}.000 s"):
            break
        expect(section.locator(f'.task.done[data-task="{task}"]')).to_have_count(0)
        section.locator("[data-step=forward]").click()
        expect(clock).not_to_have_text(before)
    assert_done(section, task)


def assert_done(section: Locator, *tasks: str) -> None:
    for task in tasks:
        expect(section.locator(f'.task.done[data-task="{task}"]')).to_have_count(1)


def assert_reads(section: Locator, runs: dict[str, Run], time_s: float) -> None:
    """What the words quote of the block tables is what the frames of the engine come to."""
    for place in section.locator("[data-reading^='block-table.']").all():
        path = str(place.get_attribute("data-reading")).split(".")[1:]
        run = runs[path[0]] if len(runs) > 1 else runs["a"]
        tally: Any = tally_of(run, time_s)
        assert isinstance(tally, Tally)
        expect(place).to_have_text(written(getattr(tally, path[-1]), "count"))


def see_blocks(section: Locator) -> None:
    assert_reads(section, runs_of("blocks"), 11.5)
    step_until(section, "next", 13)
    assert_reads(section, runs_of("blocks"), 13)
    expect(section.locator('.bt-tables [aria-label="A"] .bt-id').last).to_have_text("4→13")
    slide(section, "48")
    assert_done(section, "size")
    larger = runs_of("blocks", block_size="48", num_gpu_blocks="6")
    assert_reads(section, larger, 13)
    expect(section.locator('[data-reading="block-table.fit_more"]')).to_have_text("2")


def see_reservation(section: Locator) -> None:
    assert_reads(section, runs_of("reservation"), 6.5)
    expect(section.locator(".task.done")).to_have_count(0)
    slide(section, "128")
    assert_done(section, "one")
    assert_reads(section, runs_of("reservation", max_model_len="128"), 6.5)


def see_sharing(section: Locator) -> None:
    assert_reads(section, runs_of("sharing"), 0.5)
    step_until(section, "come", 4)
    assert_reads(section, runs_of("sharing"), 4)
    slide(section, "24")
    assert_done(section, "third")
    assert_reads(section, runs_of("sharing", shared_prefix_tokens="24"), 4)
    section.get_by_role("switch").uncheck()
    assert_done(section, "off")
    assert_reads(section, runs_of("sharing", shared_prefix_tokens="24", prefix_cache="off"), 4)
    expect(section.locator(".bt-key [data-kind=shared]")).to_be_hidden()


def see_parting(section: Locator) -> None:
    run = runs_of("parting")
    assert_reads(section, run, 10.5)
    share = 25.5 / float(run["a"].steps["start_s"][-1] + run["a"].steps["duration_s"][-1])
    section.locator(".seek").evaluate(PLACE, round(10_000 * share))
    step_until(section, "last", 26)
    assert_reads(section, run, 26)
    assert {1, 2} <= {int(run["a"].frame(25).running[0].blocks[i]) for i in (0, 1)}
    for block in (1, 2):
        expect(section.locator(f'.bt-pool [data-block="{block}"]')).to_have_attribute("data-kind", "cached")


def see_eviction(section: Locator) -> None:
    step_until(section, "comes", 24)
    assert_reads(section, runs_of("eviction"), 24)
    slide(section, "13")
    assert_done(section, "all")
    more = runs_of("eviction", num_gpu_blocks="13")
    assert_reads(section, more, 24)
    assert more["a"].results["hit_tokens"][3] == 24
    computed = more["a"].frame(24).running[0].scheduled
    expect(section.locator('[data-reading="a.steps.prefill.24"]')).to_have_text(str(computed))


def see_none_free(section: Locator) -> None:
    run = runs_of("none-free")
    step_until(section, "lost", 21)
    assert_reads(section, run, 21)
    assert run["a"].frame(21).preempted == [2]
    expect(section.locator(".bt-words")).to_contain_text("No block was free, so C gave all its blocks back")
    slide(section, "21")
    assert_done(section, "none")
    expect(section.locator('[data-reading="a.metrics.preemptions"]')).to_have_text("0")


def test_guesses_tasks_and_blocks(page: Page) -> None:
    page.goto("/lessons/paged-kv/")
    see = (see_blocks, see_reservation, see_sharing, see_parting, see_eviction, see_none_free)
    for name, look in zip(SECTIONS, see, strict=True):
        section = open_section(page, name)
        answer_wrong_then_right(section)
        look(section)
    expect(page.locator(".rail a.done")).to_have_count(len(SECTIONS))
    assert page.evaluate("location.search") == ""
