"""Who is in a slot before a step: what a stream that begins in mid-run has to say before its first events."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.codec import ticks
from sim.engine.record import Kind
from sim.frame import Row
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


def seats_before(run: Run, step: int) -> dict[str, list[Any]]:
    """Columns of the seats before a step of a finished run: its frame one step earlier, and what that step brought."""
    seats = _Before(run, step).seats() if 0 < step <= len(run.steps) else []
    return {name: [getattr(seat, name) for seat in seats] for name in Seat._fields}


class _Before:
    """The log up to a step."""

    def __init__(self, run: Run, step: int) -> None:
        self.run, self.step = run, step
        ends = run.steps["events_end"][:step]
        self.kinds = run.events["kind"][: int(ends[-1])]
        self.requests = run.events["request"][: int(ends[-1])]
        self.last_step = int(ends[-2]) if step > 1 else 0
        self.step_ends = ends
        self.ticks = ticks(run.steps, 0, step)

    def seats(self) -> list[Seat]:
        frame = self.run.frame(self.step - 1)
        admissions = self.last_of(Kind.ADMIT, Kind.RESUME)
        chunks, finishes = self.last_of(Kind.CHUNK), self.last_of(Kind.FINISH)
        released = self.last_of(Kind.RELEASE, since=self.last_step)
        is_static = self.run.scenario.server.batching == "static"
        seats = []
        for row in [*frame.running, *(self._held_row(*pair) for pair in frame.held)]:
            finish = finishes.get(row.request)
            if row.request in released or (finish is not None and not is_static):
                continue
            computed, outputs, is_prefill = self._updated(row)
            start = self.us(self.ticks.starts, admissions[row.request])
            decode = self.us(self.ticks.ends, chunks[row.request]) if row.request in chunks else start
            end = None if finish is None else self.us(self.ticks.ends, finish)
            seats.append(Seat(row.request, row.slot, start, None if is_prefill else decode, end, computed, outputs))
        return sorted(seats, key=lambda seat: seat.slot)

    def last_of(self, *kinds: Kind, since: int = 0) -> dict[int, int]:
        """By request the place in the log of its last event of these kinds."""
        places = since + np.flatnonzero(np.isin(self.kinds[since:], kinds))
        return dict(zip(self.requests[places].tolist(), places.tolist(), strict=True))

    def us(self, times: NDArray[np.int64], place: int) -> int:
        """Time of the step of an event, start or end [us]."""
        return int(times[np.searchsorted(self.step_ends, place, side="right")])

    def _held_row(self, request: int, slot: int) -> Row:
        outputs = int(self.run.results["outputs"][request])
        prompt = int(self.run.requests.prompt_tokens[request])
        return Row(request, slot, "decode", prompt + outputs, 0, prompt, outputs, 0, [])

    def _updated(self, row: Row) -> tuple[int, int, bool]:
        """Computed tokens and outputs after the step, and whether the prompt is still being computed."""
        accepted = self._accepted(row.request) if row.drafts else 0
        computed = row.computed + row.scheduled - (row.drafts - accepted)
        is_prefill = computed < row.prompt + row.outputs
        is_sampled = row.scheduled > 0 and not is_prefill
        return computed, row.outputs + (1 + accepted if is_sampled else 0), is_prefill

    def _accepted(self, request: int) -> int:
        place = self.last_of(Kind.ACCEPT, since=self.last_step).get(request)
        return 0 if place is None else int(self.run.events["a"][place])
