"""The set-up card names all that a figure depends on, and says what is not modelled."""

import pytest
from typer.testing import CliRunner

from sim.__main__ import app
from sim.parameters import BY_NAME
from sim.run import simulate
from sim.scenario import scenario_from
from sim.setup_card import MIMICKED, card_text, setup_card

SMALL = {"num_requests": 3, "output_tokens": 4}


def lines_of(**settings):
    return dict(setup_card(simulate(scenario_from(SMALL | settings))))


def test_card_has_what_the_specification_asks_for():
    card = lines_of()

    asked = {"Model", "Quantisation", "Context", "Load", "Hardware", "Driver and runtime", "Engine", "Seed"}
    assert asked <= set(card)
    assert card["Driver and runtime"] == "not modelled"
    assert "not calibrated" in card["Step times"]
    assert all(card.values())


@pytest.mark.parametrize(
    ("settings", "label", "part"),
    [
        ({"load": "closed", "concurrency": 2}, "Load", "2 users"),
        ({"load": "burst"}, "Load", "all at once"),
        ({"burstiness": "inf"}, "Load", "constant gaps"),
        ({"burstiness": 0.3}, "Load", "shape 0.3"),
        ({"arrival_list": "0,1,2"}, "Load", "as listed"),
        ({"prompt_list": "5,6,7"}, "Lengths", "prompts as listed"),
        ({"prompt_dist": "azure-conv"}, "Lengths", "like Azure chat"),
        ({"shared_prefix_tokens": 64, "prefix_share": 0.5}, "Lengths", "64 shared tokens in front of 50%"),
        ({"session": "chat"}, "Lengths", "chat of 4 turns"),
        ({"weights": "fp8", "kv_cache_dtype": "fp8"}, "Quantisation", "weights fp8, KV cache fp8"),
        ({"tensor_parallel_size": 2}, "Hardware", "2 × H100"),
        ({"num_speculative_tokens": 3}, "Server", "3 drafts, 70% accepted"),
        ({"async_scheduling": "true"}, "Server", "async scheduling"),
        ({"max_waiting": 9}, "Server", "at most 9 waiting"),
        ({"cost": "unit"}, "Step times", "one second"),
        ({"cost": "simple"}, "Step times", "textbook formula"),
    ],
)
def test_card_says_what_is_set(settings, label, part):
    assert part in lines_of(**settings)[label]


def test_card_says_whose_definitions_the_metrics_follow():
    run = simulate(scenario_from(SMALL))

    assert "GuideLLM" in dict(setup_card(run, "guidellm"))["Metrics"]


def test_address_comes_last_if_there_is_one():
    run = simulate(scenario_from(SMALL))

    assert card_text(setup_card(run, address="?rate=6")).splitlines()[-1] == "Address: ?rate=6"
    assert "Address" not in dict(setup_card(run))


def test_every_engine_has_the_version_that_is_mimicked():
    assert set(MIMICKED) == set(BY_NAME["engine"].choices)


def test_printed_run_ends_with_its_set_up():
    printed = CliRunner().invoke(app, ["run", "--set", "num_requests=3"]).stdout

    assert "Driver and runtime: not modelled" in printed
