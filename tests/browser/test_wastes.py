"""The five wastes of a run as the page counts them, against sim; and what held slots cost, on the timeline."""

from typing import Any

import pytest
from playwright.sync_api import Page

from sim.run import Run, simulate
from sim.scenario import scenario_from
from sim.wastes import wastes_of
from tests.browser.helpers import PLAIN
from tests.sim.axes import AXES

pytestmark = pytest.mark.browser

STATIC = {"rate": 8, "num_requests": 24, "max_num_seqs": 4, "batching": "static"}
SCENARIOS = {
    "static": STATIC,
    "static dropped": STATIC | {"static_rows": "dropped", "shared_prefix_tokens": 300, "prefix_share": 0.7},
    "contiguous": AXES["contiguous"] | {"load": "closed", "concurrency": 7},
    "per slot": AXES["per_slot"],
    "preemption": AXES["preemption"] | {"prefix_cache": "off"},
    "chat": AXES["chat"],
    "groups": {"rate": 5, "num_requests": 30, "max_num_seqs": 6, "shared_prefix_tokens": 500, "prefix_groups": 4},
    "drafts": AXES["drafts"],
    "async": AXES["async"],
    "refusals": AXES["refusals"],
}
READ = """async (scenarios) => {
  const names = ["run.js", "lines.js", "wastes.js", "heldtime.js"];
  const [{ RunReader }, { readLines }, { wastesOf }, { heldTimeOf }] = await Promise.all(
    names.map((name) => import(new URL(name, location.href))));
  const told = {};
  for (const [name, settings] of Object.entries(scenarios)) for (const blocks of [0, 1]) {
    const reader = new RunReader();
    const url = `/api/v1/steps?${new URLSearchParams({ ...settings, blocks, count: 100000 })}`;
    await readLines(url, new AbortController().signal, (line) => reader.push(line));
    const run = reader.finish();
    told[`${name} ${blocks}`] = { ...wastesOf(run), slot_us: heldTimeOf(run).slot_us };
  }
  return told;
}"""


def assert_wastes(told: dict[str, Any], run: Run, name: str) -> None:
    own = wastes_of(run)
    pause_us = None if own.longest_pause_s is None else pytest.approx(1e6 * own.longest_pause_s, abs=40)
    assert told["held"] == pytest.approx(own.held_slot_share), name
    assert told["unused"] == pytest.approx(own.kv_unused_share, abs=1e-4), name
    assert (told["prefill"], told["repeated"]) == (own.prefill_tokens, own.repeated_tokens), name
    assert told["pause"] == pause_us, name
    assert told["reads"] == pytest.approx(own.reads_per_token), name
    slots = run.scenario.server.max_num_seqs
    held_s = (own.held_slot_share or 0) * slots * (run.metrics()["duration_s"] or 0)
    assert told["slot_us"] / 1e6 == pytest.approx(held_s, rel=1e-3, abs=1e-3), name


def test_wastes_of_the_page_equal_those_of_sim(page: Page) -> None:
    page.goto(PLAIN)
    told = page.evaluate(READ, SCENARIOS)
    for name, settings in SCENARIOS.items():
        run = simulate(scenario_from(settings))
        for blocks in (0, 1):
            assert_wastes(told[f"{name} {blocks}"], run, f"{name}, blocks={blocks}")
