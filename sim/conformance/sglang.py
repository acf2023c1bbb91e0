"""Recordings of SGLang: drive the engine as a trace was driven, and tell every step of the run in its form.

Below user validation: arrivals by step index, one unit of time a step, idle steps emitted. What is compared is
rebuilt from the run's record alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.conformance import vllm
from sim.conformance.verdict import Verdict, short
from sim.conformance.vllm import UNIT_COST
from sim.engine.layout import as_array
from sim.engine.loop import NEVER_S, Stop
from sim.engine.record import EVENT, Kind
from sim.engine.setup import LogSizes
from sim.engine.sglang.layout import SGLANG_STEP, Config, State
from sim.engine.sglang.loop import advance
from sim.engine.sglang.record import Mode
from sim.engine.sglang.setup import make_room, make_state, token_ratios
from sim.errors import ScenarioError
from sim.workload.requests import Requests

LETTERS = {Mode.IDLE: "I", Mode.DECODE: "D", Mode.EXTEND: "E", Mode.MIXED: "M"}
RATIO_DIGITS = 6


class SGLangLog(NamedTuple):
    """Record of a run: rows of SGLANG_STEP and of EVENT, and the ids that events list."""

    steps: NDArray[Any]
    events: NDArray[Any]
    ids: NDArray[np.int32]


class _Told(NamedTuple):
    """What the events of a step say."""

    rows: list[list[Any]]
    retracted: list[int]
    aborted: list[int]
    finished: list[int]


def config_from(scenario: dict[str, Any]) -> Config:
    """Engine settings of a recorded SGLang scenario."""
    given = scenario["config"]
    chunk = max(given["chunked_prefill_size"] or 0, 0)
    return Config(
        max_total_tokens=given["max_total_tokens"],
        page_size=given["page_size"],
        max_running_requests=given["max_running_requests"],
        chunked_prefill_size=chunk,
        max_prefill_tokens=given["max_prefill_tokens"],
        context_len=given["context_len"],
        is_lpm=int(given["schedule_policy"] == "lpm" and not given["disable_radix_cache"]),
        is_mixed=int(given["enable_mixed_chunk"] and chunk > 0),
        is_overlap=int(not given["disable_overlap_schedule"]),
        has_radix=int(not given["disable_radix_cache"]),
        prefill_decode_interval=given.get("prefill_decode_interval") or 0,
        prefill_max_requests=given.get("prefill_max_requests") or 0,
        max_waiting=0,
        emits_idle_steps=1,
        **token_ratios(given["schedule_conservativeness"]),
    )


def requests_from(scenario: dict[str, Any]) -> Requests:
    """Requests of a recorded scenario, arriving at their step index as seconds."""
    rows = scenario["requests"]
    requests = vllm.requests_from(scenario)
    most = [r["output_len"] if r.get("max_new_tokens") is None else r["max_new_tokens"] for r in rows]
    columns = {name: getattr(requests, name) for name in Requests.__slots__}
    return Requests(**columns | {"max_new_tokens": np.array(most, np.int32)})


def record_scenario(scenario: dict[str, Any], steps: int, sizes: LogSizes | None = None) -> State:
    """Run a recorded scenario for so many steps and return its last state, with the record."""
    config, requests = config_from(scenario), requests_from(scenario)
    ignore_eos = np.array([bool(r.get("ignore_eos")) for r in scenario["requests"]])
    refused = np.zeros(len(ignore_eos), np.bool_)
    state = make_state(config, UNIT_COST, requests, refused, ignore_eos, sizes)
    while state.count.steps < steps:
        stop = Stop(advance(state, steps - int(state.count.steps), NEVER_S))
        if stop == Stop.STUCK:
            break
        if stop == Stop.LOG_FULL:
            state = make_room(state)
    return state


def log_of(state: State) -> SGLangLog:
    """Record of a run so far."""
    count = state.count
    return SGLangLog(
        as_array(state.steps, SGLANG_STEP, int(count.steps)),
        as_array(state.events, EVENT, int(count.events)),
        as_array(state.ids, np.dtype(np.int32), int(count.ids)),
    )


class _Replay:
    """Goes through a record and keeps the running batch and the waiting line."""

    def __init__(self, log: SGLangLog, arrival_s: NDArray[np.float64]) -> None:
        self.log = log
        self.arrivals = np.argsort(arrival_s, kind="stable").tolist()
        self.arrival_s = arrival_s.tolist()
        self.next_arrival = self.next_event = self.next_id = 0
        self.running: list[int] = []
        self.waiting: list[int] = []

    def step(self, number: int) -> dict[str, Any]:
        """Tell the next step in the form of the recorded traces."""
        row = self.log.steps[number]
        self._arrive(float(row["start_s"]))
        told = self._take_events(int(row["events_end"]))
        return {
            "k": LETTERS[Mode(int(row["mode"]))],
            "sched": told.rows if row["mode"] >= Mode.EXTEND else None,
            "ret": told.retracted,
            "abort": told.aborted,
            "fin": sorted(told.finished),
            "chunk": None if row["chunk"] < 0 else int(row["chunk"]),
            "run_s": self.running,
            "wait_s": list(self.waiting),
            "full": int(row["is_full"]),
            "avail_s": int(row["free"]),
            "evict_s": int(row["evictable"]),
            "ratio_s": round(float(row["ratio"]), RATIO_DIGITS),
            "avail": int(row["free_end"]),
            "evict": int(row["cached"]),
            "ratio": round(float(row["ratio_end"]), RATIO_DIGITS),
        }

    def _arrive(self, now_s: float) -> None:
        while self.next_arrival < len(self.arrivals) and self.arrival_s[self.arrivals[self.next_arrival]] <= now_s:
            self.waiting.append(self.arrivals[self.next_arrival])
            self.next_arrival += 1

    def _take_ids(self, number: int) -> list[int]:
        ids = self.log.ids[self.next_id : self.next_id + number].tolist()
        self.next_id += number
        return ids

    def _take_events(self, end: int) -> _Told:
        told = _Told([], [], [], [])
        letter = "C"
        for kind, request, a, b, _ in self.log.events[self.next_event : end].tolist():
            match kind:
                case Kind.RUNNING:
                    self.running = self._take_ids(a)
                case Kind.WAITING:
                    self.waiting = self._take_ids(a)
                case Kind.ADMIT | Kind.RESUME:
                    self.waiting.remove(request)
                    letter = "N" if kind == Kind.ADMIT else "T"
                case Kind.CHUNK:
                    told.rows.append([request, letter, b, a])
                    letter = "C"
                case Kind.RIDE:
                    told.rows.append([request, "D", b, 1])
                case Kind.PREEMPT:
                    self._preempt(told, request)
                case Kind.ABORT:
                    told.aborted.append(self.waiting.pop())
                    told.retracted.pop()
                case Kind.FINISH:
                    told.finished.append(request)
        self.next_event = end
        return told

    def _preempt(self, told: _Told, request: int) -> None:
        told.retracted.append(request)
        self.waiting.append(request)


def replayed_steps(scenario: dict[str, Any], state: State) -> Iterator[dict[str, Any]]:
    """Every step of the run in the form of the recorded traces, rebuilt from its record."""
    log = log_of(state)
    replay = _Replay(log, requests_from(scenario).arrival_s)
    for number in range(len(log.steps)):
        yield replay.step(number)


def expected_steps(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Recorded steps with what their format leaves out filled in."""
    lists: dict[str, Any] = {"run_s": [], "wait_s": []}
    for recorded in steps:
        lists = {name: recorded.get(name, value) for name, value in lists.items()}
        ends = {name: recorded[name + "_s"] for name in ("avail", "evict", "ratio")}
        nothing: dict[str, Any] = {"ret": [], "abort": [], "fin": [], "chunk": None, "full": 0, "sched": None}
        yield nothing | ends | recorded | lists


def compare(trace: dict[str, Any], path: str = "") -> Verdict:
    """Run one trace and compare; `Verdict.difference` names the first field that differs."""
    steps = trace["steps"]
    try:
        state = record_scenario(trace["scenario"], len(steps))
    except KeyError as error:
        raise ScenarioError("path", path, f"a recorded trace; its scenario lacks {error}") from None
    fields = 0
    for expected, ours in zip(expected_steps(steps), replayed_steps(trace["scenario"], state), strict=False):
        for name, value in ours.items():
            fields += 1
            if expected[name] != value:
                words = f"step {expected['s']}, {name}: recorded {short(expected[name])}, ours {short(value)}"
                return Verdict(path, len(steps), fields, words)
    missing = len(steps) - int(state.count.steps)
    return Verdict(path, len(steps), fields, f"{missing} steps are missing" if missing else None)
