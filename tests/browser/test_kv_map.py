"""The block map: what it draws and says is the engine's frame, by pointer and by keyboard."""

import random
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.blocks import memory_caption, owners_of
from sim.frame import Frame, Row
from sim.run import Run, simulate
from sim.scenario import scenario_from
from tests.browser.helpers import PLAIN, wait_for_picture
from tests.rows import some_always
from tests.sim.axes import AXES

pytestmark = pytest.mark.browser

SMALL = "/lab/?rate=6&num_requests=24&max_num_seqs=8&num_gpu_blocks=257&max_model_len=2048&shared_prefix_tokens=128&t=2"
NAMES = ("preemption", "shared_prefix", "per_slot", "static_padded", "static_dropped", "contiguous", "async", "drafts")
STEPS = 10
READ = """async ([settings, steps]) => {
  const [{ RunReader }, { Replay }, { readLines }, { Cells }, { captionOf, nameOfBlock }] = await Promise.all(
    ["run.js", "replay.js", "lines.js", "kvcells.js", "kvwords.js"].map(
      (name) => import(new URL(name, location.href))));
  const reader = new RunReader();
  const url = `/api/v1/steps?${new URLSearchParams(settings)}&blocks=1`;
  await readLines(url, new AbortController().signal, (line) => reader.push(line));
  const run = reader.finish();
  const replay = new Replay(run);
  const cells = new Cells(run.facts.num_gpu_blocks - 1);
  return steps.map((step) => {
    const frame = replay.at(step);
    cells.read(frame);
    const names = Array.from({ length: cells.usable }, (_, i) => nameOfBlock(frame, cells, i + 1));
    return { caption: captionOf(frame), names };
  });
}"""


def expected_names(run: Run, frame: Frame) -> dict[int, str]:
    """What the map has to say of each block in a table, by its number."""
    size, region = run.setting.config.block_size, run.setting.config.region_blocks
    owners, names = owners_of(frame), {}
    for row in (*frame.running, *frame.done):
        for logical, block in enumerate(row.blocks):
            tokens = min(size, max(0, row.computed + row.scheduled - logical * size))
            if region and not tokens:
                names[block] = f"reserved for request {row.request + 1}, unused"
            elif owners[block] > 1:
                sharers = [other.request + 1 for other in in_order(run, frame) if block in other.blocks]
                more = f" and {len(sharers) - 6} more" if len(sharers) > 6 else ""
                names[block] = f"shared by requests {', '.join(map(str, sharers[:6]))}{more}, logical block {logical}"
            else:
                state = ", done but held until its batch ends" if row.phase == "held" else ""
                names[block] = f"request {row.request + 1}{state}, logical block {logical}, {tokens} of {size} tokens"
    return names


def in_order(run: Run, frame: Frame) -> list[Row]:
    """Rows in order of admission; of those admitted in one step in order of the line, which is that of arrival."""
    times = run.results["scheduled_s"], run.results["arrival_s"]
    return sorted((*frame.running, *frame.done), key=lambda row: [float(column[row.request]) for column in times])


@pytest.mark.parametrize("name", some_always(NAMES, 2))
def test_map_says_of_each_block_what_the_engine_knows(page: Page, name: str) -> None:
    run = simulate(scenario_from(AXES[name]))
    steps = random.Random(name).sample(range(len(run.steps)), STEPS)
    page.goto(PLAIN)
    said: list[dict[str, Any]] = page.evaluate(READ, [AXES[name], steps])
    config = run.setting.config
    for step, words in zip(steps, said, strict=True):
        frame = run.frame(step)
        owners, usable = owners_of(frame), run.plan.usable_blocks
        assert words["caption"] == memory_caption(frame, owners, usable, config.block_size, config.region_blocks)
        names = expected_names(run, frame)
        assert all(words["names"][block - 1] == f"block {block}: {text}" for block, text in names.items())
        others = [text for block, text in enumerate(words["names"], 1) if block not in names]
        assert sum("free slot" in text for text in others) == frame.kept_blocks
        assert sum("cached content" in text for text in others) == frame.cached_blocks
        assert sum(": free" in text for text in others) == frame.free_blocks - frame.cached_blocks


@pytest.fixture
def board(page: Page) -> Page:
    page.goto(SMALL)
    wait_for_picture(page)
    expect(page.locator("#kv-twin")).not_to_be_empty()
    return page


def test_keyboard_goes_from_block_to_block(board: Page) -> None:
    canvas = board.locator(".kv-blocks")
    canvas.focus()
    for keys, block in (("Home", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", 256)):
        canvas.press(keys)
        expect(canvas).to_have_attribute("aria-valuenow", str(block))
        expect(canvas).to_have_attribute("aria-valuetext", re.compile(f"^block {block}: "))
        expect(board.locator(".kv-cell")).to_have_text(re.compile(f"^Block {block}: "))
    canvas.press("Home")
    canvas.press("ArrowDown")
    below = int(str(canvas.get_attribute("aria-valuenow")))
    assert below > 10
    canvas.press("ArrowUp")
    expect(canvas).to_have_attribute("aria-valuenow", "1")
    expect(board.locator("#frame")).to_have_attribute("data-t", "2")


def test_pointing_at_a_block_lights_its_request_everywhere(board: Page) -> None:
    canvas = board.locator(".kv-blocks")
    canvas.focus()
    for _ in range(256):
        canvas.press("ArrowRight")
        match = re.search(r": request (\d+), logical", str(canvas.get_attribute("aria-valuetext")))
        if match:
            break
    assert match
    request = int(match[1]) - 1
    expect(board.locator(f'#fig-kv-map button[data-request="{request}"]')).to_have_class(re.compile(r"\blit\b"))
    expect(board.locator("#kv-twin")).to_contain_text(f"Block table of request {request + 1}, logical to physical: 0")
    canvas.blur()
    expect(board.locator("button.request.lit")).to_have_count(0)


def test_eviction_order_begins_with_the_next_block_to_be_taken(board: Page) -> None:
    canvas, button = board.locator(".kv-blocks"), board.get_by_role("button", name="In eviction order")
    before = pixels(board)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert pixels(board) != before
    canvas.focus()
    canvas.press("Home")
    expect(canvas).to_have_attribute("aria-valuetext", re.compile("the next to be taken$"))
    canvas.press("ArrowRight")
    expect(canvas).to_have_attribute("aria-valuetext", re.compile("number 2 in the free queue$"))
    button.click()
    canvas.blur()
    assert pixels(board) == before


def test_cells_drawn_one_by_one_make_the_same_picture_as_all_at_once(board: Page) -> None:
    seen = set()
    for _ in range(12):
        board.keyboard.press("ArrowRight")
        seen.add(pixels(board))
    step_by_step = pixels(board)
    board.evaluate("document.dispatchEvent(new Event('themechange'))")
    assert pixels(board) == step_by_step
    assert len(seen) > 1


def test_map_of_many_blocks_says_how_many_a_cell_stands_for(page: Page) -> None:
    page.goto("/lab/?rate=6&num_requests=24&max_num_seqs=8&t=2")
    wait_for_picture(page)
    expect(page.locator(".kv-scale")).to_have_text("a cell is 2 blocks and shows the first of them in use")
    page.locator(".kv-blocks").focus()
    page.locator(".kv-blocks").press("End")
    expect(page.locator(".kv-blocks")).to_have_attribute("aria-valuenow", "28801")


def pixels(page: Page) -> str:
    data: str = page.locator(".kv-blocks").evaluate("canvas => canvas.toDataURL()")
    return data
