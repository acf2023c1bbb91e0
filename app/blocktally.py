"""Blocks of a run at a time in numbers, for words beside the block tables.

The page follows its playhead with the same numbers: `static/js/blocktally.js`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from app.blocks import owners_of
from app.numbers import MISSING, Missing
from sim.frame import Frame, Row
from sim.run import Run


@dataclass(frozen=True, slots=True)
class Tally:
    """What the KV memory holds after a step's ``schedule()``.

    Attributes
    ----------
    requests : int
        That hold blocks.
    used_tokens : int
        Places with keys and values once the step is done; shared ones count once.
    internal_tokens, external_tokens : int
        Places that are held and not used; free places that are too few in a row for a reservation.
    fit_more : int or None
        Requests of the size of those that run that would fit beside them; None: there are none to go by.
    spared_copies : int
        Blocks that there would be more of without sharing.
    blocks_of : mapping of int to int
        Request → blocks in its table.
    holders : mapping of int to int
        Block → requests that hold it.
    """

    requests: int
    used_tokens: int
    reserved_tokens: int
    internal_tokens: int
    external_tokens: int
    fit_more: int | None
    used_blocks: int
    free_blocks: int
    cached_blocks: int
    shared_blocks: int
    spared_copies: int
    blocks_of: Mapping[int, int]
    holders: Mapping[int, int]


def tally_of(run: Run | Missing, time_s: float) -> Tally | Missing:
    """Tally of the last step that has begun at a time; missing if the run is, or before its first step."""
    frame = frame_at(run, time_s)
    return MISSING if frame is None or isinstance(run, Missing) else _tally(run, frame)


def read_at(run: Run | Missing, time_s: float, request: int) -> int | Missing:
    """Tokens that a request reads or writes in the last step that has begun at a time."""
    frame = frame_at(run, time_s)
    row = next((row for row in frame.running if row.request == request), None) if frame else None
    return MISSING if row is None else row.scheduled


def frame_at(run: Run | Missing, time_s: float) -> Frame | None:
    """Frame of the last step that has begun at a time."""
    if isinstance(run, Missing):
        return None
    step = int((run.steps["start_s"] <= time_s).sum()) - 1
    return run.frame(step) if step >= 0 else None


def _tally(run: Run, frame: Frame) -> Tally:
    size, region = run.setting.config.block_size, run.setting.config.region_blocks
    rows = [row for row in (*frame.running, *frame.done) if row.blocks]
    holders = owners_of(frame)
    internal = sum(len(row.blocks) * size - _tokens(row) for row in rows)
    return Tally(
        requests=len(rows),
        used_tokens=len(holders) * size - internal,
        reserved_tokens=len(holders) * size,
        internal_tokens=internal,
        external_tokens=run.plan.usable_blocks % region * size if region else 0,
        fit_more=_more(frame.free_blocks, region, len(rows), len(holders)),
        used_blocks=len(holders),
        free_blocks=frame.free_blocks,
        cached_blocks=0 if region else frame.cached_blocks,
        shared_blocks=sum(count > 1 for count in holders.values()),
        spared_copies=sum(holders.values()) - len(holders),
        blocks_of=Counter({row.request: len(row.blocks) for row in rows}),
        holders=holders,
    )


def _more(free: int, region: int, requests: int, blocks: int) -> int | None:
    if region:
        return free // region
    return free * requests // blocks if blocks else None


def _tokens(row: Row) -> int:
    return row.computed + row.scheduled
