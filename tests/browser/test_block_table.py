"""The block tables: tables, pool, numbers and words are the engine's, and one finds the way between them."""

import random
import re
from collections import Counter
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from sim.frame import Frame, Row
from sim.run import Run, simulate
from sim.scenario import scenario_from
from tests.browser.helpers import PLAIN
from tests.rows import some_always
from tests.sim.axes import AXES

pytestmark = pytest.mark.browser

NAMES = ("shared_prefix", "contiguous", "preemption", "per_slot", "static_dropped", "async", "drafts")
STEPS = 12
POOL = {"num_gpu_blocks": 24, "max_model_len": 128}
ABC = {"arrival_list": "0,0.03,0.06", "prompt_list": "20,9,37", "output_list": "30,40,20"} | POOL
SHARED = ABC | {"prompt_list": "12,7,18", "shared_prefix_tokens": 32}
FULL = {"arrival_list": "0,0,0", "prompt_list": "40,30,50", "output_list": "80,80,60"} | POOL | {"num_gpu_blocks": 17}
WALK = (
    ("ArrowRight", "A: logical block 1 is block 2"),
    ("ArrowDown", "B: logical block 1 is block 2"),
    ("ArrowRight", "B: logical block 2 is block 5"),
    ("Home", "A: logical block 0 is block 1"),
)
READ = """async ([settings, steps]) => {
  const names = ["run", "replay", "lines", "kvcells", "blocksketch", "blocktally", "blocksteps", "blockwords"];
  const [{ RunReader }, { Replay }, { readLines }, { Cells }, sketch, { tallyOf }, { deedsOf, takenIn }, { wordsOf }] =
    await Promise.all(names.map((name) => import(new URL(`${name}.js`, location.href))));
  const reader = new RunReader();
  const url = `/api/v1/steps?${new URLSearchParams(settings)}&blocks=1`;
  await readLines(url, new AbortController().signal, (line) => reader.push(line));
  const run = reader.finish();
  const replay = new Replay(run);
  const cells = new Cells(run.facts.num_gpu_blocks - 1);
  return steps.map((step) => {
    const frame = replay.at(step);
    cells.read(frame);
    const deeds = deedsOf(frame);
    const taken = takenIn(deeds);
    const told = { tally: tallyOf(frame), taken: [...taken], words: wordsOf(frame, deeds) };
    if (frame.setting.region) return { ...told, stretches: sketch.stretchesOf(frame) };
    const tables = sketch.tablesOf(frame, taken).map(({ seat, spots }) => [seat.request, spots]);
    return { ...told, tables, pool: sketch.poolOf(frame, cells, taken), queue: [...frame.queue] };
  });
}"""


def rows_of(frame: Frame) -> list[Row]:
    return [row for row in (*frame.running, *frame.done) if row.blocks]


def tally(run: Run, frame: Frame) -> dict[str, Any]:
    """What the memory comes to, counted token place by token place."""
    size, region, usable = (run.setting.config.block_size, run.setting.config.region_blocks, run.plan.usable_blocks)
    rows, used = rows_of(frame), set[tuple[int, int]]()
    for row in rows:
        used |= {(row.blocks[i // size], i % size) for i in range(row.computed + row.scheduled)}
    owners = Counter(block for row in rows for block in row.blocks)
    outside = usable % region * size if region else 0
    more = frame.free_blocks // region if region else frame.free_blocks * len(rows) // len(owners) if rows else None
    return {
        "requests": len(rows),
        "used_tokens": len(used),
        "reserved_tokens": len(owners) * size,
        "internal_tokens": len(owners) * size - len(used),
        "external_tokens": outside,
        "wasted_tokens": len(owners) * size - len(used) + outside,
        "fit_more": more,
        "used_blocks": len(owners),
        "free_blocks": frame.free_blocks,
        "cached_blocks": frame.cached_blocks,
        "shared_blocks": sum(count > 1 for count in owners.values()),
        "spared_copies": sum(count - 1 for count in owners.values()),
    }


def fill(row: Row, first: int, size: int) -> dict[str, int]:
    """Prompt and output tokens of a request in places from `first` on."""
    places = range(first, min(first + size, row.computed + row.scheduled))
    prompt = sum(place < row.prompt for place in places)
    return {"request": row.request, "prompt": prompt, "output": len(places) - prompt}


def assert_pool(said: dict[str, Any], run: Run, frame: Frame) -> None:
    size, rows = run.setting.config.block_size, {row.request: row for row in (*frame.running, *frame.done)}
    for request, spots in said["tables"]:
        row, at = rows[request], [spot["logical"] for spot in spots]
        assert at == list(range(len(row.blocks))) or -1 in at
        drawn = [spot for spot in spots if spot["block"]]
        assert [spot["block"] for spot in drawn] == [row.blocks[spot["logical"]] for spot in drawn]
        assert [spot["fills"] for spot in drawn] == [[fill(row, spot["logical"] * size, size)] for spot in drawn]
    for spot in said["pool"]:
        holders = [(row, row.blocks.index(spot["block"])) for row in rows.values() if spot["block"] in row.blocks]
        expected = [fill(row, logical * size, size) for row, logical in holders]
        assert sorted(spot["fills"], key=str) == sorted(expected, key=str)
    marked = sum(bool(spot["mark"]) for spot in said["pool"])
    is_next_plain = bool(said["queue"]) and not any(s["mark"] == "next" and s["kind"] == 1 for s in said["pool"])
    assert marked == frame.cached_blocks + is_next_plain


@pytest.mark.parametrize("name", some_always(NAMES, 2))
def test_block_tables_draw_and_count_what_the_engine_has(page: Page, name: str) -> None:
    run = simulate(scenario_from(AXES[name]))
    steps = sorted(random.Random(name).sample(range(1, len(run.steps)), STEPS))
    page.goto(PLAIN)
    said: list[dict[str, Any]] = page.evaluate(READ, [AXES[name], steps])
    for step, told in zip(steps, said, strict=True):
        before, frame = run.frame(step - 1), run.frame(step)
        assert told["tally"] == tally(run, frame), step
        assert "undefined" not in told["words"]
        had = {row.request: row.blocks for row in rows_of(before)}
        grown = [block for row in rows_of(frame) for block in row.blocks if block not in had.get(row.request, [])]
        if run.setting.config.region_blocks:
            rows = {row.slot: row for row in rows_of(frame)}
            seats = [stretch["fill"] for stretch in told["stretches"]]
            whole = run.setting.config.region_blocks * run.setting.config.block_size
            assert [seat and seat["request"] for seat in seats] == [
                rows[slot].request if slot in rows else None for slot in range(len(seats))
            ]
            assert all(seats[slot] == fill(row, 0, whole) for slot, row in rows.items())
        elif name != "per_slot":
            assert set(told["taken"]) <= set(grown)
            assert_pool(told, run, frame)


def words_at(page: Page, settings: dict[str, Any], *times_s: float) -> list[str]:
    run = simulate(scenario_from(settings))
    steps = [int((run.steps["start_s"] <= time_s).sum()) - 1 for time_s in times_s]
    return [told["words"] for told in page.evaluate(READ, [settings, steps])]


def test_block_tables_say_what_happened_in_a_step(page: Page) -> None:
    page.goto(PLAIN)
    took, filled = words_at(page, ABC, 0.0827, 0.15)
    assert took == "A took block 7 and B took block 8: their last blocks were full."
    assert filled == "No block changed hands; last blocks fill: A 11 of 16, B 11 of 16, C 2 of 16."
    joined, held = words_at(page, SHARED, 0.0318, 0.15)
    assert joined.startswith("B joined, found its first 32 tokens in blocks 1 and 2 and took block 5.")
    assert joined.endswith(" A and B hold blocks 1 and 2 together.")
    assert held.endswith("A, B and C hold blocks 1 and 2 together.")
    lost, back = words_at(page, FULL, 0.2604, 0.5063)
    assert lost.startswith(
        "No block was free, so C gave all its blocks back and waits again (preempted). A took block 15"
    )
    assert back.startswith(
        "A and B ended and let go of their blocks; the full ones keep their content. C came back, found"
    )
    (waits,) = words_at(page, ABC | {"kv": "contiguous"}, 0.15)
    assert waits == "Each stretch fills token by token. C waits: it would reserve 8 KV blocks in one piece, 7 are free."


def test_one_finds_the_way_from_logical_to_physical_blocks(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 560, "height": 720})
    query = urlencode(SHARED | {"b.kv": "contiguous", "t": 0.15})
    page.goto(f"/embed/block-table/?{query}")
    card = page.locator("[data-figure=block-table]")
    expect(card.locator("[data-twin]")).to_contain_text("A, B and C hold blocks 1 and 2 together.")
    runs = [simulate(scenario_from(SHARED | change)) for change in ({"kv": "contiguous"}, {})]
    for part, run in zip(card.locator(".bt-head").all(), runs, strict=True):
        numbers = tally(run, run.frame(int((run.steps["start_s"] <= 0.15).sum()) - 1))
        expect(part).to_contain_text(f"{numbers['used_tokens']} tokens used · {numbers['internal_tokens']} unused")
        expect(part).to_contain_text(f"room for {numbers['fit_more']} more")
    chart, pool = card.locator(".bt-tables"), card.locator(".bt-pool")
    assert chart.locator('[aria-label="B"] .bt-id').all_inner_texts() == ["0→1", "1→2", "2→5", "3→8"]
    pool.locator('[data-block="2"]').hover()
    expect(card.locator(".bt-links .line")).to_have_count(3)
    expect(chart.locator('[data-block="2"][aria-selected="true"]')).to_have_count(3)
    expect(card.locator(".bt-hint")).to_have_text("Block 2: shared by A, B, C, logical block 1")
    card.locator(".card-head").hover()
    expect(card.locator(".bt-links .line")).to_have_count(0)
    chart.locator('[role="option"][tabindex="0"]').focus()
    for key, hint in WALK:
        page.keyboard.press(key)
        expect(card.locator(".bt-hint")).to_contain_text(hint)
        expect(chart.locator('[tabindex="0"]')).to_have_count(1)
    expect(page.locator("#clock")).to_contain_text("0.150")
    card.locator("summary").click()
    expect(card.locator("tbody tr").filter(has_text=re.compile("^B"))).to_have_count(2)
    expect(card.locator("table").last.locator("tr").nth(2)).to_contain_text("blocks 1, 2, 5 and 8")
    page.locator("[data-step=forward]").click()
    expect(card.locator(".bt-words").last).to_contain_text("B 10 of 16")
    assert page.evaluate("document.documentElement.scrollWidth") <= 560
