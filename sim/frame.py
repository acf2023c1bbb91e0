"""A frame: the state of a run at a step, after its ``schedule()``, as pages and tests read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sim.replay import Log, Replay

__all__ = ["Frame", "Log", "Pool", "Row", "frame_of", "pool_of"]


class Row(NamedTuple):
    """A request in a slot; `scheduled` are its tokens in this step, `computed` those before it."""

    request: int
    slot: int
    phase: str  # prefill, decode or held
    computed: int
    scheduled: int
    prompt: int
    outputs: int
    drafts: int
    blocks: list[int]


@dataclass(frozen=True, slots=True)
class Frame:
    """State after the step's ``schedule()``.

    Notes
    -----
    `held` are finished requests whose slot a static batch keeps, with the slot, and `done` their rows, with the blocks
    they still have; `waiting` is in order of the line; `free_blocks` counts the free queue, `cached_blocks` those of it
    that still carry content, and `kept_blocks` what free slots keep (prefix_cache=per_slot).
    """

    step: int
    start_s: float
    duration_s: float
    running: list[Row]
    held: list[tuple[int, int]]
    waiting: list[int]
    preempted: list[int]
    free_blocks: int
    cached_blocks: int
    kept_blocks: int
    done: list[Row]


class Pool(NamedTuple):
    """A frame with what its blocks hold besides the tables: content of free ones, and what free slots keep.

    `cached` are block ids; `kept` rows have the slot that keeps the request's blocks, and phase ``kept``.
    """

    frame: Frame
    cached: list[int]
    kept: list[Row]


def pool_of(replay: Replay) -> Pool:
    """Pool of the step the replay is at."""
    kept = [
        Row(request, slot, "kept", tokens, 0, 0, 0, 0, list(blocks))
        for slot, (request, tokens, blocks) in replay.kept.items()
    ]
    return Pool(frame_of(replay), sorted(replay.free.cached), kept)


def frame_of(replay: Replay) -> Frame:
    """Frame of the step the replay is at."""
    planned = {row.request: row for row in replay.planned.rows}
    rows, done = [], []
    for index in replay.running:
        life, row = replay.lives[index], planned.get(index)
        if life.state == "held":
            outputs = life.known - life.prompt
            done.append(Row(index, life.slot, "held", life.computed, 0, life.prompt, outputs, 0, list(life.table)))
            continue
        before = row.before if row else life.computed
        # A row works on its prompt, or computes again what a preemption lost, up to its last known token.
        is_decode = before >= life.known + life.placeholders - 1 - (
            replay.config.is_async and bool(row and row.samples)
        )
        is_decode = is_decode and before >= life.prompt
        rows.append(
            Row(
                request=index,
                slot=life.slot,
                phase="decode" if is_decode else "prefill",
                computed=before,
                scheduled=row.tokens if row else 0,
                prompt=life.prompt,
                outputs=life.known - life.prompt,
                drafts=row.drafts if row else 0,
                blocks=list(life.table),
            )
        )
    done.sort(key=lambda row: row.slot)
    step = replay.log.steps[replay.step]
    return Frame(
        step=replay.step,
        start_s=float(step["start_s"]),
        duration_s=float(step["duration_s"]),
        running=sorted(rows, key=lambda row: row.slot),
        held=[(row.request, row.slot) for row in done],
        waiting=list(replay.waiting),
        preempted=list(replay.planned.preempted),
        free_blocks=replay.free_blocks,
        cached_blocks=len(replay.free.cached),
        kept_blocks=sum(len(blocks) for _, _, blocks in replay.kept.values()),
        done=done,
    )
