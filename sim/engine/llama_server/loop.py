"""The loop of llama-server: take tasks, make a batch, decode it in calls; a step is one decode call."""

from __future__ import annotations

from sim.engine.compiled import entry, leaf
from sim.engine.llama_server.batch import make_batch
from sim.engine.llama_server.decode import decode
from sim.engine.llama_server.layout import State
from sim.engine.llama_server.record import has_room
from sim.engine.llama_server.shared import next_arrival_s
from sim.engine.llama_server.tasks import next_cancel_s, take_tasks
from sim.engine.loop import NEVER_S, Stop

_DONE = int(Stop.DONE)
_LIMIT = int(Stop.LIMIT)
_LOG_FULL = int(Stop.LOG_FULL)
_STUCK = int(Stop.STUCK)


@leaf
def _next_task_s(state: State) -> float:
    """Time of the next thing that happens to an idle server [s]; a client that leaves alone is none."""
    time_s = next_arrival_s(state)
    if time_s < NEVER_S:
        time_s = min(time_s, next_cancel_s(state))
    return time_s


@leaf
def _begin_batch(state: State, until_s: float) -> int:
    """Take tasks and make a batch, now or when the next task comes; return a ``Stop``, or -1 if there is a batch."""
    count = state.count
    while True:
        if not take_tasks(state):
            return _LOG_FULL
        if count.now_s >= until_s:
            return _LIMIT if count.busy > 0 or _next_task_s(state) < NEVER_S else _DONE
        if count.busy > 0:
            releases = count.releases
            make_batch(state)
            if count.batch > 0:
                return -1
            if count.releases == releases:
                return _STUCK
            continue
        time_s = _next_task_s(state)
        if time_s >= NEVER_S:
            return _DONE
        if time_s >= until_s:
            return _LIMIT
        count.now_s = time_s


@entry
def advance(state: State, max_steps: int, until_s: float) -> int:
    """Take steps until the run is done, `max_steps` are taken, the clock reaches `until_s`, or a log is full.

    Parameters
    ----------
    state : State
        Changed in place.
    max_steps : int
        Decode calls to make at most.
    until_s : float
        No batch is begun at or after this time [s].

    Returns
    -------
    int
        A ``Stop``; STUCK if busy slots have nothing to decode, which only the imitated defect brings about.
    """
    count = state.count
    for _ in range(max_steps):
        if count.offset >= count.batch:
            stop = _begin_batch(state, until_s)
            if stop >= 0:
                return stop
        if not has_room(state):
            return _LOG_FULL
        decode(state)
    return _LIMIT
