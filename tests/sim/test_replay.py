"""The state folded from the record alone, and the free queue it keeps."""

import pytest

from sim.engine.record import Kind
from sim.freequeue import FreeQueue
from sim.run import Session, simulate
from sim.scenario import scenario_from
from sim.snapshot import load_state
from tests.invariants.checks import assert_frames_equal_columns, events_of, new_replay, picture
from tests.sim.axes import AXES

EACH_RUN = pytest.mark.parametrize("name", AXES)


def run_of(name):
    return simulate(scenario_from(AXES[name]))


@EACH_RUN
def test_frames_count_what_the_columns_count(name):
    assert_frames_equal_columns(run_of(name))


@EACH_RUN
def test_replay_loaded_from_the_engine_is_where_one_from_the_start_is(name):
    run = run_of(name)
    session, replay = Session(run.scenario), new_replay(run)
    for step in range(len(run.steps)):
        replay.forward()
        if step % 13 == 0:
            loaded = new_replay(run)
            load_state(loaded, session._recorder.state, step)
            loaded.forward()
            assert picture(loaded) == picture(replay), f"step {step}"
        session.advance(max_steps=1)


def test_stalled_requests_are_not_in_the_plan():
    run = run_of("drafts_stall")
    step, _, _, position, _ = events_of(run, Kind.STALL)[0]
    replay = new_replay(run)
    while replay.step < step:
        replay.forward()

    planned = [row.request for row in replay.planned.rows]
    assert planned == replay.running[:position]
    assert len(replay.running) > position


def test_skipped_requests_are_not_in_the_plan():
    run = run_of("async")
    step, _, request, _, _ = events_of(run, Kind.SKIP)[0]
    replay = new_replay(run)
    while replay.step < step:
        replay.forward()

    assert request in replay.running
    assert request not in [row.request for row in replay.planned.rows]


def test_update_is_played_once():
    replay = new_replay(run_of("preemption"))
    replay.forward()

    replay.finish()
    computed = [life.computed for life in replay.lives]
    replay.finish()

    assert [life.computed for life in replay.lives] == computed


# -- the free queue ----------------------------------------------------------------------------------------------


def make_queue(*taken, usable=6):
    queue = FreeQueue(usable)
    for block in taken:
        queue.take(block)
    return queue


def order(queue):
    return list(queue.order)


def test_blocks_are_handed_out_in_ascending_order_at_first():
    assert order(make_queue()) == [1, 2, 3, 4, 5, 6]


def test_blocks_without_a_hash_go_to_the_head_last_block_first():
    queue = make_queue(1, 2, 3)

    queue.release([1, 2, 3], 0)

    assert order(queue) == [3, 2, 1, 4, 5, 6]


def test_blocks_with_a_hash_go_to_the_tail_last_block_first():
    queue = make_queue(1, 2, 3)

    queue.release([1, 2, 3], 2)

    assert order(queue) == [3, 4, 5, 6, 2, 1]
    assert queue.cached == {1, 2}


def test_block_is_free_when_its_last_user_gives_it_back():
    queue = make_queue(1)
    queue.share(1)

    queue.release([1], 1)
    assert order(queue) == [2, 3, 4, 5, 6]
    queue.release([1], 1)

    assert order(queue) == [2, 3, 4, 5, 6, 1]


def test_hit_takes_a_block_out_of_the_queue_wherever_it_is():
    queue = make_queue(1, 2)
    queue.release([1, 2], 2)

    queue.share(2)

    assert order(queue) == [3, 4, 5, 6, 1]
    assert queue.users == {2: 1}
    assert queue.cached == {1}


def test_negative_id_evicts_what_the_block_held():
    queue = make_queue(1, usable=1)
    queue.release([1], 1)

    queue.take(-1)

    assert queue.cached == set()
    assert queue.users == {1: 1}
