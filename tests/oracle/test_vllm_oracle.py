"""The engine equals the plain rules on random scenarios: every field of every step, block ids and free queue too."""

from collections import Counter

import pytest

from tests.hunting import hunt
from tests.oracle.differential import first_difference, met_rules, oracle_steps
from tests.oracle.scenarios import Focus, scenarios

EXAMPLES, ALWAYS = 500, 400  # of each focus: 2,500 scenarios with --all, 2,000 always
# Rules that at least a twentieth of the scenarios must meet, or their equality says little.
MEETS = {
    Focus.PLAIN: {"waited", "preempted", "hit"},
    Focus.PRESSURE: {"waited", "preempted", "hit after preemption", "cut at max_model_len"},
    Focus.PREFIX: {"waited", "preempted", "hit", "hit after preemption"},
    Focus.SPECULATIVE: {"preempted", "hit", "accepted", "padded", "cut at max_model_len"},
    Focus.ASYNC: {"waited", "preempted", "hit"},
}


@pytest.mark.parametrize("focus", Focus)
def test_engine_equals_the_oracle(focus, pytestconfig):
    met, count = Counter(), 0

    def check(scenario):
        nonlocal count
        expected = oracle_steps(scenario)
        count += 1
        met.update(met_rules(scenario, expected))
        assert first_difference(scenario, expected) is None

    hunt(pytestconfig, EXAMPLES, check, scenarios(focus), always=ALWAYS)

    assert {rule for rule, times in met.items() if times >= count / 20} >= MEETS[focus]


def test_difference_is_found_and_named():
    """The comparison can fail: here the oracle is asked about a smaller pool."""
    config = {
        "block_size": 4, "num_gpu_blocks": 9, "max_model_len": 32, "max_num_seqs": 4, "max_num_batched_tokens": 32,
        "enable_chunked_prefill": True, "enable_prefix_caching": True, "record_free_queue": True,
    }  # fmt: skip
    requests = [{"id": f"r{i}", "arrival_step": 0, "prompt_len": 10, "output_len": 8} for i in range(3)]
    smaller = {"config": config | {"num_gpu_blocks": 8, "max_model_len": 28}, "requests": requests}

    difference = first_difference({"config": config, "requests": requests}, oracle_steps(smaller))

    assert difference.startswith("step 0, free_s: oracle 1, engine 2")
