"""A run's record, results, frames and gaps agree with each other, in whatever order they are asked for."""

import json

import numpy as np
import pytest

from sim.engine.record import Kind
from sim.replay import Log
from sim.run import FINISHED, PENDING, REFUSED, REJECTED, SHORT_WAY, Session, simulate
from sim.scenario import scenario_from
from tests.invariants.checks import events_of, new_replay
from tests.sim.axes import AXES, BASE
from tests.sim.records import assert_equal_bytes, columns_of

EACH_RUN = pytest.mark.parametrize("name", AXES)
RUNS = {}


def run_of(name):
    if name not in RUNS:
        RUNS[name] = simulate(scenario_from(AXES[name]))
    return RUNS[name]


def frames_in_order(run):
    """Every frame, from a run that was asked for them one after the other."""
    return [run.frame(step) for step in range(len(run.steps))]


@EACH_RUN
def test_frame_is_the_same_however_one_comes_to_it(name):
    forward = frames_in_order(run_of(name))
    run = simulate(scenario_from(AXES[name]))
    steps = np.random.default_rng(1).permutation(len(run.steps))[:25].tolist()

    assert [run.frame(step) for step in steps] == [forward[step] for step in steps]


def test_step_back_returns_to_the_same_frame():
    run = run_of("preemption")
    step = 3 * SHORT_WAY

    before = run.frame(step)
    run.frame(step + 1)

    assert run.frame(step) == before


@pytest.mark.parametrize("step", [-1, 323])
def test_frame_of_a_step_that_is_not_there_is_an_error(step):
    with pytest.raises(IndexError, match=f"step {step} of 323"):
        run_of("preemption").frame(step)


@EACH_RUN
def test_times_of_a_request_are_those_of_its_steps(name):
    """Outputs come at the end of a step; with async scheduling at its start, from the step before."""
    run = run_of(name)
    starts, ends = run.steps["start_s"], run.ends_s()
    ends = starts if run.setting.config.is_async else ends
    for kind, column, times in ((Kind.ADMIT, "scheduled_s", starts), (Kind.FIRST, "first_s", ends)):
        for step, _, request, _, _ in events_of(run, kind):
            assert run.results[column][request] == times[step]
    for step, _, request, _, _ in events_of(run, Kind.FINISH):
        assert run.results["finish_s"][request] == times[step]


def token_gaps_s(run):
    """Gaps between consecutive outputs of all requests, one by one, from the replay."""
    replay, last_s, gaps = new_replay(run), {}, []
    is_async = run.setting.config.is_async
    for start_s, end_s in zip(run.steps["start_s"].tolist(), run.ends_s().tolist(), strict=True):
        replay.forward()
        replay.finish()
        now_s = start_s if is_async else end_s
        gaps += [now_s - last_s[i] for i in replay.updated.outputs if i in last_s]
        last_s |= dict.fromkeys(replay.updated.outputs, now_s)
    return gaps


@EACH_RUN
def test_gaps_are_those_between_the_tokens_of_each_request(name):
    run = run_of(name)

    values, counts = run.gaps()

    np.testing.assert_allclose(np.sort(np.repeat(values, counts)), np.sort(token_gaps_s(run)), rtol=1e-9, atol=1e-12)


@EACH_RUN
def test_facts_and_metrics_are_json(name):
    run = run_of(name)

    assert json.loads(json.dumps([run.facts, run.metrics(), run.rejected], allow_nan=False))


def test_run_so_far_is_the_beginning_of_the_run():
    session, whole = Session(scenario_from(BASE)), run_of("preemption")
    session.advance(max_steps=100)

    part = session.run()
    session.advance()

    last = whole.steps[99]
    beginning = Log(whole.steps[:100], whole.events[: last["events_end"]], whole.blocks[: last["ids_end"]])
    assert_equal_bytes(columns_of(part.log), columns_of(beginning))


def test_run_so_far_has_pending_requests_and_counts_the_ended():
    session = Session(scenario_from(BASE))
    session.advance(max_steps=100)

    status = session.run().results["status"]

    assert set(status.tolist()) == {PENDING, FINISHED}
    assert session.ended == np.count_nonzero(status == FINISHED)


def test_time_limit_begins_no_step_at_or_after_it():
    session = Session(scenario_from({"load": "burst", "prompt_list": "1", "output_list": "9", "cost": "unit"}))

    assert not session.advance(until_s=4.0)
    assert session.log().steps["start_s"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert session.advance()


def test_idle_server_starts_a_step_when_somebody_arrives():
    settings = {"arrival_list": "0.25,7.5", "prompt_list": "1,1", "output_list": "2,1", "cost": "unit"}

    assert simulate(scenario_from(settings)).steps["start_s"].tolist() == [0.25, 1.25, 7.5]


def test_run_in_which_everybody_is_refused_has_no_steps():
    settings = {"prompt_list": "30,50", "output_list": "9,9", "max_model_len": 16, "load": "burst"}

    run = simulate(scenario_from(settings))

    assert len(run.steps) == 0
    assert run.results["status"].tolist() == [REFUSED, REFUSED]
    assert run.metrics()["ttft_s"]["mean"] is None
    assert run.metrics()["rejected"] == 2


def test_refused_requests_are_listed_with_the_reason():
    settings = {"prompt_list": "3,30,4", "output_list": "5,9,5", "max_model_len": 16, "load": "burst"}

    run = simulate(scenario_from(settings))

    reason = "a prompt of 30 and an output of 9 tokens are over max_model_len = 16"
    assert run.rejected == [{"request": 2, "reason": reason}]
    assert run.results["status"].tolist() == [FINISHED, REFUSED, FINISHED]


def test_full_waiting_line_is_the_reason_of_a_rejection():
    settings = {"prompt_list": "1,1,1", "output_list": "5,5,5", "arrival_list": "0,1.5,1.6", "cost": "unit"}

    run = simulate(scenario_from(settings | {"max_num_seqs": 1, "max_waiting": 1}))

    assert run.results["status"].tolist() == [FINISHED, FINISHED, REJECTED]
    assert run.rejected == [{"request": 3, "reason": "the waiting line was full (max_waiting = 1)"}]


def test_those_who_follow_a_refused_request_come_all_the_same():
    settings = {"load": "closed", "concurrency": 1, "prompt_list": "3,30,4", "output_list": "5,9,5", "think_time_s": 2}

    run = simulate(scenario_from(settings | {"max_model_len": 16, "cost": "unit"}))

    assert run.results["arrival_s"].tolist() == [0.0, 7.0, 9.0]
    assert run.results["finish_s"].tolist()[2] == 14.0


def test_size_of_a_run_is_that_of_its_arrays():
    run = run_of("preemption")

    assert run.nbytes == run.steps.nbytes + run.events.nbytes + run.blocks.nbytes + run.results.nbytes
