"""What the page folds from the stream equals the engine's own frames."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page

from sim.run import simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, wait_for_picture

pytestmark = pytest.mark.browser

SCENARIOS = (
    {"rate": "5", "num_requests": "30", "max_num_seqs": "6", "num_gpu_blocks": "200", "max_model_len": "2048"},
    {"rate": "5", "num_requests": "30", "max_num_seqs": "6", "batching": "static"},
    {"rate": "8", "num_requests": "30", "max_num_seqs": "8", "max_num_batched_tokens": "256"},
    {"rate": "8", "num_requests": "30", "max_num_seqs": "8", "num_speculative_tokens": "3"},
    {"load": "closed", "concurrency": "7", "num_requests": "30", "max_num_seqs": "4", "kv": "contiguous",
     "num_gpu_blocks": "513", "max_model_len": "2048"},
)  # fmt: skip
READ = """async ([settings, steps]) => {
  const [{ RunReader }, { Frames }, { readLines }] = await Promise.all(
    ["run.js", "frames.js", "lines.js"].map((name) => import(new URL(`../static/js/${name}`, location.href))));
  const reader = new RunReader();
  const url = `../api/v1/steps?${new URLSearchParams(settings)}&blocks=0`;
  await readLines(url, new AbortController().signal, (line) => reader.push(line));
  const frames = new Frames(reader.finish());
  const seat = ([slot, { request, computed, outputs, phase }]) => [slot, request, computed, outputs, phase];
  return steps.map((step) => [...frames.at(step)].sort((a, b) => a[0] - b[0]).map(seat));
}"""


@pytest.mark.parametrize("settings", SCENARIOS, ids=json.dumps)
def test_frame_of_the_page_equals_the_engine(page: Page, settings: dict[str, str]) -> None:
    run = simulate(scenario_from(settings))
    steps = [round(i * (len(run.steps) - 1) / 23) for i in range(24)]
    page.goto(LAB)
    wait_for_picture(page)
    drawn: list[list[list[Any]]] = page.evaluate(READ, [settings, steps])
    for step, seats in zip(steps, drawn, strict=True):
        frame = run.frame(step)
        own = [[row.slot, row.request, row.computed, row.outputs, row.phase] for row in frame.running]
        held = {slot: request for request, slot in frame.held}
        assert [seat for seat in seats if seat[4] != "held"] == own, f"step {step}"
        assert {seat[0]: seat[1] for seat in seats if seat[4] == "held"} == held, f"step {step}"
