"""The API serves a fork: its summary, its stream, its page."""

import numpy as np
import orjson
from starlette.testclient import TestClient

from app.bars import bars_of
from app.service import key_of
from sim.engine.record import Kind
from sim.report import summary_of
from sim.run import simulate
from sim.scenario import scenario_from
from tests.api.conftest import SMALL

FORK = "fork=0.2&fork.max_num_seqs=1"
QUERY = f"{SMALL}&{FORK}"


def settings_of_query(query):
    return dict(pair.split("=") for pair in query.split("&"))


def run_of_query(query):
    return simulate(scenario_from(settings_of_query(query)))


def lines_of(client, query):
    answer = client.get(f"/api/v1/steps?{query}")
    assert answer.status_code == 200
    return [orjson.loads(line) for line in answer.content.splitlines()]


def test_summary_is_that_of_the_fork(client: TestClient):
    answer, run = client.get(f"/api/v1/run?{QUERY}").json(), run_of_query(QUERY)

    assert answer["facts"]["fork"] == {"time_s": 0.2, "step": run.fork_step, "changes": {"max_num_seqs": 1}}
    assert answer["metrics"] == summary_of(run)["metrics"]
    assert answer["scenario"]["fork.max_num_seqs"] == 1


def test_plain_run_and_fork_are_two_answers(client: TestClient):
    plain, fork = (client.get(f"/api/v1/run?{QUERY}&run={run}") for run in ("a", "fork"))

    assert plain.json()["metrics"] == client.get(f"/api/v1/run?{SMALL}").json()["metrics"]
    assert fork.json() == client.get(f"/api/v1/run?{QUERY}").json()
    assert plain.headers["ETag"] != fork.headers["ETag"]


def test_key_names_the_fork():
    keys = {key_of(scenario_from(settings_of_query(q))) for q in (SMALL, QUERY, QUERY.replace("0.2", "0.3"))}

    assert len(keys) == 3


def test_stream_says_where_the_fork_is_before_its_first_step(client: TestClient):
    head, *lines = lines_of(client, QUERY)

    step = run_of_query(QUERY).fork_step
    assert head["facts"]["fork"]["step"] == step
    kinds = [kind for line in lines[:-1] for kind in line["events"]["kind"]]
    assert kinds.count(Kind.FORK) == 1


def test_window_after_the_fork_says_where_it_was(client: TestClient):
    step = run_of_query(QUERY).fork_step
    head, line, _ = lines_of(client, f"{QUERY}&from={step + 2}&count=4")

    assert head["facts"]["fork"]["step"] == step
    assert line["from"] == step + 2


def test_fork_after_the_end_is_served_with_a_remark(client: TestClient):
    head = lines_of(client, f"{SMALL}&fork=900&fork.rate=1")[0]

    assert head["facts"]["fork"]["step"] is None
    assert "after the last step" in head["facts"]["notes"][-1]


def test_bars_of_vacated_slots_end_where_the_fork_is():
    static = f"{SMALL}&batching=static&output_sigma=1"
    steps = run_of_query(static).steps
    held_s = steps["start_s"][(steps["held"] >= 2).argmax()]
    run = run_of_query(f"{static}&fork={held_s}&fork.batching=continuous")

    bars, fork_s = bars_of(run), run.steps["start_s"][run.fork_step]
    vacated = run.events["request"][run.events["kind"] == Kind.VACATE]
    held = bars[np.isin(bars["request"], vacated)]
    assert len(held) >= 2
    assert (held["free_s"] == fork_s).all()
    assert (held["end_s"] <= fork_s).all()


def test_page_has_a_lane_for_the_fork(client: TestClient):
    html = client.get(f"/lab/?{QUERY}&t=0.3&run=fork").text

    assert "From 0.2 s: 1 slots" not in html
    assert "From 0.2 s: 1 slot" in html
    assert "One past, two futures" in html


def test_page_refuses_a_fork_of_what_cannot_change(client: TestClient):
    answer = client.get(f"/lab/?{SMALL}&fork=1&fork.gpu=a100-sxm-80gb")

    assert answer.status_code == 422
    assert "what can change in mid-run" in answer.text
