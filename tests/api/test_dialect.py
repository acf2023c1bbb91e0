"""`dialect=`: the same run in another tool's terms, in the summary and on the last line of the stream."""

import json

import pytest
from starlette.testclient import TestClient

from app.params import parse_query, read_query
from sim.run import simulate
from tests.api.conftest import SMALL


@pytest.mark.parametrize("dialect", ["vllm", "guidellm", "aiperf"])
def test_summary_and_stream_speak_the_dialect(client: TestClient, dialect: str):
    expected = simulate(read_query(parse_query(SMALL)).scenario).metrics(dialect)
    summary = client.get(f"/api/v1/run?{SMALL}&dialect={dialect}").json()
    *_, tail = client.get(f"/api/v1/steps?{SMALL}&dialect={dialect}").text.splitlines()
    assert summary["metrics"] == json.loads(tail)["metrics"] == expected
    assert summary.get("dialect", "vllm") == dialect


def test_without_a_dialect_the_stream_is_as_ever(client: TestClient):
    plain, asked = (client.get(f"/api/v1/steps?{SMALL}{more}").content for more in ("", "&dialect=vllm"))
    assert plain == asked


def test_dialects_are_kept_apart_by_caches(client: TestClient):
    tags = {
        client.get(f"/api/v1/{route}?{SMALL}{more}").headers["etag"]
        for route in ("run", "steps")
        for more in ("", "&dialect=aiperf")
    }
    assert len(tags) == 4


def test_an_unknown_dialect_is_refused(client: TestClient):
    answer = client.get(f"/api/v1/run?{SMALL}&dialect=mine")
    assert (answer.status_code, answer.json()["field"]) == (422, "dialect")
