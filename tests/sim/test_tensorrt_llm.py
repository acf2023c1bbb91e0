"""TensorRT-LLM's engine in time: compiled and not, in one call or many, with large logs or none, to its end."""

import os
import subprocess
import sys
from bisect import bisect_left
from pathlib import Path

import numpy as np
import pytest

from sim.engine.layout import Status
from sim.engine.loop import NEVER_S, Stop
from sim.engine.record import EVENT, Kind
from sim.engine.tensorrt_llm.loop import advance, has_room
from sim.engine.tensorrt_llm.setup import least_log_sizes
from tests.sim.records import assert_equal_bytes
from tests.sim.tensorrt_llm_records import TIMED, all_columns, make_recorder, make_requests, timed_columns

ROOT = Path(__file__).parents[2]


def test_compiled_and_uncompiled_records_are_equal(tmp_path):
    command = "import sys; from tests.sim.tensorrt_llm_records import write_records; write_records(sys.argv[1])"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", command, tmp_path], cwd=ROOT, env=environment, check=True)

    for name, columns in all_columns():
        with np.load(tmp_path / f"{name}.npz") as expected:
            assert_equal_bytes(columns, dict(expected))


def step_by_step(recorder):
    while not recorder.advance(max_steps=1):
        pass


def slice_by_slice(recorder):
    until_s = 0.0
    while not recorder.advance(until_s=until_s):
        until_s += 0.009


@pytest.mark.parametrize("drive", [step_by_step, slice_by_slice])
@pytest.mark.parametrize("name", TIMED)
def test_calls_of_any_length_give_the_same_record(name, drive):
    assert_equal_bytes(timed_columns(name, drive), timed_columns(name))


@pytest.mark.parametrize("name", TIMED)
def test_logs_that_fill_at_every_step_give_the_same_record(name):
    assert_equal_bytes(timed_columns(name, sizes=least_log_sizes), timed_columns(name))


GUARD = 0xA5


def guarded(dtype, count):
    """Rows with as many behind them that nobody may write to; and those."""
    rows = np.empty(2 * count + 2, dtype)
    rows.view(np.uint8)[:] = GUARD
    return rows[:count], rows[count:].view(np.uint8)


def smallest(most, is_enough):
    return bisect_left(range(1, most), True, key=is_enough) + 1


def progress(state):
    return int(state.count.steps), int(state.count.waiting)


@pytest.mark.parametrize("name", TIMED)
def test_room_that_a_step_asks_for_is_enough(name):
    """Each step gets the smallest logs with which the engine takes it, and writes nothing behind them."""
    state = make_recorder(*TIMED[name]).state
    events, ids = np.empty(5_000, EVENT), np.empty(5_000, np.int32)
    stop = Stop.LIMIT
    while stop != Stop.DONE:
        state.count.events = state.count.ids = 0
        count = smallest(len(ids), lambda n: has_room(state._replace(events=events, ids=ids[:n])))
        few_ids, behind_ids = guarded(np.int32, count)
        count = smallest(len(events), lambda n: has_room(state._replace(events=events[:n], ids=ids)))
        few_events, behind_events = guarded(EVENT, count)

        before = progress(state)
        stop = advance(state._replace(events=few_events, ids=few_ids), 1, NEVER_S)

        assert stop == Stop.DONE or progress(state) != before, "only who arrives before the step needs more room"
        assert (behind_ids == GUARD).all()
        assert (behind_events == GUARD).all()


@pytest.mark.parametrize("name", TIMED)
def test_everyone_is_served_and_gives_everything_back(name):
    recorder = make_recorder(*TIMED[name])

    recorder.advance()

    requests, count, asked = recorder.requests(), recorder.state.count, make_requests()
    assert recorder.stop == Stop.DONE
    assert (requests["status"] == Status.FINISHED).all()
    assert (requests["known"] == asked.prompt_tokens + asked.output_tokens).all()
    assert (requests["first_s"] > requests["scheduled_s"]).all()
    assert (int(count.free), int(count.running), int(count.waiting)) == (40, 0, 0)
    assert (count.generating, count.partial, count.ending) == (0, 0, 0)


@pytest.mark.parametrize("name", TIMED)
def test_every_token_is_a_first_one_or_comes_after_a_regular_or_a_listed_gap(name):
    recorder = make_recorder(*TIMED[name])

    recorder.advance()

    log = recorder.log()
    listed = np.isin(log.events["kind"], [Kind.FIRST, Kind.GAP]).sum()
    assert log.steps["regular"].sum() + listed == make_requests().output_tokens.sum() == log.steps["sampled"].sum()


def test_followers_arrive_after_the_end_of_whom_they_wait_for():
    recorder = make_recorder("GUARANTEED_NO_EVICT", None)

    recorder.advance()

    requests, after = recorder.requests(), make_requests().after
    late = np.flatnonzero(after >= 0)
    assert (requests["arrival_s"][late] == requests["finish_s"][after[late]] + 0.01).all()


def test_engine_stops_when_nobody_can_be_served():
    recorder = make_recorder("GUARANTEED_NO_EVICT", None, num_blocks=2)

    recorder.advance()

    assert recorder.stop == Stop.STUCK
    assert recorder.state.count.waiting > 0


def test_advance_is_compiled_once():
    for name in TIMED:
        make_recorder(*TIMED[name]).advance()

    assert len(advance.signatures) == 1
