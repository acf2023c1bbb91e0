"""Records of TensorRT-LLM's engine as plain arrays: the traces' scenarios, and priced runs in time."""

from pathlib import Path

import numpy as np

from sim.conformance.tensorrt_llm import EngineRecorder, config_from, record_scenario
from sim.cost import make_cost
from sim.engine.tensorrt_llm.setup import make_state
from sim.scenario import scenario_from
from sim.workload.requests import Requests
from tests.conformance.recorded import read_recorded, recorded_lines
from tests.sim.records import columns_of

NAMES = list(recorded_lines("tensorrt_llm", "traces"))
POLICIES = ("GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH")
TIMED = {f"{policy}_{chunk}": (policy, chunk) for policy in POLICIES for chunk in (None, "EQUAL_PROGRESS")}


def make_requests(count=60):
    """Requests in time: some share a beginning, and every third one comes after another one's end."""
    generator = np.random.default_rng(3)
    numbers = np.arange(count)
    outputs = generator.integers(1, 60, count).astype(np.int32)
    return Requests(
        arrival_s=np.where(numbers % 3 == 2, np.nan, np.sort(generator.uniform(0, 2, count))),
        prompt_tokens=generator.integers(1, 200, count).astype(np.int32),
        output_tokens=outputs,
        max_new_tokens=outputs + 20,
        parent=np.where(numbers % 2 == 0, 0, -1).astype(np.int32),
        common_tokens=np.where(numbers % 2 == 0, 96, 0).astype(np.int32),
        root_tokens=np.array([96], np.int32),
        after=np.where(numbers % 3 == 2, numbers - 2, -1).astype(np.int32),
        gap_s=np.full(count, 0.01),
    )


def make_recorder(policy, chunk, num_blocks=40, requests=None, sizes=None):
    """A fresh run in time of requests that all fit."""
    given = {
        "max_batch_size": 6, "max_num_tokens": 256, "tokens_per_block": 16, "num_blocks": num_blocks,
        "policy": policy, "chunk_policy": chunk, "block_reuse": True,
    }  # fmt: skip
    config = config_from({"config": given})._replace(emits_idle_steps=0)
    requests = requests or make_requests()
    cost = make_cost(scenario_from({}).server)
    sizes = sizes(config, requests) if sizes else None
    return EngineRecorder(make_state(config, cost, requests, np.zeros(len(requests), np.bool_), sizes))


def recorded_columns(recorder):
    return columns_of(recorder.log(), requests=recorder.requests())


def timed_columns(name, drive=EngineRecorder.advance, **how):
    recorder = make_recorder(*TIMED[name], **how)
    drive(recorder)
    return recorded_columns(recorder)


def all_columns():
    """Columns of every record by the run's name."""
    for name in NAMES:
        yield name, recorded_columns(record_scenario(read_recorded("tensorrt_llm", "traces", name)["scenario"]))
    for name in TIMED:
        yield name, timed_columns(name)


def write_records(folder):
    """Keep all records; what the uncompiled process does."""
    for name, columns in all_columns():
        np.savez(Path(folder) / f"{name}.npz", **columns)
