"""What a bad value is answered with."""

import pytest
from starlette.testclient import TestClient

ROUTES = ("/api/v1/run", "/api/v1/steps")


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("rate=0", "rate"),
        ("rate=NaN", "rate"),
        ("rate=", "rate"),
        ("max_num_seqs=-1", "max_num_seqs"),
        ("num_requests=2.5", "num_requests"),
        ("gpu=abacus", "gpu"),
        ("prompt_list=0", "prompt_list"),
        ("prompt_list=1,2&output_list=1", "output_list"),
        ("engine=sglang", "engine"),
        ("no_such_name=1", "no_such_name"),
        ("rate=1&rate=2", "rate"),
        ("b.rate=-1", "b.rate"),
        ("run=b", "run"),
        ("model=llama-3.1-70b&weights=bf16", "model"),
        ("async_scheduling=true&num_speculative_tokens=2", "async_scheduling"),
        ("max_num_batched_tokens=4&max_num_seqs=8", "max_num_batched_tokens"),
        ("num_gpu_blocks=3&max_model_len=4096", "max_model_len"),
        ("num_requests=2000000&output_tokens=10000000", "num_requests"),
        ("prompt_tokens=10000000&prompt_sigma=5", "num_requests"),
        ("prefix_groups=100000&shared_prefix_tokens=10000000", "prefix_groups"),
    ],
)
def test_a_bad_value_is_422_with_field_value_and_what_is_allowed(
    client: TestClient, route: str, query: str, field: str
):
    response = client.get(f"{route}?{query}")
    problem = response.json()
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["field"] == field
    assert problem.keys() == {"type", "title", "status", "detail", "field", "value", "allowed"}
    assert problem["allowed"]
    assert field in problem["detail"]
    assert "\n" not in problem["detail"]


def test_htmx_gets_a_fragment_with_the_id_of_the_control(client: TestClient):
    response = client.get("/api/v1/run?b.rate=-1", headers={"HX-Request": "true", "HX-Request-Type": "partial"})
    assert response.status_code == 422
    assert response.text.startswith('<p class="error" id="error-b-rate"')


def test_a_browser_gets_a_page(client: TestClient):
    response = client.get("/api/v1/run?rate=-1", headers={"Accept": "text/html,*/*"})
    assert response.text.startswith("<!doctype html>")
    assert 'href="../../favicon.ico"' in response.text


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_what_was_given_is_never_markup(client: TestClient, accept: str):
    response = client.get("/api/v1/run?gpu=<script>alert(1)</script>", headers={"Accept": accept})
    assert response.status_code == 422
    assert "<script>" not in response.text or accept == "application/json"


@pytest.mark.parametrize(
    "query", ["rate=%ff", "%ff=1", "=", "&&&", "rate=%00", "rate=1;seed=2", "😀=1", "a.=1", "b.=1"]
)
def test_strange_queries_are_answered(client: TestClient, query: str):
    assert client.get(f"/api/v1/run?{query}&num_requests=1").status_code in (200, 422)


def test_a_huge_value_is_shown_short(client: TestClient):
    problem = client.get("/api/v1/run?seed=" + "9" * 5000).json()
    assert len(problem["detail"]) < 300
    assert len(str(problem["value"])) <= 200


def test_an_error_is_not_cached(client: TestClient):
    assert client.get("/api/v1/run?rate=-1").headers["cache-control"] == "no-store"
