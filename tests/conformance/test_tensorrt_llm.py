"""The engine schedules by TensorRT-LLM's rules: every field of every step of 33 traces made by executing those rules.

The traces are packed into this folder, so they run in any checkout; how they were made is told beside them.
"""

import pytest

from sim.conformance import compare, read_traces
from sim.conformance.tensorrt_llm import record_scenario
from sim.errors import ScenarioError
from tests.conformance.recorded import read_recorded, recorded_lines

NAMES = list(recorded_lines("tensorrt_llm", "traces"))
COMPARED = ["arr", "fit", "ctx", "gen", "paused", "tok", "used", "fin", "used_after", "active"]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_every_step_equals_the_trace(name):
    trace = read_recorded("tensorrt_llm", "traces", name)

    verdict = compare(trace, name)

    assert verdict.difference is None
    assert verdict.steps == len(trace["steps"])
    assert verdict.fields == len(COMPARED) * verdict.steps


def test_all_traces_are_here():
    assert len(NAMES) == 33


def test_packed_traces_are_those_of_the_shared_folder(shared):
    read = [trace for _, trace in read_traces([shared / "conformance" / "tensorrt_llm" / "traces"])]

    packed = [read_recorded("tensorrt_llm", "traces", name) for name in NAMES]

    assert [{k: v for k, v in trace.items() if k != "name"} for trace in packed] == read


@pytest.mark.parametrize("field", COMPARED)
def test_one_altered_field_is_reported_with_its_step(field):
    trace = read_recorded("tensorrt_llm", "traces", "32_mix_reuse_mu")
    steps = [s for s, step in enumerate(trace["steps"]) if field in step]
    step = steps[len(steps) // 2]
    value = trace["steps"][step][field]
    trace["steps"][step][field] = value + 1 if isinstance(value, int) else [*value, 0]

    assert compare(trace).difference.startswith(f"step {step}, {field}: recorded ")


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("05_mu_thrash", "two_step_lookahead", True),
        ("10_chunk_fcfs", "chunk_policy", "EQUAL_PROGRESS"),
        ("12_chunk_align", "chunk_unit", 8),
        ("15_batch_below_capacity", "max_num_requests", 5),
        ("17_reuse_burst", "prefix_aware", False),
        ("17_reuse_burst", "block_reuse", False),
    ],
)
def test_one_altered_setting_is_noticed(name, setting, value):
    trace = read_recorded("tensorrt_llm", "traces", name)
    trace["scenario"]["config"][setting] = value

    assert compare(trace).difference is not None


def test_another_end_is_noticed():
    trace = read_recorded("tensorrt_llm", "traces", "24_too_large")
    trace["ended"] = "done"

    assert compare(trace).difference == 'end: recorded ["done", 6], ours ["stuck", 6]'


def test_missing_setting_is_named():
    trace = read_recorded("tensorrt_llm", "traces", "01_static_batch")
    del trace["scenario"]["config"]["policy"]

    with pytest.raises(ScenarioError, match="policy"):
        compare(trace)


def test_a_step_counts_the_pauses_of_the_trace():
    trace = read_recorded("tensorrt_llm", "traces", "05_mu_thrash")

    requests = record_scenario(trace["scenario"]).requests()

    assert requests["preemptions"].sum() == trace["n_pauses"]
