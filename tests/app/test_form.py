"""The form shows the scenario's values, and sends along what it does not show."""

from app.form import groups_of, hidden_of
from app.params import parse_query, read_query
from app.presets import canonical, presets
from app.view import Field


def fields_of(query: str) -> dict[str, Field]:
    groups = groups_of(read_query(parse_query(query)).scenarios)
    return {field.name: field for group in groups for field in group.fields}


def test_field_has_value_and_default() -> None:
    field = fields_of("rate=3.9")["rate"]
    assert (field.value, field.default, field.unit) == ("3.9", "6", "req/s")


def test_auto_is_a_word_of_the_slider() -> None:
    assert fields_of("")["num_gpu_blocks"].word == "auto"


def test_control_that_another_run_overrides_is_not_offered() -> None:
    assert "batching" in fields_of("rate=2")
    assert "batching" not in fields_of("b.batching=static")


def test_control_without_effect_is_hidden() -> None:
    assert fields_of("load=closed")["rate"].is_hidden
    assert not fields_of("load=closed")["concurrency"].is_hidden
    assert fields_of("load=burst&prompt_list=1,2")["prompt_tokens"].is_hidden
    assert fields_of("prompt_dist=azure-conv")["prompt_tokens"].is_hidden
    assert not fields_of("prompt_dist=azure-conv")["output_tokens"].is_hidden


def test_form_without_scripts_keeps_the_rest_of_the_scenario() -> None:
    scenarios = read_query(parse_query("rate=2&num_requests=9&b.batching=static")).scenarios
    hidden = dict(hidden_of(scenarios, groups_of(scenarios), t=1.5))
    assert hidden == {"num_requests": "9", "b.batching": "static", "t": "1.5"}


def test_every_preset_is_a_readable_query() -> None:
    for preset in presets():
        views = read_query(parse_query(preset.query))
        assert len(views.scenarios) == 2
        assert canonical(preset.query)
