"""Runs as a trace that Perfetto and Chrome's trace viewer open: a process for each run, a thread for each slot.

References
----------
Trace Event Format, Google, 2016: complete (X), instant (i), counter (C) and metadata (M) events, times in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from app.bars import bars_of
from app.tables import Window, step_columns
from sim.run import Run

EVENTS_PER_PIECE = 4096
COUNTERS = (("waiting", "requests"), ("running", "requests"), ("KV blocks in use", "blocks"))

Event = dict[str, Any]


def trace_json(runs: Mapping[str, Run], windows: Mapping[str, Window], labels: Mapping[str, str]) -> Iterator[bytes]:
    """Pieces of the trace as JSON."""
    lead = b'{"displayTimeUnit": "ms", "traceEvents": [\n'
    events = (
        event for pid, name in enumerate(runs, 1) for event in _events(runs[name], windows[name], labels[name], pid)
    )
    lines: list[bytes] = []
    for event in events:
        lines.append(orjson.dumps(event))
        if len(lines) == EVENTS_PER_PIECE:
            yield lead + b",\n".join(lines)
            lead, lines = b",\n", []
    yield (lead + b",\n".join(lines) if lines else b"") + b"\n]}\n"


def _events(run: Run, window: Window, label: str, pid: int) -> Iterator[Event]:
    slots = run.slots
    threads = {"arrivals": slots + 2, "steps": slots + 1} | {f"slot {slot + 1}": slot + 1 for slot in range(slots)}
    yield _named("process_name", pid, 0, label)
    bars = _bars(run, window)
    used = {f"slot {slot + 1}" for slot in bars["slot"].tolist()} | {"arrivals", "steps"}
    for order, (thread, tid) in enumerate(threads.items()):
        if thread in used:
            yield _named("thread_name", pid, tid, thread)
            yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": order}}
    yield from _arrivals(run, window, pid, threads["arrivals"])
    yield from _steps(run, window, pid, threads["steps"])
    for bar in bars:
        yield from _stay(run, bar, pid)
    yield from _counters(run, window, pid)


def _named(kind: str, pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def _span_s(run: Run, window: Window) -> tuple[float, float]:
    """Time of the window [s]: all of it for the whole run."""
    steps = run.steps[window.first : window.last]
    start_s = 0.0 if window.first == 0 else float(steps["start_s"][0]) if len(steps) else np.inf
    end_s = np.inf if window.last == len(run.steps) else float(steps["start_s"][-1] + steps["duration_s"][-1])
    return start_s, end_s


def _bars(run: Run, window: Window) -> NDArray[Any]:
    bars, (start_s, end_s) = bars_of(run), _span_s(run, window)
    seen: NDArray[Any] = bars[(bars["free_s"] > start_s) & (bars["start_s"] < end_s)]
    return seen


def _stay(run: Run, bar: NDArray[Any], pid: int) -> Iterator[Event]:
    """A request in a slot: its phases one after the other, and a mark where it is preempted."""
    request, tid = int(bar["request"]), int(bar["slot"]) + 1
    times = [_us(float(bar[name])) for name in ("start_s", "decode_s", "end_s", "free_s")]
    args = {
        "request": request + 1,
        "prompt_tokens": int(run.requests.prompt_tokens[request]),
        "output_tokens": int(run.results["outputs"][request]),
        "hit_tokens": int(run.results["hit_tokens"][request]),
    }
    for phase, start, end in zip(("prefill", "decode", "held"), times, times[1:], strict=False):
        if end > start:
            yield _complete(f"{request + 1} {phase}", phase, pid, tid, start, end, args)
    if bar["preempted"]:
        yield _instant("preempted", pid, tid, times[2], {"request": request + 1})


def _steps(run: Run, window: Window, pid: int, tid: int) -> Iterator[Event]:
    columns = step_columns(run, window)
    names = ("prefill", "decode", "running", "waiting", "bound", "why")
    ends_s = columns["start_s"] + columns["duration_s"]
    for i, step in enumerate(columns["step"].tolist()):
        args = {name: columns[name][i].item() for name in names}
        start, end = _us(float(columns["start_s"][i])), _us(float(ends_s[i]))
        yield _complete(f"step {step}", "step", pid, tid, start, end, args)


def _arrivals(run: Run, window: Window, pid: int, tid: int) -> Iterator[Event]:
    start_s, end_s = _span_s(run, window)
    for request, time_s in enumerate(run.results["arrival_s"].tolist()):
        if start_s <= time_s <= end_s:
            args = {"request": request + 1, "prompt_tokens": int(run.requests.prompt_tokens[request])}
            yield _instant(f"{request + 1} arrives", pid, tid, _us(time_s), args)


def _counters(run: Run, window: Window, pid: int) -> Iterator[Event]:
    """Counters where they change; all are zero after the last step."""
    steps = run.steps[window.first : window.last]
    used = run.plan.usable_blocks - steps["free"]
    for (name, unit), column in zip(COUNTERS, (steps["waiting"], steps["running"], used), strict=True):
        for i in np.flatnonzero(np.diff(column, prepend=-1)).tolist():
            yield _counter(name, unit, pid, _us(float(steps["start_s"][i])), int(column[i]))
        if len(steps):
            end_us = _us(float(steps["start_s"][-1] + steps["duration_s"][-1]))
            yield _counter(name, unit, pid, end_us, 0)


def _complete(name: str, kind: str, pid: int, tid: int, start: float, end: float, args: Event) -> Event:
    dur = round(end - start, 3)
    return {"ph": "X", "name": name, "cat": kind, "pid": pid, "tid": tid, "ts": start, "dur": dur, "args": args}


def _instant(name: str, pid: int, tid: int, ts: float, args: Event) -> Event:
    return {"ph": "i", "s": "t", "name": name, "pid": pid, "tid": tid, "ts": ts, "args": args}


def _counter(name: str, unit: str, pid: int, ts: float, value: int) -> Event:
    return {"ph": "C", "name": name, "pid": pid, "tid": 0, "ts": ts, "args": {unit: value}}


def _us(seconds: float) -> float:
    """Microseconds, to the nanosecond."""
    return round(seconds * 1e6, 3)
