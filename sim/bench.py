"""Figures of merit of the engine: steps a second by slots, the Azure hour, memory, compilation.

Ratios and rates of one process on one core; the best of three, since these are what the machine can do.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from sim.cost import make_cost
from sim.engine.layout import Cache, Config
from sim.engine.setup import make_state
from sim.recorder import Recorder
from sim.run import simulate
from sim.scenario import scenario_from
from sim.workload import Requests, Trace, read_trace

TRIES = 3
BLOCK_SIZE = 16
CASES = {
    8: (4_000, 2_048, 8_192),
    32: (8_000, 2_048, 8_192),
    64: (10_000, 2_048, 8_192),
    1024: (10_000, 16_384, 120_000),
}
"""Slots: requests, token budget, blocks."""


def _requests(count: int) -> Requests:
    """Prompts uniform 50 to 1,500 tokens, outputs uniform 10 to 400, all there at the start."""
    generator = np.random.default_rng(1)
    prompts = generator.integers(50, 1_501, count).astype(np.int32)
    outputs = generator.integers(10, 401, count).astype(np.int32)
    nobody, zeros = np.full(count, -1, np.int32), np.zeros(count, np.int32)
    return Requests(
        arrival_s=np.zeros(count),
        prompt_tokens=prompts,
        output_tokens=outputs,
        max_new_tokens=outputs,
        parent=nobody,
        common_tokens=zeros,
        root_tokens=np.zeros(0, np.int32),
        after=nobody,
        gap_s=np.zeros(count),
    )


def _config(slots: int, budget: int, blocks: int) -> Config:
    return Config(
        max_num_seqs=slots,
        max_num_batched_tokens=budget,
        block_size=BLOCK_SIZE,
        max_model_len=131_072,
        usable_blocks=blocks - 1,
        long_prefill_token_threshold=0,
        is_chunked=1,
        cache=int(Cache.SHARED),
        reserves_full_isl=1,
        watermark_blocks=0,
        num_speculative_tokens=0,
        is_async=0,
        is_static=0,
        drops_finished_rows=0,
        region_blocks=0,
        num_seats=slots,
        max_waiting=0,
        emits_idle_steps=0,
        table_width=-(-1_900 // BLOCK_SIZE) + 1,
        accept_stride=1,
        static_wait_s=0.0,
    )


def steps_per_s(slots: int, share: float = 1.0) -> float:
    """Steps a second of one run with all recording on; `share` of the requests of the case."""
    count, budget, blocks = CASES[slots]
    requests = _requests(max(1, int(count * share)))
    refused = np.zeros(len(requests.prompt_tokens), np.bool_)
    cost = make_cost(scenario_from({}).server)
    state = make_state(_config(slots, budget, blocks), cost, requests, refused, np.zeros(1, np.int32))
    recorder = Recorder(state)
    start_s = time.perf_counter()
    recorder.advance()
    taken_s = time.perf_counter() - start_s
    return len(recorder.log().steps) / taken_s


def _best_steps_per_s(slots: int) -> int:
    return round(max(steps_per_s(slots) for _ in range(TRIES)))


def azure_run_s(trace: Trace) -> float:
    """Seconds for the whole hour with its summary: Llama-3.1-8B on one H100 SXM, 128 slots."""
    scenario = scenario_from({"load": "trace", "trace": trace.sha256, "max_num_seqs": 128})
    start_s = time.perf_counter()
    run = simulate(scenario, trace)
    run.metrics()
    return time.perf_counter() - start_s


def _in_process(code: str, path: str, **environment: str) -> Any:
    """JSON that a process of its own prints."""
    env = os.environ | environment
    done = subprocess.run([sys.executable, "-c", code, path], env=env, capture_output=True, text=True, check=True)  # noqa: S603
    return json.loads(done.stdout)


_AZURE = """
import sys, json, pathlib
from sim import bench
from sim.workload import read_trace
trace = read_trace(pathlib.Path(sys.argv[1]).read_bytes())
bench.steps_per_s(8, 0.001)
times = [bench.azure_run_s(trace) for _ in range(bench.TRIES)]
print(json.dumps([min(times), bench.peak_rss_bytes()]))
"""
_UNCOMPILED = "import json; from sim import bench; print(json.dumps(bench.steps_per_s(8, 0.2)))"


def peak_rss_bytes() -> int:
    """Largest resident size of this process so far [bytes].

    Linux counts what the parent held when it forked in getrusage, so there the kernel's own figure is read.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def bench(trace_path: Path) -> dict[str, float | int]:
    """All figures by name, as PARAMETERS.md lists them.

    Raises
    ------
    ScenarioError
        If the file is not a trace.
    """
    trace = read_trace(trace_path.read_bytes(), trace_path.name)
    steps_per_s(8, 0.001)
    figures: dict[str, float | int] = {f"steps_per_s_{slots}_slots": _best_steps_per_s(slots) for slots in CASES}
    figures["steps_per_s_uncompiled"] = round(_in_process(_UNCOMPILED, "", NUMBA_DISABLE_JIT="1"))
    run_s, peak = _in_process(_AZURE, str(trace_path))
    return figures | {
        "azure_conv_run_s": round(run_s, 4),
        "azure_conv_requests": trace.rows,
        "azure_conv_peak_rss_bytes": peak,
    }
