"""The streams: gaps folded in the page against the engine's own, the freeze that is named, requests lit, seeking."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from sim.run import simulate
from sim.scenario import scenario_from
from tests.browser.helpers import LAB, wait_for_picture
from tests.rows import some_always

pytestmark = pytest.mark.browser

SCENARIOS = (
    {"rate": "5", "num_requests": "30", "max_num_seqs": "6", "num_gpu_blocks": "200", "max_model_len": "2048"},
    {"rate": "5", "num_requests": "30", "max_num_seqs": "6", "batching": "static"},
    {"rate": "8", "num_requests": "30", "max_num_seqs": "8", "max_num_batched_tokens": "256"},
    {"rate": "8", "num_requests": "30", "max_num_seqs": "8", "num_speculative_tokens": "3"},
    {"rate": "20", "num_requests": "40", "max_num_seqs": "8", "num_gpu_blocks": "240", "max_model_len": "2048",
     "async_scheduling": "true"},
)  # fmt: skip
FREEZE = (
    "arrival_list=0,0.1,0.2,0.3,1&prompt_list=200,300,200,300,30000&output_list=300,280,260,300,60"
    "&max_num_batched_tokens=32768&b.max_num_batched_tokens=512&t=1.8&views=timeline,kv-map,streams"
)
READ = """async (settings) => {
  const [{ RunReader }, { streamsOf }, { readLines }] = await Promise.all(
    ["run.js", "streams.js", "lines.js"].map((name) => import(new URL(`../static/js/${name}`, location.href))));
  const reader = new RunReader();
  const url = `../api/v1/steps?${new URLSearchParams(settings)}&blocks=0`;
  await readLines(url, new AbortController().signal, (line) => reader.push(line));
  const { times, gaps, late } = streamsOf(reader.finish());
  return { times: [...times], gaps, late };
}"""
CLOCK_S = 50e-6
"""What the clock of the stream may be off, at both ends of a gap."""


@pytest.mark.parametrize("settings", some_always(SCENARIOS, 2), ids=json.dumps)
def test_gaps_of_the_page_equal_the_engine(page: Page, settings: dict[str, str]) -> None:
    run = simulate(scenario_from(settings))
    page.goto(LAB)
    streams = page.evaluate(READ, settings)
    values, counts = run.gaps()
    own = np.sort(np.repeat(values, counts))
    drawn = np.sort(np.concatenate([np.diff(times) for _, times in streams["times"]])) / 1e6
    assert len(own) == len(drawn) == streams["gaps"] > 500
    np.testing.assert_allclose(drawn, own, atol=CLOCK_S)
    first = {request: times[0] / 1e6 for request, times in streams["times"]}
    np.testing.assert_allclose([first[i] for i in sorted(first)], run.results["first_s"][sorted(first)], atol=CLOCK_S)


def test_streams_name_the_prompt_that_freezes_the_others(page: Page) -> None:
    page.goto(f"/lab/?{FREEZE}")
    wait_for_picture(page)
    sentences = page.locator("#fig-streams .stream-run p")
    expect(sentences).to_have_count(2)
    whole, chunked = sentences.nth(1), sentences.nth(0)
    expect(whole).to_contain_text("while 30,000 prompt tokens of request 5 were computed. 3 others with it.")
    values, counts = simulate(
        scenario_from(
            {
                name: value
                for name, value in re.findall(r"(?:^|&)([a-z_]+)=([^&]*)", FREEZE)
                if name not in ("t", "views")
            }
        )
    ).gaps()
    assert f"waited {np.repeat(values, counts).max():.2f} s" in whole.inner_text()
    expect(chunked).to_contain_text("No gap longer than 50 ms.")


def test_streams_light_requests_and_lead_to_a_time(page: Page) -> None:
    page.goto(f"/lab/?{FREEZE}")
    wait_for_picture(page)
    expect(page.locator("#fig-streams .stream-run p").first).to_be_visible()
    canvas = page.locator("#fig-streams canvas").last
    box = canvas.bounding_box()
    assert box
    canvas.hover(position={"x": box["width"] / 2, "y": box["height"] / 5 * 2.5})
    expect(page.locator("[data-request='2'].lit").first).to_be_visible()
    before = page.locator("#clock").inner_text()
    canvas.click(position={"x": box["width"] / 4, "y": 5})
    expect(page.locator("#clock")).not_to_have_text(before)
