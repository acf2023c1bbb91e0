"""The engine compiled and uncompiled, in one call or many, with large logs or none: the same bytes."""

import os
import shutil
import subprocess
import sys
from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim import coefficients, cost
from sim.catalog import efficiencies
from sim.engine import compiled
from sim.engine.loop import Stop, advance
from sim.engine.record import EVENT, has_room
from sim.engine.setup import least_log_sizes
from sim.recorder import Recorder
from sim.run import Session, simulate
from sim.scenario import scenario_from
from tests.rows import some_always
from tests.sim.axes import AXES, BASE
from tests.sim.records import CASES, RANDOM_RUNS, assert_equal_bytes, random_settings, run_columns

ROOT = Path(__file__).parents[2]
PARTS = [*sorted((ROOT / "sim" / "engine").rglob("*.py")), ROOT / "sim" / "cost.py"]


@pytest.fixture(scope="session")
def uncompiled(tmp_path_factory):
    """Folder with the records of all cases, made by a process in which nothing is compiled."""
    folder = tmp_path_factory.mktemp("uncompiled")
    command = "import sys; from tests.sim.records import write_records; write_records(sys.argv[1])"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", command, folder], cwd=ROOT, env=environment, check=True)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_compiled_and_uncompiled_records_are_equal(name, uncompiled):
    columns, case = CASES[name]

    with np.load(uncompiled / f"{name}.npz") as expected:
        assert_equal_bytes(columns(case), dict(expected))


def test_compiled_and_uncompiled_records_of_random_runs_are_equal(uncompiled):
    for number, case in enumerate(random_settings(RANDOM_RUNS)):
        with np.load(uncompiled / f"random_{number}.npz") as expected:
            assert_equal_bytes(run_columns(case), dict(expected))


def step_by_step(session):
    while not session.advance(max_steps=1):
        pass


def slice_by_slice(session):
    until_s, slice_s = 0.0, 0.9 * (1 if session.scenario.server.cost == "unit" else 0.01)
    while not session.advance(until_s=until_s):
        until_s += slice_s


def uneven(session):
    steps = 1
    while not session.advance(max_steps=steps, until_s=1e9):
        steps = steps * 7 % 23


@pytest.mark.parametrize("drive", [step_by_step, slice_by_slice, uneven])
@pytest.mark.parametrize("name", AXES)
def test_calls_of_any_length_give_the_same_record(name, drive):
    assert_equal_bytes(run_columns(AXES[name], drive), run_columns(AXES[name]))


@pytest.mark.parametrize("name", AXES)
def test_logs_that_fill_at_every_step_give_the_same_record(name):
    config = Session(scenario_from(AXES[name])).setting.config

    columns = run_columns(AXES[name], sizes=least_log_sizes(config))

    assert_equal_bytes(columns, run_columns(AXES[name]))


GUARD = 0xA5


def guarded(dtype, count):
    """Rows with as many behind them that nobody may write to; and those."""
    rows = np.empty(2 * count, dtype)
    rows.view(np.uint8)[:] = GUARD
    return rows[:count], rows[count:].view(np.uint8)


def smallest(most, is_enough):
    return bisect_left(range(1, most), True, key=is_enough) + 1


def progress(state):
    return int(state.count.steps), int(state.count.waiting), int(state.count.events)


@pytest.mark.parametrize("name", some_always(AXES, 2))
def test_room_that_a_step_asks_for_is_enough(name):
    """Each step gets the smallest logs with which the engine takes it, and writes nothing behind them."""
    session = Session(scenario_from(AXES[name]))
    state = session._recorder.state
    least = least_log_sizes(session.setting.config._replace(max_num_seqs=len(state.seats)))
    large_events, large_ids = np.empty(2 * least.events, EVENT), np.empty(least.ids, np.int32)
    stop = Stop.LIMIT
    while stop != Stop.DONE:
        state.count.events = state.count.ids = 0
        count = smallest(len(large_ids), lambda n: has_room(state._replace(events=large_events, ids=large_ids[:n])))
        ids, behind_ids = guarded(np.int32, count)
        count = smallest(len(large_events), lambda n: has_room(state._replace(events=large_events[:n], ids=large_ids)))
        events, behind_events = guarded(EVENT, count)

        before = progress(state)
        stop = advance(state._replace(events=events, ids=ids), 1, 1e300)

        assert stop == Stop.DONE or progress(state) != before, "only who arrives before the step fills such a log"
        assert (behind_ids == GUARD).all()
        assert (behind_events == GUARD).all()


def test_advance_is_compiled_once():
    for settings in AXES.values():
        simulate(scenario_from(settings))

    assert len(advance.signatures) == 1


def test_recorder_stops_when_nobody_can_be_admitted():
    """What can never fit is refused before; if the engine sat there all the same, it must not spin."""
    session = Session(scenario_from(BASE | {"num_requests": 1}))
    state = session._recorder.state
    state.count.free = 0

    with pytest.raises(AssertionError, match="never be admitted"):
        Recorder(state).advance()


# -- what a compiled engine is kept under ------------------------------------------------------------------------


def copied_sources(folder):
    for path in PARTS:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return folder / "sim" / "engine" / "compiled.py"


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.relative_to(ROOT / "sim").as_posix())
def test_cache_folder_is_another_when_a_source_changes(path, tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "__file__", str(copied_sources(tmp_path)))
    before = compiled.source_hash()

    changed = tmp_path / path.relative_to(ROOT)
    changed.write_text(changed.read_text().replace("1", "2", 1) + "\n")

    assert compiled.source_hash() != before


def test_source_hash_is_that_of_these_sources(tmp_path, monkeypatch):
    here = compiled.source_hash()
    monkeypatch.setattr(compiled, "__file__", str(copied_sources(tmp_path)))

    assert compiled.source_hash() == here


def duration_s(settings):
    return simulate(scenario_from(settings)).metrics()["duration_s"]


def test_changed_coefficient_changes_the_result_at_once(monkeypatch):
    settings = BASE | {"cost": "simple"}
    before = duration_s(settings)

    monkeypatch.setattr(coefficients, "ETA", coefficients.ETA / 2)

    assert duration_s(settings) > 1.2 * before


def test_changed_cost_changes_the_result_at_once(monkeypatch):
    real = cost.make_cost
    before = duration_s(BASE)

    monkeypatch.setattr("sim.setting.make_cost", lambda server: real(server)._replace(overhead_s=1.0))

    assert duration_s(BASE) > before + 100


def test_changed_efficiency_changes_the_result_at_once(monkeypatch):
    before = duration_s(BASE)
    real = efficiencies.efficiencies_of

    monkeypatch.setattr(coefficients, "efficiencies_of", lambda gpu: replace(real(gpu), weights=real(gpu).weights / 2))

    assert duration_s(BASE) > 1.2 * before
