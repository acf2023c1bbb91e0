"""TensorRT-LLM's engine equals the plain rules on random scenarios: every field of every step, and how the run ends."""

from collections import Counter

import pytest

from sim.conformance.tensorrt_llm import ending, expected_step, record_scenario, replayed_steps
from sim.engine.loop import Stop
from tests.hunting import hunt
from tests.oracle.tensorrt_llm_oracle import Sched, run
from tests.oracle.tensorrt_llm_scenarios import Focus, scenarios

EXAMPLES, ALWAYS = 500, 250  # of each focus: 2,000 scenarios with --all, 1,000 always
MOST_STEPS = 600
# Rules that at least a twentieth of the scenarios must meet, or their equality says little.
MEETS = {
    Focus.NO_EVICT: {"waited", "fits but does not run", "stuck"},
    Focus.UTILIZATION: {"waited", "paused", "prompt paused", "reused after a pause"},
    Focus.CHUNKED: {"waited", "cut", "paused", "fits but does not run"},
    Focus.REUSE: {"waited", "paused", "reused", "reused after a pause", "waited for a prefix"},
}


def oracle_run(scenario):
    """What the oracle says, None where it promises blocks that there are not and falls over."""
    try:
        return run(scenario, Sched, MOST_STEPS)
    except IndexError:
        return None


def first_difference(scenario, expected):
    """First step and field in which the engine differs from what the oracle says, None if they agree in all."""
    recorder = record_scenario(scenario, MOST_STEPS)
    missing = int(recorder.state.count.missing)
    if expected is None:
        return None if recorder.stop == Stop.STUCK and missing else "the engine found blocks where there are none"
    if missing:
        return "the engine found no block"
    steps = list(replayed_steps(scenario, recorder))
    for oracle, engine in zip(expected["steps"], steps, strict=False):
        for name, value in expected_step(oracle).items():
            if name in engine and engine[name] != value:
                return f"step {oracle['s']}, {name}: oracle {value}, engine {engine[name]}"
    ends = (expected["ended"], expected["n_steps"]), (ending(recorder), len(steps))
    return None if ends[0] == ends[1] else f"end: oracle {ends[0]}, engine {ends[1]}"


def waits_for_prefix(steps):
    """Whether a prompt that ran was behind one that did not fit: only a duplicate is passed over."""
    active, generating = [], set()
    for step in map(expected_step, steps):
        order = active + step["arr"]
        generating -= set(step["paused"])
        last = max((order.index(row[0]) for row in step["ctx"]), default=-1)
        if set(order[:last]) - set(step["fit"]) - generating:
            return True
        generating |= set(step["gen"])
        active = step["active"]
    return False


def met_rules(scenario, expected):
    """Which rules of the schedulers the steps of a scenario needed."""
    if expected is None:
        return {"promised too much"}
    steps = [expected_step(step) for step in expected["steps"]]
    chunks = [(s, *row) for s, step in enumerate(steps) for row in step["ctx"]]
    pauses = [(s, i) for s, step in enumerate(steps) for i in step["paused"]]
    reused = [row for row in chunks if len(row) == 5]
    rules = {
        "waited": any(set(step["arr"]) - set(step["fit"]) for step in steps),
        "stuck": expected["ended"] == "stuck",
        "fits but does not run": any(len(step["fit"]) > len(step["ctx"]) + len(step["gen"]) for step in steps),
        "cut": any(row[2] and len(row) == 4 for row in chunks),
        "paused": bool(pauses),
        "prompt paused": any(i in {row[0] for row in steps[s - 1]["ctx"]} for s, i in pauses if s),
        "reused": bool(reused),
        "reused after a pause": any(s < row[0] and i == row[1] for row in reused for s, i in pauses),
        "waited for a prefix": scenario["config"]["policy"] != "STATIC_BATCH" and waits_for_prefix(steps),
    }
    return {rule for rule, is_met in rules.items() if is_met}


@pytest.mark.parametrize("focus", Focus)
def test_engine_equals_the_oracle(focus, pytestconfig):
    met, count = Counter(), 0

    def check(scenario):
        nonlocal count
        expected = oracle_run(scenario)
        count += 1
        met.update(met_rules(scenario, expected))
        assert first_difference(scenario, expected) is None

    hunt(pytestconfig, EXAMPLES, check, scenarios(focus), always=ALWAYS)

    assert {rule for rule, times in met.items() if times >= count / 20} >= MEETS[focus]


def test_difference_is_found_and_named():
    """The comparison can fail: here the oracle is asked about a smaller pool."""
    config = {"max_batch_size": 4, "max_num_tokens": 64, "tokens_per_block": 4, "policy": "MAX_UTILIZATION"}
    requests = [{"arrival_step": 0, "prompt_len": 10, "output_len": 8} for _ in range(3)]
    larger, smaller = [{"config": config | {"num_blocks": n}, "requests": requests} for n in (9, 8)]

    difference = first_difference(larger, oracle_run(smaller))

    assert difference == "step 0, ctx: oracle [[0, 0, 10], [1, 0, 10]], engine [[0, 0, 10], [1, 0, 10], [2, 0, 10]]"
