"""GET /api/v1/costs: what follows from a formula, without a run."""

from starlette.testclient import TestClient

from sim.catalog import find_gpu
from sim.cost import make_cost
from sim.memory import kv_plan, memory_terms
from sim.scenario import scenario_from

URL = "/api/v1/costs"


def test_coefficients_are_those_of_the_engine(client: TestClient) -> None:
    costs = client.get(URL, params={"gpu": "b200", "weights": "fp8", "tensor_parallel_size": 2}).json()
    server = scenario_from({"gpu": "b200", "weights": "fp8", "tensor_parallel_size": "2"}).server
    assert costs["coefficients"] == make_cost(server)._asdict()
    assert costs["memory"]["usable_blocks"] == kv_plan(server).usable_blocks
    assert costs["memory"]["max_model_len"] == kv_plan(server).max_model_len


def test_answer_is_of_the_run_that_is_named(client: TestClient) -> None:
    costs = client.get(URL, params={"run": "b", "b.gpu": "b200"}).json()
    assert costs["scenario"]["gpu"] == "b200"
    assert costs["rates"]["bandwidth_bytes_per_s"] == find_gpu("b200").bandwidth_bytes_per_s


def test_model_that_does_not_fit_is_told_by_how_much(client: TestClient) -> None:
    settings = {"model": "llama-3.1-70b", "gpu": "h100-sxm"}
    assert client.get("/api/v1/run", params=settings).status_code == 422
    answer = client.get(URL, params=settings)
    assert answer.status_code == 200
    assert answer.json()["memory"]["missing_bytes"] == memory_terms(scenario_from(settings).server).missing_bytes > 0
    assert answer.json()["memory"]["usable_blocks"] == 0


def test_token_budget_below_the_slots_is_refused_at_its_control(client: TestClient) -> None:
    answer = client.get(URL, params={"gpu": "rtx-4090", "max_num_seqs": 4096})
    assert (answer.status_code, answer.json()["field"]) == (422, "max_num_seqs")


def test_answer_may_be_kept_and_is_not_sent_twice(client: TestClient) -> None:
    first = client.get(URL)
    again = client.get(URL, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
