"""Counts that can be made by hand: twelve requests on four slots, static and continuous."""

import pytest

from sim.run import simulate
from sim.scenario import scenario_from

OUTPUTS = (40, 3, 25, 5, 60, 4, 18, 6, 33, 2, 50, 8)
TWELVE = {
    "load": "burst",
    "prompt_list": ",".join(["1"] * 12),
    "output_list": ",".join(map(str, OUTPUTS)),
    "max_num_seqs": 4,
    "cost": "unit",
    "async_scheduling": "false",
}


def run_twelve(**settings):
    return simulate(scenario_from(TWELVE | settings))


@pytest.mark.parametrize("static_rows", ["padded", "dropped"])
def test_static_batches_of_twelve_requests_take_150_steps(static_rows):
    run = run_twelve(batching="static", static_rows=static_rows)
    metrics = run.metrics()

    assert len(run.steps) == 40 + 60 + 50 == 150
    assert metrics["duration_s"] == 150.0
    assert metrics["idle_slot_share"] == pytest.approx(1 - 254 / 600, abs=1e-12)
    assert round(metrics["idle_slot_share"], 3) == 0.577
    assert metrics["held_slot_share"] == pytest.approx(239 / 600, abs=1e-12)


def test_continuous_batching_of_twelve_requests_takes_83_steps():
    run = run_twelve(batching="continuous")
    metrics = run.metrics()

    assert len(run.steps) == 83
    assert metrics["duration_s"] == 83.0
    assert metrics["idle_slot_share"] == pytest.approx(1 - 254 / 332, abs=1e-12)
    assert round(metrics["idle_slot_share"], 3) == 0.235
    assert metrics["held_slot_share"] == 0.0


def test_static_slots_are_held_239_of_600_slot_steps_while_others_wait():
    steps = run_twelve(batching="static").steps

    held = int(steps["held"][steps["waiting"] > 0].sum())

    assert held == sum(max(batch) - n for batch in (OUTPUTS[:4], OUTPUTS[4:8]) for n in batch) == 239


@pytest.mark.parametrize("batching", ["static", "continuous"])
def test_every_token_step_of_the_twelve_is_taken(batching):
    run = run_twelve(batching=batching)

    assert run.steps["running"].sum() == sum(OUTPUTS) == 254
    assert run.results["outputs"].tolist() == list(OUTPUTS)


def test_static_requests_end_with_their_own_tokens_not_with_their_batch():
    finish_s = run_twelve(batching="static").results["finish_s"].tolist()

    starts = [0] * 4 + [40] * 4 + [100] * 4
    assert finish_s == [start + n for start, n in zip(starts, OUTPUTS, strict=True)]
