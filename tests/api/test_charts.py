"""Columns of the distributions of latencies."""

import numpy as np
from starlette.testclient import TestClient

from sim.run import simulate
from sim.scenario import scenario_from

SETTINGS = {"num_requests": "300", "rate": "20", "max_num_seqs": "16", "output_tokens": "40"}


def test_curves_are_the_cumulative_shares_of_the_run(client: TestClient) -> None:
    curves = client.get("/lab/charts/", params={**SETTINGS, "b.batching": "static"}).json()
    for name, changes in (("a", {}), ("b", {"batching": "static"})):
        run = simulate(scenario_from(SETTINGS | changes))
        values, counts = run.gaps()
        gaps = 1000 * np.sort(np.repeat(values, counts))
        ttft = 1000 * np.sort(run.results["first_s"] - run.results["arrival_s"])
        for metric, own in (("ttft_s", ttft), ("itl_s", gaps)):
            curve = curves[name][metric]
            assert curve["count"] == len(own)
            assert len(curve["ms"]) <= 400
            ms, share = np.array(curve["ms"]), np.array(curve["share"])
            least, most = (np.searchsorted(own, ms + drift, side="right") / len(own) for drift in (-1e-4, 1e-4))
            assert (share > least - 1e-5).all()
            assert (share < most + 1e-5).all()
            assert curve["share"][-1] == 1
        tpot = run.metrics()["tpot_s"]
        assert curves[name]["tpot_s"]["ms"][-1] >= 1000 * tpot["p99"] - 1e-3
        median = np.interp(0.5, curves[name]["tpot_s"]["share"], curves[name]["tpot_s"]["ms"])
        np.testing.assert_allclose(median, 1000 * tpot["p50"], rtol=0.02)


def test_curves_of_nothing_are_empty(client: TestClient) -> None:
    settings = {"num_requests": "1", "output_list": "1", "prompt_list": "8"}
    curves = client.get("/lab/charts/", params=settings).json()["a"]
    assert curves["ttft_s"]["count"] == 1
    assert curves["tpot_s"] == {"ms": [], "share": [], "count": 0}


def test_charts_may_be_kept_and_are_not_sent_twice(client: TestClient) -> None:
    first = client.get("/lab/charts/", params=SETTINGS)
    again = client.get("/lab/charts/", params=SETTINGS, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
