"""The state that a fold of a stream begins with in mid-run: what the events of the window do not tell.

The free queue, tables and lines are long and mostly rise or fall by one, so they are sent as runs of equal differences.
`static/js/start.js` is the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from app.codec import Array
from sim.replay import Life, Replay


def state_of(replay: Replay) -> dict[str, Any]:
    """State of a replay that has finished a step: tables of the seats in their order, lines, free queue, kept.

    Notes
    -----
    How far each seat is stands in the rows of the window already. `arrived` counts the arrivals that are past, `late`
    those of them that the engine has not seen. What is in flight (async) follows from the tokens computed.
    """
    parked = [life for life in map(replay.lives.__getitem__, replay.waiting) if life.state == "preempted"]
    cached = np.fromiter((block in replay.free.cached for block in replay.free.order), np.bool_)
    return {
        "tables": _tables([replay.lives[i].table for i in replay.running]),
        "waiting": runs(replay.waiting),
        "preempted": {"request": [life.index for life in parked], "outputs": [_outputs(life) for life in parked]},
        "arrived": replay.next_arrival,
        "late": replay.late,
        "queue": runs(list(replay.free.order)),
        "cached": runs(np.flatnonzero(cached)),
        "kept": {
            "slot": list(replay.kept),
            "request": [request for request, _, _ in replay.kept.values()],
            "tokens": [tokens for _, tokens, _ in replay.kept.values()],
            "tables": _tables([table for _, _, table in replay.kept.values()]),
        },
    }


def runs(values: Sequence[int] | Array) -> dict[str, Array]:
    """Whole numbers as differences from the value before (the first from 0), `n` times each.

    Examples
    --------
    >>> {name: column.tolist() for name, column in runs([7, 8, 9, 4]).items()}
    {'by': [7, 1, -5], 'n': [1, 2, 1]}
    """
    differences = np.diff(np.asarray(values, np.int64), prepend=0)
    starts = np.flatnonzero(np.diff(differences, prepend=np.nan) != 0)
    return {"by": differences[starts], "n": np.diff(starts, append=len(differences))}


def _tables(tables: Sequence[Sequence[int]]) -> dict[str, Any]:
    return {"length": [len(table) for table in tables], "ids": runs(list(chain.from_iterable(tables)))}


def _outputs(life: Life) -> int:
    return life.known - life.prompt
