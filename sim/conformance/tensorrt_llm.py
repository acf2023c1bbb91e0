"""Traces of TensorRT-LLM's scheduling rules: drive the engine as a trace was driven, and tell every step in its form.

Below user validation: arrivals by step index, one unit of time a step, idle steps emitted. What is compared is
rebuilt from the run's record alone, so the record is checked with the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.conformance.verdict import Verdict, short
from sim.cost import Cost
from sim.engine.layout import as_array
from sim.engine.loop import Stop
from sim.engine.record import Kind
from sim.engine.setup import LogSizes
from sim.engine.tensorrt_llm.layout import REQUEST, CapacitySchedulerPolicy, Config, ContextChunkingPolicy
from sim.engine.tensorrt_llm.loop import advance
from sim.engine.tensorrt_llm.setup import make_state
from sim.errors import ScenarioError
from sim.recorder import Recorder
from sim.workload.requests import Requests

UNIT_COST = Cost(*([0.0] * len(Cost._fields)))
MOST_STEPS = 5_000
"""Steps after which the recorded traces were cut."""


class EngineRecorder(Recorder):
    """A run of this engine under way; it may also end because nobody can be served any more.

    Attributes
    ----------
    stop : Stop
        Why the engine came back last.
    """

    stop = Stop.LIMIT

    def _advance(self, end: int, until_s: float) -> None:
        while not self.is_done:
            self.stop = Stop(advance(self.state, end - int(self.state.count.steps), until_s))
            self.is_done = self.stop in {Stop.DONE, Stop.STUCK}
            if self.stop == Stop.LOG_FULL:
                self._make_room()
            elif self.stop == Stop.LIMIT:
                break

    def requests(self) -> NDArray[Any]:
        """Engine's rows of all requests, as a structured array."""
        return as_array(self.state.requests, REQUEST, len(self.state.requests))


def config_from(scenario: Mapping[str, Any]) -> Config:
    """Engine settings of a recorded scenario."""
    given = scenario["config"]
    has_reuse = bool(given.get("block_reuse"))
    return Config(
        max_batch_size=given["max_batch_size"],
        max_num_requests=given.get("max_num_requests") or given["max_batch_size"],
        max_num_tokens=given["max_num_tokens"],
        tokens_per_block=given["tokens_per_block"],
        num_blocks=given["num_blocks"],
        capacity_scheduler_policy=int(CapacitySchedulerPolicy[given["policy"]]),
        context_chunking_policy=int(ContextChunkingPolicy[given.get("chunk_policy") or "OFF"]),
        chunk_unit_size=given.get("chunk_unit", given["tokens_per_block"]),
        enable_block_reuse=int(has_reuse),
        is_prefix_aware=int(has_reuse and given.get("prefix_aware", True)),
        two_step_lookahead=int(given.get("two_step_lookahead", False)),
        max_waiting=0,
        emits_idle_steps=1,
    )


def requests_from(scenario: Mapping[str, Any]) -> Requests:
    """Requests of a recorded scenario, arriving at their step index as seconds; a text per group."""
    rows = scenario["requests"]
    groups = [r.get("group", 0) if r.get("shared_prefix") else -1 for r in rows]
    roots = [0] * (max(groups, default=-1) + 1)
    for row, group in zip(rows, groups, strict=True):
        if group >= 0:
            roots[group] = max(roots[group], row["shared_prefix"])
    return Requests(
        arrival_s=np.array([float(r["arrival_step"]) for r in rows]),
        prompt_tokens=np.array([r["prompt_len"] for r in rows], np.int32),
        output_tokens=np.array([r["output_len"] for r in rows], np.int32),
        max_new_tokens=np.array([r.get("max_new") or r["output_len"] for r in rows], np.int32),
        parent=np.array(groups, np.int32),
        common_tokens=np.array([r.get("shared_prefix", 0) for r in rows], np.int32),
        root_tokens=np.array(roots, np.int32),
        after=np.full(len(rows), -1, np.int32),
        gap_s=np.zeros(len(rows)),
    )


def record_scenario(
    scenario: Mapping[str, Any], most_steps: int = MOST_STEPS, sizes: LogSizes | None = None
) -> EngineRecorder:
    """Run a recorded scenario to its end, or for so many steps, and return the recorder."""
    requests = requests_from(scenario)
    refused = np.zeros(len(requests), np.bool_)
    recorder = EngineRecorder(make_state(config_from(scenario), UNIT_COST, requests, refused, sizes))
    recorder.advance(max_steps=most_steps)
    return recorder


class _Replay:
    """The active list, and of each request what is prompt and whether that is computed, from step to step."""

    def __init__(self, scenario: Mapping[str, Any], recorder: EngineRecorder) -> None:
        self.config, requests = config_from(scenario), requests_from(scenario)
        self.log = recorder.log()
        self.arrival_s = requests.arrival_s
        self.order = np.argsort(requests.arrival_s, kind="stable").tolist()
        self.active: list[int] = []
        self.generating: set[int] = set()
        self.prompt, self.known = requests.prompt_tokens.tolist(), requests.prompt_tokens.tolist()

    def step(self, s: int) -> dict[str, Any]:
        """Step `s` in the form of the recorded traces, once for each s in order."""
        row = self.log.steps[s]
        events = self.log.events[self.log.steps[s - 1]["events_end"] if s else 0 : row["events_end"]]
        rows = {kind: [e for e in events.tolist() if e[0] == kind] for kind in Kind}
        step: dict[str, Any] = {"arr": self._arrive(row["start_s"])}
        step["paused"] = self._pause([e[1] for e in rows[Kind.PREEMPT]])
        skipped = {e[1] for e in rows[Kind.SKIP]}
        fitting_skipped = [e[1] for e in rows[Kind.SKIP] if e[2]]
        reused = {e[1]: e[2] for e in rows[Kind.ADMIT] + rows[Kind.RESUME] if e[2]}
        step["ctx"] = [[e[1], e[3], e[2], *([reused[e[1]]] if e[1] in reused else [])] for e in rows[Kind.CHUNK]]
        step["gen"] = [i for i in self.active if i in self.generating and i not in skipped]
        step["fit"] = self._in_order([*step["gen"], *(c[0] for c in step["ctx"]), *fitting_skipped])
        step["tok"] = int(row["prefill"] + row["decode"])
        step["used"] = self.config.num_blocks - int(row["free"])
        self._update(step)
        step["fin"] = [e[1] for e in rows[Kind.FINISH]]
        self._end(step["fin"])
        step["used_after"] = self.config.num_blocks - int(row["free_end"])
        step["active"] = list(self.active)
        return step

    def _arrive(self, start_s: float) -> list[int]:
        arrived = []
        while self.order and self.arrival_s[self.order[0]] <= start_s:
            arrived.append(self.order.pop(0))
        self.active += arrived
        return arrived

    def _pause(self, victims: list[int]) -> list[int]:
        for index in victims:
            self.prompt[index] = self.known[index]
            self.generating.discard(index)
        return victims

    def _in_order(self, fitting: list[int]) -> list[int]:
        """Order in which the capacity scheduler took them: but for MAX_UTILIZATION, those that generate first."""
        is_mixed = self.config.capacity_scheduler_policy == CapacitySchedulerPolicy.MAX_UTILIZATION
        place = {index: position for position, index in enumerate(self.active)}
        return sorted(fitting, key=lambda i: (not is_mixed and i not in self.generating, place[i]))

    def _update(self, step: Mapping[str, Any]) -> None:
        for index in step["gen"]:
            self.known[index] += 1
        for index, start, chunk, *_ in step["ctx"]:
            if start + chunk == self.prompt[index]:
                self.known[index] += 1
                self.generating.add(index)

    def _end(self, finished: list[int]) -> None:
        for index in finished:
            self.active.remove(index)
            self.generating.discard(index)


def replayed_steps(scenario: Mapping[str, Any], recorder: EngineRecorder) -> Iterator[dict[str, Any]]:
    """Every step of the run in the form of the recorded traces, rebuilt from its record."""
    replay = _Replay(scenario, recorder)
    for s in range(len(replay.log.steps)):
        yield replay.step(s)


def ending(recorder: EngineRecorder) -> str:
    """How the run ended, in the words of the traces."""
    return {Stop.DONE: "done", Stop.STUCK: "stuck"}.get(recorder.stop, "max_steps")


def expected_step(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded step with what its format leaves out filled in."""
    return {"arr": [], "paused": [], "ctx": [], "gen": [], "fin": [], **recorded}


def compare(trace: dict[str, Any], path: str = "") -> Verdict:
    """Run one trace and compare; `Verdict.difference` names the first field that differs."""
    steps = trace["steps"]
    try:
        recorder = record_scenario(trace["scenario"])
    except KeyError as error:
        raise ScenarioError("path", path, f"a recorded trace; its scenario lacks {error}") from None
    fields = 0
    for recorded, ours in zip(steps, replayed_steps(trace["scenario"], recorder), strict=False):
        for name, real in expected_step(recorded).items():
            if name not in ours:
                continue
            fields += 1
            if ours[name] != real:
                words = f"step {recorded['s']}, {name}: recorded {short(real)}, ours {short(ours[name])}"
                return Verdict(path, len(steps), fields, words)
    ours_end, real_end = (ending(recorder), int(recorder.state.count.steps)), (trace["ended"], len(steps))
    if ours_end != real_end:
        return Verdict(path, len(steps), fields, f"end: recorded {short(real_end)}, ours {short(ours_end)}")
    return Verdict(path, len(steps), fields, None)
