"""The engine of llama-server equals the plain rules on random scenarios: every decode call, result, launch and copy."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from sim.engine.llama_server.loop import advance
from sim.engine.llama_server.setup import least_log_sizes
from sim.engine.loop import Stop
from tests.hunting import hunt
from tests.oracle.llama_server_differential import Driver, config_from, first_difference, run_engine
from tests.oracle.llama_server_scenarios import Focus, scenario

ROOT = Path(__file__).parents[2]
EXAMPLES, ALWAYS = 500, 200  # of each focus: 3,000 scenarios with --all, 1,500 always
SPINNING = (218, 266, 408)
SEEDS = st.integers(0, 1 << 32)
# Rules that at least a twentieth of the scenarios must meet, or their equality says little.
MEETS = {
    Focus.SPLIT: {"deferred", "reused", "mixed", "several ubatches"},
    Focus.UNIFIED: {"deferred", "reused", "overflow", "halved", "several calls"},
    Focus.RAM: {"deferred", "reused", "copies"},
    Focus.SHIFT: {"deferred", "reused", "shifted"},
    Focus.PINNED: {"deferred", "reused", "mixed"},
    Focus.DEFECT: {"deferred", "reused", "copies"},
}


def finished(drawn):
    """The oracle at the end of a scenario; None if the real server's defect lets it spin or fail."""
    driver = Driver(drawn)
    try:
        sim = driver.run()
    except IndexError:
        return None
    return None if driver.is_stuck else sim


def met_rules(drawn, sim):
    parts = [[part[2] for part in step["parts"]] for step in sim.steps]
    longest = drawn["config"]["n_ctx_slot"]
    rules = {
        "deferred": len({step for step, kind, *_ in sim.log if kind == "launch"}) > 2,
        "reused": any(kind == "n_past" and told[-1] > 0 for _, kind, *told in sim.log),
        "mixed": any({"P", "D"} <= set(kinds) for kinds in parts),
        "several ubatches": any(len(step["ub"]) > 1 for step in sim.steps),
        "several calls": any(step["off"] > 0 for step in sim.steps),
        "halved": any(step["nb"] < drawn["config"]["nb"] for step in sim.steps),
        "overflow": any(result[0] == "overflow" for result in sim.result.values()),
        "shifted": any(r["n_predict"] + len(r["prompt"]) > longest + 1 for r in drawn["requests"]),
        "copies": len(sim.ram) > 0,
    }
    return {rule for rule, is_met in rules.items() if is_met}


@pytest.mark.parametrize("focus", Focus)
def test_engine_equals_the_oracle(focus, pytestconfig):
    met, count = Counter(), 0

    def check(seed):
        nonlocal count
        drawn = scenario(focus, seed)
        sim = finished(drawn)
        if sim is None:
            assert focus == Focus.DEFECT
            return
        count += 1
        met.update(met_rules(drawn, sim))
        assert first_difference(drawn, sim) is None

    hunt(pytestconfig, EXAMPLES, check, SEEDS, always=ALWAYS)

    assert {rule for rule, times in met.items() if times >= count / 20} >= MEETS[focus]


def test_engine_stops_where_the_defect_lets_the_real_server_spin():
    for seed in SPINNING:
        assert Driver(scenario(Focus.DEFECT, seed)).spins()
        assert run_engine(scenario(Focus.DEFECT, seed)).stop == Stop.STUCK


def test_difference_is_found_and_named():
    """The comparison can fail: here the oracle is asked about a smaller batch."""
    drawn = scenario(Focus.SPLIT, 3)
    smaller = drawn | {"config": drawn["config"] | {"nb": drawn["config"]["nb"] - 1}}

    assert "oracle" in first_difference(drawn, finished(smaller))


# -- the same bytes, compiled or not, in one call or many -----------------------------------------------------------

CASES = [(focus, seed) for focus in Focus for seed in range(5)]


def columns(recorder):
    """Every field of the record and of the requests."""
    tables = {**recorder.log()._asdict(), "requests": recorder.requests()}
    return {f"{name}.{field}": rows[field] for name, rows in tables.items() for field in rows.dtype.names}


def run_in_smallest_logs(drawn):
    """Make room for every single task and step; uncompiled, a row too few would be an error."""
    return run_engine(drawn, least_log_sizes(config_from(drawn)), growth=1.0)


def write_records(folder):
    for focus, seed in CASES:
        np.savez(Path(folder) / f"{focus}-{seed}.npz", **columns(run_in_smallest_logs(scenario(focus, seed))))


def assert_equal_bytes(ours, expected):
    assert ours.keys() == expected.keys()
    for name, column in ours.items():
        assert column.tobytes() == expected[name].tobytes(), name


def test_compiled_and_uncompiled_records_are_equal(tmp_path):
    command = "import sys; from tests.oracle.test_llama_server_oracle import write_records; write_records(sys.argv[1])"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", command, tmp_path], cwd=ROOT, env=environment, check=True)

    for focus, seed in CASES:
        with np.load(tmp_path / f"{focus}-{seed}.npz") as expected:
            assert_equal_bytes(columns(run_engine(scenario(focus, seed))), dict(expected))


@pytest.mark.parametrize("focus", Focus)
def test_smallest_logs_give_the_same_record(focus):
    drawn = scenario(focus, 1)

    assert_equal_bytes(columns(run_in_smallest_logs(drawn)), columns(run_engine(drawn)))


def test_advance_is_compiled_once():
    for focus in Focus:
        run_engine(scenario(focus, 0))

    assert len(advance.signatures) == 1
