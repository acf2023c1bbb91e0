"""The timeline under pointer and keys: a request's life, lit everywhere; zoom and pan of the one time axis."""

import pytest
from playwright.sync_api import Page, expect

from sim.history import life_of
from sim.run import simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, picture, wait_for_picture

pytestmark = pytest.mark.browser

SHOWN = "() => document.getElementById('window-text').textContent"
SCENARIOS = (
    {"rate": "8", "num_requests": "30", "prompt_tokens": "400", "output_tokens": "300", "max_num_seqs": "8",
     "num_gpu_blocks": "300", "max_model_len": "2048"},
    {"rate": "5", "num_requests": "20", "max_num_seqs": "4", "batching": "static"},
    {"rate": "8", "num_requests": "20", "max_num_seqs": "8", "num_speculative_tokens": "3"},
)  # fmt: skip
READ = """async (settings) => {
  const [{ RunReader }, { livesOf }, { readLines }] = await Promise.all(
    ["run.js", "lives.js", "lines.js"].map((name) => import(new URL(`../static/js/${name}`, location.href))));
  const reader = new RunReader();
  const url = `../api/v1/steps?${new URLSearchParams(settings)}&blocks=0`;
  await readLines(url, new AbortController().signal, (line) => reader.push(line));
  return [...livesOf(reader.finish()).values()];
}"""


@pytest.mark.parametrize("settings", SCENARIOS, ids=("tight", "static", "drafts"))
def test_life_of_the_page_equals_the_engine(lab: Page, settings: dict[str, str]) -> None:
    run = simulate(scenario_from(settings))
    lives = lab.evaluate(READ, settings)
    assert len(lives) == run.metrics()["finished"]
    for life in lives:
        own = life_of(run, life["request"])
        for name, seconds in (("arrival", own.arrival_s), ("admitted", own.admitted_s), ("first", own.first_s),
                              ("finish", own.finish_s), ("ttft", own.ttft_s), ("tpot", own.tpot_s)):  # fmt: skip
            if seconds is not None:
                assert life[name] == pytest.approx(seconds * 1e6, abs=40), name
        assert len(life["preempted"]) == len(own.preempted_s)
        assert (life["outputs"], life["prompt"], life["hit"]) == (own.outputs, own.prompt_tokens, own.hit_tokens)


def test_pointer_on_a_bar_shows_the_life_and_lights_the_request(lab: Page) -> None:
    box = lab.locator('[data-lane="a"]').bounding_box()
    assert box
    before = picture(lab, "b")
    lab.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + 8)
    card = lab.locator("#life")
    expect(card).to_be_visible()
    expect(card).to_contain_text("TTFT")
    assert picture(lab, "b") != before
    tip, play = card.bounding_box(), lab.locator("#play").bounding_box()
    assert tip
    assert play
    assert tip["y"] + tip["height"] <= play["y"]
    lab.mouse.move(5, 5)
    expect(card).to_be_hidden()
    assert picture(lab, "b") == before


def test_arrow_keys_on_a_lane_go_from_request_to_request(lab: Page) -> None:
    lane = lab.locator('[data-lane="a"]')
    lane.focus()
    clock = lab.locator("#clock").inner_text()
    lab.keyboard.press("ArrowDown")
    first = lab.locator("#life b").inner_text()
    lab.keyboard.press("ArrowDown")
    second = lab.locator("#life b").inner_text()
    assert int(second) > int(first)
    expect(lab.locator("#live")).to_contain_text(f"Request {second}: arrived")
    lab.keyboard.press("ArrowUp")
    expect(lab.locator("#life b")).to_have_text(first)
    assert lab.locator("#clock").inner_text() == clock
    lab.keyboard.press("Enter")
    lab.locator("#play").focus()
    expect(lab.locator("html")).to_have_attribute("data-lit", "")
    lab.keyboard.press("Escape")
    expect(lab.locator("html")).not_to_have_attribute("data-lit", "")


def test_zoom_shows_less_and_whole_shows_all_again(lab: Page) -> None:
    before = [picture(lab, "a"), picture(lab, "b")]
    expect(lab.locator("#course")).to_be_hidden()
    lab.get_by_role("button", name="Zoom in").click()
    expect(lab.locator("#course")).to_be_visible()
    zoomed = [picture(lab, "a"), picture(lab, "b")]
    assert all(old != new for old, new in zip(before, zoomed, strict=True))
    lab.keyboard.press("0")
    expect(lab.locator("#course")).to_be_hidden()
    assert [picture(lab, "a"), picture(lab, "b")] == before


def span(page: Page) -> tuple[float, float]:
    first, _, last = page.evaluate(SHOWN).split()[:3]
    return float(first), float(last)


def test_zoom_keeps_the_time_shown_in_its_place_and_keys_pan(lab: Page) -> None:
    lab.keyboard.press("+")
    lab.keyboard.press("+")
    lab.wait_for_timeout(100)
    start, end = span(lab)
    assert start <= 1.5 <= end
    lab.keyboard.press("Shift+ArrowRight")
    lab.wait_for_timeout(100)
    later = span(lab)
    assert later[0] > start
    assert later[1] - later[0] == pytest.approx(end - start, abs=0.11)
    lab.keyboard.press("Shift+ArrowLeft")
    lab.wait_for_timeout(100)
    assert span(lab)[0] < later[0]


def test_wheel_zooms_with_control_and_scrolls_the_page_without(lab: Page) -> None:
    box = lab.locator('[data-lane="a"]').bounding_box()
    assert box
    lab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    lab.mouse.wheel(0, 120)
    lab.wait_for_function("() => scrollY > 50")
    expect(lab.locator("#course")).to_be_hidden()
    lab.evaluate("() => scrollTo(0, 0)")
    lab.keyboard.down("Control")
    lab.mouse.wheel(0, -200)
    lab.keyboard.up("Control")
    expect(lab.locator("#course")).to_be_visible()
    assert lab.evaluate("() => scrollY") == 0


def test_zoomed_part_comes_along_with_the_playhead(lab: Page) -> None:
    for _ in range(4):
        lab.keyboard.press("+")
    lab.keyboard.press("End")
    lab.wait_for_timeout(200)
    start, end = span(lab)
    now = float(lab.locator("#seek").get_attribute("aria-valuetext").split()[0])  # type: ignore[union-attr]
    assert start - 0.1 <= now <= end + 0.1


def test_long_run_is_panned_without_moving_the_playhead(page: Page) -> None:
    page.goto("/lab/?rate=40&num_requests=2000&max_num_seqs=32&t=1&views=timeline")
    wait_for_picture(page)
    expect(page.locator("#course")).to_be_visible()
    clock = page.locator("#clock").inner_text()
    before = span(page)
    shown = page.evaluate(SHOWN)
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#window-text")).not_to_have_text(shown)
    page.wait_for_load_state("networkidle")
    assert span(page)[0] > before[0]
    assert page.locator("#clock").inner_text() == clock


def test_help_lists_every_key(lab: Page) -> None:
    lab.keyboard.press("?")
    dialog = lab.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    shown = dialog.locator("kbd").all_inner_texts()
    assert {"Space", "←", "→", "Home", "End", "[", "]", "+", "−", "0", "Esc", "?", "Enter"} <= set(shown)
    assert len(shown) == dialog.locator("dd").count() == len(set(shown))
    lab.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    lab.get_by_role("button", name="Keys").click()
    expect(dialog).to_be_visible()


def test_lab_is_worked_by_keyboard_alone(page: Page) -> None:
    page.goto(LAB)
    wait_for_picture(page)

    def tab_to(selector: str) -> None:
        for _ in range(150):
            page.keyboard.press("Tab")
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        pytest.fail(f"{selector} is not reached")

    tab_to("#c-max_num_seqs")
    page.keyboard.press("Control+A")
    page.keyboard.type("4")
    expect(page.locator('[data-lane="a"]')).to_have_attribute("style", "--slots: 4;")
    tab_to('[popovertarget="presets"]')
    page.keyboard.press("Enter")
    tab_to('#presets a[href*="b.max_num_seqs=1"]')
    page.keyboard.press("Enter")
    page.wait_for_url("**b.max_num_seqs=1**")
    wait_for_picture(page)
    clock = page.locator("#clock").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#clock")).not_to_have_text(clock)
    page.keyboard.press("Home")
    expect(page.locator("#clock")).to_contain_text("t = 0.000 s")
    page.keyboard.press("]")
    expect(page.locator("#fig-events")).to_be_visible()
    expect(page.locator("#clock")).not_to_contain_text("t = 0.000 s")
    page.keyboard.press("[")
    page.keyboard.press("+")
    expect(page.locator("#course")).to_be_visible()
    page.keyboard.press("0")
    expect(page.locator("#course")).to_be_hidden()
    tab_to('[data-view="memory"]')
    page.keyboard.press("Enter")
    expect(page.locator("#fig-memory")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    page.locator('[data-lane="a"]').focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("html")).to_have_attribute("data-lit", "")
