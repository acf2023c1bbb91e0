"""The SGLang engine equals the plain rules on random scenarios: every field of every step."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from sim.conformance.sglang import log_of, record_scenario, replayed_steps
from sim.engine.setup import LogSizes
from sim.engine.sglang.record import least_room
from tests.hunting import hunt
from tests.oracle.sglang_oracle import OOM, Sim
from tests.oracle.sglang_scenarios import Focus, scenarios

EXAMPLES, ALWAYS = 400, 200  # of each focus: 2,000 scenarios with --all, 1,000 always
MOST_STEPS = 600  # without cache, a request that nearly fills the pool blocks the line for ever
IDLE_STEPS = 3  # after the last end: the overlap loop resets the ratio in the second
# Rules that at least a twentieth of the scenarios must meet, or their equality says little.
MEETS = {
    Focus.PLAIN: {"waited", "hit", "cut", "full"},
    Focus.PRESSURE: {"waited", "hit", "cut", "retracted"},
    Focus.PREFIX: {"waited", "hit", "cut", "full"},
    Focus.NO_CACHE: {"waited", "cut", "full"},
    Focus.MIXED: {"waited", "hit", "cut", "mixed"},
}


def oracle_steps(scenario):
    """Steps of the oracle until every request has ended, then some idle ones; fewer if it runs out of memory."""
    oracle = Sim(scenario)
    arrivals = {}
    for index, request in enumerate(scenario["requests"]):
        arrivals.setdefault(request["arrival_step"], []).append(index)
    steps, left, idle = [], len(scenario["requests"]), 0
    while idle < IDLE_STEPS and len(steps) < MOST_STEPS:
        idle += left == 0
        try:
            steps.append({"sched": None} | oracle.step(arrivals.get(len(steps), [])))
        except OOM:
            return steps, True
        left -= len(steps[-1]["fin"]) + len(steps[-1]["abort"])
    return steps, False


def first_difference(scenario, expected, is_out=False):
    """First step and field in which the engine differs from the expected steps, None if they agree in all."""
    state = record_scenario(scenario, len(expected) + is_out)
    assert bool(state.count.is_out) == is_out
    steps = list(replayed_steps(scenario, state))
    assert len(steps) == len(expected) + is_out
    for number, (oracle, engine) in enumerate(zip(expected, steps, strict=False)):
        for name, value in oracle.items():
            if engine[name] != value:
                return f"step {number}, {name}: oracle {value}, engine {engine[name]}"
    return None


def met_rules(steps):
    """Which rules of the scheduler the steps of a scenario needed."""
    scheduled = [row for step in steps for row in step["sched"] or []]
    rules = {
        "waited": any(step["wait_s"] for step in steps),
        "full": any(step["full"] for step in steps),
        "cut": any(step["chunk"] is not None for step in steps),
        "hit": any(kind == "N" and prefix for _, kind, prefix, _ in scheduled),
        "retracted": any(step["ret"] for step in steps),
        "hit after retraction": any(kind == "T" and prefix for _, kind, prefix, _ in scheduled),
        "mixed": any(step["k"] == "M" for step in steps),
        "aborted": any(step["abort"] for step in steps),
    }
    return {rule for rule, is_met in rules.items() if is_met}


@pytest.mark.parametrize("focus", Focus)
def test_engine_equals_the_oracle(focus, pytestconfig):
    met, count = Counter(), 0

    def check(scenario):
        nonlocal count
        expected, is_out = oracle_steps(scenario)
        count += 1
        met.update(met_rules(expected))
        assert first_difference(scenario, expected, is_out) is None

    hunt(pytestconfig, EXAMPLES, check, scenarios(focus), always=ALWAYS)

    assert {rule for rule, times in met.items() if times >= count / 20} >= MEETS[focus]


TIGHT = {
    "max_total_tokens": 90, "page_size": 1, "max_running_requests": 4, "chunked_prefill_size": 16,
    "max_prefill_tokens": 200, "schedule_policy": "fcfs", "schedule_conservativeness": 0.05,
    "enable_mixed_chunk": False, "disable_radix_cache": False, "disable_overlap_schedule": False,
    "context_len": 4000,
}  # fmt: skip
THREE = [
    {"id": f"r{i}", "arrival_step": i, "prompt_len": 10, "output_len": 30, "max_new_tokens": 31, "ignore_eos": False}
    for i in range(3)
]


def test_difference_is_found_and_named():
    """The comparison can fail: here the oracle is asked about a smaller pool."""
    smaller, _ = oracle_steps({"config": TIGHT | {"max_total_tokens": 80}, "requests": THREE})

    difference = first_difference({"config": TIGHT, "requests": THREE}, smaller)

    assert difference == "step 0, avail_s: oracle 70, engine 80"


def test_logs_that_hold_one_step_give_the_same_record():
    scenario = {"config": TIGHT, "requests": THREE}
    events, ids = least_room(TIGHT["max_running_requests"])

    whole, grown = (log_of(record_scenario(scenario, 80, sizes)) for sizes in (None, LogSizes(1, events, ids)))

    assert all((a == b).all() for a, b in zip(whole, grown, strict=True))


RUN = """
import hashlib, json, sys
from sim.conformance.sglang import log_of, record_scenario
for line in sys.stdin:
    log = log_of(record_scenario(json.loads(line), 200))
    columns = [log.steps[name].tobytes() for name in log.steps.dtype.names]
    columns += [log.events[name].tobytes() for name in log.events.dtype.names] + [log.ids.tobytes()]
    print(hashlib.sha256(b"".join(columns)).hexdigest())
"""


def hashes_of(scenarios_told, **environment):
    told = "\n".join(json.dumps(scenario) for scenario in scenarios_told)
    given = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", RUN], input=told, env=given, capture_output=True, text=True, check=True
    )


def test_compiled_and_interpreted_runs_are_equal_to_the_last_bit():
    pages, policies = [1, 4], ["fcfs", "lpm"]
    told = [
        {
            "config": TIGHT | {"page_size": page, "max_total_tokens": 88, "schedule_policy": policy} | loop,
            "requests": THREE,
        }
        for page in pages
        for policy in policies
        for loop in (
            {},
            {"disable_overlap_schedule": True},
            {"enable_mixed_chunk": True},
            {"disable_radix_cache": True},
        )
    ]

    compiled, plain = hashes_of(told, NUMBA_DISABLE_JIT="0"), hashes_of(told, NUMBA_DISABLE_JIT="1")

    assert len(set(compiled.stdout.split())) > len(pages) * len(policies)
    assert compiled.stdout == plain.stdout
