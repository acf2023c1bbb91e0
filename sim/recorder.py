"""Calls the compiled engine until a run is done, and takes its logs away whenever they are full."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.layout import REQUEST, State, as_array, make_ints, make_log
from sim.engine.loop import NEVER_S, Stop, advance
from sim.engine.record import EVENT, STEP
from sim.replay import Log

IDS = np.dtype(np.int32)
CALL_STEPS = 1 << 30


class Recorder:
    """A run under way.

    Parameters
    ----------
    state : State
        A fresh state of `sim.engine.setup.make_state`.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.is_done = False
        self._chunks: list[Log] = []

    def advance(self, max_steps: int = CALL_STEPS, until_s: float = NEVER_S) -> bool:
        """Take at most `max_steps` steps, none at or after `until_s` [s]; say whether the run is done."""
        count = self.state.count
        end = int(count.step) + max_steps
        while not self.is_done:
            stop = Stop(advance(self.state, end - int(count.step), until_s))
            assert stop != Stop.STUCK, "the head of the waiting line can never be admitted"
            self.is_done = stop == Stop.DONE
            if stop == Stop.LOG_FULL:
                self._make_room()
            elif stop == Stop.LIMIT:
                break
        return self.is_done

    def _make_room(self) -> None:
        if not self._take_away():
            self._grow()

    def _take_away(self) -> bool:
        """Move what the logs hold into a chunk; say whether there was anything."""
        count, state = self.state.count, self.state
        logs = [(state.steps, STEP, count.steps), (state.events, EVENT, count.events), (state.ids, IDS, count.ids)]
        if not any(size for _, _, size in logs):
            return False
        self._chunks.append(Log(*(as_array(rows, dtype, int(size)) for rows, dtype, size in logs)))
        count.events_before += count.events
        count.ids_before += count.ids
        count.steps = count.events = count.ids = 0
        return True

    def _grow(self) -> None:
        """Double logs that are empty and still too small for one step."""
        old = self.state
        self.state = old._replace(
            steps=make_log(STEP, 2 * len(old.steps)),
            events=make_log(EVENT, 2 * len(old.events)),
            ids=make_ints(np.empty(2 * len(old.ids), np.int32)),
        )

    def drain(self) -> Log:
        """Record since the last `drain`; offsets in it stay those of the whole run."""
        self._take_away()
        chunks, self._chunks = self._chunks, []
        return _joined(chunks)

    def log(self) -> Log:
        """Whole record so far."""
        self._take_away()
        if len(self._chunks) > 1:
            self._chunks = [_joined(self._chunks)]
        return self._chunks[0] if self._chunks else _joined([])

    def requests(self) -> NDArray[Any]:
        """Engine's rows of all requests, as a structured array (a copy)."""
        return as_array(self.state.requests, REQUEST, len(self.state.requests))


def _joined(chunks: list[Log]) -> Log:
    empty = Log(np.empty(0, STEP), np.empty(0, EVENT), np.empty(0, IDS))
    if len(chunks) == 1:
        return chunks[0]
    return Log(*(np.concatenate(parts) for parts in zip(empty, *chunks, strict=True)))
