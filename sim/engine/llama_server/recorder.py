"""Calls the compiled engine until a run is done, and makes room whenever a log is full."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.layout import Rows, as_array, make_log
from sim.engine.llama_server.layout import REQUEST, State
from sim.engine.llama_server.loop import advance
from sim.engine.llama_server.record import CALL, UBATCH
from sim.engine.llama_server.setup import least_log_sizes
from sim.engine.loop import NEVER_S, Stop
from sim.engine.record import EVENT, STEP

CALL_STEPS = 1 << 30
GROWTH = 1.5


class Log(NamedTuple):
    """The record: a row per step in `steps` and in `calls`; a step says where its events and ubatches end."""

    steps: NDArray[Any]
    calls: NDArray[Any]
    ubatches: NDArray[Any]
    events: NDArray[Any]


class Recorder:
    """A run under way.

    Parameters
    ----------
    state : State
        A fresh state of `sim.engine.llama_server.setup.make_state`.
    growth : float
        Factor by which a full log grows.
    """

    def __init__(self, state: State, growth: float = GROWTH) -> None:
        self.state = state
        self.stop = Stop.LIMIT
        self._growth = growth

    def advance(self, max_steps: int = CALL_STEPS, until_s: float = NEVER_S) -> bool:
        """Take at most `max_steps` steps, begin none at or after `until_s` [s]; say whether the run has ended."""
        count = self.state.count
        end = int(count.steps) + max_steps
        while True:
            self.stop = Stop(advance(self.state, end - int(count.steps), until_s))
            if self.stop != Stop.LOG_FULL:
                return self.stop != Stop.LIMIT
            self._make_room()

    def _make_room(self) -> None:
        """Move the logs to larger ones; what was read of the old ones stays as it is."""
        state, count = self.state, self.state.count
        config = state.config
        least = least_log_sizes(config)
        self.state = state._replace(
            steps=self._larger(state.steps, STEP, count.steps, least.steps),
            calls=self._larger(state.calls, CALL, count.steps, least.steps),
            ubatches=self._larger(state.ubatches, UBATCH, count.ubatches, least.ubatches),
            events=self._larger(state.events, EVENT, count.events, least.events),
        )

    def _larger(self, log: Rows, dtype: np.dtype[Any], used: int, least: int) -> Rows:
        """Return a log with room for another step of any kind; the same one if it has that."""
        size = max(int(len(log) * self._growth), int(used) + least)
        if int(used) + least <= len(log):
            return log
        if isinstance(log, list):
            return log + make_log(dtype, size - len(log))
        larger = make_log(dtype, size)
        larger[:used] = log[:used]
        return larger

    def log(self) -> Log:
        """Record so far; its rows are never written again."""
        state, count = self.state, self.state.count
        return Log(
            as_array(state.steps, STEP, int(count.steps)),
            as_array(state.calls, CALL, int(count.steps)),
            as_array(state.ubatches, UBATCH, int(count.ubatches)),
            as_array(state.events, EVENT, int(count.events)),
        )

    def requests(self) -> NDArray[Any]:
        """Engine's rows of all requests, as a structured array."""
        return as_array(self.state.requests, REQUEST, len(self.state.requests))
