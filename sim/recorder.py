"""Calls the compiled engine until a run is done, and makes room whenever a log is full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.layout import REQUEST, Rows, State, as_array, make_ints, make_log
from sim.engine.loop import NEVER_S, Stop, advance
from sim.engine.record import EVENT, STEP
from sim.replay import Log

IDS = np.dtype(np.int32)
CALL_STEPS = 1 << 30
GROWTH = 1.5


class Turn(NamedTuple):
    """What happens to the state once, before the first step that starts at or after a time [s]."""

    time_s: float
    take: Callable[[State], None]


class Recorder:
    """A run under way.

    Parameters
    ----------
    state : State
        A fresh state of `sim.engine.setup.make_state`.
    growth : float
        Factor by which a full log grows; 1 makes room for one step at a time.
    turn : Turn, optional
        A change of the state in mid-run.

    Attributes
    ----------
    turned_at : int or None
        Step before which the turn was taken; None: not yet, or never.
    """

    def __init__(self, state: State, growth: float = GROWTH, turn: Turn | None = None) -> None:
        self.state = state
        self.is_done = False
        self.turned_at: int | None = None
        self._growth, self._turn = growth, turn

    def advance(self, max_steps: int = CALL_STEPS, until_s: float = NEVER_S) -> bool:
        """Take at most `max_steps` steps, none at or after `until_s` [s]; say whether the run is done."""
        count = self.state.count
        end = int(count.steps) + max_steps
        if self._turn and self.turned_at is None:
            self._advance(end, min(until_s, self._turn.time_s))
            if self.is_done or int(count.steps) == end or until_s <= self._turn.time_s:
                return self.is_done
            self._take_turn(self._turn)
        self._advance(end, until_s)
        return self.is_done

    def _advance(self, end: int, until_s: float) -> None:
        count = self.state.count
        while not self.is_done:
            stop = Stop(advance(self.state, end - int(count.steps), until_s))
            assert stop != Stop.STUCK, "the head of the waiting line can never be admitted"
            self.is_done = stop == Stop.DONE
            if stop == Stop.LOG_FULL:
                self._make_room()
            elif stop == Stop.LIMIT:
                break

    def _take_turn(self, turn: Turn) -> None:
        while len(self.state.events) - int(self.state.count.events) <= len(self.state.seats):
            self._make_room()
        self.turned_at = int(self.state.count.steps)
        turn.take(self.state)

    def _make_room(self) -> None:
        """Move the logs to larger ones; what was read of the old ones stays as it is."""
        state, count = self.state, self.state.count
        self.state = state._replace(
            steps=self._larger(state.steps, STEP, count.steps),
            events=self._larger(state.events, EVENT, count.events),
            ids=self._larger(state.ids, IDS, count.ids),
        )

    def _larger(self, log: Rows, dtype: np.dtype[Any], used: int) -> Rows:
        size = max(int(len(log) * self._growth), len(log) + 1)
        if isinstance(log, list):
            return log + (
                make_ints(np.zeros(size - len(log), dtype)) if dtype is IDS else make_log(dtype, size - len(log))
            )
        larger = make_log(dtype, size)
        larger[:used] = log[:used]
        return larger

    def log(self) -> Log:
        """Record so far; its rows are never written again."""
        state, count = self.state, self.state.count
        return Log(
            as_array(state.steps, STEP, int(count.steps)),
            as_array(state.events, EVENT, int(count.events)),
            as_array(state.ids, IDS, int(count.ids)),
        )

    def requests(self) -> NDArray[Any]:
        """Engine's rows of all requests, as a structured array."""
        return as_array(self.state.requests, REQUEST, len(self.state.requests))
