"""The parameter table: complete, consistent, and read and written without loss."""

import re

import pytest

from sim.errors import ScenarioError
from sim.parameters import BY_NAME, PARAMETERS, Kind
from sim.values import check_value, read_value, write_value

UNLIKE_ANY = "no such value"


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda p: p.name)
def test_default_is_allowed_and_round_trips(parameter):
    check_value(parameter, parameter.default)

    assert read_value(parameter, write_value(parameter, parameter.default)) == parameter.default


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda p: p.name)
@pytest.mark.parametrize("text", [UNLIKE_ANY, "nan", "-1", "1e999x", "\x00", "１２", "1_0", "9" * 400 + "e"])
def test_nonsense_is_refused_in_one_line_with_field_and_allowed(parameter, text):
    with pytest.raises(ScenarioError) as caught:
        read_value(parameter, text)

    assert caught.value.field == parameter.name
    assert caught.value.allowed
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.base in ("int", "float")], ids=lambda p: p.name)
def test_range_is_refused_just_outside(parameter):
    below = parameter.low if parameter.above_low else parameter.low - 1
    with pytest.raises(ScenarioError):
        read_value(parameter, below)
    with pytest.raises(ScenarioError):
        read_value(parameter, parameter.high + 1 if parameter.high < float("inf") else "nan")


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.base == "float"], ids=lambda p: p.name)
def test_infinity_is_refused_except_for_burstiness(parameter):
    if parameter.name == "burstiness":
        assert write_value(parameter, read_value(parameter, "inf")) == "inf"
    else:
        with pytest.raises(ScenarioError):
            read_value(parameter, "inf")


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.word], ids=lambda p: p.name)
def test_word_is_stored_as_none(parameter):
    assert read_value(parameter, parameter.word) is None
    assert write_value(parameter, None) == parameter.word


def test_whole_number_may_be_written_as_a_json_float():
    assert read_value(BY_NAME["max_num_seqs"], 8.0) == 8


def test_boolean_is_not_a_number():
    with pytest.raises(ScenarioError):
        read_value(BY_NAME["max_num_seqs"], True)
    with pytest.raises(ScenarioError):
        check_value(BY_NAME["max_num_seqs"], True)


def test_list_names_the_item_at_fault():
    with pytest.raises(ScenarioError) as caught:
        read_value(BY_NAME["prompt_list"], "5,0,7")

    assert caught.value.value == 0


def test_list_reads_text_and_sequences():
    assert read_value(BY_NAME["arrival_list"], "1, 0.5 ,0") == read_value(BY_NAME["arrival_list"], [1, 0.5, 0.0])


@pytest.mark.parametrize("text", ["1,,2", ",", "1;2", "1,2,"])
def test_malformed_list_is_refused(text):
    with pytest.raises(ScenarioError):
        read_value(BY_NAME["prompt_list"], text)


def test_alias_of_a_model_becomes_its_id():
    assert read_value(BY_NAME["model"], "meta-llama/Llama-3.1-8B-Instruct") == "llama-3.1-8b"


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda p: p.name)
def test_row_says_what_it_does(parameter):
    assert parameter.help
    assert parameter.allowed
    assert parameter.kind in Kind
    assert bool(parameter.choices) == (parameter.kind is Kind.CHOICE)


def test_names_and_defaults_are_those_of_the_specification(shared):
    text = (shared / "PARAMETERS.md").read_text(encoding="utf-8")

    written = {p.name: str(write_value(p, p.default)).lower() or "-" for p in PARAMETERS}

    assert written == dict(_specified(text))


def _specified(text):
    """(name, default) of each row of the table of parameters."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 4 or "`" not in cells[1]:
            continue
        names, defaults = re.findall(r"`(\w+)`", cells[1]), cells[3].split(", ")
        yield from zip(names, defaults if len(defaults) == len(names) else defaults * len(names), strict=True)
