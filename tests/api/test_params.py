from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.controls import CONTROLS, FLAGS, GROUPS
from app.openapi import describe_fork, describe_parameters, query_parameters
from app.params import VIEWS, parse_query, read_query, write_query
from sim.fork import FORKABLE
from sim.parameters import BY_NAME, PARAMETERS
from sim.scenario import ScenarioError, scenario_from, settings_of


def read(query: str):
    return read_query(parse_query(query))


def test_the_empty_query_is_the_default_scenario():
    assert read("").scenarios == {"a": scenario_from({})}


def test_b_and_c_repeat_only_what_differs():
    views = read("rate=3&max_num_seqs=8&b.batching=static&c.rate=5")
    assert views.scenarios["b"] == scenario_from({"rate": 3, "max_num_seqs": 8, "batching": "static"})
    assert views.scenarios["c"] == scenario_from({"rate": 5, "max_num_seqs": 8})


def test_view_parameters_are_apart_from_the_scenario():
    views = read("t=3.5&run=b&from=7&count=9&blocks=1&requests=true&b.seed=2")
    assert (views.t, views.run, views.first, views.count, views.blocks, views.requests) == (3.5, "b", 7, 9, True, True)
    assert views.scenario == scenario_from({"seed": 2})


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("rate=0", "rate"),
        ("rate=", "rate"),
        ("rate=nan", "rate"),
        ("rate=1e999", "rate"),
        ("num_requests=1.5", "num_requests"),
        ("num_requests=-1", "num_requests"),
        ("gpu=abacus", "gpu"),
        ("batching=maybe", "batching"),
        ("prompt_list=1,x", "prompt_list"),
        ("b.max_num_seqs=0", "b.max_num_seqs"),
        ("b.max_num_batched_tokens=8&max_num_seqs=16", "b.max_num_batched_tokens"),
        ("unknown=1", "unknown"),
        ("b.unknown=1", "b.unknown"),
        ("d.rate=1", "d.rate"),
        ("rate=1&rate=1", "rate"),
        ("b.rate=1&b.rate=2", "b.rate"),
        ("t=1&t=1", "t"),
        ("t=inf", "t"),
        ("from=-1", "from"),
        ("from=1_0", "from"),
        ("count=0", "count"),
        ("run=d", "run"),
        ("b.t=1", "b.t"),
        ("&".join(["rate=1"] * 400), "query"),
    ],
)
def test_a_bad_field_is_named_in_full(query: str, field: str):
    with pytest.raises(ScenarioError) as raised:
        read(query)
    assert raised.value.field == field


def test_a_run_that_is_not_in_the_url_is_refused():
    with pytest.raises(ScenarioError, match="run"):
        _ = read("run=b").scenario


def test_defaults_are_left_out_unless_full():
    scenarios = read("rate=2&b.batching=static").scenarios
    assert write_query(scenarios) == "rate=2&b.batching=static"
    full = dict(parse_qsl(write_query(scenarios, full=True), keep_blank_values=True))
    assert list(full) == [*(p.name for p in PARAMETERS), "b.batching"]


def test_a_value_that_differs_by_being_the_default_is_written():
    query = "max_num_seqs=8&b.max_num_seqs=256"
    assert write_query(read(query).scenarios) == query


def test_a_second_run_that_equals_the_first_stays_in_the_url():
    query = write_query({"a": scenario_from({}), "b": scenario_from({})})
    assert list(read(query).scenarios) == ["a", "b"]


def test_scenario_of_defaults_alone_is_named() -> None:
    assert write_query({"a": scenario_from({})}, t=2.0) == "num_requests=60&t=2"


def test_views_are_written_last():
    assert write_query(read("seed=3").scenarios, t=2.0, run="b", count=None) == "seed=3&t=2&run=b"


VALUES = {
    "rate": st.floats(0.001, 1000),
    "seed": st.integers(0, 2**53 - 1),
    "batching": st.sampled_from(["static", "continuous"]),
    "num_gpu_blocks": st.one_of(st.just("auto"), st.integers(1000, 9999)),
    "max_num_seqs": st.integers(1, 256),
    "async_scheduling": st.booleans(),
    "burstiness": st.one_of(st.just("inf"), st.floats(0.01, 100)),
}


@given(st.fixed_dictionaries({}, optional=VALUES), st.fixed_dictionaries({}, optional=VALUES), st.booleans())
def test_a_query_is_read_back_as_it_was_written(a: dict, b: dict, full: bool):
    scenarios = {"a": scenario_from(a), "b": scenario_from({**a, **b})}
    assert read(write_query(scenarios, full=full)).scenarios == scenarios


def test_every_parameter_has_one_control_and_is_described():
    assert sorted(control.name for control in CONTROLS) == sorted(BY_NAME)
    assert [row["name"] for row in describe_parameters()] == [p.name for p in PARAMETERS]
    assert set(FLAGS) <= set(BY_NAME)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_a_control_lies_within_its_parameter(control):
    parameter = control.parameter
    assert control.group in GROUPS
    assert control.widget in ("range", "select", "segments", "number", "text")
    if control.widget == "range":
        assert control.low < control.high
        for value in (control.low, control.high):
            scenario_from({"max_num_seqs": 1} | {control.name: value})
    if control.widget in ("select", "segments"):
        assert parameter.base in ("choice", "bool")


def test_openapi_lists_every_parameter_with_its_range():
    listed = {row["name"]: row["schema"] for row in query_parameters(*(view.name for view in VIEWS))["parameters"]}
    forks = ["fork", *(f"fork.{name}" for name in FORKABLE)]
    assert list(listed) == [*(p.name for p in PARAMETERS), *forks, *(view.name for view in VIEWS)]
    rate = BY_NAME["rate"]
    assert listed["rate"] == {"type": "number", "minimum": rate.low, "maximum": rate.high, "default": 6}
    assert listed["slo_ttft_ms"]["exclusiveMinimum"] == 0
    assert listed["num_gpu_blocks"]["anyOf"][1] == {"const": "auto"}


def test_settings_are_those_of_the_table():
    assert list(settings_of(read("").scenario)) == [p.name for p in PARAMETERS]


def test_fork_is_a_run_beside_the_plain_one():
    views = read("rate=2&fork=3.42&fork.max_num_seqs=16&b.batching=static&run=fork")

    assert list(views.scenarios) == ["a", "fork", "b"]
    assert views.scenarios["fork"] == scenario_from({"rate": 2, "fork": 3.42, "fork.max_num_seqs": 16})
    assert views.scenarios["a"].fork is views.scenarios["b"].fork is None
    assert views.scenario == views.scenarios["fork"]


def test_fork_is_the_run_that_is_meant_unless_another_is_named():
    assert read("fork=3&fork.rate=2").scenario.fork is not None
    assert read("fork=3&fork.rate=2&run=a").scenario.fork is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("fork=3", "fork"),
        ("fork.rate=3", "fork"),
        ("fork=soon&fork.rate=3", "fork"),
        ("fork=3&fork.gpu=h100-sxm", "fork.gpu"),
        ("fork=3&fork.rate=0", "fork.rate"),
        ("fork=3&fork.=0", "fork."),
        ("fork=1&fork=3&fork.rate=2", "fork"),
        ("fork=1&fork.rate=2&fork.rate=2", "fork.rate"),
        ("b.fork=3&b.fork.rate=2", "b.fork"),
        ("c.fork.rate=2", "c.fork.rate"),
        ("load=closed&fork=3&fork.rate=2", "fork.rate"),
        ("fork.max_num_batched_tokens=9&fork=1", "fork.max_num_batched_tokens"),
        ("run=fork", "run"),
    ],
)
def test_bad_field_of_a_fork_is_named_in_full(query: str, field: str):
    with pytest.raises(ScenarioError) as raised:
        _ = read(query).scenario
    assert raised.value.field == field


def test_fork_is_written_after_the_other_runs_and_only_what_it_changes():
    query = "fork.rate=6&fork.max_num_seqs=16&fork=3.420&c.seed=3&max_num_seqs=8"
    assert write_query(read(query).scenarios, t=2) == "max_num_seqs=8&c.seed=3&fork=3.42&fork.max_num_seqs=16&t=2"


def test_fork_that_changes_nothing_stays_in_the_url():
    assert write_query(read("fork=3&fork.rate=6").scenarios) == "fork=3&fork.rate=6"


CHANGES = {
    "max_num_seqs": st.integers(1, 256),
    "batching": st.sampled_from(["static", "continuous"]),
    "prefix_cache": st.sampled_from(["off", "shared"]),
    "acceptance": st.floats(0, 1),
    "rate": st.floats(0.001, 1000),
    "max_waiting": st.one_of(st.just("none"), st.integers(1, 99)),
    "max_num_batched_tokens": st.one_of(st.just("auto"), st.integers(256, 9999)),
}


@given(st.fixed_dictionaries({}, optional=CHANGES).filter(bool), st.floats(0, 1e6), st.booleans())
def test_fork_is_read_back_as_it_was_written(changes: dict, time_s: float, full: bool):
    named = {f"fork.{name}": value for name, value in changes.items()}
    scenarios = {"a": scenario_from({}), "fork": scenario_from({"fork": time_s} | named)}
    again = read(write_query(scenarios, full=full)).scenarios
    assert again["a"] == scenarios["a"]
    assert again["fork"].fork.time_s == scenarios["fork"].fork.time_s
    assert again["fork"].forked == scenarios["fork"].forked


def test_parameters_say_which_can_change_in_mid_run():
    assert {row["name"] for row in describe_parameters() if row["is_forkable"]} == set(FORKABLE)
    assert describe_fork()["changes"] == list(FORKABLE)
