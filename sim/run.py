"""A run: what a scenario does, step by step, with its record, results and metrics.

`simulate` runs a scenario at once; a `Session` runs it in parts, so that a stream is sent while it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.catalog.efficiencies import CALIBRATED
from sim.cost import make_cost
from sim.engine.layout import Status
from sim.engine.loop import NEVER_S
from sim.engine.record import Kind
from sim.engine.setup import LogSizes, make_state
from sim.frame import Frame, frame_of
from sim.memory import KvPlan, kv_plan
from sim.metrics import Measured, summary
from sim.recorder import CALL_STEPS, Recorder
from sim.replay import Log, Replay
from sim.scenario import Scenario
from sim.setting import Setting, setting_of
from sim.snapshot import load_state
from sim.workload import Requests, Trace, make_requests

RESULT = np.dtype(
    [
        ("arrival_s", "f8"),
        ("scheduled_s", "f8"),
        ("first_s", "f8"),
        ("finish_s", "f8"),
        ("outputs", "i4"),
        ("hit_tokens", "i4"),
        ("preemptions", "i4"),
        ("status", "u1"),
    ]
)
PENDING, FINISHED, REJECTED, REFUSED = 0, 1, 2, 3
_STATUS = {Status.FINISHED: FINISHED, Status.REJECTED: REJECTED, Status.REFUSED: REFUSED}


@dataclass(frozen=True)
class Run:
    """A finished run.

    Notes
    -----
    `results` has a row per request: times [s] (nan: never), outputs and hit_tokens [tokens], preemptions, and status
    (PENDING, FINISHED, REJECTED: the waiting line was full, REFUSED: it can never fit). `facts` is JSON-able.
    """

    scenario: Scenario
    requests: Requests
    plan: KvPlan
    setting: Setting
    facts: dict[str, Any]
    log: Log
    results: NDArray[Any]
    _replays: list[Replay] = field(default_factory=list, repr=False, compare=False)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def steps(self) -> NDArray[Any]:
        """Structured array of steps: see `sim.engine.record.STEP`."""
        return self.log.steps

    @property
    def events(self) -> NDArray[Any]:
        """Structured array of events: see `sim.engine.record.EVENT` and `Kind`."""
        return self.log.events

    @property
    def blocks(self) -> NDArray[np.int32]:
        """Block ids, in the order of the events that take or share them."""
        return self.log.ids

    @property
    def nbytes(self) -> int:
        """Bytes of the record and the results."""
        return sum(part.nbytes for part in self.log) + self.results.nbytes

    @cached_property
    def rejected(self) -> list[dict[str, Any]]:
        """Requests that were not served, each with the reason."""
        reasons = dict(self.setting.refusals)
        full = f"the waiting line was full (max_waiting = {self.scenario.server.max_waiting})"
        indices = np.flatnonzero(self.results["status"] >= REJECTED).tolist()
        return [{"request": i + 1, "reason": reasons.get(i, full)} for i in indices]

    def ends_s(self) -> NDArray[np.float64]:
        """End of each step [s], shape (S,)."""
        ends: NDArray[np.float64] = self.steps["start_s"] + self.steps["duration_s"]
        return ends

    def gaps(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Gaps between consecutive outputs of all requests [s], and how often each occurred."""
        ends = self.ends_s()
        gaps = np.diff(ends, prepend=0.0)
        if self.setting.config.is_async:
            gaps = np.concatenate([[0.0], gaps[:-1]])
        regular = self.steps["regular"]
        irregular = self.events["seconds"][self.events["kind"] == Kind.GAP]
        values = np.concatenate([gaps[regular > 0], irregular])
        return values, np.concatenate([regular[regular > 0], np.ones(len(irregular), np.int32)])

    def metrics(self) -> dict[str, Any]:
        """Metrics by name, as METRICS.md defines them."""
        return self._metrics

    @cached_property
    def _metrics(self) -> dict[str, Any]:
        results, steps = self.results, self.steps
        gap_s, gap_counts = self.gaps()
        return summary(
            Measured(
                arrival_s=results["arrival_s"],
                scheduled_s=results["scheduled_s"],
                first_s=results["first_s"],
                finish_s=results["finish_s"],
                prompt_tokens=self.requests.prompt_tokens,
                output_tokens=results["outputs"],
                hit_tokens=results["hit_tokens"],
                preemptions=results["preemptions"],
                is_finished=results["status"] == FINISHED,
                is_rejected=results["status"] >= REJECTED,
                gap_s=gap_s,
                gap_counts=gap_counts,
                step_start_s=steps["start_s"],
                step_duration_s=steps["duration_s"],
                active=steps["running"],
                held=steps["held"],
                waiting=steps["waiting"],
                bound=steps["bound"],
                computed=steps["prefill"] + steps["decode"],
                padding=steps["padding"],
                slots=self.scenario.server.max_num_seqs,
                slo=self.scenario.slo,
            )
        )

    def frame(self, step: int) -> Frame:
        """State after the ``schedule()`` of a step.

        Raises
        ------
        IndexError
            If there is no such step.
        """
        with self._lock:
            return frame_of(self._replay_at(step))

    def replay_before(self, step: int) -> Replay:
        """Replay of its own that stands before a step: the one before it is finished.

        Raises
        ------
        IndexError
            If there is no step before it.
        """
        with self._lock:
            replay = self._replay_at(step - 1)
            self._replays.clear()
        replay.finish()
        return replay

    def _replay_at(self, step: int) -> Replay:
        """Replay that stands at a step: the last one moved on if it can be, else one from the nearest engine state."""
        if not 0 <= step < len(self.steps):
            raise IndexError(f"step {step} of {len(self.steps)}")
        replay = self._replays[0] if self._replays else None
        if replay is None or not replay.step <= step <= replay.step + SHORT_WAY:
            replay = self._replay_from(step)
            self._replays[:] = [replay]
        while replay.step < step:
            replay.forward()
        return replay

    def _replay_from(self, step: int) -> Replay:
        """Replay ready to move on to `step`: the engine runs up to it again, which is faster than playing events."""
        if step <= SHORT_WAY:
            return Replay(self.setting.config, self.requests, self.log, self.results["arrival_s"])
        session = _recorder(self.scenario, self.requests, self.setting, None)
        session.advance(max_steps=step)
        replay = Replay(self.setting.config, self.requests, self.log, self.results["arrival_s"])
        load_state(replay, session.state, step)
        return replay


SHORT_WAY = 64  # steps over which playing events is faster than running the engine again


def _recorder(scenario: Scenario, requests: Requests, setting: Setting, sizes: LogSizes | None) -> Recorder:
    refused = np.zeros(len(requests.prompt_tokens), np.bool_)
    refused[[i for i, _ in setting.refusals]] = True
    state = make_state(setting.config, make_cost(scenario.server), requests, refused, setting.accepts, sizes)
    return Recorder(state)


class Session:
    """A scenario under way.

    Parameters
    ----------
    scenario : Scenario
        What to run.
    trace : Trace, optional
        The file that the workload names.
    sizes : LogSizes, optional
        Rows the engine's logs hold between two calls.

    Raises
    ------
    ScenarioError
        If the model does not fit, or the workload cannot be made.
    """

    def __init__(self, scenario: Scenario, trace: Trace | None = None, sizes: LogSizes | None = None) -> None:
        self.scenario = scenario
        self.plan = kv_plan(scenario.server)
        self.requests = make_requests(scenario.workload, trace)
        self.setting = setting_of(scenario, self.plan, self.requests)
        self.facts = _facts(self.plan, self.setting)
        self._recorder = _recorder(scenario, self.requests, self.setting, sizes)

    def advance(self, max_steps: int = CALL_STEPS, until_s: float = NEVER_S) -> bool:
        """Take at most `max_steps` steps, none at or after `until_s` [s]; say whether the run is done."""
        return self._recorder.advance(max_steps, until_s)

    @property
    def ended(self) -> int:
        """Requests that finished or were turned away so far."""
        status = self._recorder.requests()["status"]
        return int(np.isin(status, [Status.FINISHED, Status.REJECTED]).sum())

    def log(self) -> Log:
        """Record so far."""
        return self._recorder.log()

    def run(self) -> Run:
        """Run so far."""
        rows = self._recorder.requests()
        results = np.zeros(len(rows), RESULT)
        for name in ("arrival_s", "scheduled_s", "first_s", "finish_s", "preemptions"):
            results[name] = rows[name]
        results["outputs"] = rows["known"] - rows["prompt"]
        results["hit_tokens"] = rows["hit"]
        for status, meaning in _STATUS.items():
            results["status"][rows["status"] == status] = meaning
        return Run(self.scenario, self.requests, self.plan, self.setting, self.facts, self.log(), results)


def _facts(plan: KvPlan, setting: Setting) -> dict[str, Any]:
    config = setting.config
    return {
        "weights_bytes": plan.weights_bytes,
        "kv_bytes_per_token": plan.kv_bytes_per_token,
        "activation_bytes": plan.activation_bytes,
        "other_bytes": plan.other_bytes,
        "kv_bytes": plan.kv_bytes,
        "gpu_bytes": plan.gpu_bytes,
        "num_gpu_blocks": plan.num_gpu_blocks,
        "kv_tokens": plan.kv_tokens,
        "max_concurrency": plan.max_concurrency,
        "max_model_len": plan.max_model_len,
        "max_num_batched_tokens": plan.max_num_batched_tokens,
        "reserved_blocks": config.region_blocks,
        "num_seats": config.num_seats,
        "calibrated": CALIBRATED,
        "notes": [*plan.notes, *setting.notes],
    }


def simulate(scenario: Scenario, trace: Trace | None = None) -> Run:
    """Run a scenario from start to end.

    Examples
    --------
    >>> from sim.scenario import scenario_from
    >>> run = simulate(scenario_from({"prompt_list": "1,1", "output_list": "3,2", "load": "burst", "cost": "unit"}))
    >>> len(run.steps)
    3
    """
    session = Session(scenario, trace)
    session.advance()
    return session.run()
