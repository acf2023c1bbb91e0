"""What a stream that begins in mid-run has to say before its first events: who is in a slot, and what a fold needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.codec import ticks
from app.midrun import state_of
from sim.engine.record import Kind
from sim.replay import Life, Replay
from sim.run import Run


class Seat(NamedTuple):
    """A request in a slot; None where it is not so far."""

    request: int
    slot: int
    start_us: int
    decode_us: int | None
    finish_us: int | None
    computed: int
    outputs: int


def before(run: Run, step: int, with_blocks: bool) -> dict[str, Any]:
    """Columns of the seats before a step of a finished run, in order of admission; with blocks all a fold needs."""
    if not 0 < step <= len(run.steps):
        return {"rows": {name: [] for name in Seat._fields}}
    replay = run.replay_before(step)
    seats = _seats(_Past(run, step), replay)
    rows = {name: [getattr(seat, name) for seat in seats] for name in Seat._fields}
    return {"rows": rows} | ({"state": state_of(replay)} if with_blocks else {})


class _Past:
    """The log up to a step."""

    def __init__(self, run: Run, step: int) -> None:
        self.ends = run.steps["events_end"][:step]
        self.kinds = run.events["kind"][: int(self.ends[-1])]
        self.requests = run.events["request"][: int(self.ends[-1])]
        self.ticks = ticks(run.steps, 0, step)

    def last_of(self, *kinds: Kind) -> dict[int, int]:
        """By request the place in the log of its last event of these kinds."""
        places = np.flatnonzero(np.isin(self.kinds, kinds))
        return dict(zip(self.requests[places].tolist(), places.tolist(), strict=True))

    def last_chunks(self) -> dict[int, int]:
        """By request the place of the last chunk of its prompt: a chunk that a draft follows verifies drafts."""
        places = np.flatnonzero(self.kinds == Kind.CHUNK)
        following = np.minimum(places + 1, len(self.kinds) - 1)
        verifies = (self.kinds[following] == Kind.DRAFT) & (self.requests[following] == self.requests[places])
        places = places[~verifies]
        return dict(zip(self.requests[places].tolist(), places.tolist(), strict=True))

    def us(self, times: NDArray[np.int64], place: int) -> int:
        """Time of the step of an event, start or end [us]."""
        return int(times[np.searchsorted(self.ends, place, side="right")])


def _seats(past: _Past, replay: Replay) -> list[Seat]:
    admissions, chunks, finishes = past.last_of(Kind.ADMIT, Kind.RESUME), past.last_chunks(), past.last_of(Kind.FINISH)
    seats = []
    for life in map(replay.lives.__getitem__, replay.running):
        request, finish = life.index, finishes.get(life.index)
        start = past.us(past.ticks.starts, admissions[request])
        decode = past.us(past.ticks.ends, chunks[request]) if request in chunks else start
        end = None if finish is None else past.us(past.ticks.ends, finish)
        outputs = life.known - life.prompt
        seats.append(
            Seat(request, life.slot, start, None if _is_prefill(life) else decode, end, life.computed, outputs)
        )
    return seats


def _is_prefill(life: Life) -> bool:
    """Whether the prompt, or what a preemption lost, is still being computed."""
    return life.computed < max(life.known + life.placeholders - 1, life.prompt)
