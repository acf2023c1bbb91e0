"""What must hold of the engine's state between any two steps; a broken rule raises AssertionError in words.

Works on the live state, compiled (structured arrays) or not (lists of objects). For tests and for hunting: it walks
everything, so it costs far more than a step.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.layout import BLOCK, CONTENT, LINE, REQUEST, SEAT, Cache, Config, State, Status, as_array

Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _View:
    """The state as NumPy arrays, and who has which blocks."""

    config: Any
    before: Config | None
    count: Any
    requests: Rows
    seats: Rows
    lines: Rows
    blocks: Rows
    contents: Rows
    numbers: NDArray[np.int32]
    running: list[int]
    waiting: list[int]

    def table(self, slot: int, length: int) -> list[int]:
        """First blocks of a slot's table."""
        base = slot * int(self.config.table_width)
        blocks: list[int] = self.numbers[base : base + length].tolist()
        return blocks

    def tables(self) -> dict[int, list[int]]:
        """Blocks of each seated request, by request."""
        rows = self.requests
        return {i: self.table(int(rows["slot"][i]), int(rows["held"][i])) for i in self.running}

    def kept(self) -> dict[int, list[int]]:
        """Blocks that free slots keep (per_slot), by slot."""
        slots = np.flatnonzero((self.seats["request"] < 0) & (self.seats["kept_blocks"] > 0)).tolist()
        return {slot: self.table(slot, int(self.seats["kept_blocks"][slot])) for slot in slots}


def check_integrity(state: State, before: Config | None = None) -> None:
    """Check every invariant of the engine's state.

    Parameters
    ----------
    state : State
        A run's state between two calls of ``advance``.
    before : Config, optional
        Settings before a fork, if the run has come to it: who runs on slots or shares blocks by these goes on.

    Raises
    ------
    AssertionError
        Saying which rule is broken, by which request, slot or block.
    """
    view = _view(state, before)
    _check_lines(view)
    _check_slots(view)
    _check_requests(view)
    if view.config.region_blocks:
        _check_regions(view)
    else:
        _check_pool(view)
        _check_free_queue(view)
        _check_hashes(view)


def _view(state: State, before: Config | None) -> _View:
    count, lines = state.count, as_array(state.lines, LINE, len(state.lines))
    seats = as_array(state.seats, SEAT, len(state.seats))
    ring = (int(count.wait_head) + np.arange(int(count.waiting))) % len(lines)
    return _View(
        config=state.config,
        before=before,
        count=count,
        requests=as_array(state.requests, REQUEST, len(state.requests)),
        seats=seats,
        lines=lines,
        blocks=as_array(state.blocks, BLOCK, len(state.blocks)),
        contents=as_array(state.contents, CONTENT, len(state.contents)),
        numbers=np.asarray(state.numbers, np.int32),
        running=seats["running"][: count.running].tolist(),
        waiting=lines["waiting"][ring].tolist(),
    )


def _check_lines(view: _View) -> None:
    """Everyone is in the list that their status says, once; nobody waits who has not arrived."""
    status = view.requests["status"]
    expected = {
        "waiting line": (view.waiting, (Status.WAITING, Status.PREEMPTED)),
        "running list": ([i for i in view.running if status[i] != Status.FINISHED], (Status.RUNNING,)),
    }
    for name, (listed, statuses) in expected.items():
        assert len(set(listed)) == len(listed), f"somebody is twice in the {name}: {listed}"
        belonging = np.flatnonzero(np.isin(status, statuses)).tolist()
        assert sorted(listed) == belonging, f"the {name} is {listed}, by status it is {belonging}"
    late = [i for i in view.waiting if not view.requests["arrival_s"][i] <= view.count.now_s]
    assert not late, f"requests {late} wait before they arrive"
    _check_arrivals(view)


def _check_arrivals(view: _View) -> None:
    """The heap of arrivals to come is a heap of requests that have not come."""
    heap = view.lines[: view.count.heap]
    for i in range(1, len(heap)):
        pair, parent = heap[i], heap[(i - 1) // 2]
        is_ordered = (parent["due_s"], parent["due"]) <= (pair["due_s"], pair["due"])
        assert is_ordered, f"the arrivals to come are not a heap at {i}"
    statuses = view.requests["status"][heap["due"]]
    assert np.isin(statuses, (Status.PENDING, Status.REFUSED)).all(), "somebody who has come is still to come"


def _check_slots(view: _View) -> None:
    """A running request sits in one slot and a slot seats one; a held one has finished in a static batch."""
    config, count, requests = view.config, view.count, view.requests
    finished = [i for i in view.running if requests["status"][i] == Status.FINISHED]
    assert count.held == len(finished), f"{count.held} held slots are counted, {len(finished)} are"
    assert config.is_static or not finished, f"requests {finished} have finished and still run"
    seats = max(config.num_seats, view.before.num_seats if view.before else 0)
    assert count.running <= seats, f"{count.running} requests run on {seats} slots"
    seated = {slot: int(i) for slot, i in enumerate(view.seats["request"].tolist()) if i >= 0}
    by_request = {int(requests["slot"][i]): i for i in view.running}
    assert seated == by_request, f"the slots seat {seated}, the running requests sit in {by_request}"
    lowest = next((slot for slot in range(len(view.seats)) if slot not in seated), len(view.seats))
    assert count.lowest_slot == lowest, f"the lowest free slot is {lowest}, not {count.lowest_slot}"


def _check_requests(view: _View) -> None:
    """Tokens are conserved, times are in order."""
    rows, width, size = view.requests, int(view.config.table_width), int(view.config.block_size)
    outputs = rows["known"] - rows["prompt"]
    is_refused = rows["status"] == Status.REFUSED
    is_within = (outputs >= 0) & (rows["known"] <= rows["end"])
    _all_of(view, is_refused | is_within, "more or fewer outputs than it can have")
    has_ended = rows["status"] == Status.FINISHED
    _all_of(view, ~has_ended | (rows["known"] == rows["end"]), "finished without all its outputs")
    _all_of(view, has_ended == ~np.isnan(rows["finish_s"]), "an end time though it has not ended, or none")
    _all_of(view, (outputs > 0) == ~np.isnan(rows["first_s"]), "a first token without outputs, or outputs without")
    ahead = rows["known"] + rows["placeholders"] + rows["in_flight"]
    _all_of(view, (rows["computed"] >= 0) & (rows["computed"] <= ahead), "computed tokens that it does not know")
    is_seated = np.isin(np.arange(len(rows)), view.running)
    is_off = (rows["slot"] == -1) & (rows["held"] == 0)
    _all_of(view, is_seated | is_off, "a slot or blocks though it does not run")
    _all_of(view, rows["held"] <= width, "more blocks than its table holds")
    if not view.config.region_blocks:
        is_working = is_seated & ~has_ended
        _all_of(view, ~is_working | (rows["computed"] <= rows["held"] * size), "computed tokens without blocks")
        _all_of(view, ~is_working | (rows["room"] == rows["held"] * size), "a room that is not its blocks'")
    times = [rows[name] for name in ("arrival_s", "scheduled_s", "first_s", "finish_s")]
    for before, after in pairwise(times):
        _all_of(view, np.isnan(after) | (before <= after), "times that fall")


def _all_of(view: _View, holds: NDArray[np.bool_], otherwise: str) -> None:
    broken = np.flatnonzero(~holds).tolist()
    assert not broken, f"requests {broken} have {otherwise} (step {view.count.steps})"


def _check_regions(view: _View) -> None:
    """Contiguous: every seated request has its region, the rest is free."""
    config, count = view.config, view.count
    taken = int(config.region_blocks) * len(view.running)
    assert count.free == config.usable_blocks - taken, f"{count.free} free blocks, {taken} reserved"
    assert count.cached == 0, f"{count.cached} cached blocks where regions hold all"


def _check_pool(view: _View) -> None:
    """Free + used + kept = pool, and the owners of a block are as many as it counts."""
    count, usable = view.count, int(view.config.usable_blocks)
    tables, kept = view.tables(), view.kept()
    owners = Counter(block for blocks in [*tables.values(), *kept.values()] for block in blocks)
    for owner, blocks in [*tables.items(), *kept.items()]:
        assert len(set(blocks)) == len(blocks), f"a table of {owner} names a block twice: {blocks}"
    assert all(1 <= block <= usable for block in owners), "a table names a block that does not exist"
    users = {int(b): int(view.blocks["ref"][b]) for b in np.flatnonzero(view.blocks["ref"])}
    assert users == dict(owners), f"owners of blocks are {dict(owners)}, users counted {users}"
    if Cache.SHARED not in (view.config.cache, view.before.cache if view.before else Cache.OFF):
        assert all(n == 1 for n in owners.values()), "a block has two owners though nothing is shared"
    assert count.free + len(owners) == usable, f"{count.free} free and {len(owners)} used of {usable} blocks"
    kept_blocks = sum(len(blocks) for blocks in kept.values())
    if view.config.cache != Cache.SHARED:
        assert count.cached == kept_blocks, f"{count.cached} cached blocks are counted, slots keep {kept_blocks}"


def _check_free_queue(view: _View) -> None:
    """The free queue is one circle through the null block and all blocks without users."""
    blocks = view.blocks
    queue: list[int] = []
    block = int(blocks["next"][0])
    while block and len(queue) <= len(blocks):
        queue.append(block)
        block = int(blocks["next"][block])
    assert block == 0, "the free queue does not come back to the null block"
    assert len(queue) == view.count.free, f"{len(queue)} blocks in the free queue, {view.count.free} counted"
    unused = np.flatnonzero(blocks["ref"] == 0)[1:].tolist()
    assert sorted(queue) == unused, "the free queue is not the blocks without users"
    previous = [int(blocks["prev"][b]) for b in [*queue, 0]]
    assert previous == [0, *queue], "the free queue reads differently backwards"


def _check_hashes(view: _View) -> None:
    """Every content's chain holds the blocks that carry it, and a request's full blocks carry its content."""
    carried = view.blocks["content"]
    if view.config.cache != Cache.SHARED:
        assert (carried < 0).all(), "a block carries a hash though nothing is shared"
        return
    carriers: dict[int, list[int]] = {}
    for block in np.flatnonzero(carried >= 0).tolist():
        carriers.setdefault(int(carried[block]), []).append(block)
    for content in {*carriers, *np.flatnonzero(view.contents["first"]).tolist()}:
        _check_chain(view, content, carriers.get(content, []))
    cached = sum(len(blocks) for blocks in carriers.values())
    assert view.count.cached == cached, f"{view.count.cached} cached blocks are counted, {cached} are"
    for index, table in view.tables().items():
        row = view.requests[index]
        hashed = int(row["hashed"])
        wanted = view.numbers[int(row["content"]) : int(row["content"]) + hashed].tolist()
        assert hashed * int(view.config.block_size) <= row["known"], f"request {index} has hashed what it does not know"
        assert carried[table[:hashed]].tolist() == wanted, f"blocks of request {index} carry another text"
        assert (carried[table[hashed:]] < 0).all(), f"unfinished blocks of request {index} carry a hash"


def _check_chain(view: _View, content: int, carriers: list[int]) -> None:
    chain: list[int] = []
    older, block = 0, int(view.contents["first"][content])
    while block and len(chain) <= len(view.blocks):
        assert view.blocks["older"][block] == older, f"the chain of content {content} reads differently backwards"
        chain.append(block)
        older, block = block, int(view.blocks["newer"][block])
    assert view.contents["last"][content] == older, f"the chain of content {content} has another end"
    assert sorted(chain) == carriers, f"content {content} is carried by {carriers}, its chain is {chain}"
