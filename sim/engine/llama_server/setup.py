"""A run's state at its start: from requests, resolved settings and prices to the arrays the engine works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.cost import Cost
from sim.engine.compiled import IS_COMPILED
from sim.engine.layout import Rows, make_ints, make_log, make_row, make_rows
from sim.engine.llama_server.layout import (
    COUNT,
    LINE,
    PART,
    REQUEST,
    SEQUENCE,
    SLOT,
    Config,
    State,
)
from sim.engine.llama_server.record import CALL, EVENTS_PER_SLOT, UBATCH
from sim.engine.record import EVENT, STEP
from sim.engine.setup import children

MOST_LOG_STEPS = 1 << 19 if IS_COMPILED else 1 << 12
MORE_COPIES = 64  # the defect may save a sequence before it has ended
FLOATS = ("slot_prompt_similarity",)
CONFIG = np.dtype(
    [(name, "f8" if name in FLOATS else "i8") for name in Config._fields]
    + [(name, "i8") for name in ("line_size", "num_open", "num_cancels")]
)


@dataclass(frozen=True, slots=True)
class Tasks:
    """N requests as llama-server gets them.

    Notes
    -----
    | column | dtype, shape | meaning |
    |---|---|---|
    | arrival_s, cancel_s | f8 (N) | [s]; cancel_s is nan where the client stays |
    | prompt_tokens, n_predict | i4 (N) | [tokens] |
    | texts | i4 (sum of both) | token ids of each prompt and of the outputs after it, one request after the other |
    | id_slot | i4 (N) | slot it is pinned to, -1 if none |
    | n_keep | i4 (N) | tokens that a context shift keeps, -1 the whole prompt |
    | n_cache_reuse | i4 (N) | least tokens of a piece that is shifted into place, 0 none |
    | cache_prompt | bool (N) | whether it may reuse what its slot holds |
    | after, gap_s | i4, f8 (N) | request that has to end before, and the time after its end [s]; -1 is none |
    """

    arrival_s: NDArray[np.float64]
    cancel_s: NDArray[np.float64]
    prompt_tokens: NDArray[np.int32]
    n_predict: NDArray[np.int32]
    texts: NDArray[np.int32]
    id_slot: NDArray[np.int32]
    n_keep: NDArray[np.int32]
    n_cache_reuse: NDArray[np.int32]
    cache_prompt: NDArray[np.bool_]
    after: NDArray[np.int32]
    gap_s: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.arrival_s)


@dataclass(frozen=True, slots=True)
class LogSizes:
    """Rows that each log holds before Python has to make room."""

    steps: int
    events: int
    ubatches: int


def least_log_sizes(config: Config) -> LogSizes:
    """Sizes with which the logs hold one task or step of any kind."""
    return LogSizes(1, EVENTS_PER_SLOT * (config.n_slots + 2), config.n_batch)


def log_sizes(config: Config, tasks: Tasks) -> LogSizes:
    """Sizes that hold most runs of these requests whole: a step brings a token, or a piece of a prompt."""
    steps = min(int(tasks.n_predict.sum(dtype=np.int64)) + 2 * len(tasks), MOST_LOG_STEPS)
    least = least_log_sizes(config)
    return LogSizes(steps + 1, least.events + 2 * steps, least.ubatches + 2 * steps)


def _make_requests(tasks: Tasks) -> Rows:
    child, sibling = children(tasks.after)
    lengths = tasks.prompt_tokens.astype(np.int64) + tasks.n_predict
    nan = float("nan")
    return make_rows(
        REQUEST,
        len(tasks),
        text=np.cumsum(lengths) - lengths,
        prompt=tasks.prompt_tokens,
        n_predict=tasks.n_predict,
        id_slot=tasks.id_slot,
        n_keep=tasks.n_keep,
        n_cache_reuse=tasks.n_cache_reuse,
        cache_prompt=tasks.cache_prompt,
        slot=-1,
        last_step=-2,
        child=child,
        sibling=sibling,
        arrival_s=tasks.arrival_s,
        cancel_s=tasks.cancel_s,
        gap_s=tasks.gap_s,
        launched_s=nan,
        first_s=nan,
        finish_s=nan,
    )


def _make_lines(tasks: Tasks, size: int) -> tuple[Rows, dict[str, int]]:
    """Ring, arrivals and cancels; how many arrivals are known from the start, and how many clients go away."""
    order = np.argsort(tasks.arrival_s, kind="stable")
    order = order[tasks.after[order] < 0]
    cancels = np.argsort(tasks.cancel_s, kind="stable")
    cancels = cancels[~np.isnan(tasks.cancel_s[cancels])]
    columns = {"order": np.zeros(size, np.int32), "cancel": np.zeros(size, np.int32)}
    columns["order"][: len(order)] = order
    columns["cancel"][: len(cancels)] = cancels
    return make_rows(LINE, size, **columns), {"num_open": len(order), "num_cancels": len(cancels)}


def make_state(config: Config, cost: Cost, tasks: Tasks, sizes: LogSizes | None = None, spare: int = 0) -> State:
    """State of a run before its first step.

    Parameters
    ----------
    config : Config
        The server, all resolved.
    cost : Cost
        What a pass takes.
    tasks : Tasks
        N requests.
    sizes : LogSizes, optional
        How much the logs hold.
    spare : int
        Room for sequences that only the imitated defect makes [tokens].

    Returns
    -------
    State
    """
    sizes = sizes or log_sizes(config, tasks)
    size = len(tasks) + config.n_slots + 1
    lines, numbers = _make_lines(tasks, size)
    settings: dict[str, Any] = config._asdict() | numbers
    copies = 0 if config.cache_ram_bytes == 0 else 2 * size + MORE_COPIES
    return State(
        config=make_row(CONFIG, line_size=size, **settings),
        cost=make_row(np.dtype([(name, "f8") for name in Cost._fields]), **cost._asdict()),
        count=make_row(COUNT, spare=len(tasks.texts)),
        requests=_make_requests(tasks),
        slots=make_rows(SLOT, config.n_slots, request=-1, i_batch=-1, released=-1),
        sequences=make_rows(SEQUENCE, config.n_slots + 1 + copies),
        parts=make_rows(PART, config.n_slots),
        lines=lines,
        tokens=make_ints(np.concatenate([tasks.texts, np.zeros(spare, np.int32)])),
        steps=make_log(STEP, sizes.steps),
        calls=make_log(CALL, sizes.steps),
        ubatches=make_log(UBATCH, sizes.ubatches),
        events=make_log(EVENT, sizes.events),
    )
