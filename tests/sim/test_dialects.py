"""One run in the terms of three tools: the worked examples of the specification, and what people took for errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.dialects import DIALECT_BY_NAME, DIALECTS, guidellm, metrics_in, stepped
from sim.errors import ScenarioError
from sim.metrics import METRICS
from sim.run import simulate
from sim.scenario import scenario_from
from tests.sim.test_metrics import NAN, make_measured

EXAMPLE = [(0, 0.1, 0.5, 1.5, 64, 101)]
"""n = 101, TTFT 500 ms, then 10 ms a token."""


@pytest.mark.parametrize(
    ("dialect", "tpot_ms", "itl_ms"), [("vllm", 10.0, 10.0), ("guidellm", 14.9, 10.0), ("aiperf", None, 10.0)]
)
def test_example_of_the_specification(dialect, tpot_ms, itl_ms):
    measured = make_measured(EXAMPLE, gaps=[(0.01, 100)])

    metrics = guidellm(measured, cut=0) if dialect == "guidellm" else metrics_in(dialect, measured)

    assert metrics["itl_s"]["mean"] == pytest.approx(itl_ms / 1000)
    tpot_s = metrics["tpot_s"]["mean"]
    assert tpot_s is None if tpot_ms is None else tpot_s == pytest.approx(tpot_ms / 1000, abs=5e-5)


def test_tokens_per_output_of_this_tool_contain_the_first():
    """Case met-03 (vLLM issue 1435): TTFT 515 ms, ITL 6.7 ms, 500 tokens: TPOT 7.72 and not 6.70."""
    measured = make_measured([(0, 0, 0.515, 0.515 + 499 * 0.0067, 500, 500)], gaps=[(0.0067, 499)])

    assert guidellm(measured, cut=0)["tpot_s"]["mean"] * 1000 == pytest.approx(7.72, abs=0.02)
    assert metrics_in("vllm", measured)["tpot_s"]["mean"] * 1000 == pytest.approx(6.70, abs=0.005)


def test_short_answers_of_a_burst_lift_tpot_over_itl():
    """Case met-01 (vLLM PR 18566): TPOT counts requests, ITL tokens; only with equal lengths the two agree."""
    burst = {"load": "burst", "num_requests": 1000, "prompt_tokens": 230, "max_num_seqs": 1024}
    outputs = np.exp(np.random.default_rng(1).uniform(np.log(10), np.log(1000), 1000)).astype(int)

    run = simulate(scenario_from(burst | {"output_list": ",".join(map(str, outputs))}))
    equal = simulate(scenario_from(burst | {"prompt_dist": "fixed", "output_dist": "fixed"})).metrics()

    unequal, longest_step_s = run.metrics(), run.steps["duration_s"].max()
    assert 1.3 < unequal["tpot_s"]["mean"] / unequal["itl_s"]["mean"] < 2.5
    assert 0.98 < equal["tpot_s"]["mean"] / equal["itl_s"]["mean"] < 1.02
    for metric in ("tpot_s", "itl_s"):
        assert unequal[metric]["p99"] == pytest.approx(longest_step_s, rel=0.1)


def test_speculative_step_is_one_gap_and_several_tokens():
    settings = {"num_requests": 1, "num_speculative_tokens": 2, "acceptance": 1, "output_list": "301"}

    metrics = simulate(scenario_from(settings)).metrics()

    assert metrics["itl_s"]["p50"] / metrics["tpot_s"]["p50"] == pytest.approx(3, rel=0.01)


def test_this_tool_weighs_by_tokens():
    """A request of 11 tokens with gaps of 10 ms and one of 101 with gaps of 20 ms."""
    measured = make_measured([(0, 0, 0, 0.1, 9, 11), (0, 0, 0, 2.0, 9, 101)])

    metrics = guidellm(measured, cut=0)

    assert metrics["itl_s"]["mean"] == pytest.approx((10 * 0.01 + 100 * 0.02) / 110)
    assert metrics["itl_s"]["p50"] == 0.02
    assert metrics["tpot_s"]["mean"] == pytest.approx(2.1 / 112)
    assert metrics_in("aiperf", measured)["itl_s"]["mean"] == pytest.approx(0.015)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=40))
def test_weighted_percentile_is_the_lower_step_of_the_values_written_out(pairs):
    values, weights = (np.array(column) for column in zip(*pairs, strict=True))
    written = np.repeat(values, weights)

    result = stepped(values.astype(float), weights)

    for name, p in (("p50", 50), ("p90", 90), ("p95", 95), ("p99", 99)):
        assert result[name] == np.percentile(written, p, method="inverted_cdf")
    assert result["mean"] == pytest.approx(written.mean())


def test_warm_up_and_cool_down_do_not_count():
    """Three requests over 10 s: the first ends in the warm-up, the last in the cool-down."""
    measured = make_measured([(0, 0, 0.2, 0.6, 1, 5), (0, 0, 1, 5, 1, 41), (0, 0, 6, 10, 1, 81)])

    metrics = metrics_in("guidellm", measured)

    assert metrics["ttft_s"]["mean"] == 1
    assert metrics["requests_per_s"] == 1 / 8
    # 41 of the second; of the third its first and those until 9 s, three quarters of 80
    assert metrics["output_tokens_per_s"] == pytest.approx((41 + 1 + 60) / 8)


def test_errors_are_misses():
    measured = make_measured([(0, 0, 0.1, 5, 1, 500), (0, NAN, NAN, NAN, 1, 0)], slo_tpot_ms=50)

    assert guidellm(measured, cut=0)["slo_attainment"] == 0.5


def test_slo_is_held_against_the_tools_own_tpot():
    """4 tokens: 100 ms to the first, then 10 ms each: 10 ms by vLLM, 32.5 ms by GuideLLM."""
    measured = make_measured([(0, 0, 0.1, 0.13, 1, 4)], slo_tpot_ms=20)

    assert metrics_in("vllm", measured)["slo_attainment"] == 1
    assert guidellm(measured, cut=0)["slo_attainment"] == 0


@pytest.mark.parametrize("dialect", DIALECT_BY_NAME)
@pytest.mark.parametrize(
    "requests", [[], [(0, 0, 1, 1, 9, 1)], [(0, NAN, NAN, NAN, 9, 0)]], ids=["none", "one", "refused"]
)
def test_what_is_undefined_is_none(dialect, requests):
    metrics = metrics_in(dialect, make_measured(requests))

    assert set(metrics) == {metric.name for metric in METRICS}
    values = [v for value in metrics.values() for v in (value.values() if isinstance(value, dict) else [value])]
    assert not any(isinstance(value, float) and np.isnan(value) for value in values)


def test_every_dialect_explains_what_it_changes():
    measured = make_measured(EXAMPLE * 3)
    for dialect in DIALECTS:
        assert set(dialect.compute(measured)) <= set(dialect.meanings) | {"total_tokens_per_s"}
        assert set(dialect.meanings) <= {metric.name for metric in METRICS}


def test_unknown_dialect_is_refused():
    with pytest.raises(ScenarioError, match="vllm, guidellm, aiperf"):
        metrics_in("genai-perf", make_measured(EXAMPLE))
