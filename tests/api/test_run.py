"""GET /api/v1/run and the tables beside it."""

import csv
import io

import pytest
from starlette.testclient import TestClient

import sim
from sim.parameters import PARAMETERS
from sim.report import summary_of
from sim.run import simulate
from sim.scenario import scenario_from, settings_of
from tests.api.conftest import SMALL


def test_the_summary_is_that_of_the_run(client: TestClient):
    scenario = scenario_from(dict(pair.split("=") for pair in SMALL.split("&")))
    answer = client.get(f"/api/v1/run?{SMALL}").json()
    run = simulate(scenario)
    assert answer["scenario"] == settings_of(scenario)
    assert answer["version"] == sim.__version__
    assert answer["facts"]["num_gpu_blocks"] == run.facts["num_gpu_blocks"]
    assert answer["facts"]["calibrated"] is False
    assert answer["metrics"] == summary_of(run)["metrics"]
    assert "requests" not in answer


def test_what_is_undefined_is_null(client: TestClient):
    answer = client.get("/api/v1/run?num_requests=1&prompt_tokens=64&output_list=1")
    assert b"NaN" not in answer.content
    assert answer.json()["metrics"]["itl_s"]["p50"] is None


def test_requests_are_added_on_demand(client: TestClient):
    columns = client.get(f"/api/v1/run?{SMALL}&requests=1").json()["requests"]
    assert columns["request"] == list(range(1, 13))
    assert set(columns["status"]) == {"finished"}
    assert len({len(column) for column in columns.values()}) == 1


def test_csv_equals_json(client: TestClient):
    query = f"{SMALL}&max_waiting=1&load=burst"
    columns = client.get(f"/api/v1/run?{query}&requests=1").json()["requests"]
    answer = client.get(f"/api/v1/run?{query}", headers={"Accept": "text/csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert list(rows[0]) == list(columns)
    for name, column in columns.items():
        assert [row[name] for row in rows] == ["" if value is None else str(value) for value in column], name
    assert "rejected" in columns["status"]


def test_a_request_that_can_never_fit_is_listed_with_the_reason(client: TestClient):
    answer = client.get("/api/v1/run?prompt_list=64,5000&output_list=8,8&max_model_len=1024").json()
    assert answer["metrics"]["finished"] == 1
    assert [row["request"] for row in answer["rejected"]] == [2]
    assert answer["rejected"][0]["reason"]


def test_another_scenario_of_the_url_is_chosen_by_run(client: TestClient):
    other = client.get(f"/api/v1/run?{SMALL}&b.batching=static&run=b&t=1.5").json()
    assert other == client.get(f"/api/v1/run?{SMALL}&batching=static").json()


@pytest.mark.parametrize(
    "path", [f"/api/v1/run?{SMALL}", f"/api/v1/steps?{SMALL}", "/api/v1/catalog", "/api/v1/params"]
)
def test_an_answer_that_the_client_has_is_not_sent_again(client: TestClient, path: str):
    headers = client.get(path).headers
    assert headers["etag"].startswith('W/"')
    assert "max-age" in headers["cache-control"]
    again = client.get(path, headers={"If-None-Match": headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == headers["etag"]


def test_the_etag_follows_the_parameters_not_how_they_are_written(client: TestClient):
    def etag(query: str, **headers: str) -> str:
        return client.get(f"/api/v1/run?{query}", headers=headers).headers["etag"]

    assert etag("seed=1&num_requests=2") == etag("num_requests=2&rate=6.0&seed=01")
    assert len({etag("num_requests=2"), etag("num_requests=3"), etag("num_requests=2&requests=1")}) == 3
    assert etag("num_requests=2") != etag("num_requests=2", Accept="text/csv")


def test_every_parameter_is_documented(client: TestClient):
    rows = client.get("/api/v1/params").json()["parameters"]
    assert [row["name"] for row in rows] == [parameter.name for parameter in PARAMETERS]
    for row in rows:
        assert row["help"], row["name"]
        assert row["allowed"], row["name"]
        assert row["control"]["label"], row["name"]


def test_every_default_is_accepted(client: TestClient):
    for row in client.get("/api/v1/params").json()["parameters"]:
        answer = client.get(
            "/api/v1/run", params={row["name"]: str(row["default"]).lower(), "max_num_seqs": 256} | {"num_requests": 1}
        )
        assert answer.status_code == 200, row["name"]


def test_the_catalogue_has_a_source_for_every_entry(client: TestClient):
    catalogue = client.get("/api/v1/catalog").json()
    assert len(catalogue["models"]) >= 8
    assert len(catalogue["gpus"]) >= 8
    for entry in [*catalogue["models"], *catalogue["gpus"]]:
        assert entry["id"]
        assert entry["sources"], entry["id"]


def test_openapi_names_every_parameter_and_answer(client: TestClient):
    paths = client.get("/openapi.json").json()["paths"]
    for path in ("/api/v1/run", "/api/v1/steps"):
        names = [parameter["name"] for parameter in paths[path]["get"]["parameters"]]
        assert set(names) >= {parameter.name for parameter in PARAMETERS}
        assert paths[path]["get"]["responses"].keys() >= {"200", "304", "409", "422", "503"}
