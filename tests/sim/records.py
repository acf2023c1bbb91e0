"""Records of runs as plain arrays, column by column, so that they can be kept in a file and compared byte by byte."""

from pathlib import Path

import numpy as np
from hypothesis import given, settings

from sim.conformance.vllm import record_scenario
from sim.run import Session
from sim.scenario import scenario_from
from tests.conformance.recorded import read_recorded
from tests.invariants.checks import check_state
from tests.invariants.strategies import run_settings
from tests.sim.axes import AXES

RECORDED = (
    "20_preempt_basic", "26_full_isl_gate_off", "29_preempt_bs32", "42_multi_turn_evict", "53_random_s6",
    "56_spec_k4_budget", "57_spec_k4_preempt", "58_spec_k3_prefix", "60_async_preempt", "61_async_prefix_random",
    "62_pool_too_small",
)  # fmt: skip


def columns_of(log, **tables):
    """Columns of a record by name; structured arrays have padding, which says nothing."""
    tables = {"steps": log.steps, "events": log.events, **tables}
    columns = {f"{table}.{name}": rows[name] for table, rows in tables.items() for name in rows.dtype.names}
    return {"ids": log.ids, **columns}


def run_columns(named, advance=None, **session):
    """Columns of a run; `advance` drives the session in its own way."""
    session = Session(scenario_from(named), **session)
    (advance or Session.advance)(session)
    run = session.run()
    return columns_of(run.log, results=run.results)


def trace_columns(name):
    trace = read_recorded("vllm", "traces", name)
    recorder = record_scenario(trace["scenario"], len(trace["steps"]))
    return columns_of(recorder.log(), requests=recorder.requests())


RANDOM_RUNS = 80
CASES = {name: (run_columns, axis) for name, axis in AXES.items()}
CASES |= {name: (trace_columns, name) for name in RECORDED}


def assert_equal_bytes(columns, expected):
    assert columns.keys() == expected.keys()
    differing = [name for name in expected if columns[name].tobytes() != expected[name].tobytes()]
    assert differing == []


def random_settings(count):
    """Settings of random runs, the same in every process."""
    drawn = []

    @settings(max_examples=count, derandomize=True, database=None, deadline=None)
    @given(run_settings())
    def draw(one):
        drawn.append(one)

    draw()
    return drawn


def with_checks(session):
    """Drive a session, its state checked every now and then."""
    while not session.advance(max_steps=11):
        check_state(session)


def write_records(folder):
    """Run all cases and keep their records; what the uncompiled process does."""
    for name, (columns, case) in CASES.items():
        drive = {"advance": with_checks} if columns is run_columns and name != "defaults" else {}
        np.savez(Path(folder) / f"{name}.npz", **columns(case, **drive))
    for number, case in enumerate(random_settings(RANDOM_RUNS)):
        np.savez(Path(folder) / f"random_{number}.npz", **run_columns(case))
