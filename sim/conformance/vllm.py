"""Recordings of vLLM: drive the engine as a trace was driven, and tell every step of the run in its form.

Below user validation: arrivals by step index, one unit of time a step, idle steps emitted. What is compared is
rebuilt from the run's record alone (`sim.frame.Replay`), so the record is checked with the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sim.conformance.verdict import Verdict, short
from sim.cost import Cost
from sim.engine.layout import Cache, Config
from sim.engine.setup import LogSizes, make_state
from sim.errors import ScenarioError
from sim.recorder import Recorder
from sim.replay import Replay
from sim.workload.requests import Requests

UNIT_COST = Cost(*([0.0] * len(Cost._fields)))


def config_from(scenario: dict[str, Any]) -> Config:
    """Engine settings of a recorded vLLM scenario."""
    given, requests = scenario["config"], scenario["requests"]
    blocks, size = given["num_gpu_blocks"], given["block_size"]
    drafts = given.get("spec", {}).get("num_speculative_tokens", 0)
    longest = max(r["prompt_len"] + r["output_len"] for r in requests) + drafts
    width = min(-(-longest // size) + 1, blocks)
    return Config(
        max_num_seqs=given["max_num_seqs"],
        max_num_batched_tokens=given["max_num_batched_tokens"],
        block_size=size,
        max_model_len=given["max_model_len"],
        usable_blocks=blocks - 1,
        long_prefill_token_threshold=given.get("long_prefill_token_threshold", 0),
        is_chunked=int(given["enable_chunked_prefill"]),
        cache=int(Cache.SHARED if given["enable_prefix_caching"] else Cache.OFF),
        reserves_full_isl=int(given.get("scheduler_reserve_full_isl", True)),
        watermark_blocks=int(given.get("watermark", 0.0) * blocks),
        num_speculative_tokens=drafts,
        is_async=int(given.get("async_scheduling", False)),
        is_static=0,
        drops_finished_rows=0,
        region_blocks=0,
        num_seats=given["max_num_seqs"],
        max_waiting=0,
        emits_idle_steps=1,
        table_width=width,
        accept_stride=1,
        static_wait_s=0.0,
    )


def requests_from(scenario: dict[str, Any]) -> Requests:
    """Requests of a recorded scenario, arriving at their step index as seconds."""
    rows = scenario["requests"]
    numbers = {r["id"]: i for i, r in enumerate(rows)}
    groups: dict[str, int] = {}
    roots: list[int] = []
    for row in rows:
        if row.get("prefix_group") and row["prefix_group"] not in groups:
            groups[row["prefix_group"]] = len(groups)
            roots.append(0)
        if row.get("prefix_group"):
            group = groups[row["prefix_group"]]
            roots[group] = max(roots[group], row.get("shared_prefix_len") or 0)
    parents, commons = [-1] * len(rows), [0] * len(rows)
    for i, row in enumerate(rows):
        if row.get("continues"):
            j = numbers[row["continues"]]
            parents[i] = len(roots) + j
            commons[i] = min(row["prompt_len"], rows[j]["prompt_len"] + rows[j]["output_len"])
        elif row.get("prefix_group") and row.get("shared_prefix_len"):
            parents[i] = groups[row["prefix_group"]]
            commons[i] = min(row["prompt_len"], row["shared_prefix_len"])
    outputs = np.array([r["output_len"] for r in rows], np.int32)
    return Requests(
        arrival_s=np.array([float(r["arrival_step"]) for r in rows]),
        prompt_tokens=np.array([r["prompt_len"] for r in rows], np.int32),
        output_tokens=outputs,
        max_new_tokens=outputs,
        parent=np.array(parents, np.int32),
        common_tokens=np.array(commons, np.int32),
        root_tokens=np.array(roots, np.int32),
        after=np.full(len(rows), -1, np.int32),
        gap_s=np.zeros(len(rows)),
    )


def record_scenario(scenario: dict[str, Any], steps: int, sizes: LogSizes | None = None) -> Recorder:
    """Run a recorded scenario for so many steps and return the recorder."""
    pattern = scenario["config"].get("spec", {}).get("accept_pattern", [0])
    config, requests = config_from(scenario), requests_from(scenario)
    refused = np.zeros(len(requests.prompt_tokens), np.bool_)
    state = make_state(config, UNIT_COST, requests, refused, np.array(pattern, np.int32), sizes)
    recorder = Recorder(state)
    recorder.advance(max_steps=steps)
    return recorder


def replayed_steps(scenario: dict[str, Any], recorder: Recorder) -> Iterator[dict[str, Any]]:
    """Every step of the run in the form of the recorded traces, rebuilt from its record."""
    config, requests = config_from(scenario), requests_from(scenario)
    log = recorder.log()
    replay = Replay(config, requests, log, requests.arrival_s)
    for s in range(len(log.steps)):
        replay.forward()
        step = _step_of(replay, log.steps[s])
        if scenario["config"].get("record_free_queue"):
            step["freeq"] = list(replay.free.order)
        yield step


def _step_of(replay: Replay, row: Any) -> dict[str, Any]:
    planned = replay.planned
    step: dict[str, Any] = {
        "sched": [[r.request, r.kind, r.before, r.tokens] for r in planned.rows],
        "tok": int(row["prefill"] + row["decode"]),
        "newb": {str(i): b for i, b in planned.new_blocks.items() if b},
        "pre": list(planned.preempted),
        "draft": {str(i): d for i, d in planned.drafts.items()},
        "run_s": list(replay.running),
        "wait_s": list(replay.waiting),
        "blk_s": [len(replay.lives[i].table) for i in replay.running],
        "free_s": replay.free_blocks,
        "used_s": replay.config.usable_blocks - int(row["free"]),
    }
    replay.finish()
    updated = replay.updated
    step |= {
        "fin": sorted(updated.finished),
        "acc": {str(i): a for i, a in updated.accepted.items()},
        "out": sorted(updated.outputs),
        "nout": {str(i): n for i, n in updated.outputs.items()},
        "run": list(replay.running),
        "wait": list(replay.waiting),
        "free": replay.free_blocks,
        "used": replay.config.usable_blocks - int(row["free_end"]),
        "cached": int(row["cached"]),
    }
    return step


def expected_step(recorded: dict[str, Any]) -> dict[str, Any]:
    """A recorded step with what its format leaves out filled in."""
    step = {"pre": [], "newb": {}, "fin": [], "draft": {}, "acc": {}, **recorded}
    step.setdefault("run", step["run_s"])
    step.setdefault("wait", step["wait_s"])
    step["fin"] = sorted(step["fin"])
    step["out"] = sorted(step.get("out", []))
    return step


def compare(trace: dict[str, Any], path: str = "") -> Verdict:
    """Run one trace and compare; `Verdict.difference` names the first field that differs."""
    steps = trace["steps"]
    try:
        recorder = record_scenario(trace["scenario"], len(steps))
    except KeyError as error:
        raise ScenarioError("path", path, f"a recorded trace; its scenario lacks {error}") from None
    fields = 0
    for recorded, ours in zip(steps, replayed_steps(trace["scenario"], recorder), strict=True):
        for name, real in expected_step(recorded).items():
            if name not in ours:
                continue
            fields += 1
            if ours[name] != real:
                words = f"step {recorded['s']}, {name}: recorded {short(real)}, ours {short(ours[name])}"
                return Verdict(path, len(steps), fields, words)
    return Verdict(path, len(steps), fields, None)
