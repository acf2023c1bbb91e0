"""What the page folds from the stream equals the engine's own frames."""

import random
from typing import Any

import pytest
from playwright.sync_api import Page

from sim.run import Run, simulate
from sim.scenario import scenario_from
from tests.browser.helpers import PLAIN
from tests.invariants.checks import new_replay
from tests.rows import some_always
from tests.sim.axes import AXES

pytestmark = pytest.mark.browser

STEPS = 12
SCENARIOS = {
    "plain": {"rate": 5, "num_requests": 30, "max_num_seqs": 6, "num_gpu_blocks": 200, "max_model_len": 2048},
    "static": {"rate": 5, "num_requests": 30, "max_num_seqs": 6, "batching": "static"},
    "agents per slot": AXES["agent"] | {"prefix_cache": "per_slot", "num_gpu_blocks": 61},
    "contiguous closed": AXES["contiguous"] | {"load": "closed", "concurrency": 7},
    **{name.replace("_", " "): AXES[name] for name in (
        "preemption", "cache_off", "shared_prefix", "per_slot", "chat", "static_dropped", "static_per_slot",
        "contiguous_per_slot", "contiguous_static", "chunks_collide", "drafts", "drafts_stall", "static_drafts",
        "async", "async_closed", "max_waiting", "refusals", "fork_more_slots", "fork_fewer_slots",
        "fork_fewer_slots_async", "fork_fewer_slots_per_slot", "fork_to_static", "fork_to_continuous",
        "fork_cache_off", "fork_cache_on", "fork_to_drafts", "fork_from_drafts", "fork_rate_budget", "fork_late",
    )},
}  # fmt: skip
READ = """async ([settings, extra, steps, most]) => {
  const [{ RunReader }, { Replay }, { readLines }] = await Promise.all(
    ["run.js", "replay.js", "lines.js"].map((name) => import(new URL(name, location.href))));
  const reader = new RunReader();
  const url = `/api/v1/steps?${new URLSearchParams({ ...settings, ...extra })}`;
  await readLines(url, new AbortController().signal, (line) => reader.push(line));
  const replay = new Replay(reader.finish(), most);
  const row = ({ request, slot, phase, computed, scheduled, prompt, outputs, drafts, blocks }) =>
    [request, slot, phase, computed, scheduled, prompt, outputs, drafts, blocks];
  const picture = (frame) => ({
    step: frame.step,
    running: [...frame.seats.values()].filter((seat) => seat.phase !== "held").sort((a, b) => a.slot - b.slot).map(row),
    held: frame.held.map(({ request, slot }) => [request, slot]).sort((a, b) => a[1] - b[1]),
    waiting: frame.waiting,
    preempted: frame.preempted,
    free: frame.free,
    cached: frame.cached,
    kept: [...frame.kept].map(([slot, { request, tokens, blocks }]) => [slot, request, tokens, blocks]),
    queue: [...frame.queue],
    users: [...frame.users.entries()].filter(([_, users]) => users),
  });
  const frames = steps.map((step) => structuredClone(picture(replay.at(step - replay.run.first))));
  return { frames, bytes: replay.bytes, every: replay.every, checkpoints: replay.checkpoints.length };
}"""


def read(page: Page, settings: dict[str, Any], steps: list[int], most: float = 16e6, **extra: int) -> dict[str, Any]:
    read: dict[str, Any] = page.evaluate(READ, [settings, {"blocks": 1} | extra, steps, most])
    return read


def some_steps(run: Run, first: int = 0) -> list[int]:
    count = len(run.steps)
    assert count > STEPS
    return random.Random(count).choices(range(first, count), k=STEPS)


def engine_frame(run: Run, step: int) -> dict[str, Any]:
    """The same picture from sim: the frame, and the replay's free queue."""
    frame, replay = run.frame(step), new_replay(run)
    while replay.step < step:
        replay.forward()
    return {
        "step": step,
        "running": [[*row] for row in frame.running],
        "held": [[*pair] for pair in frame.held],
        "waiting": frame.waiting,
        "preempted": frame.preempted,
        "free": frame.free_blocks,
        "cached": frame.cached_blocks,
        "kept": sorted([slot, *kept] for slot, kept in replay.kept.items()),
        "queue": list(replay.free.order),
        "users": sorted([block, users] for block, users in replay.free.users.items()),
    }


def assert_equal(frames: list[dict[str, Any]], run: Run, steps: list[int]) -> None:
    for drawn, step in zip(frames, steps, strict=True):
        drawn["kept"].sort()
        for name, value in engine_frame(run, step).items():
            assert drawn[name] == value, (step, name)


@pytest.mark.parametrize("name", some_always(SCENARIOS, 3))
def test_frames_of_the_page_equal_the_engines(page: Page, name: str) -> None:
    run = simulate(scenario_from(SCENARIOS[name]))
    page.goto(PLAIN)
    for first in (0, len(run.steps) * 2 // 5):
        steps = some_steps(run, first)
        assert_equal(read(page, SCENARIOS[name], steps, **{"from": first})["frames"], run, steps)


@pytest.mark.parametrize(
    "name",
    some_always(["preemption", "per slot", "static dropped", "async closed", "drafts", "max waiting"], 2),
)
def test_frames_without_blocks_know_all_the_rest(page: Page, name: str) -> None:
    run = simulate(scenario_from(SCENARIOS[name]))
    steps = some_steps(run)
    page.goto(PLAIN)
    for drawn, step in zip(read(page, SCENARIOS[name], steps, blocks=0)["frames"], steps, strict=True):
        own = engine_frame(run, step)
        assert [row[:-1] for row in drawn["running"]] == [row[:-1] for row in own["running"]], step
        for part in ("step", "held", "waiting", "preempted", "free"):
            assert drawn[part] == own[part], (step, part)


def test_checkpoints_thin_out_and_frames_stay_equal(page: Page) -> None:
    settings = SCENARIOS["preemption"] | {"num_requests": 150}
    run, most = simulate(scenario_from(settings)), 12_000
    steps = [len(run.steps) - 1, *some_steps(run)]
    page.goto(PLAIN)
    seen = read(page, settings, steps, most)
    assert seen["bytes"] <= most
    assert seen["checkpoints"] > 2
    assert seen["every"] > 128
    assert_equal(seen["frames"], run, steps)
