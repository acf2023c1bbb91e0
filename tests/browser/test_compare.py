"""Forks and comparisons from the page: both futures drawn from the same past, runs added, changed, swapped, removed."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.a11y.test_lab_axe import violations
from tests.browser.helpers import drag, picture, query, wait_for_picture
from tests.rows import some_always

pytestmark = pytest.mark.browser

PLAIN = "/lab/?rate=3.9&num_requests=24&max_num_seqs=8&t=2.5"
FORKED = PLAIN.replace("&t=", "&fork=2.5&fork.batching=static&t=")
PART = """(canvas, [from, to]) => {
  const piece = document.createElement("canvas");
  [piece.width, piece.height] = [Math.round((to - from) * canvas.width), canvas.height];
  piece.getContext("2d").drawImage(canvas, -Math.round(from * canvas.width), 0);
  return piece.toDataURL();
}"""
BARS = """async (runs) => {
  const [{ barsOf }, { RunReader }, { readLines }] = await Promise.all(
    ["bars.js", "run.js", "lines.js"].map((name) => import(new URL(`../static/js/${name}`, location.href))));
  return Promise.all(runs.map(async (run) => {
    const reader = new RunReader();
    const url = `../api/v1/steps${location.search}&run=${run}&blocks=0`;
    await readLines(url, new AbortController().signal, (line) => reader.push(line));
    return barsOf(reader.finish()).map(({ request, slot, start }) => [request, slot, start]);
  }));
}"""


def open_lab(page: Page, address: str) -> Page:
    page.goto(address)
    wait_for_picture(page)
    return page


def lanes(page: Page) -> list[str]:
    return page.locator("[data-lane]").evaluate_all("boxes => boxes.map((box) => box.dataset.lane)")


def part(page: Page, run: str, begin: float, end: float) -> str:
    """What a lane shows between two shares of its width, as a string that differs when it does."""
    data: str = page.locator(f'[data-lane="{run}"] canvas').evaluate(PART, [begin, end])
    return data


def choose(page: Page, form: str, name: str) -> None:
    page.locator(f"{form} [name=edit_name]").select_option(name)


def test_fork_here_draws_both_futures_from_the_playhead(page: Page) -> None:
    open_lab(page, PLAIN)
    page.get_by_role("link", name="Fork here").click()
    choose(page, "#fork-form", "batching")
    page.locator("#fork-form").get_by_text("static", exact=True).click()
    page.locator("#fork-form").get_by_role("button", name="Fork").click()
    expect(page).to_have_url(re.compile(r"fork=2\.5&fork\.batching=static&t=2\.5"))
    wait_for_picture(page)
    assert lanes(page) == ["fork", "a"]
    expect(page.locator("[data-focus=fork]")).to_have_text("From 2.5 s: static")
    expect(page.get_by_role("heading", name="One past, two futures")).to_be_visible()
    expect(page.locator("#scene")).to_contain_text("From 2.5 s: static, step")


def test_past_of_both_is_the_same_and_faint_in_the_fork(page: Page) -> None:
    open_lab(page, FORKED)
    plain, fork = page.evaluate(BARS, ["a", "fork"])
    same = [bar for bar in plain if bar[2] < 2.5e6]
    assert len(same) > 5
    assert fork[: len(same)] == same
    assert fork != plain
    assert part(page, "a", 0, 0.2) != part(page, "fork", 0, 0.2)
    assert part(page, "a", 0.7, 1) != part(page, "fork", 0.7, 1)


def test_value_of_a_fork_changes_in_place(page: Page) -> None:
    open_lab(page, PLAIN.replace("&t=", "&fork=1.5&fork.max_num_seqs=4&t="))
    before = picture(page, "fork")
    drag(page, "fork.max_num_seqs", 100)
    expect(page).to_have_url(re.compile(r"fork\.max_num_seqs=2&"))
    page.wait_for_load_state("networkidle")
    assert picture(page, "fork") != before
    expect(page.locator("[data-focus=fork]")).to_have_text("From 1.5 s: 2 slots")


def test_fork_moves_to_the_playhead_and_goes(page: Page) -> None:
    open_lab(page, FORKED.replace("&t=2.5", "&t=1.25"))
    page.get_by_role("button", name="Move to the playhead").click()
    expect(page).to_have_url(re.compile(r"fork=1\.25&"))
    expect(page.locator("[data-focus=fork]")).to_have_text("From 1.25 s: static")
    page.get_by_role("link", name="Remove fork").click()
    wait_for_picture(page)
    assert lanes(page) == ["a"]
    assert not [name for name in query(page) if name.startswith("fork")]


def test_scenario_is_added_with_the_control_of_its_parameter(page: Page) -> None:
    open_lab(page, PLAIN.replace("&t=", "&b.batching=static&t="))
    page.get_by_text("Compare with…").click()
    choose(page, "#compare details[open]", "max_num_seqs")
    page.locator("#compare details[open] [name=edit_value]").fill("3")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(r"c\.max_num_seqs=3"))
    wait_for_picture(page)
    assert lanes(page) == ["c", "b", "a"]
    assert page.locator("[data-focus]").all_inner_texts() == ["3 slots", "Static", "Continuous, 8 slots"]
    expect(page.get_by_text("Compare with…")).to_have_count(0)


def test_scenarios_are_swapped_and_removed(page: Page) -> None:
    open_lab(page, PLAIN.replace("&t=", "&b.batching=static&t="))
    page.get_by_role("link", name="Swap with first: Static").click()
    expect(page).to_have_url(re.compile(r"batching=static&b\.batching=continuous"))
    wait_for_picture(page)
    expect(page.locator("[data-focus=a]")).to_have_text("Static")
    page.get_by_role("link", name="Remove: Continuous").click()
    wait_for_picture(page)
    assert lanes(page) == ["a"]


def test_edit_begins_from_what_the_controls_say_now(page: Page) -> None:
    open_lab(page, PLAIN.replace("&t=", "&b.batching=static&t="))
    page.locator("#c-max_num_seqs").fill("5")
    expect(page).to_have_url(re.compile("max_num_seqs=5"))
    page.get_by_role("link", name="Remove: Static").click()
    expect(page).not_to_have_url(re.compile("batching"))
    assert query(page)["max_num_seqs"] == "5"


def test_control_keeps_its_own_value_though_another_run_overrides_it(page: Page) -> None:
    open_lab(page, PLAIN.replace("&t=", "&b.max_num_seqs=3&t="))
    page.locator("#c-max_num_seqs").fill("6")
    expect(page.locator("[data-focus=a]")).to_have_text("6 slots")
    expect(page.locator("[data-focus=b]")).to_have_text("3 slots")
    assert (query(page)["max_num_seqs"], query(page)["b.max_num_seqs"]) == ("6", "3")


def test_keyboard_forks(page: Page) -> None:
    open_lab(page, PLAIN)
    page.get_by_role("link", name="Fork here").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#fork-form [name=edit_name]")).to_be_focused()
    page.keyboard.type("Slots")
    page.locator("#fork-form [name=edit_value]").fill("2")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"fork\.max_num_seqs=2"))
    wait_for_picture(page)


@pytest.mark.parametrize("scheme", some_always(["light", "dark"], 2))
def test_editor_has_no_axe_violation(page: Page, scheme) -> None:
    page.emulate_media(color_scheme=scheme)
    open_lab(page, FORKED.replace("&t=", "&b.max_num_seqs=4&b.kv=contiguous&t="))
    page.locator("#fork-here summary").click()
    assert violations(page) == []


def test_page_without_scripts_forks_compares_and_removes(browser: Browser, browser_context_args) -> None:
    context = browser.new_context(**browser_context_args, java_script_enabled=False)
    page = context.new_page()
    page.goto(PLAIN)
    page.get_by_role("link", name="Fork here").click()
    page.locator("#fork-form [name=edit_name]").select_option("max_num_seqs")
    page.locator("#fork-form [name=edit_value]").fill("2")
    page.locator("#fork-form button").click()
    expect(page.locator("[data-focus=fork]")).to_have_text("From 2.5 s: 2 slots")
    page.locator('[id="c-fork.max_num_seqs"]').fill("3")
    page.locator("[data-compared=fork]").get_by_role("button", name="Run").click()
    expect(page.locator("[data-focus=fork]")).to_have_text("From 2.5 s: 3 slots")
    page.get_by_text("Compare with…").click()
    page.locator("details[open] [name=edit_name]").select_option("kv")
    page.locator("details[open] [name=edit_value]").fill("contiguous")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("[data-focus=b]")).to_have_text("Contiguous KV")
    page.get_by_role("link", name="Remove fork").click()
    expect(page.locator("[data-focus=fork]")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"b\.kv=contiguous"))
    context.close()
