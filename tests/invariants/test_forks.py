"""Forks keep every invariant; up to its fork a run is the one without it, and one from 0 s on is the changed one."""

import numpy as np
import pytest
from hypothesis import strategies as st

from sim.engine.record import Kind
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
from tests.invariants.forks import changed_settings, forked_settings
from tests.sim.records import assert_equal_bytes, columns_of


def test_forked_run_keeps_every_invariant(pytestconfig):
    def check(settings, stride):
        run = checked_run(settings, stride)
        assert_served(run)
        assert_first_come_first_served(run)
        assert_limits(run)
        assert_gaps_add_up(run)
        assert_tokens_conserved(run)
        assert_frames_equal_columns(run)

    hunt(pytestconfig, 250, check, forked_settings(), st.sampled_from([1, 1, 3, 50]))


def steps_of(log, count):
    """Columns of the record's first steps."""
    steps = log.steps[:count]
    events_end, ids_end = (int(steps[name][-1]) if count else 0 for name in ("events_end", "ids_end"))
    return columns_of(log._replace(steps=steps, events=log.events[:events_end], ids=log.ids[:ids_end]))


def test_run_up_to_the_fork_is_the_run_without_it(pytestconfig):
    def check(settings):
        plain = {name: value for name, value in settings.items() if not name.startswith("fork")}
        forked, unforked = simulate(scenario_from(settings)), simulate(scenario_from(plain))
        count = len(forked.steps) if forked.fork_step is None else forked.fork_step
        assert_equal_bytes(steps_of(forked.log, count), steps_of(unforked.log, count))
        assert (forked.steps["start_s"][:count] < settings["fork"]).all()
        assert (forked.steps["start_s"][count:] >= settings["fork"]).all()

    hunt(pytestconfig, 150, check, forked_settings())


def without_fork(log):
    """Record without the event that tells of the fork."""
    is_fork = log.events["kind"] == Kind.FORK
    steps = log.steps.copy()
    steps["events_end"] -= np.cumsum(is_fork)[steps["events_end"] - 1]
    return columns_of(log._replace(steps=steps, events=log.events[~is_fork]))


def test_fork_from_the_start_is_the_changed_scenario(pytestconfig):
    def check(settings):
        if settings.get("fork.rate", settings["rate"]) != settings["rate"]:
            return  # the same draws, but multiplied in another order
        if settings["load"] != "open" and "fork.max_waiting" in settings:
            return  # who arrives at 0 s has arrived before anything changes
        forked = simulate(scenario_from(settings | {"fork": 0}))
        changed = simulate(scenario_from(changed_settings(settings)))
        assert_equal_bytes(without_fork(forked.log), columns_of(changed.log))
        ours, theirs = forked.metrics(), changed.metrics()
        for share in ("idle_slot_share", "held_slot_share"):
            assert ours.pop(share) == pytest.approx(theirs.pop(share), abs=1e-12)
        assert ours == theirs

    hunt(pytestconfig, 150, check, forked_settings())


def test_replay_over_a_fork_equals_one_loaded_from_the_state(pytestconfig):
    def check(settings, places):
        run = simulate(scenario_from(settings))
        session, replay, taken = Session(run.scenario), new_replay(run), 0
        fork = [run.fork_step + n for n in (-1, 0, 1)] if run.fork_step is not None else []
        steps = {int(place * (len(run.steps) - 1)) for place in places} | set(fork)
        for step in sorted(step for step in steps if 0 <= step < len(run.steps)):
            session.advance(max_steps=step - taken)
            taken = step
            while replay.step < step:
                replay.forward()
            loaded = new_replay(run)
            load_state(loaded, session._recorder.state, step)
            loaded.forward()
            assert picture(loaded) == picture(replay), f"step {step}"

    hunt(pytestconfig, 80, check, forked_settings(), st.lists(st.floats(0, 1), min_size=1, max_size=3))


def test_every_step_of_a_forked_run_is_explained(pytestconfig):
    def check(settings):
        run = simulate(scenario_from(settings))
        for step in range(min(len(run.steps), 60)):
            assert len(explain(run, step)) > 20
            assert [request for request, _ in explain_waiting(run, step)] == run.frame(step).waiting

    hunt(pytestconfig, 30, check, forked_settings())
