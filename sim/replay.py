"""The state at a step, folded from the record alone: who runs where with which blocks, who waits, what is cached.

`Replay` plays the events of a run forward, one step at a time. It is the Python twin of static/js/run.js, and
the conformance check compares it field by field with what the real schedulers recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.layout import Cache, Config
from sim.engine.record import Kind
from sim.freequeue import FreeQueue
from sim.life import Event, Life, Planned, Row, Updated
from sim.workload.requests import Requests

__all__ = ["Life", "Log", "Replay", "Row"]


class Log(NamedTuple):
    """The record of a run: structured arrays of steps and events, and block ids."""

    steps: NDArray[Any]
    events: NDArray[Any]
    ids: NDArray[np.int32]


_UPDATE = {Kind.ACCEPT, Kind.FIRST, Kind.FINISH, Kind.RELEASE}
_GONE = {"finished", "held", "rejected"}
_PLANNED_ANYWAY = {Kind.ADMIT, Kind.RESUME}


class Replay:
    """The state of a run, moved forward step by step from its record.

    Parameters
    ----------
    config : Config
        The server the run was made with.
    requests : Requests
        The requests of the run.
    log : Log
        Its record.
    arrivals : ndarray of float, shape (N,)
        When each request arrived [s]; nan if it never did.
    later : Config, optional
        The server from the record's FORK on.
    """

    def __init__(
        self,
        config: Config,
        requests: Requests,
        log: Log,
        arrivals: NDArray[np.float64],
        later: Config | None = None,
    ) -> None:
        self.config, self.later, self.log = config, later, log
        prompts, outputs = requests.prompt_tokens.tolist(), requests.output_tokens.tolist()
        self.lives = [Life(i, p, p, p + o) for i, (p, o) in enumerate(zip(prompts, outputs, strict=True))]
        self.running: list[int] = []
        self.waiting: list[int] = []
        self.free = FreeQueue(config.usable_blocks if config.region_blocks == 0 else 0)
        self.reserved_free = config.usable_blocks if config.region_blocks else 0
        self.kept: dict[int, tuple[int, int, list[int]]] = {}  # slot -> request, tokens, blocks
        self.step = -1
        self.planned, self.updated = Planned(), Updated()
        self.pending: list[Row] = []
        self._after: list[Event] = []
        self._order = np.argsort(arrivals, kind="stable").tolist()
        self.arrivals = arrivals
        self._arrivals = arrivals.tolist()
        self.next_arrival = 0
        self.late: list[int] = []  # arrived, but the engine does not know yet
        self._follows = requests.after.tolist()

    @property
    def free_blocks(self) -> int:
        """Blocks in the free queue."""
        return self.reserved_free if self.config.region_blocks else len(self.free)

    def forward(self) -> None:
        """Finish the current step and play ``schedule()`` of the next."""
        self.finish()
        self.step += 1
        self.planned = Planned()
        events = self._fork(list(self._events(self.step)))
        cut = next((i for i, e in enumerate(events) if e.kind in _UPDATE), len(events))
        self._receive(float(self.log.steps["start_s"][self.step]), events)
        self._schedule(events[:cut])
        self._after = events[cut:]
        self._is_open = True

    def finish(self) -> None:
        """Play the update of the current step, once."""
        if self.step < 0 or not self._is_open:
            return
        self._is_open = False
        self.updated = Updated()
        rows, self.pending = (self.pending, self.planned.rows) if self.config.is_async else (self.planned.rows, [])
        self._update(rows)

    _is_open: bool = False

    def _events(self, step: int) -> Iterator[Event]:
        steps, events = self.log.steps, self.log.events
        first = int(steps["events_end"][step - 1]) if step else 0
        self._id = int(steps["ids_end"][step - 1]) if step else 0
        for row in events[first : int(steps["events_end"][step])].tolist():
            yield Event(*row[:4])

    def _receive(self, now_s: float, events: list[Event]) -> None:
        rejected = {e.request for e in events if e.kind == Kind.REJECT}
        while self.next_arrival < len(self._order) and self._arrivals[self._order[self.next_arrival]] <= now_s:
            self.late.append(self._order[self.next_arrival])
            self.next_arrival += 1
        due, self.late = self.late, []
        for index in due:
            if not self._is_expected(index):
                self.late.append(index)
            elif index in rejected:
                self.lives[index].state = "rejected"
            else:
                self.lives[index].state = "waiting"
                self.waiting.append(index)

    def pass_arrivals(self, now_s: float) -> None:
        """Take everyone who arrived by `now_s` for received, as far as their state says so."""
        self.next_arrival = int(np.searchsorted(np.sort(self.arrivals), now_s, side="right"))
        self.late = [i for i in self._order[: self.next_arrival] if self.lives[i].state == "pending"]

    def _is_expected(self, index: int) -> bool:
        """Whether the end that this arrival follows has been seen: async scheduling sees it when a step has begun."""
        before = self._follows[index]
        return before < 0 or self.lives[before].state in _GONE

    def _fork(self, events: list[Event]) -> list[Event]:
        """Play what a fork does before the step, if one does; return the other events."""
        if not any(event.kind == Kind.FORK for event in events):
            return events
        assert self.later, "a record with a fork needs the settings after it"
        for event in events:
            if event.kind == Kind.VACATE:
                self._leave(self.lives[event.request], event.a)
        if (self.config.cache, self.later.cache) == (Cache.SHARED, Cache.OFF):
            self.free.cached.clear()
        self.config = self.later
        return [event for event in events if event.kind not in (Kind.VACATE, Kind.FORK)]

    # -- schedule -------------------------------------------------------------------------------------------

    def _schedule(self, events: list[Event]) -> None:
        chunks = {e.request: e for e in events if e.kind == Kind.CHUNK}
        drafts = {e.request: -e.a if e.b else e.a for e in events if e.kind == Kind.DRAFT}
        skipped = {e.request for e in events if e.kind == Kind.SKIP}
        stalled = next((e.a for e in events if e.kind == Kind.STALL), None)
        self.planned.drafts = {i: abs(d) for i, d in drafts.items()}
        before = list(self.running)
        kinds: dict[int, str] = {}
        for event in events:
            self._apply(event, kinds)
        survivors = [i for i in before if self.lives[i].state == "running" and i not in kinds]
        limit = len(survivors) if stalled is None else self._position(before, stalled, survivors)
        for position, index in enumerate(survivors):
            if index not in skipped and position < limit:
                self._plan(index, "R", chunks, drafts)
        for index, kind in kinds.items():
            self._plan(index, kind, chunks, drafts)

    def _position(self, before: list[int], stalled: int, survivors: list[int]) -> int:
        reached = set(before[:stalled])
        return sum(1 for i in survivors if i in reached)

    def _plan(self, index: int, kind: str, chunks: dict[int, Event], drafts: dict[int, int]) -> None:
        life = self.lives[index]
        tokens = chunks[index].a if index in chunks else 1
        samples = life.computed + tokens >= life.known + life.placeholders
        self.planned.rows.append(Row(index, kind, life.computed, tokens, samples, drafts.get(index, 0)))
        life.computed += tokens
        life.in_flight += tokens
        if samples and self.config.is_async:
            life.placeholders += 1

    def _take_ids(self, count: int) -> list[int]:
        ids: list[int] = self.log.ids[self._id : self._id + count].tolist()
        self._id += count
        return ids

    def _apply(self, event: Event, kinds: dict[int, str]) -> None:
        if event.kind in _PLANNED_ANYWAY:
            kinds[event.request] = "N" if event.kind == Kind.ADMIT else "P"
            self._admit(self.lives[event.request], event)
        elif event.kind == Kind.SHARE:
            self._add_blocks(event.request, [self.free.share(b) for b in self._take_ids(event.a)])
        elif event.kind == Kind.TAKE:
            self._add_blocks(event.request, [self.free.take(b) for b in self._take_ids(event.a)])
        elif event.kind == Kind.RESERVE:
            self.reserved_free -= event.a
            self._add_blocks(event.request, list(range(event.b, event.b + event.a)))
        elif event.kind == Kind.PREEMPT:
            self._preempt(self.lives[event.request], event)
        elif event.kind == Kind.EVICT:
            self._evict(event)
        elif event.kind == Kind.BATCH:
            self.planned.batch_rows, self.planned.padded_to = event.a, event.b

    def _add_blocks(self, index: int, blocks: list[int]) -> None:
        self.lives[index].table += blocks
        self.planned.new_blocks.setdefault(index, []).extend(blocks)

    def _admit(self, life: Life, event: Event) -> None:
        self.waiting.remove(life.index)
        self.running.append(life.index)
        life.state, life.slot, life.computed = "running", event.b, event.a
        life.hit = event.a
        life.table = self.kept.pop(event.b, (0, 0, []))[2] if self.config.cache == Cache.PER_SLOT else []

    def _preempt(self, life: Life, event: Event) -> None:
        self.running.remove(life.index)
        self._free_table(life.table, event.a)
        self.waiting.insert(0, life.index)
        self.planned.preempted.append(life.index)
        life.state, life.slot, life.computed, life.table = "preempted", -1, 0, []
        life.stale, life.placeholders = life.in_flight, 0

    def _evict(self, event: Event) -> None:
        request, tokens, blocks = self.kept[event.b]
        self.free.release(blocks[event.a :], 0)
        if event.a:
            self.kept[event.b] = (request, tokens, blocks[: event.a])
        else:
            del self.kept[event.b]

    def _free_table(self, table: list[int], hashed: int) -> None:
        if self.config.region_blocks:
            self.reserved_free += len(table)
        else:
            self.free.release(table, hashed)

    # -- update ---------------------------------------------------------------------------------------------

    def _update(self, rows: list[Row]) -> None:
        accepted = {e.request: e.a for e in self._after if e.kind == Kind.ACCEPT}
        endings = {e.request: e for e in self._after if e.kind == Kind.FINISH}
        for row in rows:
            self._bring_home(self.lives[row.request], row, accepted.get(row.request, 0), endings)
        for event in self._after:
            if event.kind == Kind.RELEASE:
                self._leave(self.lives[event.request], event.a)
        self.updated.accepted = accepted

    def _bring_home(self, life: Life, row: Row, accepted: int, endings: dict[int, Event]) -> None:
        if life.state in ("finished", "held"):
            return
        life.in_flight -= row.tokens
        is_stale = life.stale > 0
        life.stale -= row.tokens if is_stale else 0
        if not row.samples:
            return
        end = min(life.target, self.config.max_model_len)
        life.computed -= abs(row.drafts) - accepted
        surplus = max(life.known + 1 + accepted - end, 0)
        life.known += 1 + accepted - surplus
        self.updated.outputs[row.request] = 1 + accepted - surplus
        life.computed -= surplus
        if not is_stale and life.placeholders > 0:
            life.placeholders -= 1 + accepted
        if row.request in endings:
            self._end(life, endings[row.request])

    def _end(self, life: Life, event: Event) -> None:
        self.updated.finished.append(life.index)
        if life.state != "running":
            self.waiting.remove(life.index)
            life.state = "finished"
        elif self.config.is_static:
            life.state = "held"
            if (
                self.config.drops_finished_rows
                and not self.config.region_blocks
                and self.config.cache != Cache.PER_SLOT
            ):
                self._free_table(life.table, event.a)
                life.table = []
        else:
            self._leave(life, event.a)

    def _leave(self, life: Life, left: int) -> None:
        self.running.remove(life.index)
        if self.config.cache == Cache.PER_SLOT:
            tokens = life.computed
            size = -(-tokens // self.config.block_size)
            size = 0 if self.config.region_blocks else size
            self.kept[life.slot] = (life.index, tokens, life.table[:size])
            self._free_table(life.table[size:], 0)
        else:
            self._free_table(life.table, left)
        life.state, life.slot, life.table = "finished", -1, []
