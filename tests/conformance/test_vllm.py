"""The engine schedules as vLLM 0.33.0 did: every recorded field of every step of 62 named and 100 random traces.

The traces are packed into this folder, so they run in any checkout; how they were recorded, and the rules they
show, is told beside them.
"""

import pytest

from sim.conformance import compare, read_traces
from tests.conformance.recorded import read_recorded, recorded_lines

NAMES = [(folder, name) for folder in ("traces", "random") for name in recorded_lines("vllm", folder)]
ALWAYS_COMPARED = 12  # fields that every recorded step has


@pytest.mark.parametrize(("folder", "name"), NAMES, ids=[name for _, name in NAMES])
def test_every_field_of_every_step_equals_the_recorded_trace(folder, name):
    trace = read_recorded("vllm", folder, name)

    verdict = compare(trace, name)

    assert verdict.difference is None
    assert verdict.steps == len(trace["steps"])
    assert verdict.fields >= ALWAYS_COMPARED * verdict.steps


def test_all_recorded_traces_are_here():
    assert len(recorded_lines("vllm", "traces")) == 62
    assert len(recorded_lines("vllm", "random")) == 100


@pytest.mark.parametrize("folder", ["traces", "random"])
def test_packed_traces_are_those_of_the_shared_folder(shared, folder):
    read = [trace for _, trace in read_traces([shared / "conformance" / "vllm" / folder])]

    packed = [read_recorded("vllm", folder, name) for name in recorded_lines("vllm", folder)]

    assert [{k: v for k, v in trace.items() if k != "name"} for trace in packed] == read


def altered(value):
    if isinstance(value, int):
        return value + 1
    return [*value, 0] if isinstance(value, list) else {**value, "0": 99}


COMPARED = {
    ("traces", "20_preempt_basic"): "sched tok newb pre run_s wait_s blk_s free_s used_s fin out run free used",
    ("traces", "37_lru_small"): "cached freeq",
    ("traces", "55_spec_k3"): "draft acc nout",
    ("random", "h1033"): "wait",
}
FIELDS = [(*trace, field) for trace, fields in COMPARED.items() for field in fields.split()]


@pytest.mark.parametrize(("folder", "name", "field"), FIELDS, ids=[field for *_, field in FIELDS])
def test_one_altered_field_is_reported_with_its_step(folder, name, field):
    trace = read_recorded("vllm", folder, name)
    steps = [s for s, step in enumerate(trace["steps"]) if field in step]
    step = steps[len(steps) // 2]
    trace["steps"][step][field] = altered(trace["steps"][step][field])

    assert compare(trace).difference.startswith(f"step {step}, {field}: recorded ")


def test_one_altered_setting_is_noticed():
    trace = read_recorded("vllm", "traces", "26_full_isl_gate_off")
    trace["scenario"]["config"]["scheduler_reserve_full_isl"] = True

    assert compare(trace).difference is not None
