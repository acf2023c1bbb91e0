"""The step loop: arrivals, capacity, micro-batch, price, update, record; it stops as vLLM's does."""

from __future__ import annotations

from sim import cost
from sim.engine.compiled import entry, leaf, part
from sim.engine.layout import Rows, State
from sim.engine.loop import NEVER_S, Stop
from sim.engine.queues import next_arrival_s, receive
from sim.engine.record import close_step, open_step
from sim.engine.tensorrt_llm.capacity import schedule_capacity
from sim.engine.tensorrt_llm.executor import (
    end_finished,
    pause_victims,
    run_contexts,
    run_decodes,
    update_contexts,
    update_decodes,
)
from sim.engine.tensorrt_llm.micro_batch import schedule_micro_batch

_DONE = int(Stop.DONE)
_LIMIT = int(Stop.LIMIT)
_LOG_FULL = int(Stop.LOG_FULL)
_STUCK = int(Stop.STUCK)

# Events that one request can cause in one step (PREEMPT, SKIP, ADMIT, SHARE, TAKE, CHUNK, FIRST or GAP, FINISH).
EVENTS_PER_REQUEST = 8

_price = part(cost.price)


@leaf
def has_room(state: State) -> bool:
    """Say whether the logs hold whatever one more step can write."""
    config = state.config
    count = state.count
    requests = count.running + min(config.max_num_requests, count.waiting) + 1
    # A pause frees blocks that the same step hands out again, but none twice.
    ids = config.num_blocks + min(config.max_batch_size, count.waiting) * config.table_width
    return (
        count.steps < len(state.steps)
        and count.events + EVENTS_PER_REQUEST * requests <= len(state.events)
        and count.ids + ids <= len(state.ids)
    )


@leaf
def _clear_totals(state: State) -> None:
    count = state.count
    count.prefill = 0
    count.decode = 0
    count.sampled = 0
    count.admitted = 0
    count.regular = 0
    count.decode_context = 0.0
    count.prefill_context = 0.0
    count.prefill_pairs = 0.0


@leaf
def _price_step(state: State, step: Rows) -> float:
    """Time the planned step takes [s]; its parts go into the step row."""
    count = state.count
    return _price(
        state.cost,
        float(count.prefill + count.decode),
        float(count.sampled),
        float(count.decode_context),
        float(count.prefill_context),
        float(count.prefill_pairs),
        float(count.running),
        float(count.admitted),
        0.0,
        step,
    )


@leaf
def _run_step(state: State) -> None:
    """Take one step: schedule, price, update, record."""
    config = state.config
    count = state.count
    _clear_totals(state)
    schedule_capacity(state)
    pause_victims(state)
    schedule_micro_batch(state)
    run_contexts(state)
    run_decodes(state)
    step = open_step(state)
    step.waiting = count.waiting - count.running
    if step.waiting == 0:
        step.why = 0
    duration_s = _price_step(state, step)
    if config.emits_idle_steps:
        duration_s = 1.0
    step.duration_s = duration_s
    end_s = count.now_s + duration_s
    update_contexts(state, end_s)
    update_decodes(state, end_s)
    end_finished(state, end_s)
    count.is_idle = 1 if count.contexts + count.decodes + count.paused == 0 else 0
    close_step(state, step)
    count.now_s = end_s


@leaf
def _next_event_s(state: State) -> float:
    """Time of the next thing that can happen [s]: now if a step can be taken, NEVER_S if nothing is left."""
    config = state.config
    count = state.count
    if count.waiting > 0 and not count.is_idle:
        return float(count.now_s)
    arrival_s = next_arrival_s(state)
    if config.emits_idle_steps and (count.waiting > 0 or arrival_s < NEVER_S):
        return float(count.now_s)
    return arrival_s


@leaf
def _receive(state: State) -> None:
    """Let those who are due join the active list; with them a step may do something again."""
    count = state.count
    before = count.waiting
    receive(state)
    if count.waiting > before:
        count.is_idle = 0


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
        A ``Stop``; STUCK if the last step did nothing and nobody is to come, as when a request can never fit, or if the
        capacity scheduler promised blocks that there are not (a victim's count as free, and again as reused by others).
    """
    count = state.count
    for _ in range(max_steps):
        while True:
            _receive(state)
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
        if count.missing > 0 or (count.is_idle and count.waiting > 0 and next_arrival_s(state) >= NEVER_S):
            return _STUCK
    return _LIMIT
