"""What a replay keeps of each request and of each step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(slots=True)
class Life:
    """One request as the replay knows it."""

    index: int
    known: int
    prompt: int
    target: int
    state: str = "pending"  # waiting, preempted, running, held, finished, rejected
    slot: int = -1
    computed: int = 0
    placeholders: int = 0
    in_flight: int = 0
    stale: int = 0
    hit: int = 0
    table: list[int] = field(default_factory=list)


class Row(NamedTuple):
    """A request in the step's plan: kind N new, R running, P resumed after preemption."""

    request: int
    kind: str
    before: int
    tokens: int
    samples: bool
    drafts: int


@dataclass(slots=True)
class Planned:
    """What one ``schedule()`` decided."""

    rows: list[Row] = field(default_factory=list)
    new_blocks: dict[int, list[int]] = field(default_factory=dict)
    preempted: list[int] = field(default_factory=list)
    drafts: dict[int, int] = field(default_factory=dict)
    batch_rows: int = 0
    padded_to: int = 0


@dataclass(slots=True)
class Updated:
    """What one update brought."""

    outputs: dict[int, int] = field(default_factory=dict)
    finished: list[int] = field(default_factory=list)
    accepted: dict[int, int] = field(default_factory=dict)


class Event(NamedTuple):
    """One event, as Python ints."""

    kind: int
    request: int
    a: int
    b: int
