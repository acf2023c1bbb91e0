"""Step by step: what each step reads, computes and brings, against the engine's record and its cost model."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.stepcard import limits_of
from sim.catalog import find_model
from sim.history import life_of
from sim.run import Run, simulate
from sim.scenario import scenario_from
from sim.work import Work, work_of
from tests.browser.helpers import step, wait_for_picture
from tests.sim.axes import AXES

pytestmark = pytest.mark.browser

SETTINGS = {"rate": 3.9, "num_requests": 24, "max_num_seqs": 8}
SCENARIOS = {
    "plain": SETTINGS,
    "static": SETTINGS | {"batching": "static", "model": "mixtral-8x7b", "gpu": "h200"},
    "static dropped": SETTINGS | {"batching": "static", "static_rows": "dropped"},
    "preemption": AXES["preemption"],
    "drafts": AXES["drafts"],
    "async": AXES["async"],
    "simple": SETTINGS | {"cost": "simple"},
}
READ = """async (scenarios) => {
  const names = ["run.js", "lines.js", "steptime.js", "replay.js", "composition.js", "figures/step-time.js"];
  const modules = await Promise.all(names.map((name) => import(`/static/js/${name}`)));
  const { RunReader, readLines, stepTimeOf, soFar, Replay, compositionOf, compositionOfFrame, mount } =
    Object.assign({}, ...modules);
  const told = {};
  for (const [name, settings] of Object.entries(scenarios)) {
    const costs = await (await fetch(`/api/v1/costs?${new URLSearchParams(settings)}`)).json();
    const reader = new RunReader();
    const url = `/api/v1/steps?${new URLSearchParams({ ...settings, blocks: 1, count: 100000 })}`;
    await readLines(url, new AbortController().signal, (line) => reader.push(line));
    const run = reader.finish();
    const replay = new Replay(run);
    told[name] = { unlike: [], steps: [], far: soFar(run, run.count - 1, costs) };
    const stage = { run, frame: () => replay.at(20), costs: { runs: { a: costs } }, state: { run: "a" }, lit: 2 };
    told[name].readings = mount(document.getElementById("fig-step-time"), stage).readings();
    for (let s = 0; s < run.count; s++) {
      const frame = replay.at(s);
      const [own, folded] = [compositionOf(run, s), compositionOfFrame(frame)];
      if (Object.keys(own).some((key) => own[key] !== folded[key])) told[name].unlike.push([s, own, folded]);
      if (s % 37 === 0) told[name].steps.push([s, stepTimeOf(frame, costs)]);
    }
  }
  return told;
}"""


def weights_bytes(work: Work, row: Any) -> float:
    tokens = int(row["prefill"] + row["decode"] + row["padding"])
    hit = 1 - work.expert_miss**tokens
    return work.dense_bytes + (work.head_bytes if row["sampled"] else 0) + work.experts_bytes * hit


def kv_bytes(work: Work, row: Any) -> float:
    return work.kv_layer_bytes * work.full_layers * float(row["decode_context"] + row["prefill_context"])


def assert_terms(time: dict[str, Any], run: Run, number: int) -> None:
    row, server = run.steps[number], run.scenario.server
    work, (matmul, attention) = work_of(server, find_model(server.model)), limits_of(run, number)
    told = {term["name"]: term["ms"] for term in time["terms"]}
    assert time["step_ms"] == pytest.approx(1000 * float(row["duration_s"]), rel=1e-6)
    assert told["weights"] == pytest.approx(1000 * matmul.reading_s, rel=1e-6)
    assert told["kv"] == pytest.approx(1000 * attention.reading_s, rel=1e-6, abs=1e-9)
    if server.cost == "roofline":
        assert told["compute"] == pytest.approx(1000 * (matmul.computing_s + attention.computing_s), rel=1e-6)
    assert told["overhead"] == pytest.approx(1000 * float(row["host_s"]), rel=1e-5)
    assert time["weights_bytes"] == pytest.approx(weights_bytes(work, row))
    assert time["kv_bytes"] == pytest.approx(kv_bytes(work, row))
    bound = ("weights", "kv", "compute", "communication", "overhead")[int(row["bound"])]
    assert [term["name"] for term in time["terms"] if term["isBound"]] == [bound]


def assert_readings(told: dict[str, Any], run: Run) -> None:
    """Of step 20, with request 3 lit."""
    row, life = run.steps[20], life_of(run, 2)
    counts = [told[name] for name in ("step", "prefill_tokens", "decode_tokens", "reads_so_far")]
    assert counts == [20, row["prefill"], row["decode"], 21]
    assert told["step_ms"] == pytest.approx(1000 * float(row["duration_s"]), abs=0.03)
    assert told["weights_ms"] == pytest.approx(1000 * limits_of(run, 20)[0].reading_s, rel=1e-6)
    for name, seconds in (("ttft_ms", life.ttft_s), ("tpot_ms", life.tpot_s)):
        assert told[name] == pytest.approx(1000 * (seconds or 0), abs=0.05), name


def assert_model(told: dict[str, Any], run: Run) -> None:
    assert told["unlike"] == []
    assert_readings(told["readings"], run)
    assert len(told["steps"]) > 3
    for number, time in told["steps"]:
        assert_terms(time, run, number)
    server = run.scenario.server
    work = work_of(server, find_model(server.model))
    assert (told["far"]["tokens"], told["far"]["reads"]) == (int(run.results["outputs"].sum()), len(run.steps))
    assert told["far"]["bytes"] == pytest.approx(sum(weights_bytes(work, row) for row in run.steps))


def test_steps_are_told_as_the_engine_priced_them(page: Page) -> None:
    page.goto("/lab/?rate=3.9&num_requests=24&max_num_seqs=8&t=1.5&views=timeline,step-time")
    wait_for_picture(page)
    run = simulate(scenario_from(SETTINGS))
    card = page.locator("#fig-step-time")
    work = work_of(run.scenario.server, find_model(run.scenario.server.model))
    tokens = run.steps["sampled"].cumsum()
    for _ in range(3):
        now = int(page.locator("#clock").inner_text().rpartition("step ")[2])
        row, (matmul, attention) = run.steps[now], limits_of(run, now)
        expect(card.locator("[data-part=title]")).to_contain_text(re.compile(rf"Step {now}(: | \(token )"))
        terms = card.locator(".step-terms dd.ms")
        expect(terms.nth(0)).to_have_text(f"{1000 * matmul.reading_s:.2f} ms")
        expect(terms.nth(1)).to_have_text(f"{1000 * attention.reading_s:.2f} ms")
        expect(terms.nth(3)).to_have_text(f"{1000 * float(row['host_s']):.2f} ms")
        giga = f"{weights_bytes(work, row) / 1e9:.1f} GB read once for {row['decode']} token"
        expect(card.locator(".step-terms .amount").first).to_contain_text(giga)
        expect(card.locator("[data-part=so-far]")).to_contain_text(
            f"So far: {tokens[now]:,} tokens, {now + 1:,} reads of the weights"
        )
        step(page, "forward")
    life = life_of(run, 0)
    assert life.ttft_s
    assert life.tpot_s
    text = f"Request 1: first token after {1000 * life.ttft_s:.0f} ms (TTFT) = "
    expect(card.locator("[data-part=life]")).to_contain_text(text)
    expect(card.locator("[data-part=life]")).to_contain_text(f"a token every {1000 * life.tpot_s:.1f} ms (TPOT)")
    told = page.evaluate(READ, SCENARIOS)
    for name, settings in SCENARIOS.items():
        assert_model(told[name], simulate(scenario_from(settings)))
