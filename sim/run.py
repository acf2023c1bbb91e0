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

from sim.dialects import DEFAULT, metrics_in
from sim.engine.layout import Config, Status
from sim.engine.loop import NEVER_S
from sim.engine.record import Kind
from sim.engine.setup import LogSizes
from sim.facts import facts_of
from sim.frame import Frame, Pool, frame_of, pool_of
from sim.memory import KvPlan, kv_plan
from sim.metrics import Later, Measured, summary
from sim.recorder import CALL_STEPS, Recorder, Turn
from sim.replay import Log, Replay
from sim.scenario import Scenario
from sim.setting import Setting, setting_of
from sim.snapshot import load_state
from sim.switch import first_state, switch
from sim.workload import Requests, Trace, make_requests, with_rate_from

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
        indices = np.flatnonzero(self.results["status"] >= REJECTED).tolist()
        return [{"request": i + 1, "reason": reasons.get(i) or self._full(i)} for i in indices]

    def _full(self, request: int) -> str:
        kinds = self.events["kind"]
        place = np.flatnonzero((kinds == Kind.REJECT) & (self.events["request"] == request))[0]
        scenario = self._forked if (kinds[:place] == Kind.FORK).any() else self.scenario
        return f"the waiting line was full (max_waiting = {scenario.server.max_waiting})"

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

    def metrics(self, dialect: str = DEFAULT) -> dict[str, Any]:
        """Metrics by name, as METRICS.md defines them for a benchmark tool: see `sim.dialects`."""
        return self._metrics if dialect == DEFAULT else metrics_in(dialect, self._measured())

    @cached_property
    def _metrics(self) -> dict[str, Any]:
        return summary(self._measured())

    def _measured(self) -> Measured:
        results, steps = self.results, self.steps
        gap_s, gap_counts = self.gaps()
        return Measured(
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
            later=self._later(),
        )

    @property
    def fork_step(self) -> int | None:
        """First step with the settings of the fork; None if there is no fork, or it comes after the last step."""
        fork: dict[str, Any] = self.facts.get("fork", {})
        return fork.get("step")

    def has_forked(self, step: int) -> bool:
        """Whether a step is one with the settings of the fork."""
        return self.fork_step is not None and step >= self.fork_step

    def scenario_at(self, step: int) -> Scenario:
        """Scenario as it is at a step."""
        return self._forked if self.has_forked(step) else self.scenario

    def config_at(self, step: int) -> Config:
        """The engine's settings at a step."""
        later = self.setting.later
        return later.config if later and self.has_forked(step) else self.setting.config

    @cached_property
    def _forked(self) -> Scenario:
        return self.scenario.forked

    @property
    def slots(self) -> int:
        """Slots that a picture of the run has: the most there are at any time."""
        later = self.setting.later.config.max_num_seqs if self.setting.later else 0
        return max(self.setting.config.max_num_seqs, later if self.fork_step is not None else 0)

    def new_replay(self) -> Replay:
        """Replay that stands before the first step."""
        later = self.setting.later.config if self.setting.later else None
        return Replay(self.setting.config, self.requests, self.log, self.results["arrival_s"], later)

    def _later(self) -> Later | None:
        if self.fork_step is None or self.scenario.fork is None:
            return None
        return Later(self.fork_step, self.scenario.fork.time_s, self._forked.server.max_num_seqs, self._forked.slo)

    def frame(self, step: int) -> Frame:
        """State after the ``schedule()`` of a step.

        Raises
        ------
        IndexError
            If there is no such step.
        """
        with self._lock:
            return frame_of(self._replay_at(step))

    def pool(self, step: int) -> Pool:
        """As `frame`, with what every block holds."""
        with self._lock:
            return pool_of(self._replay_at(step))

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
            return self.new_replay()
        recorder = _recorder(self.scenario, self.requests, self.setting, None)
        recorder.advance(max_steps=step)
        replay = self.new_replay()
        load_state(replay, recorder.state, step)
        return replay


SHORT_WAY = 64  # steps over which playing events is faster than running the engine again


def _recorder(scenario: Scenario, requests: Requests, setting: Setting, sizes: LogSizes | None) -> Recorder:
    fork = scenario.fork
    turn = Turn(fork.time_s, lambda state: switch(state, setting, fork.time_s)) if fork else None
    return Recorder(first_state(setting, requests, sizes), turn=turn)


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
        self.requests = _requests_of(scenario, trace)
        self.setting = setting_of(scenario, self.plan, self.requests)
        self._facts = facts_of(self.plan, self.setting)
        self._recorder = _recorder(scenario, self.requests, self.setting, sizes)

    def advance(self, max_steps: int = CALL_STEPS, until_s: float = NEVER_S) -> bool:
        """Take at most `max_steps` steps, none at or after `until_s` [s]; say whether the run is done."""
        return self._recorder.advance(max_steps, until_s)

    @property
    def is_fork_ahead(self) -> bool:
        """Whether the run has a fork that it has not come to."""
        return self.scenario.fork is not None and self._recorder.turned_at is None and not self._recorder.is_done

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of the server; and of the fork, once the run has come to it."""
        fork, step, recorder = self.scenario.fork, self._recorder.turned_at, self._recorder
        if not fork:
            return self._facts
        if recorder.is_done and step == int(recorder.state.count.steps):
            step = None  # only refusals came after it
        facts = self._facts | {"fork": {"time_s": fork.time_s, "step": step, "changes": fork.settings()}}
        is_late = step is None and recorder.is_done
        late = [f"the fork at {fork.time_s:g} s comes after the last step, so it changes nothing"] if is_late else []
        return facts | {"notes": [*self._facts["notes"], *late]}

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


def _requests_of(scenario: Scenario, trace: Trace | None) -> Requests:
    requests = make_requests(scenario.workload, trace)
    if not scenario.fork:
        return requests
    factor = scenario.forked.workload.rate / scenario.workload.rate
    return with_rate_from(requests, scenario.fork.time_s, factor)


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
