"""Put a replay where the engine stands: a long run's frame without playing all events before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.layout import BLOCK, LINE, PLAN, REQUEST, SEAT, Config, State, Status, as_array
from sim.engine.record import Kind
from sim.freequeue import FreeQueue
from sim.replay import Replay, Row

_STATES = {
    Status.PENDING: "pending",
    Status.WAITING: "waiting",
    Status.PREEMPTED: "preempted",
    Status.RUNNING: "running",
    Status.FINISHED: "finished",
    Status.REJECTED: "rejected",
    Status.REFUSED: "pending",  # until it arrives
}


def load_state(replay: Replay, state: State, step: int) -> None:
    """Put a fresh replay before `step`, which the engine's `state` is about to take."""
    seats = as_array(state.seats, SEAT, len(state.seats))
    replay.config = Config(*(type(was)(getattr(state.config, name)) for name, was in replay.config._asdict().items()))
    _load_lines(replay, state, seats)
    _load_lives(replay, state)
    _load_rejections(replay, step)
    _load_blocks(replay, state, seats)
    if state.config.is_async:
        replay.pending = _pending_rows(state)
    if step:
        replay.pass_arrivals(float(replay.log.steps["start_s"][step - 1]))
    replay.step = step - 1


def _load_lines(replay: Replay, state: State, seats: NDArray[Any]) -> None:
    count = state.count
    lines = as_array(state.lines, LINE, len(state.lines))["waiting"]
    places = (count.wait_head + np.arange(count.waiting)) % len(lines)
    replay.waiting = lines[places].tolist()
    replay.running = seats["running"][: count.running].tolist()


def _load_lives(replay: Replay, state: State) -> None:
    rows = as_array(state.requests, REQUEST, len(state.requests))
    tables = np.asarray(state.numbers, np.int32)
    width, region = int(state.config.table_width), int(state.config.region_blocks)
    for life, status in zip(replay.lives, rows["status"].tolist(), strict=True):
        life.state = _STATES[Status(status)]
    for index in [*replay.running, *replay.waiting]:
        row, life = rows[index], replay.lives[index]
        life.known, life.computed, life.slot = int(row["known"]), int(row["computed"]), int(row["slot"])
        life.placeholders, life.hit = int(row["placeholders"]), int(row["hit"])
        life.in_flight, life.stale = int(row["in_flight"]), int(row["stale"])
        if life.state == "finished":
            life.state = "held"
        if life.slot >= 0 and region:
            first = 1 + life.slot * region
            life.table = list(range(first, first + region))
        elif life.slot >= 0:
            base = life.slot * width
            life.table = tables[base : base + int(row["held"])].tolist()


def _load_rejections(replay: Replay, step: int) -> None:
    end = int(replay.log.steps["events_end"][step - 1]) if step else 0
    events = replay.log.events[:end]
    for index in events["request"][events["kind"] == Kind.REJECT].tolist():
        replay.lives[index].state = "rejected"


def _load_blocks(replay: Replay, state: State, seats: NDArray[Any]) -> None:
    region = int(state.config.region_blocks)
    tables, width = np.asarray(state.numbers, np.int32), int(state.config.table_width)
    for slot in np.flatnonzero((seats["kept"] >= 0) & (seats["request"] < 0)).tolist():
        row = seats[slot]
        blocks = [] if region else tables[slot * width : slot * width + int(row["kept_blocks"])].tolist()
        replay.kept[slot] = (int(row["kept"]), int(row["kept_tokens"]), blocks)
    if region:
        replay.reserved_free = int(state.count.free)
        return
    blocks = as_array(state.blocks, BLOCK, len(state.blocks))
    queue = FreeQueue(0)
    following, contents = blocks["next"].tolist(), blocks["content"].tolist()
    block = following[0]
    while block:
        queue.order[block] = None
        if contents[block] >= 0:
            queue.cached.add(block)
        block = following[block]
    queue.users = {int(b): int(blocks["ref"][b]) for b in np.flatnonzero(blocks["ref"] > 0)}
    replay.free = queue


def _pending_rows(state: State) -> list[Row]:
    """Rows in flight; their kind and place do not matter any more."""
    count = state.count
    base = int(1 - count.parity) * len(state.seats)
    plan = as_array(state.plan, PLAN, len(state.plan))[base : base + int(count.pending)]
    return [Row(int(r["request"]), "R", 0, int(r["tokens"]), bool(r["samples"]), int(r["drafts"])) for r in plan]
