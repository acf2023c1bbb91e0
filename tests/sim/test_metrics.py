"""Metrics to the letter: vLLM's definitions, undefined values are None, shares integrate over time."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.metrics import METRICS, Measured, summary
from sim.parameters import BY_NAME
from sim.scenario import scenario_from

NAN = float("nan")
SPECIFIED = {
    "ttft_s", "tpot_s", "itl_s", "e2e_s", "queue_s", "output_tokens_per_s", "total_tokens_per_s", "requests_per_s",
    "goodput_rps", "slo_attainment", "preemptions", "prefix_hit_share", "idle_slot_share", "held_slot_share",
    "finished", "rejected", "steps", "duration_s",
}  # fmt: skip


def make_measured(requests=(), steps=(), gaps=(), slots=4, **slo):
    """Requests: arrival, scheduled, first, finish, prompt, outputs. Steps: start, duration, active, held, waiting."""
    columns = np.array(requests, float).reshape(-1, 6).T
    start, duration, active, held, waiting = np.array(steps, float).reshape(-1, 5).T
    is_finished = ~np.isnan(columns[3])
    return Measured(
        *columns[:4],
        prompt_tokens=columns[4].astype(np.int32),
        output_tokens=columns[5].astype(np.int32),
        hit_tokens=np.zeros(len(is_finished), np.int32),
        preemptions=np.zeros(len(is_finished), np.int32),
        is_finished=is_finished,
        is_rejected=~is_finished,
        gap_s=np.array([g for g, _ in gaps], float),
        gap_counts=np.array([n for _, n in gaps], np.int64),
        step_start_s=start,
        step_duration_s=duration,
        active=active.astype(np.int32),
        held=held.astype(np.int32),
        waiting=waiting.astype(np.int32),
        bound=np.zeros(len(start), np.uint8),
        computed=np.full(len(start), 3),
        padding=np.full(len(start), 1),
        slots=slots,
        slo=scenario_from(slo).slo,
    )


def test_example_of_the_specification():
    """n = 101, TTFT 500 ms, then 10 ms a token: TPOT 10.0, ITL 10.0 ms."""
    metrics = summary(make_measured([(0, 0.1, 0.5, 1.5, 64, 101)], gaps=[(0.01, 100)]))

    assert metrics["ttft_s"]["p50"] == 0.5
    assert metrics["tpot_s"]["mean"] == pytest.approx(0.010)
    assert metrics["itl_s"]["p99"] == pytest.approx(0.010)
    assert metrics["e2e_s"]["mean"] == 1.5
    assert metrics["queue_s"]["mean"] == 0.1
    assert metrics["prefill_s"]["mean"] == pytest.approx(0.4)


def test_speculative_steps_are_one_gap_each():
    """Three tokens per 18 ms step: ITL about 18, TPOT about 6 ms."""
    metrics = summary(make_measured([(0, 0, 0.1, 0.1 + 0.018 * 10, 5, 31)], gaps=[(0.018, 10)]))

    assert metrics["itl_s"]["mean"] == pytest.approx(0.018)
    assert metrics["tpot_s"]["mean"] == pytest.approx(0.006)


def test_rates_are_over_first_arrival_to_last_token():
    metrics = summary(make_measured([(1, 1, 2, 4, 100, 10), (2, 2, 3, 6, 200, 30)]))

    assert metrics["duration_s"] == 5
    assert metrics["output_tokens_per_s"] == 8
    assert metrics["total_tokens_per_s"] == 68
    assert metrics["requests_per_s"] == 0.4


def test_one_token_has_no_tpot_but_can_be_good():
    metrics = summary(make_measured([(0, 0, 0.5, 0.5, 100, 1)]))

    assert metrics["tpot_s"]["mean"] is None
    assert metrics["slo_attainment"] == 1
    assert metrics["goodput_rps"] == 2


@pytest.mark.parametrize(
    ("ttft_s", "tpot_s", "is_good"), [(1, 0.05, True), (1.001, 0.05, False), (1, 0.0501, False), (0, 0, True)]
)
def test_good_request_meets_every_slo_inclusive(ttft_s, tpot_s, is_good):
    metrics = summary(make_measured([(0, 0, ttft_s, ttft_s + 4 * tpot_s, 1, 5), (0, 0, 1, 100, 1, 2)]))

    assert metrics["slo_attainment"] == is_good / 2
    assert metrics["goodput_rps"] == is_good / 100


def test_rejected_requests_are_counted_and_miss_the_slo():
    metrics = summary(make_measured([(0, 0, 0.5, 1, 5, 2), (0.2, NAN, NAN, NAN, 5, 0)], slo_tpot_ms=1000))

    assert (metrics["finished"], metrics["rejected"], metrics["slo_attainment"]) == (1, 1, 0.5)
    assert metrics["e2e_s"]["mean"] == 1


def test_idle_slots_are_empty_and_held_ones():
    metrics = summary(make_measured([(0, 0, 1, 10, 1, 2)], steps=[(0, 4, 4, 0, 0), (4, 2, 1, 3, 0), (8, 2, 1, 0, 0)]))

    assert metrics["idle_slot_share"] == pytest.approx(1 - (16 + 2 + 2) / 40)


def test_held_slots_count_only_while_somebody_waits():
    steps = [(0, 4, 2, 2, 3), (4, 6, 1, 3, 0)]

    assert summary(make_measured([(0, 0, 1, 10, 1, 2)], steps))["held_slot_share"] == pytest.approx(8 / 40)


def test_held_slots_count_from_an_arrival_during_a_step():
    requests = [(0, 0, 1, 10, 1, 2), (7, 9, 9.5, 10, 1, 2), (9, 9, 9.5, 10, 1, 2)]

    metrics = summary(make_measured(requests, [(4, 6, 1, 3, 0)]))

    assert metrics["held_slot_share"] == pytest.approx(3 * (10 - 7) / 40)


def test_static_and_continuous_textbook_example():
    """Twelve requests on four slots in unit time: idle 57.7 % of 600 slot-steps, held while others wait 239 of them."""
    tokens = [40, 3, 25, 5, 60, 4, 18, 6, 33, 2, 50, 8]
    requests, steps, start = [], [], 0
    for batch in (tokens[0:4], tokens[4:8], tokens[8:12]):
        requests += [(0, start, start + 1, start + n, 1, n) for n in batch]
        waiting = 12 - len(requests)
        active = [sum(n > s for n in batch) for s in range(max(batch))]
        steps += [(start + s, 1, a, 4 - a, waiting) for s, a in enumerate(active)]
        start += max(batch)

    metrics = summary(make_measured(requests, steps))

    assert (metrics["steps"], metrics["duration_s"]) == (150, 150)
    assert metrics["idle_slot_share"] == pytest.approx(0.577, abs=5e-4)
    assert metrics["held_slot_share"] == pytest.approx(239 / 600)


def test_hits_and_preemptions():
    measured = make_measured([(0, 0, 1, 2, 100, 2), (0, 0, 1, 2, 300, 2), (0, NAN, NAN, NAN, 999, 0)])
    measured = replace(measured, hit_tokens=np.array([0, 200, 0]), preemptions=np.array([2, 1, 0]))

    metrics = summary(measured)

    assert metrics["prefix_hit_share"] == 0.5
    assert metrics["preemptions"] == 3


def test_step_time_is_shared_among_what_bound_it():
    measured = make_measured([(0, 0, 1, 4, 1, 2)], [(0, 1, 1, 0, 0), (1, 3, 1, 0, 0)])

    shares = summary(replace(measured, bound=np.array([2, 0], np.uint8)))["bound_share"]

    assert shares == {"weights": 0.75, "kv": 0, "compute": 0.25, "communication": 0, "overhead": 0}


@pytest.mark.parametrize("requests", [(), [(0, NAN, NAN, NAN, 5, 0)]])
def test_nothing_finished_is_none_not_nan(requests):
    metrics = summary(make_measured(requests))

    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    assert metrics["ttft_s"] == {"mean": None, "p50": None, "p90": None, "p95": None, "p99": None}
    assert metrics["duration_s"] is None
    assert metrics["idle_slot_share"] is None
    assert metrics["finished"] == 0


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 20)), max_size=30))
def test_weighted_percentiles_are_numpys_of_the_gaps_written_out(gaps):
    written_out = np.array([gap for gap, count in gaps for _ in range(count)])

    itl = summary(make_measured([(0, 0, 1, 2, 1, 2)], gaps=gaps))["itl_s"]

    if len(written_out) == 0:
        assert set(itl.values()) == {None}
    else:
        expected = [written_out.mean(), *np.percentile(written_out, [50, 90, 95, 99])]
        np.testing.assert_allclose(list(itl.values()), expected, rtol=1e-12, atol=1e-300)


def test_table_holds_what_is_specified_once_with_meaning_and_drivers():
    names = [metric.name for metric in METRICS]

    assert len(names) == len(set(names))
    assert set(names) >= SPECIFIED
    for metric in METRICS:
        assert metric.meaning
        assert metric.driven_by
        assert set(metric.driven_by) <= set(BY_NAME)


def test_padding_share_counts_padding_among_all_computed_tokens() -> None:
    shares = summary(make_measured(steps=[(0, 1, 1, 0, 0), (1, 1, 1, 0, 0)]))

    assert shares["padding_share"] == 0.25
