"""POST /api/v1/import, and the paste box's answers with and without htmx."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.paste import MAX_BYTES
from tests.importers.expected import EXPECTED, assert_expected

COMMAND = "vllm serve Qwen/Qwen3-8B --max_num_seqs 8 --frobnicate"
PARTIAL = {"HX-Request-Type": "partial"}
RESULT = """
Successful requests:                     20
Request throughput (req/s):              2.00
Mean TTFT (ms):                          50.00
Mean E2EL (ms):                          500.00
"""


@pytest.mark.parametrize("name", EXPECTED)
def test_field_input_is_read_by_the_api(client: TestClient, shared: Path, name: str):
    answer = client.post("/api/v1/import", content=(shared / "field_inputs" / name).read_bytes())
    assert answer.status_code == 200
    assert_expected(answer.json(), name)


@pytest.mark.parametrize(
    "request_",
    [
        {"content": COMMAND},
        {"content": COMMAND, "headers": {"Content-Type": "text/plain; charset=utf-8"}},
        {"content": COMMAND, "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
        {"data": {"text": COMMAND}},
        {"files": {"text": (None, COMMAND)}},
        {"files": {"file": ("serve.sh", COMMAND)}},
        {"files": {"file": ("", b""), "text": (None, COMMAND)}},
    ],
    ids=["body", "text", "curl", "form", "multipart field", "file", "empty file beside a text"],
)
def test_text_comes_as_body_or_form(client: TestClient, request_: dict):
    answer = client.post("/api/v1/import", **request_)
    assert answer.json()["params"]["max_num_seqs"] == 8
    assert answer.json()["unknown"] == ["--frobnicate"]


@pytest.mark.parametrize("content", [b"", b"hello", b"\x00\xff" * 50, b'{"duration": 1,,}', b"\x1f\x8bbroken"])
def test_what_cannot_be_read_is_422_with_where(client: TestClient, content: bytes):
    answer = client.post("/api/v1/import", content=content)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["field"] in ("text", "trace")


def test_a_text_that_is_too_large_is_413(client: TestClient):
    answer = client.post("/api/v1/import", content=b"x" * (MAX_BYTES + 1))
    assert answer.status_code == 413
    assert answer.json()["allowed"] == "at most 8 MB"


def test_a_field_that_is_too_large_is_413(client: TestClient):
    answer = client.post("/api/v1/import", files={"text": (None, "x" * (MAX_BYTES + 100_000))})
    assert answer.status_code == 413


def test_a_broken_form_is_refused(client: TestClient):
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/api/v1/import", content=b"--x\r\n\r\nbroken", headers=headers).status_code in (400, 422)


def test_import_changes_nothing(client: TestClient, settings):
    client.post("/api/v1/import", content=b"arrival_s,prompt_tokens,output_tokens\n0,64,8\n")
    assert list(settings.trace_dir.glob("*")) == []


@pytest.mark.parametrize("name", ["serve_messy_flags.txt", "bench_sglang_infinity.json", "trace_azure_like.csv"])
def test_field_input_is_shown_with_a_link_that_opens(client: TestClient, shared: Path, name: str):
    file = {"file": (name, (shared / "field_inputs" / name).read_bytes())}
    html = client.post("/lab/paste/", files=file, headers=PARTIAL).text
    link = re.search(r'href="(\?[^"]*)">Open this scenario', html)
    assert link
    assert "distrust" in html
    answer = client.get(f"/api/v1/run{link[1].replace('&amp;', '&')}")
    assert answer.status_code == 200, answer.text


def test_figures_stand_beside_simulated_ones(client: TestClient):
    html = client.post("/lab/paste/", data={"text": RESULT}, headers=PARTIAL).text
    rows = re.findall(r"<tr><th scope=\"row\">([\w ]+).*?<td>([\d.,–]+)</td><td>([\d.,–]+)</td><td[^>]*>([^<]*)<", html)
    assert [row[:2] for row in rows] == [("Requests ", "2.00"), ("TTFT mean ", "50.0"), ("Latency mean ", "500.0")]
    assert all(simulated != "–" and difference for *_, simulated, difference in rows)


def test_what_does_not_fit_is_said_beside_what_was_read(client: TestClient):
    html = client.post("/lab/paste/", data={"text": "vllm serve deepseek-ai/DeepSeek-R1"}, headers=PARTIAL).text
    assert "It cannot be simulated as it stands" in html
    assert "GiB too much" in html


def test_plain_form_gets_a_whole_page(client: TestClient):
    html = client.post("/lab/paste/", files={"text": (None, COMMAND)}).text
    assert html.startswith("<!doctype html>")
    assert re.search(r'href="\.\./\?[^"]*max_num_seqs=8', html)
    assert 'action="../paste/"' in html


def test_unreadable_paste_is_one_line_for_htmx(client: TestClient):
    answer = client.post("/lab/paste/", data={"text": "hello"}, headers=PARTIAL)
    assert answer.status_code == 422
    assert re.fullmatch(r'<p class="error" id="error-text" role="alert">[^<]*</p>', answer.text)


def test_page_of_the_box_needs_no_scenario(client: TestClient):
    assert "<textarea" in client.get("/lab/paste/").text


def test_scenario_is_shown_as_commands(client: TestClient):
    html = client.get("/lab/commands/?max_num_seqs=8&load=closed&concurrency=4", headers=PARTIAL).text
    assert "--max-num-seqs 8" in html
    assert "--max-concurrency 4" in html
    assert client.get("/lab/commands/?max_num_seqs=8").text.startswith("<!doctype html>")


def test_text_in_a_paste_is_never_markup(client: TestClient):
    text = "vllm serve Qwen/Qwen3-8B --<script>alert(1)</script> '<img src=x>'"
    html = client.post("/lab/paste/", data={"text": text}, headers=PARTIAL).text
    assert "<script" not in html
    assert "<img" not in html
