"""`check_integrity` is silent about a sound state and says in words what is wrong with another."""

import numpy as np
import pytest

from sim.engine.layout import Status
from sim.integrity import check_integrity
from sim.run import Session
from sim.scenario import scenario_from
from tests.invariants.checks import check_state
from tests.sim.axes import AXES


def session_of(name, steps=60):
    session = Session(scenario_from(AXES[name]))
    session.advance(max_steps=steps)
    return session


def state_of(name, steps=60):
    return session_of(name, steps)._recorder.state


def running(state):
    return state.seats["running"][: state.count.running].tolist()


def used_block(state):
    return int(np.flatnonzero(state.blocks["ref"])[0])


def free_block(state):
    return int(state.blocks[0]["next"])


def hashed_block(state):
    return int(np.flatnonzero(state.blocks["content"] >= 0)[0])


@pytest.mark.parametrize("name", AXES)
def test_sound_state_is_passed_in_silence(name):
    check_state(session_of(name))


def leak_a_block(state):
    state.blocks[state.blocks[free_block(state)]["next"]]["prev"] = 0
    state.blocks[0]["next"] = state.blocks[free_block(state)]["next"]


def free_a_used_block(state):
    state.blocks[used_block(state)]["ref"] -= 1


def share_what_is_not_shared(state):
    first, second = running(state)[:2]
    rows, width = state.requests, state.config.table_width
    state.numbers[rows["slot"][first] * width] = state.numbers[rows["slot"][second] * width]


def name_a_block_twice(state):
    base = state.requests["slot"][running(state)[0]] * state.config.table_width
    state.numbers[base] = state.numbers[base + 1]


def break_the_backward_links(state):
    state.blocks[free_block(state)]["prev"] = used_block(state)


def miscount_free_blocks(state):
    state.count.free += 1


def miscount_cached_blocks(state):
    state.count.cached += 1


def mix_up_a_hash(state):
    state.blocks[hashed_block(state)]["content"] += 1


def hash_too_much(state):
    state.requests["hashed"][running(state)] += 1


def seat_twice(state):
    state.seats["request"][3] = running(state)[0]


def run_twice(state):
    state.seats["running"][0] = state.seats["running"][1]


def forget_the_lowest_slot(state):
    state.count.lowest_slot = 0


def wait_while_running(state):
    state.lines["waiting"][state.count.wait_head] = running(state)[0]


def wait_before_arrival(state):
    state.count.now_s = 0.0


def give_a_token_too_many(state):
    row = running(state)[0]
    state.requests["known"][row] = state.requests["end"][row] + 1


def compute_what_is_not_known(state):
    row = running(state)[0]
    state.requests["computed"][row] = state.requests["known"][row] + 1


def compute_without_blocks(state):
    state.requests["held"][running(state)[0]] = 0


def keep_blocks_after_the_end(state):
    state.requests["held"][np.flatnonzero(state.requests["status"] == Status.FINISHED)[0]] = 1


def end_without_all_outputs(state):
    state.requests["known"][np.flatnonzero(state.requests["status"] == Status.FINISHED)[0]] -= 1


def turn_time_back(state):
    row = running(state)[0]
    state.requests["scheduled_s"][row] = state.requests["arrival_s"][row] - 1


BROKEN = {
    leak_a_block: "blocks in the free queue, .* counted",
    free_a_used_block: "owners of blocks are",
    share_what_is_not_shared: "owners of blocks are",
    name_a_block_twice: "names a block twice",
    break_the_backward_links: "reads differently backwards",
    miscount_free_blocks: "free and .* used of 40 blocks",
    miscount_cached_blocks: "cached blocks are counted",
    mix_up_a_hash: "is carried by",
    hash_too_much: "has hashed what it does not know|carry another text",
    seat_twice: "the slots seat",
    run_twice: "somebody is twice in the running list",
    forget_the_lowest_slot: "the lowest free slot is",
    wait_while_running: "the waiting line is",
    wait_before_arrival: "wait before they arrive",
    give_a_token_too_many: "more or fewer outputs than it can have",
    compute_what_is_not_known: "computed tokens that it does not know",
    compute_without_blocks: "computed tokens without blocks",
    keep_blocks_after_the_end: "a slot or blocks though it does not run",
    end_without_all_outputs: "finished without all its outputs",
    turn_time_back: "times that fall",
}


@pytest.mark.parametrize("damage", BROKEN, ids=lambda damage: damage.__name__)
def test_damaged_state_is_named(damage):
    state = state_of("preemption")
    check_integrity(state)

    damage(state)

    with pytest.raises(AssertionError, match=BROKEN[damage]):
        check_integrity(state)


def test_region_that_is_lost_is_named():
    state = state_of("contiguous")
    state.count.free -= 1

    with pytest.raises(AssertionError, match=r"free blocks, .* reserved"):
        check_integrity(state)


def test_held_slots_are_counted():
    state = state_of("static_padded")
    assert state.count.held > 0
    state.count.held -= 1

    with pytest.raises(AssertionError, match="held slots are counted"):
        check_integrity(state)


def test_kept_blocks_are_counted():
    state = state_of("per_slot")
    state.count.cached += 1

    with pytest.raises(AssertionError, match="cached blocks are counted, slots keep"):
        check_integrity(state)


def test_arrivals_to_come_are_a_heap():
    state = state_of("closed", steps=20)
    state.count.heap = 2
    state.lines["due_s"][:2] = (5.0, 4.0)

    with pytest.raises(AssertionError, match="are not a heap"):
        check_integrity(state)
