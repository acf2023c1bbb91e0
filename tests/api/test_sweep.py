"""GET /api/v1/sweep: lines that say what the command line says, in order, bounded, and no work for who has left."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.params import parse_query, read_query
from app.settings import Settings
from sim.axis import read_axis
from sim.sweep import CURVES, points, spots
from tests.api.aside import run_aside
from tests.api.conftest import SMALL
from tests.api.test_load import LONG, visit

TWO = f"{SMALL}&b.batching=static"


def read(client: TestClient, query: str) -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/sweep?{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_lines_are_head_points_and_peaks(client: TestClient):
    head, *lines, tail = read(client, f"{TWO}&x=rate:5:25:3&seeds=2&cross_s=0.05")
    assert head["x"] == {"name": "rate", "values": [5.0, 15.0, 25.0]}
    assert (head["seeds"], list(head["scenarios"])) == (2, ["a", "b"])
    assert [(line["index"], line["curve"]) for line in lines] == [(i, name) for i in range(3) for name in "ab"]
    assert set(tail["peaks"]) == set(tail["crossing"]["curves"]) == {"a", "b"}
    assert tail["crossing"]["level"] == 0.05


def test_points_are_those_of_the_simulator(client: TestClient):
    _, *lines, _ = read(client, f"{TWO}&x=max_num_seqs:2,4&seeds=3")
    scenarios = read_query(parse_query(TWO)).scenarios
    expected = points(spots(scenarios, read_axis("max_num_seqs", "2,4"), 3))
    for line, point in zip(lines, expected, strict=True):
        assert line["metrics"] == {path: point.band(path) for path in CURVES}


def test_peaks_and_crossings_follow_from_the_points(client: TestClient):
    _, *lines, tail = read(
        client, "num_requests=80&max_num_seqs=2&prompt_tokens=64&output_tokens=16&x=rate:1:60:6&seeds=1&cross_s=0.5"
    )
    ttft = [line["metrics"]["ttft_s.p50"]["mean"] for line in lines]
    crossing = tail["crossing"]["curves"]["a"]
    before = max(i for i, value in enumerate(ttft) if value < 0.5)
    assert lines[before]["x"] < crossing["mean"] < lines[before + 1]["x"]
    best = max(lines, key=lambda line: line["metrics"]["goodput_rps"]["mean"])
    assert tail["peaks"]["a"] == {"x": best["x"], "goodput_rps": best["metrics"]["goodput_rps"]["mean"]}


@pytest.mark.parametrize(("load", "name"), [("load=open", "rate"), ("load=closed&concurrency=3", "concurrency")])
def test_without_an_axis_the_load_goes_from_light_to_too_much(client: TestClient, load: str, name: str):
    head, first, *_, last, _ = read(client, f"{SMALL}&{load}&seeds=1")
    assert head["x"]["name"] == name
    assert len(head["x"]["values"]) == 9
    assert first["metrics"]["queue_s.p50"]["mean"] < last["metrics"]["queue_s.p50"]["mean"]


def test_a_trace_is_sent_faster_and_faster(client: TestClient):
    rows = "arrival_s,prompt_tokens,output_tokens\n" + "".join(f"{i},200,50\n" for i in range(20))
    sha256 = client.post("/api/v1/traces", content=rows).json()["sha256"]
    head, *lines, _ = read(client, f"load=trace&trace={sha256}&max_num_seqs=2&seeds=1")
    assert head["x"]["name"] == "trace_scale"
    rates = [line["metrics"]["requests_per_s"]["mean"] for line in lines]
    assert rates == sorted(rates)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("x=rate:0:5:3", "x"),
        ("x=gpu:1,2", "x"),
        ("x=rate", "x"),
        ("x=rate:1:5:400&seeds=2", "x"),
        ("seeds=0", "seeds"),
        ("seeds=17", "seeds"),
        ("cross_s=-1", "cross_s"),
        ("x=rate:1:9:9&num_requests=5000&output_tokens=2000", "x"),
        ("x=num_requests:1000:2000000:3", "num_requests"),
        ("load=burst", "load"),
        ("x=rate:1:2:2&model=llama-3.1-70b", "model"),
    ],
)
def test_what_is_refused_is_named(client: TestClient, query: str, field: str):
    answer = client.get(f"/api/v1/sweep?{query}")
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_a_trace_the_server_lacks_is_asked_for(client: TestClient):
    assert client.get(f"/api/v1/sweep?load=trace&trace={'0' * 64}").status_code == 409


def test_a_failure_in_mid_sweep_is_the_last_line(client: TestClient):
    *_, point, last = read(
        client, "num_requests=3&num_gpu_blocks=33&prompt_tokens=9&x=max_model_len:256,100000&seeds=1"
    )
    assert point["index"] == 0
    assert (last["status"], "peaks" in last) == (422, False)


def test_an_answer_that_is_known_is_not_computed_again(client: TestClient):
    query = f"/api/v1/sweep?{SMALL}&x=rate:5,9"
    headers = client.get(query).headers
    assert "max-age" in headers["cache-control"]
    assert client.get(query, headers={"If-None-Match": headers["etag"]}).status_code == 304
    assert client.get(f"{query}&seeds=3").headers["etag"] != headers["etag"]


def test_a_reader_that_leaves_stops_the_sweep(settings: Settings):
    app = create_app(settings)
    sent = run_aside(visit(app, f"/api/v1/sweep?{LONG}&x=rate:1:2:2&seeds=1", leave_at_once=True))
    app.state.service.close()
    assert app.state.service.open_jobs == 0
    assert b'"curve"' not in b"".join(message.get("body", b"") for message in sent)


def test_a_reader_that_leaves_in_mid_sweep_leaves_no_run_behind(settings: Settings):
    app = create_app(settings)
    run_aside(visit(app, f"/api/v1/sweep?{SMALL}&x=num_requests:5,12000,13000,14000&seeds=1", leave_at_once=False))
    app.state.service.close()
    assert app.state.service.open_jobs == 0
