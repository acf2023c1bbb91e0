"""Run one scenario through the oracle and through the engine and name the first difference."""

from sim.conformance.vllm import record_scenario, replayed_steps
from tests.oracle.vllm_oracle import Sim

MOST_STEPS = 20_000
IDLE_STEPS = 2  # after the last end


def oracle_steps(scenario):
    """Steps of the oracle until every request has ended, then some idle ones."""
    oracle = Sim(scenario)
    arrivals = {}
    for index, request in enumerate(scenario["requests"]):
        arrivals.setdefault(request["arrival_step"], []).append(index)
    steps, left, idle = [], len(scenario["requests"]), 0
    while idle < IDLE_STEPS:
        idle += left == 0
        steps.append(oracle.step(arrivals.get(len(steps), [])))
        left -= len(steps[-1]["fin"])
        assert len(steps) < MOST_STEPS, "the oracle does not come to an end"
    return steps


def first_difference(scenario, expected):
    """First step and field in which the engine differs from the expected steps, None if they agree in all."""
    recorder = record_scenario(scenario, len(expected))
    steps = list(replayed_steps(scenario, recorder))
    assert len(steps) == len(expected)
    for number, (oracle, engine) in enumerate(zip(expected, steps, strict=True)):
        for name, value in oracle.items():
            if engine[name] != value:
                return f"step {number}, {name}: oracle {value}, engine {engine[name]}"
    return None


def met_rules(scenario, steps):
    """Which rules of the scheduler the steps of a scenario needed."""
    longest = scenario["config"]["max_model_len"]
    scheduled = [(step, *row) for step in steps for row in step["sched"]]
    rules = {
        "waited": any(step["wait_s"] for step in steps),
        "preempted": any(step["pre"] for step in steps),
        "hit": any(kind == "N" and before for _, _, kind, before, _ in scheduled),
        "hit after preemption": any(kind == "P" and before for _, _, kind, before, _ in scheduled),
        "accepted": any(any(step["acc"].values()) for step in steps),
        "padded": any(kind != "R" and str(request) in step["draft"] for step, request, kind, _, _ in scheduled),
        "cut at max_model_len": any(r["prompt_len"] + r["output_len"] > longest for r in scenario["requests"]),
    }
    return {rule for rule, is_met in rules.items() if is_met}
