"""The five wastes of a run as the page counts them, against sim; and what held slots cost, on the timeline."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim.run import Run, simulate
from sim.scenario import scenario_from
from sim.wastes import wastes_of
from tests.browser.helpers import PLAIN, wait_for_picture
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
  const names = ["run.js", "lines.js", "wastes.js", "heldtime.js", "lanereadings.js", "figures/wastes.js"];
  const [{ RunReader }, { readLines }, { wastesOf }, { heldTimeOf }, { readingsOf }, { mount }] = await Promise.all(
    names.map((name) => import(new URL(name, location.href))));
  const told = {};
  for (const [name, settings] of Object.entries(scenarios)) for (const blocks of [0, 1]) {
    const reader = new RunReader();
    const url = `/api/v1/steps?${new URLSearchParams({ ...settings, blocks, count: 100000 })}`;
    await readLines(url, new AbortController().signal, (line) => reader.push(line));
    const run = reader.finish();
    const stage = { scene: { runs: { a: run } }, labelOf: (name) => name };
    told[`${name} ${blocks}`] = {
      ...wastesOf(run),
      slot_us: heldTimeOf(run).slot_us,
      readings: { ...mount(document.body, stage).readings(), ...readingsOf({ a: run }, run.start_us[9]) },
    };
  }
  return told;
}"""


def assert_wastes(told: dict[str, Any], run: Run, name: str) -> None:
    own = wastes_of(run)
    gap_s, counts = run.gaps()
    assert told["held"] == pytest.approx(own.held_slot_share), name
    assert told["unused"] == pytest.approx(own.kv_unused_share, abs=1e-4), name
    assert (told["prefill"], told["repeated"]) == (own.prefill_tokens, own.repeated_tokens), name
    assert told["frozen"] == pytest.approx(1e6 * own.frozen_s, abs=2000), name
    assert told["pause"] == pytest.approx(1e6 * gap_s[counts > 0].max(), abs=40), name
    assert told["reads"] == pytest.approx(own.reads_per_token), name
    slots = run.scenario.server.max_num_seqs
    held_s = (own.held_slot_share or 0) * slots * (run.metrics()["duration_s"] or 0)
    readings, ends_s = told["readings"], run.ends_s()
    assert readings["a.frozen_ms"] == pytest.approx(1000 * own.frozen_s, abs=2), name
    assert (readings["a.repeated_tokens"], readings["a.steps"]) == (own.repeated_tokens, len(run.steps)), name
    assert (readings["a.waiting"], readings["a.held"]) == (run.steps["waiting"][9], run.steps["held"][9]), name
    assert readings["a.end_s"] == pytest.approx(ends_s[-1], abs=1e-4), name
    assert told["slot_us"] / 1e6 == pytest.approx(held_s, rel=1e-3, abs=1e-3), name


def test_wastes_of_the_page_equal_those_of_sim(page: Page) -> None:
    page.goto(PLAIN)
    told = page.evaluate(READ, SCENARIOS)
    for name, settings in SCENARIOS.items():
        run = simulate(scenario_from(settings))
        for blocks in (0, 1):
            assert_wastes(told[f"{name} {blocks}"], run, f"{name}, blocks={blocks}")


def test_wastes_say_what_each_run_wastes_and_which_technique_is_on(page: Page) -> None:
    settings = {"rate": 6, "num_requests": 24, "max_num_seqs": 4, "shared_prefix_tokens": 500, "max_model_len": 8192}
    changed = {"batching": "static", "kv": "contiguous", "num_speculative_tokens": 2}
    query = "&".join([*(f"{k}={v}" for k, v in settings.items()), *(f"b.{k}={v}" for k, v in changed.items())])
    page.goto(f"/lab/?{query}&views=timeline,wastes")
    wait_for_picture(page)
    card = page.locator("#fig-wastes")
    own = {name: wastes_of(simulate(scenario_from(settings | more))) for name, more in (("a", {}), ("b", changed))}
    held, kv, prefill, frozen, reads = (
        card.locator(f"[data-waste={name}] dd.value") for name in ("held", "kv", "prefill", "frozen", "reads")
    )
    for i, name in enumerate(("b", "a")):
        each = own[name]
        expect(held.nth(i)).to_have_text(f"{100 * each.held_slot_share:.0f} %")
        expect(kv.nth(i)).to_have_text(f"{100 * each.kv_unused_share:.{0 if each.kv_unused_share > 0.1 else 1}f} %")
        expect(prefill.nth(i)).to_have_text(f"{each.repeated_tokens:,}")
        expect(frozen.nth(i)).to_have_text(re.compile(r"s$"))
        expect(reads.nth(i)).to_have_text(f"{each.reads_per_token:.2f}")
    switches = card.locator("dd.switch").all_inner_texts()
    assert switches == ["✗ static", "✓ continuous", "✗ contiguous", "✓ paged", "✗ no effect", "✓ shared", "✗ no effect",
                        "✓ chunked", "✓ 2 drafts", "✗ off"]  # fmt: skip
    expect(card.locator("[data-twin]")).to_contain_text("sharing needs paged KV")
    slots = settings["max_num_seqs"]
    run = simulate(scenario_from(settings | changed))
    held_s = run.metrics()["held_slot_share"] * slots * run.metrics()["duration_s"]
    note = page.locator('[data-held="b"]')
    expect(note).to_have_text(
        f"held while others wait: {held_s:.1f}\u00a0slot·s, {held.nth(0).inner_text()} of slot time".replace(
            " %", "\u00a0%"
        )
    )
    expect(page.locator('[data-held="a"]')).to_have_text("")
