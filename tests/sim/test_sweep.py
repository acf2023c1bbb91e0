"""Load curves: grids, the same numbers as single runs, crossings and peaks; published puzzles as relations."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sim.__main__ import app
from sim.axis import at_once, axis_around, load_name, read_axis
from sim.errors import ScenarioError
from sim.parameters import PARAMETERS
from sim.run import simulate
from sim.scenario import scenario_from
from sim.sweep import CURVES, Point, crossing_of, curve_values, curves_of, peak_of, points, spots

FEW = {"num_requests": 20, "max_num_seqs": 4}
BAD_AXES = ["rate=0:4:3", "rate=x", "rate", "gpu=1,2", "rate=4:1:3", "rate=1:4:0", "rate=1:4", "burstiness=inf",
            "max_waiting=none", "tensor_parallel_size=1,3", "max_num_batched_tokens=16"]  # fmt: skip


def call(*words):
    return CliRunner().invoke(app, ["sweep", *words])


def make_curve(*rows):
    """Points at x = 0, 1, …; a row holds a value per seed."""
    return [Point("a", i, float(i), {"goodput_rps": row}) for i, row in enumerate(rows)]


def swept(settings, axis, seeds=1):
    return list(points(spots({"a": scenario_from(settings)}, axis, seeds)))


def means(found, path):
    return [point.band(path)["mean"] for point in found]


@pytest.mark.parametrize(
    ("name", "grid", "values"),
    [
        ("rate", "1:40:9", (1, 5.875, 10.75, 15.625, 20.5, 25.375, 30.25, 35.125, 40)),
        ("rate", "4,1,4", (1, 4)),
        ("rate", "3:3:1", (3,)),
        ("max_num_seqs", "1:10:4", (1, 4, 7, 10)),
        ("turns", "1:2:9", (1, 2)),
        ("max_waiting", "5", (5,)),
    ],
)
def test_grid_is_even_and_whole_where_the_parameter_is(name, grid, values):
    axis = read_axis(name, grid)

    assert axis.values == values
    assert all(isinstance(value, int) for value in axis.values) == (name != "rate")


@pytest.mark.parametrize("text", BAD_AXES)
def test_bad_axis_is_refused_by_its_name(text):
    result = call("--x", text, "--seeds", "1", "--set", "num_requests=2")

    assert isinstance(result.exception, ScenarioError)
    assert result.exception.field in ("--x", "max_num_batched_tokens")


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--seeds", "0"], "seeds"),
        (["--scenario", "batching=static"], "--scenario"),
        (["--scenario", "a:batching=static"], "--scenario"),
        (["--scenario", "b:batching=no"], "b.batching"),
        (["--cross", "ttft=2"], "--cross"),
        (["--cross", "ttft_s.p50=nan"], "--cross"),
        (["--trace", "absent.csv"], "trace"),
    ],
)
def test_bad_option_is_refused_by_its_name(words, field):
    assert call("--x", "rate=1", *words).exception.field == field


@given(st.sampled_from([p for p in PARAMETERS if p.base in ("int", "float")]), st.integers(1, 12))
def test_every_numeric_parameter_can_be_an_axis(parameter, count):
    high = min(parameter.high, parameter.low + 100)
    low = parameter.low + (1 if parameter.above_low else 0)

    axis = read_axis(parameter.name, f"{low}:{high}:{count}")

    assert 1 <= len(axis.values) <= count
    assert all(earlier < later for earlier, later in pairwise(axis.values))


def test_command_answers_with_a_band_per_metric_and_point():
    words = ["--x", "rate=2:8:3", "--scenario", "b:batching=static", "--set", "num_requests=12", "--seeds", "3"]

    result = json.loads(call(*words, "--json").stdout)

    assert result["x"] == {"name": "rate", "values": [2.0, 5.0, 8.0]}
    assert set(result["curves"]) == {"a", "b"}
    for curve in result["curves"].values():
        assert set(curve) == set(CURVES)
        for mean, low, high in zip(*(curve["ttft_s.p50"][key] for key in ("mean", "low", "high")), strict=True):
            assert low <= mean <= high


def test_printed_sweep_names_the_peak_and_the_crossing():
    printed = call("--x", "rate=1:40:5", "--set", "max_num_seqs=4", "--seeds", "2").stdout

    assert "goodput peaks at rate = " in printed
    assert "ttft_s.p50 reaches 2 at rate = " in printed


def test_point_is_what_single_runs_with_these_seeds_come_to():
    axis = read_axis("rate", "3,9")

    found = swept(FEW | {"seed": 5}, axis, seeds=2)

    runs = [simulate(scenario_from(FEW | {"seed": seed, "rate": 9})) for seed in (5, 6)]
    assert [found[1].values[path] for path in CURVES] == [
        tuple(curve_values(run)[path] for run in runs) for path in CURVES
    ]


def test_order_and_values_do_not_depend_on_the_threads():
    todo = spots(
        {"a": scenario_from(FEW), "b": scenario_from(FEW | {"batching": "static"})}, read_axis("rate", "1:9:4"), 2
    )

    one, three = (list(points(todo, threads=threads)) for threads in (1, 3))

    assert one == three
    assert [(point.index, point.curve) for point in one] == [(i, name) for i in range(4) for name in "ab"]


def test_undefined_values_are_null_and_leave_the_mean_to_the_others():
    point = Point("a", 0, 1.0, {"goodput_rps": (None, 2.0, 4.0)})

    assert point.band("goodput_rps") == {"mean": 3.0, "low": 2.0, "high": 4.0}
    axis = read_axis("rate", "1")
    assert curves_of(axis, swept({"output_list": "1", "prompt_list": "9"}, axis))["curves"]["a"]["tpot_s.p50"] == {
        "mean": [None],
        "low": [None],
        "high": [None],
    }


def test_crossing_is_between_the_points_of_each_seed():
    crossing = crossing_of(
        make_curve((0.0, 1.0, 0.0, 9.0), (1.0, 1.0, 0.5, 9.0), (3.0, 5.0, 1.0, 9.0)), "goodput_rps", 2.0
    )

    assert (crossing.low, crossing.high) == (1.25, 1.5)
    assert crossing.mean == pytest.approx(1.375)
    assert (crossing.crossed, crossing.above, crossing.below) == (2, 1, 1)
    assert (crossing.after, crossing.before) == (1, 2)


@pytest.mark.parametrize(("level", "above", "below"), [(0.5, 1, 0), (7.0, 0, 1)])
def test_curve_that_does_not_cross_says_on_which_side_it_stays(level, above, below):
    crossing = crossing_of(make_curve((1.0,), (None,), (3.0,)), "goodput_rps", level)

    assert (crossing.mean, crossing.crossed, crossing.above, crossing.below) == (None, 0, above, below)


def test_peak_is_the_first_greatest_mean():
    assert peak_of(make_curve((1.0,), (3.0,), (3.0,)), "goodput_rps").x == 1.0
    assert peak_of(make_curve((0.0,), (None,)), "goodput_rps") is None


@pytest.mark.parametrize(
    ("settings", "name"),
    [({}, "rate"), ({"load": "closed"}, "concurrency"), ({"load": "trace", "trace": "0" * 64}, "trace_scale")],
)
@given(limit=st.floats(0.01, 5000))
def test_axis_around_reaches_from_light_load_to_beyond_the_limit(settings, name, limit):
    scenario = scenario_from(settings)

    axis = axis_around(scenario, limit)

    assert axis.name == name == load_name(scenario)
    assert axis.values[-1] >= max(limit, getattr(scenario.workload, name))
    assert axis.values[0] <= max(1, axis.values[-1] / 9)
    assert all(axis.applied(scenario, value) for value in axis.values)


@pytest.mark.parametrize("settings", [{"load": "burst"}, {"arrival_list": "0,1"}])
def test_load_without_a_rate_has_no_axis(settings):
    with pytest.raises(ScenarioError):
        load_name(scenario_from(settings))


def test_goodput_peaks_before_throughput_and_falls_beyond():
    """Case met-07 (vLLM PR 9338, 24555): limits TTFT 500 ms and TPOT 50 ms, 0.2 to 2 x capacity."""
    settings = {"num_requests": 3000, "max_num_seqs": 8, "slo_ttft_ms": 500, "slo_tpot_ms": 50}
    capacity = simulate(at_once(scenario_from(settings))).metrics()["requests_per_s"]
    axis = read_axis("rate", f"{0.2 * capacity}:{2 * capacity}:7")

    both = swept(settings, axis)
    single = [swept(settings | {limit: 1e9}, axis) for limit in ("slo_ttft_ms", "slo_tpot_ms")]

    goodput, throughput = means(both, "goodput_rps"), means(both, "requests_per_s")
    assert all(good <= served for good, served in zip(goodput, throughput, strict=True))
    for alone in single:
        assert all(good <= one for good, one in zip(goodput, means(alone, "goodput_rps"), strict=True))
    assert goodput.index(max(goodput)) < throughput.index(max(throughput))
    assert goodput[-1] < 0.1 * max(goodput)


def test_overload_queues_in_order_and_serves_what_it_can():
    """Case sat-01 (vLLM issue 3096): above capacity the last waits N/mu - N/lambda, the median half."""
    settings = {"num_requests": 1000, "max_num_seqs": 16, "prompt_dist": "fixed", "output_dist": "fixed"}
    capacity = simulate(at_once(scenario_from(settings))).metrics()["requests_per_s"]
    rates = [0.87 * capacity, 2 * capacity, 87 * capacity]

    light, over, flood = swept(settings, read_axis("rate", ",".join(map(str, rates))))

    drain_s = 1000 / capacity - 1000 / rates[2]
    assert flood.values["duration_s"][0] == pytest.approx(1000 / capacity, rel=0.03)
    assert flood.values["ttft_s.p99"][0] == pytest.approx(0.99 * drain_s, rel=0.03)
    assert flood.values["ttft_s.p50"][0] == pytest.approx(drain_s / 2, rel=0.03)
    for point in (over, flood):
        assert point.values["requests_per_s"][0] == pytest.approx(capacity, rel=0.03)
    assert light.values["ttft_s.p99"][0] < 0.05 * drain_s
