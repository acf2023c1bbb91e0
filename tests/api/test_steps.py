"""GET /api/v1/steps: what a client decodes is the run."""

import json

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.codec import BLOCK_EVENTS, ticks
from app.params import parse_query, read_query
from sim.engine.record import Kind
from sim.run import Run, simulate
from tests.api.conftest import SMALL
from tests.api.decoder import COLUMNS, OWN_COLUMNS, Decoded, decode, from_runs, from_tables

SCENARIOS = {
    "plain": SMALL,
    "static": f"{SMALL}&batching=static",
    "closed": f"{SMALL}&load=closed&concurrency=3",
    "tight": f"{SMALL}&num_gpu_blocks=33&max_model_len=256",
    "drafts": f"{SMALL}&num_speculative_tokens=3",
    "async": f"{SMALL}&async_scheduling=true",
    "per slot": f"{SMALL}&prefix_cache=per_slot&shared_prefix_tokens=32",
    "contiguous": f"{SMALL}&kv=contiguous&max_model_len=512",
    "many steps": "num_requests=40&max_num_seqs=2&output_tokens=400&prompt_tokens=64",
}


def run_of(query: str) -> Run:
    return simulate(read_query(parse_query(query)).scenario)


def read(client: TestClient, query: str) -> Decoded:
    answer = client.get(f"/api/v1/steps?{query}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    return decode(answer.content)


def assert_steps_equal(decoded: Decoded, run: Run, first: int, last: int) -> None:
    assert len(decoded.end_us) == last - first
    for name in COLUMNS:
        if name not in OWN_COLUMNS:
            assert decoded.steps[name] == run.steps[name][first:last].tolist(), name
    times = ticks(run.steps)
    assert decoded.start_us == times.starts[first:last].tolist()
    assert decoded.end_us == times.ends[first:last].tolist()


def events_of(run: Run, *dropped: Kind) -> list[tuple[int, ...]]:
    events = run.events[["kind", "request", "a", "b"]].tolist()
    return [event for event in events if event[0] not in (Kind.GAP, *dropped)]


@pytest.mark.parametrize("query", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_a_stream_decodes_to_the_run(client: TestClient, query: str):
    decoded, run = read(client, f"{query}&blocks=1"), run_of(query)
    assert_steps_equal(decoded, run, 0, len(run.steps))
    assert decoded.events == events_of(run)
    assert decoded.ids == run.blocks.tolist()
    assert decoded.head["requests"]["prompt"] == run.requests.prompt_tokens.tolist()
    assert decoded.tail["metrics"] == client.get(f"/api/v1/run?{query}").json()["metrics"]


def test_without_blocks_only_what_tells_of_them_is_missing(client: TestClient):
    decoded, run = read(client, f"{SMALL}&blocks=0"), run_of(SMALL)
    assert decoded.events == events_of(run, *BLOCK_EVENTS)
    assert decoded.steps["free"] == run.steps["free"].tolist()
    assert decoded.ids == []


@pytest.mark.parametrize(("first", "count"), [(1, 10), (100, 50), (100, 100_000), (57, 1)])
def test_a_window_is_a_part_of_the_whole(client: TestClient, first: int, count: int):
    query = SCENARIOS["many steps"]
    decoded, run = read(client, f"{query}&from={first}&count={count}&blocks=1"), run_of(query)
    assert_steps_equal(decoded, run, first, min(first + count, len(run.steps)))
    assert decoded.tail["metrics"]["steps"] == len(run.steps)


def test_a_window_behind_the_end_is_empty_and_complete(client: TestClient):
    decoded = read(client, f"{SMALL}&from=1000000")
    assert decoded.end_us == []
    assert decoded.tail


@pytest.mark.parametrize("name", ["plain", "static", "tight", "drafts", "many steps"])
def test_a_window_begins_with_who_is_in_a_slot(client: TestClient, name: str):
    run = run_of(SCENARIOS[name])
    for step in range(1, len(run.steps), max(1, len(run.steps) // 7)):
        rows = read(client, f"{SCENARIOS[name]}&from={step}&count=1").rows
        frame = run.frame(step)
        left_or_new = {event.request for event in events_at(run, step, Kind.ADMIT, Kind.RESUME, Kind.PREEMPT)}
        seats = {row.request: (row.slot, row.computed, row.outputs) for row in frame.running}
        given = zip(rows["request"], rows["slot"], rows["computed"], rows["outputs"], rows["finish_us"], strict=True)
        sent = {request: rest for request, *rest, finish in given if finish is None}
        for request in seats.keys() | sent.keys():
            if request not in left_or_new:
                assert tuple(sent[request]) == seats[request], (step, request)
        held = {
            (r, s) for r, s, f in zip(rows["request"], rows["slot"], rows["finish_us"], strict=True) if f is not None
        }
        assert held == set(frame.held)


@pytest.mark.parametrize("name", ["static", "tight", "async", "per slot", "contiguous"])
def test_a_window_with_blocks_begins_with_what_a_fold_needs(client: TestClient, name: str):
    run = run_of(SCENARIOS[name])
    for step in range(1, len(run.steps), max(1, len(run.steps) // 5)):
        decoded, replay = read(client, f"{SCENARIOS[name]}&from={step}&count=1&blocks=1"), run.replay_before(step)
        state = decoded.state
        assert decoded.rows["request"] == replay.running
        assert from_tables(state["tables"]) == [replay.lives[i].table for i in replay.running]
        assert from_runs(state["waiting"]) == replay.waiting
        queue = from_runs(state["queue"])
        assert queue == list(replay.free.order)
        assert {queue[place] for place in from_runs(state["cached"])} == replay.free.cached
        preempted = {i: replay.lives[i].known for i in replay.waiting if replay.lives[i].state == "preempted"}
        outputs = dict(zip(state["preempted"]["request"], state["preempted"]["outputs"], strict=True))
        assert {i: int(run.requests.prompt_tokens[i]) + n for i, n in outputs.items()} == preempted
        kept = state["kept"]
        rows = zip(kept["request"], kept["tokens"], from_tables(kept["tables"]), strict=True)
        assert dict(zip(kept["slot"], rows, strict=True)) == replay.kept


def test_a_window_without_blocks_does_not_tell_of_them(client: TestClient):
    assert "state" not in json.loads(client.get(f"/api/v1/steps?{SMALL}&from=5&blocks=0").content.splitlines()[1])


def events_at(run: Run, step: int, *kinds: Kind) -> np.recarray:
    ends = run.steps["events_end"]
    events = run.events[ends[step - 1] : ends[step]].view(np.recarray)
    return events[np.isin(events.kind, kinds)]


def test_times_of_the_seats_are_those_of_the_whole_stream(client: TestClient):
    query = SCENARIOS["static"]
    whole, run = read(client, query), run_of(query)
    step = len(run.steps) * 2 // 3
    rows = read(client, f"{query}&from={step}&count=1").rows
    assert rows["request"]
    for request, start_us, decode_us in zip(rows["request"], rows["start_us"], rows["decode_us"], strict=True):
        admitted = next(s for s in range(step) if request in events_at_first(run, s, Kind.ADMIT))
        assert start_us == whole.start_us[admitted]
        chunked = max(s for s in range(step) if request in events_at_first(run, s, Kind.CHUNK))
        assert decode_us == whole.end_us[chunked]


def events_at_first(run: Run, step: int, kind: Kind) -> list[int]:
    ends = run.steps["events_end"]
    events = run.events[ends[step - 1] if step else 0 : ends[step]]
    return events["request"][events["kind"] == kind].tolist()


def test_arrivals_that_depend_on_others_come_last(client: TestClient):
    query = SCENARIOS["closed"]
    decoded, run = read(client, query), run_of(query)
    assert decoded.head["requests"]["arrival_us"].count(None) == 9
    assert decoded.tail["results"]["arrival_us"] == np.rint(run.results["arrival_s"] * 1e6).astype(int).tolist()


def test_a_long_run_comes_in_lines_that_can_be_read_alone(client: TestClient):
    with client.stream("GET", "/api/v1/steps?num_requests=400&max_num_seqs=2&blocks=0") as answer:
        lines = [json.loads(line) for line in answer.iter_lines()]
    assert len(lines) > 5
    assert [line["from"] for line in lines[1:-1]] == np.cumsum([0, *(line["count"] for line in lines[1:-2])]).tolist()


def test_the_labs_default_fits_ten_kilobytes(client: TestClient):
    query = "rate=3.9&num_requests=60&max_num_seqs=8&num_gpu_blocks=2049&shared_prefix_tokens=256&blocks=0"
    sizes = []
    for batching in ("static", "continuous"):
        headers = {"Accept-Encoding": "br"}
        with client.stream("GET", f"/api/v1/steps?{query}&batching={batching}", headers=headers) as answer:
            sizes.append(sum(len(piece) for piece in answer.iter_raw()))
    assert sum(sizes) <= 10_000, sizes


def test_a_stream_is_encoded_once_for_all_who_open_the_link(client: TestClient):
    bodies = client.app.state.service.bodies
    answers = [client.get(f"/api/v1/steps?{SMALL}", headers={"Accept-Encoding": e}) for e in ("br", "gzip", "br")]
    assert len(bodies) == 2
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].headers["content-length"] == answers[2].headers["content-length"]


def test_an_error_is_not_kept_as_a_stream(client: TestClient):
    assert client.get("/api/v1/steps?rate=-1").status_code == 422
    assert not client.app.state.service.bodies
