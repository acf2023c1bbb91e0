"""The editor of runs: what its edits make of an address, and what it shows of the runs there are."""

import pytest

from app.compare import comparison_of, edited
from app.names import names_of, subtitle_of, title_of
from app.params import parse_query, read_query
from app.view import inner
from sim.scenario import ScenarioError


def edit_of(query: str, **fields: str) -> str:
    asked = "&".join(f"{name}={value}" for name, value in fields.items())
    return edited(f"{query}&{asked}" if query else asked)


@pytest.mark.parametrize(
    ("query", "fields", "expected"),
    [
        ("rate=2&t=3", {"edit": "set", "edit_run": "b", "edit_name": "seed", "edit_value": "4"}, "rate=2&b.seed=4&t=3"),
        ("b.seed=4", {"edit": "set", "edit_run": "b", "edit_name": "seed", "edit_value": "5"}, "b.seed=5"),
        ("b.seed=4", {"edit": "set", "edit_run": "c", "edit_name": "kv", "edit_value": "contiguous"},
         "b.seed=4&c.kv=contiguous"),
        ("b.seed=4&b.rate=3", {"edit": "drop", "edit_run": "b", "edit_name": "rate"}, "b.seed=4"),
        ("rate=2&b.seed=4&run=b", {"edit": "drop", "edit_run": "b", "edit_name": "seed"}, "rate=2"),
        ("b.seed=4&b.rate=3&c.rate=4", {"edit": "remove", "edit_run": "b"}, "c.rate=4"),
        ("b.seed=4", {"edit": "remove", "edit_run": "b"}, "num_requests=60"),
        ("b.batching=static&c.rate=2", {"edit": "swap", "edit_run": "b"},
         "batching=static&b.batching=continuous&c.rate=2&c.batching=continuous"),
        ("t=3.5", {"edit": "set", "edit_run": "fork", "edit_name": "rate", "edit_value": "2"},
         "fork=3.5&fork.rate=2&t=3.5"),
        ("t=3.5", {"edit": "set", "edit_run": "fork", "edit_name": "rate", "edit_value": "2", "edit_time": "1"},
         "fork=1&fork.rate=2&t=3.5"),
        ("fork=1&fork.rate=2&t=3", {"edit": "set", "edit_run": "fork", "edit_name": "max_num_seqs", "edit_value": "8"},
         "fork=1&fork.rate=2&fork.max_num_seqs=8&t=3"),
        ("fork=1&fork.rate=2&fork.max_num_seqs=8", {"edit": "drop", "edit_run": "fork", "edit_name": "rate"},
         "fork=1&fork.max_num_seqs=8"),
        ("rate=3&fork=1&fork.rate=2&run=fork", {"edit": "drop", "edit_run": "fork", "edit_name": "rate"}, "rate=3"),
        ("rate=3&fork=1&fork.rate=2", {"edit": "remove", "edit_run": "fork"}, "rate=3"),
        ("b.seed=2&fork=1&fork.rate=2", {"edit": "swap", "edit_run": "b"}, "seed=2&b.seed=1&fork=1&fork.rate=2"),
        ("b.load=closed&fork=1&fork.rate=2", {"edit": "swap", "edit_run": "b"}, "load=closed&b.load=open"),
        ("views=queue&seeds=3", {"edit": "set", "edit_run": "b", "edit_name": "seed", "edit_value": "4"},
         "b.seed=4&views=queue&seeds=3"),
    ],
)  # fmt: skip
def test_edit_leads_to_the_address_of_the_changed_page(query: str, fields: dict[str, str], expected: str) -> None:
    assert edit_of(query, **fields) == expected


def test_edit_that_cannot_be_read_is_left_for_the_page_to_refuse() -> None:
    query = edit_of("rate=2", edit="set", edit_run="b", edit_name="gpu", edit_value="abacus")
    with pytest.raises(ScenarioError, match=r"b\.gpu"):
        read_query(parse_query(query))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"edit": "burn", "edit_run": "b"}, "edit"),
        ({"edit": "remove", "edit_run": "a"}, "edit_run"),
        ({"edit": "swap", "edit_run": "c"}, "edit_run"),
        ({"edit": "swap", "edit_run": "fork"}, "edit_run"),
    ],
)
def test_edit_that_does_not_exist_is_refused(fields: dict[str, str], field: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        edit_of("b.seed=2", **fields)
    assert raised.value.field == field


def scenarios_of(query: str):
    return read_query(parse_query(query)).scenarios


def test_editor_shows_what_differs_as_controls_with_the_plain_value_as_default() -> None:
    views = read_query(parse_query("max_num_seqs=8&b.max_num_seqs=16&b.kv=contiguous&fork=2&fork.rate=3"))
    comparison = comparison_of(views, t_s=1.5)

    shown = {run.name: [(c.field.name, c.field.value, c.field.default) for c in run.changes] for run in comparison.runs}
    assert shown == {
        "b": [("b.max_num_seqs", "16", "8"), ("b.kv", "contiguous", "paged")],
        "fork": [("fork.rate", "3", "6")],
    }
    assert comparison.free == "c"
    assert comparison.has_fork


def test_form_of_a_run_sends_all_the_others_along() -> None:
    run, fork = comparison_of(read_query(parse_query("rate=2&b.seed=3&fork=2&fork.rate=3")), t_s=1.5).runs

    assert dict(run.kept) == {"rate": "2", "fork": "2", "fork.rate": "3", "t": "1.5"}
    assert dict(fork.kept) == {"rate": "2", "b.seed": "3", "t": "1.5"}
    assert fork.time_s == "2"


def test_no_fourth_scenario_is_offered() -> None:
    assert comparison_of(read_query(parse_query("b.seed=3&c.seed=4")), t_s=0).free == ""


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("", {"a": "Continuous"}),
        ("b.batching=static", {"a": "Continuous", "b": "Static"}),
        ("b.max_num_seqs=16", {"a": "256 slots", "b": "16 slots"}),
        ("b.max_num_seqs=1&c.kv=contiguous", {"a": "256 slots, paged KV", "b": "1 slot", "c": "Contiguous KV"}),
        ("b.kv_cache_dtype=fp8", {"a": "16-bit KV", "b": "FP8 KV"}),
        ("b.weights=fp8", {"a": "BF16 weights", "b": "FP8 weights"}),
        ("b.gpu=h200-sxm&b.seed=2&b.rate=3",
         {"a": "6 req/s, H100 SXM 80GB +1 more", "b": "3 req/s, H200 SXM 141GB +1 more"}),
        ("b.batching=continuous", {"a": "Continuous (a)", "b": "Continuous (b)"}),
        ("fork=3.42&fork.max_num_seqs=16", {"a": "256 slots", "fork": "From 3.42 s: 16 slots"}),
        ("fork=2&fork.rate=3&b.batching=static", {"a": "Continuous", "fork": "From 2 s: 3 req/s", "b": "Static"}),
    ],
)  # fmt: skip
def test_runs_are_called_after_what_tells_them_apart(query: str, labels: dict[str, str]) -> None:
    assert {run: name.label for run, name in names_of(scenarios_of(query)).items()} == labels


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("", "Continuous batching"),
        ("b.batching=static", "Same requests, two policies"),
        ("b.batching=static&c.kv=contiguous", "Same requests, three policies"),
        ("b.rate=2", "Two scenarios on one clock"),
        ("fork=2&fork.rate=3", "One past, two futures"),
        ("b.batching=static&fork=2&fork.rate=3", "Same requests, two policies, and a fork"),
    ],
)
def test_title_says_what_is_compared(query: str, title: str) -> None:
    scenarios = scenarios_of(query)
    assert title_of(names_of(scenarios), scenarios) == title


def test_subtitle_tells_the_slots_of_all() -> None:
    assert subtitle_of(scenarios_of("max_num_seqs=8&fork=2&fork.max_num_seqs=16")).startswith("8 and 16 slots")
    assert subtitle_of(scenarios_of("max_num_seqs=8&b.max_num_seqs=9&c.max_num_seqs=32")).startswith("8 to 32 slots")


@pytest.mark.parametrize(
    ("label", "inside"),
    [
        ("Static", "static"),
        ("Contiguous KV", "contiguous KV"),
        ("FP8 KV", "FP8 KV"),
        ("16 slots", "16 slots"),
        ("H100 SXM 80GB", "H100 SXM 80GB"),
        ("Llama-3.1-8B", "Llama-3.1-8B"),
        ("From 2.5 s: static", "from 2.5 s: static"),
    ],
)
def test_label_in_a_sentence_begins_small_unless_it_is_a_name(label: str, inside: str) -> None:
    assert inner(label) == inside
