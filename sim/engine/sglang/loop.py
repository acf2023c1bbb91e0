"""The event loops: arrivals, schedule, launch, price, results; stop at a limit, at the end, or when a log is full."""

from __future__ import annotations

from sim import cost
from sim.engine.compiled import entry, leaf, part
from sim.engine.layout import Rows
from sim.engine.loop import NEVER_S, Stop
from sim.engine.sglang.layout import State
from sim.engine.sglang.record import Mode, close_step, has_room, open_step
from sim.engine.sglang.results import bring_home, launch
from sim.engine.sglang.schedule import schedule
from sim.engine.sglang.shared import next_arrival_s, receive

_DONE = int(Stop.DONE)
_LIMIT = int(Stop.LIMIT)
_LOG_FULL = int(Stop.LOG_FULL)
_STUCK = int(Stop.STUCK)
_IDLE = int(Mode.IDLE)

_price = part(cost.price)


@leaf
def _is_busy(state: State) -> bool:
    count = state.count
    return count.running > 0 or count.pending > 0 or count.chunk >= 0 or count.waiting > 0 or count.last_mode != _IDLE


@leaf
def _price_step(state: State, step: Rows) -> float:
    """Time the batch takes [s]; its parts go into the step row."""
    count = state.count
    return _price(
        state.cost,
        float(count.prefill + count.decode),
        float(count.sampled),
        float(count.decode_context),
        float(count.prefill_context),
        float(count.prefill_pairs),
        float(step.running),
        float(count.admitted),
        0.0,
        step,
    )


@leaf
def _rest(state: State) -> None:
    """Set the token ratio back when nothing is there for a whole pass (on_idle)."""
    count = state.count
    if count.running == 0 and count.chunk < 0 and count.waiting == 0 and count.pending == 0:
        count.ratio = state.config.initial_ratio


@leaf
def _run_step(state: State) -> None:
    """Take one pass of the event loop and record it."""
    config = state.config
    count = state.count
    before = int(count.last_mode)
    schedule(state)
    rows = 0
    if count.mode != _IDLE:
        rows = launch(state)
    step = open_step(state)
    duration_s = _price_step(state, step)
    if config.emits_idle_steps:
        duration_s = 1.0
    step.duration_s = duration_s
    end_s = count.now_s + duration_s
    parity = int(count.parity)
    if config.is_overlap:  # the batch before comes home, this one stays in flight
        if before != _IDLE:
            bring_home(state, 1 - parity, int(count.pending), int(count.pending_mode), float(count.pending_s))
        count.pending = rows
        count.pending_mode = count.mode
        count.pending_s = end_s
        count.parity = 1 - parity
        if before == _IDLE and rows == 0:
            _rest(state)
    elif rows > 0:
        bring_home(state, parity, rows, int(count.mode), end_s)
    else:
        _rest(state)
    count.last_mode = count.mode
    close_step(state, step)
    count.now_s = end_s


@leaf
def _skip_to(state: State, time_s: float) -> None:
    """Pass the time until the next arrival, as the loop does in idle passes."""
    count = state.count
    count.now_s = time_s
    count.ratio = state.config.initial_ratio
    count.hold = 0


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
        A ``Stop``; STUCK if the head of the line never fits, or an allocation failed where the real server would
        stop with an error.
    """
    config = state.config
    count = state.count
    for _ in range(max_steps):
        while True:
            receive(state)
            if not has_room(state):
                return _LOG_FULL
            time_s = float(count.now_s)
            if not config.emits_idle_steps and not _is_busy(state):
                time_s = next_arrival_s(state)
            if time_s >= NEVER_S:
                return _DONE
            if time_s >= until_s:
                return _LIMIT
            if time_s <= count.now_s:
                break
            _skip_to(state, time_s)
        held = int(count.hold)
        before = int(count.pending)
        _run_step(state)
        if count.is_out:
            return _STUCK
        is_still = count.mode == _IDLE and before == 0 and held == 0
        if is_still and count.waiting > 0 and not config.emits_idle_steps:
            return _STUCK
    return _LIMIT
