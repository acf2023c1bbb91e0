"""Scenarios: what is accepted, what is refused, and that settings survive a round trip."""

import json
from contextlib import suppress
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.parameters import PARAMETERS, Kind
from sim.scenario import ScenarioError, Server, Slo, Workload, scenario_from, settings_of

SECTIONS = {"workload": Workload, "server": Server, "slo": Slo}
LISTED = ("arrival_list", "prompt_list", "output_list")


def value_strategy(parameter):
    if parameter.kind is Kind.BOOL:
        return st.booleans()
    if parameter.kind is Kind.CHOICE:
        return st.sampled_from(parameter.choices)
    if parameter.kind is Kind.TEXT:
        return st.sampled_from(["", "0123456789abcdef" * 4])
    if parameter.base == "int":
        numbers = st.integers(int(parameter.low), int(parameter.high))
    else:
        numbers = st.floats(parameter.low, parameter.high, exclude_min=parameter.above_low)
    return numbers | st.just(parameter.word) if parameter.word else numbers


settings_strategy = st.fixed_dictionaries(
    {}, optional={p.name: value_strategy(p) for p in PARAMETERS if p.name not in LISTED}
)


@given(settings_strategy)
def test_settings_round_trip(settings):
    try:
        scenario = scenario_from(settings)
    except ScenarioError:
        return

    assert scenario_from(json.loads(json.dumps(settings_of(scenario)))) == scenario
    assert scenario_from(settings_of(scenario, defaults=False)) == scenario
    assert scenario_from({name: str(value) for name, value in settings_of(scenario).items()}) == scenario


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 9999)), min_size=1, max_size=9))
def test_lists_round_trip_and_set_num_requests(pairs):
    lists = {"arrival_list": [a for a, _ in pairs], "output_list": [n for _, n in pairs]}

    scenario = scenario_from(lists)

    assert scenario.workload.num_requests == len(pairs)
    assert scenario_from(settings_of(scenario)) == scenario


@given(st.dictionaries(st.sampled_from([p.name for p in PARAMETERS]) | st.text(), st.text(max_size=30)))
def test_any_text_gives_a_scenario_or_a_scenario_error(settings):
    with suppress(ScenarioError):
        scenario_from(settings)


@pytest.mark.parametrize("section", SECTIONS)
def test_fields_are_the_rows_of_the_table_in_order(section):
    assert [f.name for f in fields(SECTIONS[section])] == [p.name for p in PARAMETERS if p.section == section]


def test_settings_without_defaults_hold_what_differs():
    assert settings_of(scenario_from({"max_num_seqs": "8", "rate": 6}), defaults=False) == {"max_num_seqs": 8}


def test_checks_hold_for_scenarios_made_by_a_program():
    with pytest.raises(ScenarioError, match="rate"):
        replace(scenario_from({}).workload, rate=float("nan"))


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"max_seqs": 8}, "max_seqs"),
        ({"n_batch": 512}, "n_batch"),
        ({"": 1}, "(empty)"),
        ({"engine": "sglang"}, "engine"),
        ({"replicas": 2}, "replicas"),
        ({"router": "least_loaded"}, "router"),
        ({"max_num_batched_tokens": 255}, "max_num_batched_tokens"),
        ({"async_scheduling": "true", "num_speculative_tokens": 3}, "async_scheduling"),
        ({"max_num_batched_tokens": 3, "max_num_seqs": 1, "num_speculative_tokens": 3}, "max_num_batched_tokens"),
        ({"long_prefill_token_threshold": 3, "num_speculative_tokens": 3}, "long_prefill_token_threshold"),
        ({"prompt_list": "1,2", "output_list": "1"}, "output_list"),
        ({"arrival_list": "0,1", "load": "closed"}, "arrival_list"),
        ({"arrival_list": "-1"}, "arrival_list"),
        ({"prompt_list": "0"}, "prompt_list"),
        ({"prompt_list": "9", "session": "chat"}, "prompt_list"),
        ({"load": "trace"}, "trace"),
        ({"load": "trace", "trace": "a" * 64, "session": "agent"}, "session"),
        ({"trace_from_s": 5, "trace_to_s": 5}, "trace_to_s"),
        ({"gpu": "h100 nvl 2"}, "gpu"),
    ],
)
def test_refusal_names_the_field(settings, field):
    with pytest.raises(ScenarioError) as caught:
        scenario_from(settings)

    assert caught.value.field == field


def test_unknown_name_suggests_the_closest():
    with pytest.raises(ScenarioError, match="max_num_seqs"):
        scenario_from({"max_num_seq": 8})


def test_unknown_model_lists_the_catalogue_closest_first():
    with pytest.raises(ScenarioError) as caught:
        scenario_from({"model": "llama-3.1-80b"})

    assert caught.value.allowed.startswith("one of llama-3.1-8b")
