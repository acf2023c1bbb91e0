"""Clients that leave, long runs beside others, uploads over a real connection."""

import asyncio
import http.client
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.main import create_app
from app.settings import Settings
from sim.workload.read import MAX_BYTES
from tests.api.aside import run_aside

LONG = "num_requests=20000&max_num_seqs=1&output_tokens=500"
"""Some ten million steps."""


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


async def visit(app: Any, path: str, leave_at_once: bool) -> list[dict[str, Any]]:
    """Ask for a path and leave at the first piece of the body, or before."""
    sent: list[dict[str, Any]] = []
    has_left = asyncio.Event()
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in messages:
            return message
        await has_left.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            has_left.set()

    if leave_at_once:
        asyncio.get_running_loop().call_later(0.05, has_left.set)
    route, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": route, "query_string": query.encode(), "headers": []}
    scope |= {"asgi": {"spec_version": "2.3"}, "http_version": "1.1", "scheme": "http", "server": ("test", 80)}
    await app(scope, receive, send)
    return sent


@pytest.mark.parametrize("route", ["run", "steps"])
def test_a_reader_that_leaves_stops_the_work(settings: Settings, route: str):
    app = create_app(settings)
    sent = run_aside(visit(app, f"/api/v1/{route}?{LONG}", leave_at_once=route == "run"))
    app.state.service.close()
    assert app.state.service.open_jobs == 0
    body = b"".join(message.get("body", b"") for message in sent)
    assert b'"metrics"' not in body


def test_health_answers_while_a_long_run_is_computed(server: str):
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(get, f"{server}/api/v1/run?num_requests=4000&max_num_seqs=1&output_tokens=500")
        answered = 0
        while not long.done():
            get(f"{server}/health")
            answered += 1
        assert b'"finished":4000' in long.result()
    assert answered > 50


def test_a_large_upload_is_answered_with_413(server: str):
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=60)
    connection.request("POST", "/api/v1/traces", body=b"1" * (MAX_BYTES + 1_000_000))
    answer = connection.getresponse()
    assert answer.status == 413
    assert b"20 MB" in answer.read()
    connection.close()
