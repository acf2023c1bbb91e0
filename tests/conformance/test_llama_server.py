"""The engine does what a real llama-server did: every decode call, result and launch of 47 runs, and 13 start-ups."""

import pytest

from sim.conformance import compare, read_traces
from sim.conformance.llama_server import config_from, record_trace, tasks_from
from tests.conformance.recorded import read_recorded, recorded_lines

NAMES = list(recorded_lines("llama_server", "traces"))
ALWAYS_COMPARED = 5  # fields of a step


def read(name):
    return read_recorded("llama_server", "traces", name)


@pytest.mark.parametrize("name", NAMES)
def test_every_field_equals_the_recorded_trace(name):
    trace = read(name)

    verdict = compare(trace, name)

    assert verdict.difference is None
    assert verdict.steps == len(trace["steps"])
    assert verdict.fields >= ALWAYS_COMPARED * verdict.steps + len(trace["startup"])


def test_all_recorded_traces_are_here():
    runs = [name for name in NAMES if read(name)["requests"]]

    assert (len(runs), len(NAMES)) == (47, 60)


def test_packed_traces_are_those_of_the_shared_folder(shared):
    traces = [trace for _, trace in read_traces([shared / "conformance" / "llama_server" / "traces"])]

    assert [read(name) for name in NAMES] == traces


def alter(trace, *path):
    """Make the value at a path another one."""
    for key in path[:-1]:
        trace = trace[key]
    value = trace[path[-1]]
    trace[path[-1]] = (not value) if isinstance(value, bool) else value + 1
    return trace


ALTERED = {
    ("steps", 40, "tok"): "step 40, tok",
    ("steps", 40, "nb"): "step 40, nb",
    ("steps", 108, "off"): "step 108, off",
    ("steps", 40, "parts", 1, 0): "step 40, parts",
    ("steps", 40, "parts", 0, 3): "step 40, parts",
    ("steps", 40, "parts", 0, 5): "step 40, parts",
    ("steps", 40, "ub", 0, 0): "step 40, ub",
    ("requests", 0, "http"): "request 0, http",
    ("startup", "n_ctx_slot"): "start-up, n_ctx_slot",
    ("startup", "kv_unified"): "start-up, kv_unified",
    ("started",): "start-up, started",
}


@pytest.mark.parametrize(("path", "name"), ALTERED.items(), ids=[" ".join(map(str, path)) for path in ALTERED])
def test_one_altered_field_is_reported(path, name):
    trace = read("23_unified_overflow")
    trace["steps"][108].setdefault("off", 0)
    alter(trace, *path)

    assert compare(trace).difference.startswith(f"{name}: recorded ")


@pytest.mark.parametrize("field", ["slot", "cached", "evaluated", "predicted", "truncated"])
def test_one_altered_result_is_reported(field):
    trace = read("15_multi_turn")
    alter(trace, "requests", 1, "result", field)

    assert compare(trace).difference.startswith(f"request 1, {field}: recorded ")


def test_one_altered_launch_is_reported():
    trace = read("08_defer_same_step_release")
    launch = next(event for event in trace["events"] if event[1] == "launch")
    launch[2] += 1

    assert compare(trace).difference.startswith("launches: recorded ")


def test_missing_step_is_reported():
    trace = read("01_fresh_slots")
    del trace["steps"][-1]

    assert compare(trace).difference == "number of steps: recorded 12, ours 13"


@pytest.mark.parametrize("argument", ["--no-cont-batching", "--context-shift"])
def test_one_altered_setting_is_noticed(argument):
    names = {"--no-cont-batching": "26_no_cont_batching", "--context-shift": "22_ctx_shift"}
    trace = read(names[argument])
    trace["args"].remove(argument)

    assert compare(trace).difference is not None


def test_only_the_defect_explains_the_overwritten_request(monkeypatch):
    """Without it the running request goes on where it was, as with no copies in RAM (44c)."""
    trace, control = read("44b_pinned_busy_overwrites"), read("44c_pinned_busy_ramoff")
    real = config_from
    monkeypatch.setattr("sim.conformance.llama_server.config_from", lambda t: real(t)._replace(imitates_defect=0))

    difference = compare(trace).difference

    assert difference.startswith('step 31, parts: recorded [[0, 2, "D", 203, 1, 1]], ours [[0, 2, "D", 122')
    assert compare(control).difference is None


def test_record_says_what_a_request_was_told():
    trace = read("35_mix6_small_ctx")

    rows = record_trace(trace).requests()

    refused = [i for i, request in enumerate(trace["requests"]) if request["http"] == 400]
    assert [i for i, row in enumerate(rows) if row["status"] == 4] == refused
    assert all(tasks_from(trace).prompt_tokens[i] >= trace["startup"]["n_ctx_slot"] for i in refused)
    assert refused
