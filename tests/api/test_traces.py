"""POST /api/v1/traces, and runs that name an uploaded trace."""

import gzip
import hashlib
import os
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.errors import Problem
from app.settings import Settings
from app.traces import TraceStore
from sim.workload import sample_trace
from sim.workload.read import MAX_BYTES

PLAIN = b"arrival_s,prompt_tokens,output_tokens\n0,64,8\n0.5,32,4\n2,16,2\n"


def upload(client: TestClient, content: bytes) -> dict:
    answer = client.post("/api/v1/traces", content=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("content", [PLAIN, gzip.compress(PLAIN, mtime=0)])
def test_a_trace_is_named_by_its_hash(client: TestClient, content: bytes):
    answer = upload(client, content)
    assert answer["sha256"] == hashlib.sha256(content).hexdigest()
    assert (answer["rows"], answer["span_s"], answer["rejected"]) == (3, 2.0, [])


def test_a_form_is_read_as_the_bare_file(client: TestClient):
    answer = client.post("/api/v1/traces", files={"file": ("trace.csv", PLAIN, "text/csv")})
    assert answer.json()["sha256"] == upload(client, PLAIN)["sha256"]


def test_a_run_of_an_uploaded_trace(client: TestClient):
    sha256 = upload(client, PLAIN)["sha256"]
    answer = client.get(f"/api/v1/run?load=trace&trace={sha256}").json()
    assert answer["metrics"]["finished"] == 3


def test_the_sample_needs_no_upload(client: TestClient):
    answer = client.get(f"/api/v1/run?load=trace&trace={sample_trace().sha256}&max_num_seqs=16")
    assert answer.status_code == 200


@pytest.mark.parametrize("route", ["run", "steps"])
def test_a_trace_that_is_not_here_is_409_with_its_name(client: TestClient, route: str):
    sha256 = "0" * 64
    answer = client.get(f"/api/v1/{route}?load=trace&trace={sha256}")
    assert answer.status_code == 409
    assert answer.json()["sha256"] == sha256


def test_the_nasty_trace_is_read_as_its_notes_say(client: TestClient, shared: Path):
    answer = upload(client, (shared / "field_inputs" / "trace_nasty_synthetic.csv").read_bytes())
    assert answer["rows"] == 5
    assert len(answer["rejected"]) == answer["rejected_count"] == 6
    assert all(row["reason"] for row in answer["rejected"])
    assert len(answer["repaired"]) >= 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"hello",
        b"\x00" * 100,
        b"\x1f\x8b broken",
        gzip.compress(PLAIN, mtime=0)[:-9],
        b"arrival_s,prompt_tokens,output_tokens\n",
        b"arrival_s,prompt_tokens,output_tokens\n0,0,0\n",
        b'{"timestamp": 1}\n',
        b"[" * 50_000,
        "𝔞rrival,prompt,output\n1,2".encode("utf-16"),
    ],
)
def test_what_is_no_trace_is_422(client: TestClient, content: bytes):
    answer = client.post("/api/v1/traces", content=content)
    assert answer.status_code == 422
    assert answer.json()["field"] in ("trace", "file")


def test_a_large_file_is_413_before_it_is_read(client: TestClient):
    sent = 0

    def pieces():
        nonlocal sent
        while sent < 3 * MAX_BYTES:
            sent += 1_000_000
            yield b"1" * 1_000_000

    answer = client.post("/api/v1/traces", content=pieces())
    assert answer.status_code == 413
    assert answer.json()["allowed"] == "at most 20 MB"


def test_an_announced_length_is_413_at_once(client: TestClient):
    answer = client.post("/api/v1/traces", content=b"x", headers={"Content-Length": str(10**12)})
    assert answer.status_code == 413


def test_a_large_form_is_413(client: TestClient):
    answer = client.post("/api/v1/traces", files={"file": ("a.csv", b"1" * (MAX_BYTES + 100_000))})
    assert answer.status_code == 413


def test_a_bomb_is_422(client: TestClient):
    answer = client.post("/api/v1/traces", content=gzip.compress(b"\n" * 10_000_000) * 41)
    assert answer.status_code == 422
    assert "unpacked" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"--x\r\n\r\nbroken", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
        (b"--x--\r\n", "multipart/form-data; boundary=x"),
        (b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n', "multipart/form-data; boundary=x"),
    ],
)
def test_a_broken_form_is_refused(client: TestClient, content: bytes, kind: str):
    assert client.post("/api/v1/traces", content=content, headers={"Content-Type": kind}).status_code in (400, 422)


def trace_of(number: int) -> bytes:
    return PLAIN + f"{number + 3},8,8\n".encode()


def test_traces_are_shared_between_workers(tmp_path: Path):
    settings = Settings(trace_dir=tmp_path)
    sha256 = TraceStore(settings).add(PLAIN).sha256
    assert TraceStore(settings).get(sha256).rows == 3


def test_the_longest_unused_traces_go_first(tmp_path: Path):
    store = TraceStore(Settings(trace_dir=tmp_path, trace_count=3))
    names = []
    for number in range(5):
        names.append(store.add(trace_of(number)).sha256)
        os.utime(tmp_path / names[-1], (time.time() - 100 + number,) * 2)
        if number == 2:
            store.get(names[0])
    assert {path.name for path in tmp_path.iterdir()} == {names[0], names[3], names[4]}


def test_traces_are_bounded_in_size(tmp_path: Path):
    store = TraceStore(Settings(trace_dir=tmp_path, trace_total_bytes=2 * len(trace_of(0))))
    for number in range(5):
        store.add(trace_of(number))
    assert len(list(tmp_path.iterdir())) == 2


def test_old_traces_go(tmp_path: Path):
    store = TraceStore(Settings(trace_dir=tmp_path, trace_age_s=60))
    old = store.add(trace_of(1)).sha256
    os.utime(tmp_path / old, (time.time() - 61,) * 2)
    new = store.add(trace_of(2)).sha256
    assert [path.name for path in tmp_path.iterdir()] == [new]


def test_a_file_that_was_changed_is_not_the_trace(tmp_path: Path):
    sha256 = TraceStore(Settings(trace_dir=tmp_path)).add(PLAIN).sha256
    (tmp_path / sha256).write_bytes(trace_of(1))
    with pytest.raises(Problem, match="does not have"):
        TraceStore(Settings(trace_dir=tmp_path)).get(sha256)


def test_a_folder_that_cannot_be_written_is_503(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem, match="cannot keep"):
        TraceStore(Settings(trace_dir=tmp_path / "file" / "folder")).add(PLAIN)
