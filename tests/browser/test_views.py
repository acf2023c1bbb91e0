"""Every view of the lab says what the engine has, read from the page at random steps; and the same there and back."""

import random
from collections import Counter
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.blocks import memory_caption, owners_of
from app.stepcard import duration_text, time_title
from sim.engine.record import Kind
from sim.explain import explain, explain_waiting
from sim.frame import Frame, Row
from sim.memory import memory_terms
from sim.run import Run, simulate
from sim.scenario import scenario_from
from tests.browser.helpers import gib, table_in, total, wait_for_picture
from tests.sim.axes import AXES

pytestmark = pytest.mark.browser

SCENARIOS: dict[str, dict[str, Any]] = {
    "tight pool": AXES["preemption"],
    "static padded": AXES["static_padded"],
    "contiguous closed": AXES["contiguous"] | {"load": "closed", "concurrency": 7},
    "speculative": AXES["drafts"],
    "async shared": AXES["async"],
}
READ = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const texts = (selector) => all(selector).map((node) => node.textContent.trim());
  const text = (selector) => texts(selector).join(" ");
  const numbers = (selector) => (text(selector).match(/\\d+/g) ?? []).map(Number);
  const fromStep = (selector) => text(selector).replace(/^.*?, (?=step )/s, "");
  const table = (selector) => all(selector).map((row) => [...row.cells].map((cell) => cell.textContent));
  const share = (line, box) => new DOMMatrix(getComputedStyle(all(line)[0]).transform).e / all(box)[0].clientWidth;
  const tables = all(".slots [data-request]").map((chip) => {
    chip.focus({ preventScroll: true });
    return [chip.textContent, text("#kv-twin")];
  });
  all("#seek")[0].focus();
  return {
    tables,
    timeline: [fromStep("#clock"), text("[data-lane=a] .now")],
    scene: [fromStep("#scene"), fromStep("#why p")],
    "kv-map": [text("#kv-caption"), text("#kv-twin")],
    slots: table(".slots tbody tr"),
    queue: [text("#fig-queue .card-head p"), text("#fig-queue .more")],
    line: ["request", "since", "reason"].map((name) => texts(`#fig-queue .queue .${name}`)),
    step: [numbers("[data-part=budget-title]"), numbers("[data-part=budget-caption]"), text("[data-part=time-title]"),
      all("#fig-step .stack i").map((slice) => slice.title).sort()],
    parts: [texts("#fig-step .parts dt"), texts("#fig-step .parts .ms")],
    ...Object.fromEntries(["memory", "speculation"].map((view) => [view, text(`#fig-${view} [data-twin]`)])),
    streams: table("#fig-streams tbody tr"),
    places: [share("#playhead", "#axis"), share("#fig-streams .playhead", "#fig-streams canvas")],
  };
}"""


def rows_of(frame: Frame) -> list[Row]:
    return sorted([*frame.running, *frame.done], key=lambda row: row.slot)


def scene(run: Run, frame: Frame) -> str:
    rows, slots = rows_of(frame), run.scenario.server.max_num_seqs
    phases = Counter(row.phase for row in rows)
    held = f", {phases['held']} done but held" if phases["held"] else ""
    seats = ", ".join(f"slot {row.slot + 1} request {row.request + 1} {row.phase}" for row in rows)
    return (
        f"step {frame.step}: {phases['decode']} decoding, {phases['prefill']} in prefill{held}, {slots - len(rows)} of "
        f"{slots} slots empty, {len(frame.waiting)} waiting, {frame.free_blocks} KV blocks free. {seats}."
    )


def slot(run: Run, row: Row) -> list[str]:
    """Columns of the table but the last."""
    progress = f"{row.outputs} of {run.requests.output_tokens[row.request]} output"
    if row.phase == "prefill":
        progress = f"{row.computed} of {row.prompt + row.outputs} prompt"
    does = ["done, held", "", ""] if row.phase == "held" else [row.phase, progress, str(row.scheduled)]
    return [str(row.slot + 1), str(row.request + 1), *does]


def line(run: Run, frame: Frame) -> list[list[str]]:
    """Who waits first, since when and for what."""
    reasons, arrivals = explain_waiting(run, frame.step)[:6], run.results["arrival_s"]
    since = [duration_text(frame.start_s - float(arrivals[request])) for request in frame.waiting[:6]]
    return [[str(request + 1) for request in frame.waiting[:6]], since, [reason for _, reason in reasons]]


def step(run: Run, frame: Frame) -> list[Any]:
    """Numbers of the token budget, and who gets them."""
    config, row = run.setting.config, run.steps[frame.step]
    working = [each for each in frame.running if each.scheduled]
    chunks = [each.scheduled for each in working if each.phase == "prefill"]
    tokens, budget = int(row["prefill"] + row["decode"]), config.max_num_batched_tokens
    rest = [int(row["padding"])] if row["padding"] else [] if config.is_static else [budget - tokens]
    return [
        [tokens] if config.is_static else [tokens, budget],
        [tokens - sum(chunks), *([len(chunks), sum(chunks)] if chunks else []), *rest],
        time_title(run, frame.step),
        sorted(f"request {each.request + 1}: {each.scheduled}" for each in working),
    ]


def memory(run: Run, frame: Frame) -> list[str]:
    terms, usable, cached = memory_terms(run.scenario.server), run.plan.usable_blocks, frame.cached_blocks
    used = usable - frame.free_blocks
    sizes = {"weights": terms.weights_bytes, "KV in use": used * terms.block_bytes}
    said = [f"{name} {gib(size)}" for name, size in (sizes | {"KV cached": cached * terms.block_bytes}).items() if size]
    return [*said, f"Step {frame.step}: {used} of {usable} blocks in use, {cached} cached."]


def speculation(run: Run, frame: Frame) -> list[str]:
    if not run.scenario.server.num_speculative_tokens:
        return ["Off: one token a pass."]
    said = []
    for name, first in ((f"step {frame.step}:", frame.step), ("so far", 0)):
        drafted, accepted = (total(run, kind, first, frame.step) for kind in (Kind.DRAFT, Kind.ACCEPT))
        said.append(f"{name} {drafted} drafted, {accepted} accepted")
    return said


def assert_words(said: dict[str, Any], run: Run, number: int) -> None:
    """What the page itself writes, at once."""
    frame, row, config = run.frame(number), run.steps[number], run.setting.config
    count, owners, usable = len(frame.waiting), owners_of(frame), run.plan.usable_blocks
    assert said["timeline"] == [f"step {number}", f"{count} waiting"]
    more = f"and {count - 6} more behind them" if count > 6 else ""
    assert said["queue"] == [f"{count} waiting" if count else "nobody waits", more]
    assert said["line"] == line(run, frame)
    assert said["step"] == step(run, frame)
    assert said["parts"][0] == ["matmuls", "attention", "host"]
    own_ms = [1000 * float(row[name]) for name in ("matmul_s", "attention_s", "host_s")]
    assert [float(ms.removesuffix(" ms")) for ms in said["parts"][1]] == pytest.approx(own_ms, abs=0.011)
    assert said["kv-map"] == [memory_caption(frame, owners, usable, config.block_size, config.region_blocks)] * 2
    for view, phrases in (("memory", memory(run, frame)), ("speculation", speculation(run, frame))):
        assert [phrase for phrase in phrases if phrase not in said[view]] == [], said[view]
    first, last = (time_s / run.ends_s()[-1] for time_s in (frame.start_s, frame.start_s + frame.duration_s))
    assert all(first - 0.002 <= place <= last + 0.002 for place in said["places"])


def assert_rest(page: Page, run: Run, number: int) -> dict[str, Any]:
    """What the page says at rest, with what the server wrote."""
    expect(page.locator("#why")).to_contain_text(f"step {number}.")
    expect(page.locator("#scene")).to_contain_text(f"step {number}:")
    said: dict[str, Any] = page.evaluate(READ)
    assert_words(said, run, number)
    frame = run.frame(number)
    assert said["scene"] == [scene(run, frame), f"step {number}. {explain(run, number)}"]
    rows, owners, slots = rows_of(frame), owners_of(frame), [row for row in said["slots"] if row[1] != "–"]
    assert [row[:-1] for row in slots] == [slot(run, row) for row in rows]
    tables = [(str(row.request + 1), [(block, owners[block]) for block in row.blocks]) for row in rows]
    assert [(row[1], table_in(row[-1])) for row in slots] == tables
    assert [(request, table_in(text)) for request, text in said["tables"]] == tables
    return said


def assert_streams(rows: list[list[str]], run: Run) -> None:
    """Numbers of the whole run: who got tokens, in how many passes, and the gaps between."""
    (values, counts), first = run.gaps(), run.results["first_s"]
    requests = [int(row[0]) - 1 for row in rows]
    assert sorted(requests) == np.flatnonzero(~np.isnan(first)).tolist()
    assert sum(int(row[1]) for row in rows) - len(rows) == counts.sum()
    if not run.scenario.server.num_speculative_tokens:
        assert [int(row[1]) for row in rows] == run.results["outputs"][requests].tolist()
    assert sum(int(row[4]) for row in rows) == counts[1000 * values > run.scenario.slo.slo_tpot_ms].sum()
    assert duration_text(float(values.max())) in [row[3] for row in rows]


def turn_of(run: Run) -> int:
    """A step that preempts, or admits where none does."""
    events = np.flatnonzero(run.events["kind"] == (Kind.PREEMPT if run.results["preemptions"].any() else Kind.ADMIT))
    return int(np.searchsorted(run.steps["events_end"], events[len(events) // 2], "right"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_views_say_what_the_engine_has(page: Page, name: str) -> None:
    run = simulate(scenario_from(SCENARIOS[name]))
    turn, starts_s, durations_s = turn_of(run), run.steps["start_s"], run.steps["duration_s"]
    steps = random.Random(name).sample(np.flatnonzero(durations_s > 0).tolist(), 10)
    page.goto(f"/lab/?{urlencode(SCENARIOS[name])}&t=0.5&views=timeline,kv-map,queue,step,memory,streams,speculation")
    wait_for_picture(page)
    for twin in ("#kv-twin", "#fig-memory [data-twin]", "#fig-speculation [data-twin]", "#fig-streams [data-twin]"):
        expect(page.locator(twin)).not_to_be_empty()
    for number in [*steps, turn - 2]:
        middle_s = starts_s[number] + durations_s[number] / 2
        page.locator("#seek").fill(str(round(10_000 * middle_s / run.ends_s()[-1])))
        assert_words(page.evaluate(READ), run, number)
        said = assert_rest(page, run, number)
    assert_streams(said["streams"], run)
    way = []
    for key, number in (("Right", turn - 1), ("Right", turn), ("Left", turn - 1)):
        page.keyboard.press(f"Arrow{key}")
        way.append(assert_rest(page, run, number))
    assert way[2] == way[0] != way[1]
