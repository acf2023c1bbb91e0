"""The step loop: arrivals, schedule, price, update, record; stop at a limit, at the end, or when a log is full."""

from __future__ import annotations

from enum import IntEnum

from sim import cost
from sim.engine.compiled import entry, leaf, part
from sim.engine.layout import Rows, State
from sim.engine.queues import next_arrival_s, receive
from sim.engine.record import close_step, has_room, open_step
from sim.engine.static import opens_at
from sim.engine.update import let_go, update
from sim.engine.vllm import schedule


class Stop(IntEnum):
    """Why ``advance`` came back."""

    DONE = 0
    LIMIT = 1
    LOG_FULL = 2
    STUCK = 3


_DONE = int(Stop.DONE)
_LIMIT = int(Stop.LIMIT)
_LOG_FULL = int(Stop.LOG_FULL)
_STUCK = int(Stop.STUCK)
NEVER_S = 1e300

_price = part(cost.price)


@leaf
def _next_event_s(state: State) -> float:
    """Time of the next thing that can happen [s]: now if a step can be taken, NEVER_S if nothing is left."""
    config = state.config
    count = state.count
    if count.running > 0 or count.pending > 0 or config.emits_idle_steps:
        return float(count.now_s)
    arrival_s = next_arrival_s(state)
    if count.waiting == 0:
        return arrival_s
    if not config.is_static:
        return float(count.now_s)
    return min(opens_at(state), arrival_s)


@leaf
def _price_step(state: State, step: Rows) -> float:
    """Time the planned step takes [s]; its parts go into the step row."""
    count = state.count
    return _price(
        state.cost,
        float(count.tokens + count.padding),
        float(count.sampled),
        float(count.decode_context),
        float(count.prefill_context),
        float(count.prefill_pairs),
        float(count.running),
        float(count.admitted),
        float(count.drafted),
        step,
    )


@leaf
def _run_step(state: State) -> None:
    """Take one step: schedule, price, update, record."""
    config = state.config
    count = state.count
    schedule(state)
    step = open_step(state)
    duration_s = _price_step(state, step)
    if config.emits_idle_steps:
        duration_s = 1.0
    step.duration_s = duration_s
    end_s = count.now_s + duration_s
    parity = int(count.parity)
    if config.is_async:  # the step before comes home, this one stays in flight
        update(state, 1 - parity, int(count.pending), float(count.pending_s))
        count.pending = count.planned
        count.pending_s = end_s
        count.parity = 1 - parity
    else:
        update(state, parity, int(count.planned), end_s)
    close_step(state, step)
    count.now_s = end_s


@entry
def vacate(state: State) -> None:
    """Empty the slots that a static batch holds, because from the next step on batching is continuous (a fork)."""
    let_go(state)


@entry
def advance(state: State, max_steps: int, until_s: float) -> int:
    """Take steps until the run is done, `max_steps` are taken, the clock reaches `until_s`, or a log is full.

    Parameters
    ----------
    state : State
        Changed in place.
    max_steps : int
        Steps to take at most.
    until_s : float
        No step is begun at or after this time [s].

    Returns
    -------
    int
        A ``Stop``.
    """
    config = state.config
    count = state.count
    for _ in range(max_steps):
        while True:
            receive(state)
            if not has_room(state):
                return _LOG_FULL
            time_s = _next_event_s(state)
            if time_s >= NEVER_S:
                return _DONE
            if time_s >= until_s:
                return _LIMIT
            if time_s <= count.now_s:
                break
            count.now_s = time_s
        _run_step(state)
        step = state.steps[count.steps - 1]
        if step.running + step.held + count.pending == 0 and count.waiting > 0 and not config.emits_idle_steps:
            return _STUCK
    return _LIMIT
