"""Each sentence says what the step's record says, with numbers that make its point."""

import re

import numpy as np
import pytest

from sim.engine.record import Kind, Why
from sim.explain import explain, explain_waiting
from sim.run import simulate
from sim.scenario import scenario_from
from tests.sim.axes import AXES, BASE

FOUR = {"load": "burst", "prompt_list": "1,1,1,1", "output_list": "5,2,3,2", "max_num_seqs": 2, "cost": "unit"}
RUNS = {}


def run_of(name):
    if name not in RUNS:
        RUNS[name] = simulate(scenario_from(AXES[name]))
    return RUNS[name]


def sentences(settings):
    run = simulate(scenario_from(settings))
    return [explain(run, step) for step in range(len(run.steps))]


def test_continuous_run_in_sentences():
    assert sentences(FOUR) == [
        "Requests 1 and 2 join the batch. 2 wait: all 2 slots are taken.",
        "2 requests decode, one token each. 2 wait: all 2 slots are taken.",
        "Request 2 finished, so request 3 joins at this step. 1 waits: all 2 slots are taken.",
        "2 requests decode, one token each. 1 waits: all 2 slots are taken.",
        "2 requests decode, one token each. 1 waits: all 2 slots are taken.",
        "Requests 1 and 3 finished, so request 4 joins at this step.",
        "Request 4 decodes, one token.",
    ]


def test_static_run_in_sentences():
    formed = "The server was idle, so a new batch is formed: requests {} and {} join it and all wait for its longest."
    held = "Request 1 decodes, one token. 2 wait while the batch keeps 1 finished slot until request 1 ends, after {}."

    assert sentences(FOUR | {"batching": "static"}) == [
        formed.format(1, 2) + " 2 wait: all 2 slots are taken.",
        "2 requests decode, one token each. 2 wait: the static batch has to end first.",
        held.format("3 tokens more"),
        held.format("2 tokens more"),
        held.format("1 token more"),
        formed.format(3, 4),
        "2 requests decode, one token each.",
        "Request 3 decodes, one token. The batch keeps 1 finished slot until request 3 ends, after 1 token more.",
    ]


def test_many_requests_are_not_all_named():
    settings = {"load": "burst", "num_requests": 7, "prompt_tokens": 1, "prompt_dist": "fixed"}

    assert sentences(settings)[0] == "Requests 1, 2, 3, 4 and 3 more join the batch."


def test_those_behind_the_head_wait_behind_it():
    waiting = explain_waiting(simulate(scenario_from(FOUR)), 0)

    assert waiting == [(2, "all 2 slots are taken"), (3, "behind request 3, the head of the line")]


def test_static_batch_makes_everybody_wait_for_the_same():
    waiting = explain_waiting(simulate(scenario_from(FOUR | {"batching": "static"})), 1)

    assert waiting == [(i, "the static batch has to end first") for i in (2, 3)]


def test_nobody_waits_for_nothing():
    assert explain_waiting(simulate(scenario_from(FOUR)), 6) == []


# -- the reason given is the reason there is ----------------------------------------------------------------------

EACH_RUN = pytest.mark.parametrize("name", [name for name in AXES if name != "defaults"])


def steps_that_wait_for(run, why):
    return np.flatnonzero((run.steps["why"] == why) & (run.steps["waiting"] > 0)).tolist()


def numbers(text):
    return [int(number.replace(",", "")) for number in re.findall(r"(?<!request )\b\d[\d,]*", text)]


@EACH_RUN
def test_blocks_are_said_to_be_too_few_only_when_they_are(name):
    run = run_of(name)
    for step in steps_that_wait_for(run, Why.BLOCKS):
        needed, *there = numbers(explain_waiting(run, step)[0][1])
        assert needed > sum(there), explain(run, step)


@EACH_RUN
def test_blocks_are_needed_in_the_record_only_when_they_are_the_reason(name):
    run = run_of(name)
    is_reason = (run.steps["why"] == Why.BLOCKS) & (run.setting.config.region_blocks == 0)

    np.testing.assert_array_equal(run.steps["needed"] > 0, is_reason)


@EACH_RUN
def test_slots_are_said_to_be_taken_only_when_they_are(name):
    run = run_of(name)
    for step in steps_that_wait_for(run, Why.SLOT):
        taken, slots = run.steps["running"][step] + run.steps["held"][step], run.config_at(step).max_num_seqs
        was_taken_away = run.has_forked(step) and taken > slots
        assert was_taken_away or taken == slots
        reason = f"{taken} requests still run, on {slots} slots" if was_taken_away else f"all {slots} slots are taken"
        assert reason in explain(run, step)


@EACH_RUN
def test_budget_is_said_to_be_spent_only_when_it_is(name):
    run = run_of(name)
    for step in steps_that_wait_for(run, Why.BUDGET):
        is_spent = run.steps["prefill"][step] + run.steps["decode"][step] == run.config_at(step).max_num_batched_tokens
        assert ("is spent" in explain(run, step)) == is_spent


@EACH_RUN
def test_preemption_names_those_who_were_preempted(name):
    run = run_of(name)
    rows = np.flatnonzero(run.events["kind"] == Kind.PREEMPT)
    steps, first = np.unique(np.searchsorted(run.steps["events_end"], rows, side="right"), return_index=True)
    rows = rows[first]
    for step, request in zip(steps.tolist(), run.events["request"][rows].tolist(), strict=True):
        assert "preempted" in explain(run, step)
        assert str(request + 1) in explain(run, step).partition("preempted")[0]


@EACH_RUN
def test_nobody_waits_without_a_reason(name):
    run = run_of(name)

    assert (run.steps["why"][run.steps["waiting"] > 0] != Why.NOBODY).all()
    assert (run.steps["why"][run.steps["waiting"] == 0] == Why.NOBODY).all()


def test_cut_of_a_prompt_says_what_cut_it():
    long_prompt = {"load": "burst", "prompt_list": "30,30", "output_list": "2,2", "cost": "unit", "max_num_seqs": 4}

    by_budget = sentences(long_prompt | {"max_num_batched_tokens": 40})[0]
    by_threshold = sentences(long_prompt | {"long_prefill_token_threshold": 8})[0]

    assert by_budget.endswith(
        "Request 2's prompt is cut: 10 of its tokens fit this step's budget, 20 are left for later steps."
    )
    assert "8 of its tokens are what long_prefill_token_threshold allows, 22 are left" in by_threshold


def test_reserved_piece_is_said_where_kv_is_contiguous():
    run = run_of("contiguous")
    step = steps_that_wait_for(run, Why.BLOCKS)[0]

    assert "would reserve 18 KV blocks in one piece" in explain(run, step)


def test_watermark_is_said_where_there_is_one():
    run = run_of("gate_off_watermark")
    step = steps_that_wait_for(run, Why.BLOCKS)[0]

    assert re.search(r"needs \d+ KV blocks with the watermark, \d+ are free", explain(run, step))


def test_whole_prompt_over_the_rest_of_the_budget_waits_for_the_next_step():
    run = run_of("whole")
    step = steps_that_wait_for(run, Why.WHOLE_PROMPT)[0]

    assert "is over what is left of the step's budget, and is not cut" in explain(run, step)


def test_hits_are_said_on_admission():
    settings = BASE | {"load": "burst", "shared_prefix_tokens": 16, "num_requests": 2, "prompt_dist": "fixed"}

    assert "16 of their tokens were cached" in sentences(settings | {"max_num_batched_tokens": 100})[0]


def test_async_step_without_work_says_that_results_are_to_come():
    assert any("results of the step before are still to come" in explain(run_of("async"), s) for s in range(100))
