"""Files of a run: CSV equals the stream, JSON is strict, the trace is one that Perfetto's importer accepts."""

import csv
import io
import json
import re
from collections import Counter
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.bars import bars_of
from app.main import create_app
from app.params import parse_query, read_query
from app.settings import Settings
from sim.engine.record import Kind, Why
from sim.run import Run, simulate
from tests.api.conftest import SMALL
from tests.api.decoder import decode

FILES = ("steps.csv", "requests.csv", "run.json", "trace.json")
TIGHT = f"{SMALL}&num_gpu_blocks=19&max_model_len=256"
STATIC = f"{SMALL}&batching=static"


def run_of(query: str) -> Run:
    return simulate(read_query(parse_query(query)).scenario)


def read_rows(client: TestClient, path: str) -> list[dict[str, str]]:
    answer = client.get(f"/api/v1/export/{path}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.text)))


def read_json(client: TestClient, path: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    answer = client.get(f"/api/v1/export/{path}")
    assert answer.status_code == 200
    return json.loads(answer.content, parse_constant=refuse)


@pytest.mark.parametrize("query", [SMALL, TIGHT, STATIC, f"{SMALL}&from=10&count=7"])
def test_csv_of_steps_equals_the_stream(client: TestClient, query: str) -> None:
    rows = read_rows(client, f"steps.csv?{query}")
    sent = decode(client.get(f"/api/v1/steps?{query}&blocks=1").content)
    assert len(rows) == len(sent.end_us) > 0
    for name in ("prefill", "decode", "running", "held", "waiting", "free", "free_end", "cached"):
        assert [int(row[name]) for row in rows] == sent.steps[name], name
    assert [row["why"] for row in rows] == [Why(why).name.lower() for why in sent.steps["why"]]
    assert [float(row["start_s"]) * 1e6 for row in rows] == pytest.approx(sent.start_us, abs=17)


def test_csv_of_many_steps_has_one_head_and_every_step(client: TestClient) -> None:
    rows = read_rows(client, "steps.csv?num_requests=60&max_num_seqs=2&output_tokens=200&prompt_tokens=64")
    assert len(rows) > 4096
    assert [int(row["step"]) for row in rows] == list(range(len(rows)))


def test_csv_of_requests_equals_the_api(client: TestClient) -> None:
    table = client.get(f"/api/v1/run?{TIGHT}", headers={"Accept": "text/csv"}).text
    assert client.get(f"/api/v1/export/requests.csv?{TIGHT}").text == table


def test_json_of_the_run_is_the_summary_with_all_columns(client: TestClient) -> None:
    document, run = read_json(client, f"run.json?{TIGHT}"), run_of(TIGHT)
    summary = client.get(f"/api/v1/run?{TIGHT}&requests=1").json()
    assert {name: document[name] for name in summary} == summary
    assert document["steps"]["waiting"] == run.steps["waiting"].tolist()
    kinds = Counter(document["events"]["kind"])
    for kind in (Kind.ADMIT, Kind.PREEMPT, Kind.FINISH):
        assert kinds[kind.name.lower()] == (run.events["kind"] == kind).sum(), kind
    assert kinds["preempt"]
    assert {len(column) for column in document["events"].values()} == {sum(kinds.values())}


def test_json_of_a_window_has_the_events_of_its_steps(client: TestClient) -> None:
    whole, part = (read_json(client, f"run.json?{TIGHT}{more}") for more in ("", "&from=5&count=20"))
    assert part["steps"]["step"] == list(range(5, 25))
    inside = [i for i, step in enumerate(whole["events"]["step"]) if 5 <= step < 25]
    assert part["events"]["kind"] == [whole["events"]["kind"][i] for i in inside]


PHASES = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "s", "pid", "tid", "ts", "args"},
    "C": {"name", "pid", "tid", "ts", "args"},
}
"""Members of each kind of trace event, besides `ph`."""


@pytest.mark.parametrize("query", [SMALL, TIGHT, f"{SMALL}&b.batching=static", f"{SMALL}&from=20&count=30"])
def test_trace_keeps_the_schema_of_trace_events(client: TestClient, query: str) -> None:
    trace = read_json(client, f"trace.json?{query}")
    assert trace["displayTimeUnit"] == "ms"
    for event in trace["traceEvents"]:
        assert event.keys() - {"ph"} == PHASES[event["ph"]], event
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 1) > 0
        assert event["ph"] != "C" or all(isinstance(value, int) for value in event["args"].values())
    named = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["ph"] in "Xi"} <= named


@pytest.mark.parametrize("query", [SMALL, TIGHT, STATIC])
def test_slices_of_a_thread_never_overlap(client: TestClient, query: str) -> None:
    ends: dict[tuple[int, int], float] = {}
    slices = [e for e in read_json(client, f"trace.json?{query}")["traceEvents"] if e["ph"] == "X"]
    for event in sorted(slices, key=lambda event: event["ts"]):
        thread = event["pid"], event["tid"]
        assert event["ts"] >= ends.get(thread, 0) - 2e-3
        ends[thread] = event["ts"] + event["dur"]


def test_trace_has_a_process_for_each_run_with_its_stays_arrivals_and_counters(client: TestClient) -> None:
    events = read_json(client, f"trace.json?{SMALL}&b.batching=static")["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {1: "Continuous", 2: "Static"}
    for pid, query in ((1, SMALL), (2, STATIC)):
        own, bars = [event for event in events if event["pid"] == pid], bars_of(run_of(query))
        decoded = {e["args"]["request"] for e in own if e.get("cat") == "decode"}
        assert decoded == set((bars["request"] + 1).tolist())
        held = [event for event in own if event.get("cat") == "held"]
        assert len(held) == (bars["free_s"] > bars["end_s"] + 1e-9).sum()
        assert sum(event["name"].endswith("arrives") for event in own) == 12
        assert {event["name"] for event in own if event["ph"] == "C"} == {"waiting", "running", "KV blocks in use"}


@pytest.mark.parametrize("name", ["steps.csv", "run.json", "trace.json"])
def test_a_run_over_the_limit_says_so_and_offers_a_window(settings: Settings, name: str) -> None:
    client = TestClient(create_app(settings.model_copy(update={"max_export_rows": 50})))
    answer = client.get(f"/api/v1/export/{name}?{SMALL}")
    assert answer.status_code == 422
    assert answer.json()["field"] == "count"
    assert "from and count" in answer.json()["detail"]
    assert client.get(f"/api/v1/export/{name}?{SMALL}&from=3&count=5").status_code == 200


@pytest.mark.parametrize("name", FILES)
def test_file_has_a_name_and_is_kept_by_its_tag(client: TestClient, name: str) -> None:
    answer = client.get(f"/api/v1/export/{name}?{STATIC}")
    disposition = answer.headers["content-disposition"]
    assert re.fullmatch(rf'attachment; filename="batchscope-llama-3.1-8b-static-[0-9a-f]{{8}}-{name}"', disposition)
    again = client.get(f"/api/v1/export/{name}?{STATIC}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["steps.csv", "requests.csv", "run.json"])
def test_file_is_of_the_run_in_focus(client: TestClient, name: str) -> None:
    one = client.get(f"/api/v1/export/{name}?{STATIC}").content
    other = client.get(f"/api/v1/export/{name}?{SMALL}&b.batching=static&run=b").content
    assert one == other


@pytest.mark.parametrize("name", FILES)
def test_bad_parameter_is_a_problem(client: TestClient, name: str) -> None:
    answer = client.get(f"/api/v1/export/{name}?rate=-1")
    assert (answer.status_code, answer.json()["field"]) == (422, "rate")
