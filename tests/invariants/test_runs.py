"""Invariants of every run, over random settings of all axes, and over pairs of axes that seldom meet."""

import numpy as np
import pytest
from hypothesis import strategies as st

from sim.engine.layout import BLOCK, as_array
from sim.explain import explain, explain_waiting
from sim.run import Session, simulate
from sim.scenario import scenario_from
from sim.snapshot import load_state
from tests.hunting import hunt
from tests.invariants.checks import (
    assert_first_come_first_served,
    assert_frames_equal_columns,
    assert_gaps_add_up,
    assert_limits,
    assert_served,
    assert_tokens_conserved,
    checked_run,
    new_replay,
    picture,
)
from tests.invariants.strategies import run_settings
from tests.sim.records import assert_equal_bytes, run_columns

PAGED = {"kv": "paged", "max_waiting": "none"}
FOCUSES = {
    "any": {},
    "static_paged": PAGED | {"batching": "static", "scheduler_reserve_full_isl": False},
    "static_per_slot": PAGED | {"batching": "static", "prefix_cache": "per_slot"},
    "per_slot_paged": PAGED | {"prefix_cache": "per_slot"},
    "per_slot_contiguous": {"prefix_cache": "per_slot", "kv": "contiguous"},
    "drafts": PAGED | {"num_speculative_tokens": 3, "async_scheduling": False},
    "async_followers": PAGED | {"async_scheduling": True, "num_speculative_tokens": 0, "load": "closed"},
}
EACH_FOCUS = pytest.mark.parametrize("focus", FOCUSES)


@EACH_FOCUS
def test_state_and_record_keep_every_invariant(focus, pytestconfig):
    def check(settings, stride):
        run = checked_run(settings, stride)
        assert_served(run)
        assert_first_come_first_served(run)
        assert_limits(run)
        assert_gaps_add_up(run)
        assert_tokens_conserved(run)
        assert_frames_equal_columns(run)

    hunt(pytestconfig, 150, check, run_settings(**FOCUSES[focus]), st.sampled_from([1, 1, 3, 50]))


def free_with_content(state):
    blocks = as_array(state.blocks, BLOCK, len(state.blocks))
    return set(np.flatnonzero((blocks["ref"] == 0) & (blocks["content"] >= 0)).tolist())


@EACH_FOCUS
def test_replay_from_the_start_equals_one_loaded_from_the_state(focus, pytestconfig):
    def check(settings, places):
        run = simulate(scenario_from(settings))
        session, replay, taken = Session(run.scenario), new_replay(run), 0
        for step in sorted({int(place * (len(run.steps) - 1)) for place in places} if len(run.steps) else ()):
            session.advance(max_steps=step - taken)
            taken = step
            while replay.step < step:
                replay.forward()
            loaded = new_replay(run)
            load_state(loaded, session._recorder.state, step)
            assert loaded.free.cached == free_with_content(session._recorder.state)
            loaded.forward()
            assert picture(loaded) == picture(replay), f"step {step}"

    hunt(pytestconfig, 40, check, run_settings(**FOCUSES[focus]), st.lists(st.floats(0, 1), min_size=1, max_size=4))


def test_loaded_replay_goes_on_to_the_same_end(pytestconfig):
    def check(settings, place):
        run = simulate(scenario_from(settings))
        if len(run.steps) == 0:
            return
        step, replay, loaded = int(place * (len(run.steps) - 1)), new_replay(run), new_replay(run)
        session = Session(run.scenario)
        session.advance(max_steps=step)
        load_state(loaded, session._recorder.state, step)
        while replay.step < len(run.steps) - 1:
            replay.forward()
        while loaded.step < len(run.steps) - 1:
            loaded.forward()
        assert picture(loaded) == picture(replay)

    hunt(pytestconfig, 80, check, run_settings(), st.floats(0, 1))


def test_same_seed_gives_the_same_bytes(pytestconfig):
    def check(settings):
        assert_equal_bytes(run_columns(settings), run_columns(settings))

    hunt(pytestconfig, 40, check, run_settings())


REQUEST_COLUMNS = ("arrival_s", "prompt_tokens", "output_tokens", "parent", "common_tokens", "after", "gap_s")


def test_every_policy_gets_the_same_requests(pytestconfig):
    def check(settings, other):
        first, second = (Session(scenario_from(s)).requests for s in (settings, settings | other))
        for name in REQUEST_COLUMNS:
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))

    policies = [{"batching": b, "prefix_cache": c} for b in ("static", "continuous") for c in ("off", "shared")]
    hunt(pytestconfig, 40, check, run_settings(), st.sampled_from(policies))


def test_another_seed_gives_other_requests():
    arrivals = [simulate(scenario_from({"seed": seed, "num_requests": 5})).results["arrival_s"] for seed in (1, 2)]

    assert not np.isin(*arrivals).any()


def test_every_step_and_every_wait_is_explained(pytestconfig):
    def check(settings):
        run = simulate(scenario_from(settings))
        for step in range(min(len(run.steps), 120)):
            assert len(explain(run, step)) > 20
            waiting = explain_waiting(run, step)
            assert [request for request, _ in waiting] == run.frame(step).waiting
            assert all(len(reason) > 10 for _, reason in waiting)

    hunt(pytestconfig, 60, check, run_settings())
