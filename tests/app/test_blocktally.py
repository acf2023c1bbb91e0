"""Blocks in numbers for words: counted place by place, and missing where a run is."""

import pytest

from app.blocktally import Tally, read_at, tally_of
from app.demand import longest_text, room_tokens
from app.numbers import MISSING
from sim.memory import kv_plan
from sim.run import simulate
from sim.scenario import scenario_from

SHARED = {
    "arrival_list": "0,2,4",
    "prompt_list": "5,9,6",
    "output_list": "30,34,28",
    "shared_prefix_tokens": "20",
    "block_size": "8",
    "num_gpu_blocks": "25",
    "max_model_len": "96",
    "cost": "unit",
}


@pytest.mark.parametrize(
    "settings", [{}, {"prefix_cache": "off"}, {"kv": "contiguous"}], ids=["shared", "own", "apart"]
)
def test_tally_counts_every_place_once(settings: dict[str, str]) -> None:
    run = simulate(scenario_from(SHARED | settings))
    frame, tally = run.frame(10), tally_of(run, 10.5)
    used = {(row.blocks[i // 8], i % 8) for row in frame.running for i in range(row.computed + row.scheduled)}
    blocks = [block for row in frame.running for block in row.blocks]

    assert isinstance(tally, Tally)
    assert tally.used_tokens == len(used)
    assert tally.reserved_tokens == tally.used_tokens + tally.internal_tokens == 8 * len(set(blocks))
    assert tally.spared_copies == len(blocks) - len(set(blocks))
    assert tally.used_blocks + tally.free_blocks == 24
    assert tally.blocks_of == {row.request: len(row.blocks) for row in frame.running}
    assert tally.requests == len(frame.running)


def test_room_for_more_is_by_reservation_or_by_what_those_that_run_take() -> None:
    runs = [simulate(scenario_from(SHARED | {"max_model_len": "64", "kv": kv})) for kv in ("paged", "contiguous")]
    # Three hold 10 blocks and 14 are free; of 24 blocks three reserve 8 each.
    assert [tally_of(run, 10.5).fit_more for run in runs] == [14 * 3 // 10, 0]


def test_tokens_of_a_request_in_a_step() -> None:
    run = simulate(scenario_from(SHARED))
    assert [read_at(run, time_s, 1) for time_s in (2, 3)] == [13, 1]
    assert read_at(run, 0, 1) is MISSING


def test_without_a_run_or_before_its_first_step_there_is_no_tally() -> None:
    assert tally_of(MISSING, 1) is MISSING
    run = simulate(scenario_from(SHARED | {"arrival_list": "3,4,5"}))
    assert tally_of(run, 1) is MISSING


def test_room_of_a_gpu_is_that_of_the_plan_whatever_blocks_the_scenario_sets() -> None:
    scenario = scenario_from({"num_gpu_blocks": "25", "block_size": "8"})
    plan = kv_plan(scenario_from({"block_size": "8"}).server)
    assert room_tokens(scenario) == plan.kv_bytes // plan.kv_bytes_per_token
    assert room_tokens(scenario_from({"model": "llama-3.1-70b"})) == 0
    assert longest_text(scenario) == 131_072
