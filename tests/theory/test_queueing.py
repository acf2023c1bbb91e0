"""The engine against queueing theory: Little's law, single-server queues, bounds of closed loops.

One slot and one second a step make a queue with one server whose service takes as many seconds as a request has
outputs. An idle server starts a step when somebody arrives, so no time is lost to step boundaries there.
"""

import numpy as np
import pytest

from sim.run import simulate
from sim.scenario import scenario_from
from tests.rows import some_always
from tests.sim.axes import BASE, CHAT, SHARED

ONE_SLOT = {
    "cost": "unit",
    "max_num_seqs": 1,
    "prompt_tokens": 1,
    "prompt_dist": "fixed",
    "prefix_cache": "off",
    "num_requests": 200_000,
}


def mean_wait_s(run):
    return run.metrics()["queue_s"]["mean"]


@pytest.mark.parametrize(
    ("utilisation", "seed"), some_always([(0.3, 1), (0.5, 1), (0.5, 2), (0.7, 1), (0.8, 1), (0.7, 2)], 2)
)
def test_mean_wait_is_that_of_the_md1_queue(utilisation, seed):
    service_s = 4
    load = {"rate": utilisation / service_s, "output_tokens": service_s, "output_dist": "fixed", "seed": seed}

    run = simulate(scenario_from(ONE_SLOT | load))

    assert mean_wait_s(run) == pytest.approx(utilisation * service_s / (2 * (1 - utilisation)), rel=0.03)


@pytest.mark.parametrize("dist", ["uniform", "lognormal"])
def test_mean_wait_is_that_of_the_mg1_queue(dist):
    """Pollaczek and Khinchine: rate E[S^2] / (2 (1 - utilisation)), moments as drawn."""
    load = {"rate": 0.06, "output_tokens": 8, "output_dist": dist, "output_sigma": 0.5}

    run = simulate(scenario_from(ONE_SLOT | load))

    service_s = run.requests.output_tokens.astype(float)
    rate = len(service_s) / run.requests.arrival_s[-1]
    expected_s = rate * np.mean(service_s**2) / (2 * (1 - rate * service_s.mean()))
    assert mean_wait_s(run) == pytest.approx(expected_s, rel=0.03)


def test_nobody_waits_when_arrivals_are_constant_and_service_is_shorter():
    load = {"rate": 0.2, "burstiness": "inf", "output_tokens": 5, "output_dist": "fixed", "num_requests": 1000}

    assert mean_wait_s(simulate(scenario_from(ONE_SLOT | load))) == pytest.approx(0, abs=1e-6)


# -- Little's law ------------------------------------------------------------------------------------------------

LONG = {"num_requests": 3000, "prompt_tokens": 300, "output_tokens": 200, "rate": 12, "max_num_seqs": 32}
TIGHT = {"num_gpu_blocks": 801, "max_model_len": 8000}
LITTLE = {
    "continuous": LONG,
    "overloaded": LONG | {"rate": 40},
    "preemption": LONG | TIGHT | {"rate": 40},
    "static": LONG | {"batching": "static", "rate": 6},
    "contiguous": LONG | {"kv": "contiguous", "num_gpu_blocks": 4001, "max_model_len": 4096},
    "async": LONG | {"async_scheduling": "true"},
    "drafts": LONG | {"num_speculative_tokens": 3},
    "closed": LONG | {"load": "closed", "concurrency": 40},
    "per_slot_chat": LONG | {"session": "chat", "prefix_cache": "per_slot", "prompt_tokens": 60},
}


@pytest.mark.parametrize("name", LITTLE)
def test_requests_in_the_system_are_rate_times_time_in_it(name):
    """L = lambda W; the columns see an arrival at the next step, which these long stays make negligible."""
    run = simulate(scenario_from(LITTLE[name]))
    steps, results = run.steps, run.results[run.results["status"] == 1]

    span_s = results["finish_s"].max() - results["arrival_s"].min()
    in_system = (steps["running"] + steps["waiting"]) @ steps["duration_s"] / span_s
    stay_s = (results["finish_s"] - results["arrival_s"]).mean()

    assert in_system == pytest.approx(len(results) / span_s * stay_s, rel=0.01)


@pytest.mark.parametrize("name", ["continuous", "static", "closed"])
def test_running_requests_are_rate_times_time_in_a_slot(name):
    run = simulate(scenario_from(LITTLE[name]))
    steps, results = run.steps, run.results[run.results["status"] == 1]

    in_slots = steps["running"] @ steps["duration_s"]

    assert in_slots == pytest.approx((results["finish_s"] - results["scheduled_s"]).sum(), rel=0.01)


# -- closed loops ------------------------------------------------------------------------------------------------

LOOP = {"load": "closed", "cost": "unit", "prompt_tokens": 1, "prompt_dist": "fixed", "output_dist": "fixed"}


@pytest.mark.parametrize("think_time_s", [0, 5, 30])
@pytest.mark.parametrize("users", [1, 4, 8])
def test_users_with_a_slot_each_never_wait(users, think_time_s):
    """X = N / (S + Z)."""
    settings = {"concurrency": users, "max_num_seqs": 8, "think_time_s": think_time_s, "output_tokens": 10}

    run = simulate(scenario_from(LOOP | settings | {"num_requests": 400 * users}))

    assert run.metrics()["requests_per_s"] == pytest.approx(users / (10 + think_time_s), rel=0.01)
    assert run.metrics()["queue_s"]["p99"] == 0


@pytest.mark.parametrize("users", [9, 12, 40])
def test_more_users_than_slots_get_what_the_slots_give(users):
    """X = slots / S: the slots are the bottleneck, and the others wait N S / slots - S."""
    run = simulate(scenario_from(LOOP | {"concurrency": users, "max_num_seqs": 8, "output_tokens": 10} | MANY))

    assert run.metrics()["requests_per_s"] == pytest.approx(8 / 10, rel=0.01)
    assert run.metrics()["e2e_s"]["mean"] == pytest.approx(users * 10 / 8, rel=0.02)


MANY = {"num_requests": 8000}


@pytest.mark.parametrize("policy", [{}, {"batching": "static"}, SHARED, {"async_scheduling": "true"}, CHAT])
@pytest.mark.parametrize("users", [1, 3, 20])
def test_throughput_of_a_closed_loop_keeps_its_bounds(users, policy):
    """X <= min(N / (S + Z), slots / S) for the shortest S there was."""
    run = simulate(scenario_from(BASE | policy | {"load": "closed", "concurrency": users, "think_time_s": 0.05}))

    results = run.results[run.results["status"] == 1]
    service_s = (results["finish_s"] - results["scheduled_s"]).min()
    think_s = 0 if "session" in policy else 0.05
    assert run.metrics()["requests_per_s"] <= min(users / (service_s + think_s), 4 / service_s) * 1.001
