"""Step and waiting line while the playhead moves: the page's words equal the server's, and its cards do not lag."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.stepcard import (
    bound_sentence,
    budget_caption,
    budget_slices,
    budget_title,
    duration_text,
    time_parts,
    time_title,
)
from sim.explain import explain_waiting
from sim.run import Run, simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, wait_for_picture
from tests.rows import some_always

pytestmark = pytest.mark.browser

SETTINGS = {"rate": "3.9", "num_requests": "24", "max_num_seqs": "8"}
SCENARIOS = (
    {"rate": "12", "num_requests": "30", "max_num_seqs": "6", "num_gpu_blocks": "200", "max_model_len": "2048"},
    {"rate": "5", "num_requests": "30", "max_num_seqs": "6", "batching": "static"},
    {"rate": "12", "num_requests": "30", "max_num_seqs": "8", "max_num_batched_tokens": "256", "model": "mixtral-8x7b",
     "tensor_parallel_size": "4"},
    {"rate": "12", "num_requests": "30", "max_num_seqs": "8", "num_speculative_tokens": "3", "cost": "simple"},
    {"load": "closed", "concurrency": "7", "num_requests": "30", "max_num_seqs": "4", "kv": "contiguous",
     "num_gpu_blocks": "257", "max_model_len": "2048", "async_scheduling": "true"},
    {"rate": "12", "num_requests": "30", "max_num_seqs": "6", "cost": "unit", "prefix_cache": "per_slot",
     "num_gpu_blocks": "200", "max_model_len": "2048"},
)  # fmt: skip
READ = """async ([settings, steps]) => {
  const names = ["run.js", "replay.js", "lines.js", "stepcard.js", "waits.js"];
  const [{ RunReader }, { Replay }, { readLines }, card, { reasonsOf }] = await Promise.all(
    names.map((name) => import(new URL(`../static/js/${name}`, location.href))));
  const reader = new RunReader(), query = new URLSearchParams(settings);
  await readLines(`../api/v1/steps?${query}&blocks=1`, new AbortController().signal, (line) => reader.push(line));
  const costs = await (await fetch(`../api/v1/costs?${query}`)).json();
  const replay = new Replay(reader.finish());
  return steps.map((step) => {
    const frame = replay.at(step);
    return {
      budget: [card.budgetTitle(frame), card.budgetCaption(frame)],
      slices: card.budgetSlices(frame),
      time: [card.timeTitle(frame), card.boundSentence(frame)],
      parts: card.timeParts(frame, costs) ?? [],
      waiting: frame.waiting.slice(),
      reasons: frame.waiting.length ? reasonsOf(frame) : null,
    };
  });
}"""


def assert_parts_are_equal(run: Run, step: int, own: list[dict[str, Any]]) -> None:
    """Milliseconds with two digits, of float32 here and of float64 there."""
    parts = time_parts(run, step)
    assert [(part["label"], part["note"], part["isBound"]) for part in own] == [
        (part.label, part.note, part.is_bound) for part in parts
    ]
    for part, mine in zip(parts, own, strict=True):
        assert float(mine["ms"].removesuffix(" ms")) == pytest.approx(float(part.ms.removesuffix(" ms")), abs=0.011)
        assert mine["percent"] == pytest.approx(part.percent, abs=0.01)
        assert mine["other"] == pytest.approx(part.other_percent, abs=0.01)


@pytest.mark.parametrize("settings", some_always(SCENARIOS, 2), ids=json.dumps)
def test_live_words_of_the_page_equal_the_server(page: Page, settings: dict[str, str]) -> None:
    run = simulate(scenario_from(settings))
    steps = [round(i * (len(run.steps) - 1) / 29) for i in range(30)]
    page.goto(LAB)
    shown: list[dict[str, Any]] = page.evaluate(READ, [settings, steps])
    seen = set()
    for step, own in zip(steps, shown, strict=True):
        frame = run.frame(step)
        assert own["budget"] == [budget_title(run, step), budget_caption(run, frame)], step
        assert own["time"] == [time_title(run, step), bound_sentence(run, step)], step
        slices = budget_slices(run, frame)
        assert [(each["series"], each["style"], each["title"]) for each in own["slices"]] == [
            (each.series, each.style, each.title) for each in slices
        ]
        assert [each["percent"] for each in own["slices"]] == pytest.approx([s.percent for s in slices], abs=1e-3)
        assert_parts_are_equal(run, step, own["parts"])
        reasons = explain_waiting(run, step)
        assert own["waiting"] == [request for request, _ in reasons], step
        if reasons:
            texts = [own["reasons"]["head"], *[own["reasons"]["rest"]] * (len(reasons) - 1)]
            assert texts == [reason for _, reason in reasons], step
            seen.add(reasons[0][1])
    assert seen or run.steps["waiting"].max() == 0


def test_step_card_follows_the_playhead_without_the_server(page: Page) -> None:
    page.goto(f"{LAB}&views=timeline,queue,step")
    wait_for_picture(page)
    page.wait_for_timeout(700)
    page.route("**/lab/frame/*", lambda route: None)
    run = simulate(scenario_from(SETTINGS))
    step = 600
    box = page.locator("#axis").bounding_box()
    assert box
    end_s = max(simulate(scenario_from({**SETTINGS, "batching": b})).ends_s()[-1] for b in ("continuous", "static"))
    at = (run.steps["start_s"][step] + run.steps["duration_s"][step] / 2) / end_s
    page.mouse.click(box["x"] + at * box["width"], box["y"] + 4)
    number = int(page.locator("#clock").inner_text().rpartition("step ")[2])
    card = page.locator("#fig-step")
    expect(card.locator("[data-part=budget-caption]")).to_have_text(budget_caption(run, run.frame(number)))
    expect(card.locator(".parts .ms").first).to_have_text(time_parts(run, number)[0].ms)
    count = len(run.frame(number).waiting)
    expect(page.locator("#fig-queue .queue li")).to_have_count(min(count, 6))
    if not count:
        return
    since = duration_text(float(run.steps["start_s"][number] - run.results["arrival_s"][run.frame(number).waiting[0]]))
    expect(page.locator("#fig-queue .since").first).to_have_text(since)
    page.unroute_all(behavior="ignoreErrors")
