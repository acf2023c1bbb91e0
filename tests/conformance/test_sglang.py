"""The engine schedules as SGLang 0.5.23 did: every recorded field of every step of 69 named and 100 random traces.

The traces are packed into this folder, so they run in any checkout; how they were recorded is told beside them.
"""

import pytest

from sim.conformance import compare, read_traces
from tests.conformance.recorded import read_recorded, recorded_lines

NAMES = [(folder, name) for folder in ("traces", "random") for name in recorded_lines("sglang", folder)]
COMPARED_FIELDS = 15  # of each step


@pytest.mark.parametrize(("folder", "name"), NAMES, ids=[name for _, name in NAMES])
def test_every_field_of_every_step_equals_the_recorded_trace(folder, name):
    trace = read_recorded("sglang", folder, name)

    verdict = compare(trace, name)

    assert verdict.difference is None
    assert verdict.steps == len(trace["steps"])
    assert verdict.fields == COMPARED_FIELDS * verdict.steps


def test_all_recorded_traces_are_here():
    assert len(recorded_lines("sglang", "traces")) == 69
    assert len(recorded_lines("sglang", "random")) == 100


@pytest.mark.parametrize("folder", ["traces", "random"])
def test_packed_traces_are_those_of_the_shared_folder(shared, folder):
    read = [trace for _, trace in read_traces([shared / "conformance" / "sglang" / folder])]

    packed = [read_recorded("sglang", folder, name) for name in recorded_lines("sglang", folder)]

    assert [{k: v for k, v in trace.items() if k != "name"} for trace in packed] == read


def altered(value):
    if isinstance(value, str):
        return "D" if value != "D" else "E"
    return [*value, 0] if isinstance(value, list) else value + 1


COMPARED = {
    "32_retract_overlap": "k sched ret run_s wait_s avail_s evict_s ratio_s fin evict",
    "37_abort_last": "abort chunk full ratio",
    "65_mixed_page16_overlap": "avail",
}
FIELDS = [(name, field) for name, fields in COMPARED.items() for field in fields.split()]


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[field for _, field in FIELDS])
def test_one_altered_field_is_reported_with_its_step(name, field):
    trace = read_recorded("sglang", "traces", name)
    steps = [s for s, step in enumerate(trace["steps"]) if field in step]
    step = steps[len(steps) // 2]
    trace["steps"][step][field] = altered(trace["steps"][step][field])

    assert compare(trace).difference.startswith(f"step {step}, {field}: recorded ")


def test_one_altered_setting_is_noticed():
    trace = read_recorded("sglang", "traces", "60_holdback_lpm")
    trace["scenario"]["config"]["schedule_policy"] = "fcfs"

    assert compare(trace).difference is not None


def test_steps_that_are_not_reached_are_missing():
    trace = read_recorded("sglang", "traces", "01_single")
    trace["scenario"]["config"]["max_total_tokens"] = 10  # the prompt does not fit: the real server would refuse it

    assert compare(trace).difference is not None
