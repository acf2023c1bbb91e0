"""Steps a second of TensorRT-LLM's engine at 32 slots, all recording on, by policy: best of three; prints JSON."""

from __future__ import annotations

import json
import time

import numpy as np

from sim.bench import CASES, TRIES, _requests
from sim.conformance.tensorrt_llm import EngineRecorder
from sim.cost import make_cost
from sim.engine.tensorrt_llm.layout import CapacitySchedulerPolicy, Config, ContextChunkingPolicy
from sim.engine.tensorrt_llm.setup import make_state
from sim.scenario import scenario_from

SLOTS = 32


def steps_per_s(policy: CapacitySchedulerPolicy, chunking: ContextChunkingPolicy, has_reuse: bool) -> int:
    """Run the requests of `sim bench` once and count."""
    count, budget, blocks = CASES[SLOTS]
    cost, requests = make_cost(scenario_from({}).server), _requests(count)
    config = Config(
        max_batch_size=SLOTS,
        max_num_requests=SLOTS,
        max_num_tokens=budget,
        tokens_per_block=32,
        num_blocks=blocks // 2,
        capacity_scheduler_policy=policy,
        context_chunking_policy=chunking,
        chunk_unit_size=32,
        enable_block_reuse=has_reuse,
        is_prefix_aware=has_reuse,
        two_step_lookahead=0,
        max_waiting=0,
        emits_idle_steps=0,
    )
    recorder = EngineRecorder(make_state(config, cost, requests, np.zeros(count, np.bool_)))
    start_s = time.perf_counter()
    recorder.advance()
    return round(int(recorder.state.count.steps) / (time.perf_counter() - start_s))


if __name__ == "__main__":
    figures = {
        f"{policy.name} {chunking.name} reuse={reuse}": max(steps_per_s(policy, chunking, reuse) for _ in range(TRIES))
        for policy in CapacitySchedulerPolicy
        for chunking in ContextChunkingPolicy
        for reuse in (False, True)
    }
    print(json.dumps(figures, indent=1))
