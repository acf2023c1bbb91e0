"""The form shows the scenario's values, and sends along what it does not show."""

import re

import pytest

from app.controls import CONTROLS, Control
from app.fields import Field
from app.flags import FLAGS
from app.form import groups_of, hidden_of
from app.params import parse_query, read_query
from sim.parameters import BY_NAME


def fields_of(query: str) -> dict[str, Field]:
    groups = groups_of(read_query(parse_query(query)).scenarios)
    return {field.name: field for group in groups for field in group.fields}


def test_field_has_value_and_default() -> None:
    field = fields_of("rate=3.9")["rate"]
    assert (field.value, field.default, field.unit) == ("3.9", "6", "req/s")


def test_auto_is_a_word_of_the_slider() -> None:
    assert fields_of("")["num_gpu_blocks"].word == "auto"


def test_every_parameter_has_its_control_in_the_form() -> None:
    assert set(fields_of("")) == set(BY_NAME)


def test_control_that_another_run_overrides_is_still_offered_for_the_plain_one() -> None:
    assert fields_of("b.batching=static")["batching"].value == "continuous"


def test_auto_says_what_it_comes_to() -> None:
    scenarios = read_query(parse_query("block_size=32")).scenarios
    fields = {field.name: field for group in groups_of(scenarios, {"num_gpu_blocks": 12_345}) for field in group.fields}
    assert fields["num_gpu_blocks"].resolved == "auto: 12,345"
    assert fields["block_size"].resolved == ""


def test_fold_opens_for_a_value_that_is_not_the_default() -> None:
    def changed(query: str) -> dict[str, int]:
        return {group.title: group.changed for group in groups_of(read_query(parse_query(query)).scenarios)}

    assert not any(changed("rate=9").values())
    assert changed("watermark=0.1&seed=4") == {"Workload": 1, "Server": 1, "Memory": 0, "Techniques": 0, "SLO": 0}


def test_control_without_effect_is_hidden() -> None:
    assert fields_of("load=closed")["rate"].is_hidden
    assert not fields_of("load=closed")["concurrency"].is_hidden
    assert fields_of("load=burst&prompt_list=1,2")["prompt_tokens"].is_hidden
    assert fields_of("prompt_dist=azure-conv")["prompt_tokens"].is_hidden
    assert not fields_of("prompt_dist=azure-conv")["output_tokens"].is_hidden


def test_control_without_effect_says_why_if_it_is_not_hidden() -> None:
    field = fields_of("num_gpu_blocks=500")["gpu_memory_utilization"]
    assert field.is_disabled
    assert field.why == "the number of KV blocks is set"
    assert not fields_of("")["gpu_memory_utilization"].is_idle


def test_shared_prompt_shorter_than_a_block_is_remarked() -> None:
    assert fields_of("shared_prefix_tokens=240&block_size=784")["shared_prefix_tokens"].is_hinted
    assert not fields_of("shared_prefix_tokens=240")["shared_prefix_tokens"].is_hinted
    assert not fields_of("")["shared_prefix_tokens"].is_hinted


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_conditions_of_a_control_name_parameters_and_values_they_can_have(control: Control) -> None:
    for condition in f"{control.needs}&{control.hint_if}".split("&"):
        name, sign, values = re.fullmatch(r"(\w*)(!=|=|<|)(.*)", condition).groups()  # type: ignore[union-attr]
        if sign == "<":
            assert {name, values} <= set(BY_NAME)
        elif sign:
            choices = BY_NAME[name].choices
            assert not choices or set(values.split("|")) <= set(choices)


def test_flags_are_of_parameters_and_name_no_engine_without_need() -> None:
    assert set(FLAGS) <= set(BY_NAME)
    assert all(any(flags) for flags in FLAGS.values())


def test_help_names_the_flag_of_each_engine_or_that_there_is_none() -> None:
    flags = dict(fields_of("")["watermark"].flags)
    assert list(flags) == ["vLLM", "SGLang", "TensorRT-LLM", "llama-server"]
    assert flags["SGLang"] == "no equivalent"
    assert dict(fields_of("")["max_num_seqs"].flags)["llama-server"] == "<code>--parallel</code>"
    assert fields_of("")["cost"].flags == ()


def test_form_without_scripts_keeps_the_rest_of_the_scenario() -> None:
    scenarios = read_query(parse_query("rate=2&num_requests=9&b.batching=static")).scenarios
    hidden = dict(hidden_of(scenarios, groups_of(scenarios), t=1.5))
    assert hidden == {"b.batching": "static", "t": "1.5"}
