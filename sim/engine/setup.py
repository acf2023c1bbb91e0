"""A run's state at its start: from requests, resolved settings and prices to the arrays the engine works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.cost import Cost
from sim.engine.compiled import IS_COMPILED
from sim.engine.layout import (
    BLOCK,
    CONTENT,
    COUNT,
    LINE,
    PLAN,
    REQUEST,
    SEAT,
    Cache,
    Config,
    Rows,
    State,
    Status,
    make_ints,
    make_log,
    make_row,
    make_rows,
)
from sim.engine.record import EVENT, EVENTS_PER_ROW, STEP
from sim.workload.requests import Requests

# Steps that a log has room for at first, at most: memory that is not written to is not taken.
MOST_LOG_STEPS = 1 << 19 if IS_COMPILED else 1 << 12


class Contents(NamedTuple):
    """Content ids of every full block of every request, one flat array, and where each request's begin."""

    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    size: int


@dataclass(frozen=True, slots=True)
class LogSizes:
    """Rows that each log holds before Python has to make room."""

    steps: int
    events: int
    ids: int


def least_log_sizes(config: Config) -> LogSizes:
    """Sizes with which the logs hold one step of any kind."""
    rows = config.max_num_seqs + 2
    return LogSizes(1, EVENTS_PER_ROW * rows, config.usable_blocks + rows * (config.table_width + 1))


def log_sizes(config: Config, requests: Requests) -> LogSizes:
    """Sizes that hold most runs of these requests whole: a step brings a token, or a chunk of a prompt."""
    tokens = int(requests.output_tokens.sum(dtype=np.int64)) + 2 * len(requests.output_tokens)
    steps = min(tokens, MOST_LOG_STEPS)
    least = least_log_sizes(config)
    return LogSizes(steps + 1, least.events + 2 * steps, least.ids + 4 * steps)


NO_CONTENTS = Contents(np.zeros(0, np.int64), np.zeros(0, np.int32), 1)

# What the engine's functions read as `config`: the settings, and where things lie in the arrays.
CONFIG = np.dtype(
    [(name, "f8" if name == "static_wait_s" else "i8") for name in Config._fields]
    + [(name, "i8") for name in ("accepts_at", "num_accepts", "line_size", "num_open", "num_roots")]
)


def _total_tokens(requests: Requests) -> NDArray[np.int64]:
    return requests.prompt_tokens.astype(np.int64) + requests.output_tokens


def content_ids(requests: Requests, block_size: int, longest: int) -> Contents:
    """Number the full blocks of prompts and outputs so that equal beginnings have equal numbers.

    Parameters
    ----------
    requests : Requests
        Whose ``parent`` and ``common_tokens`` say which text each prompt repeats.
    block_size : int
        Tokens a block [tokens].
    longest : int
        Length that no served request exceeds [tokens]; what lies beyond is not numbered.

    Returns
    -------
    Contents
        ``ids[offsets[i] + j]`` stands for the hash of block j of request i and all blocks before it.
    """
    roots = len(requests.root_tokens)
    lengths = np.concatenate([requests.root_tokens, _total_tokens(requests)])
    full = np.minimum(lengths, longest) // block_size
    common = np.concatenate([np.zeros(roots, np.int64), requests.common_tokens // block_size])
    parents = np.concatenate([np.full(roots, -1, np.int64), requests.parent])
    common = np.where(parents < 0, 0, np.minimum(common, full))
    starts = np.concatenate([[0], np.cumsum(full)])
    is_own = np.ones(int(starts[-1]), np.bool_)
    for node in np.flatnonzero(common):
        is_own[starts[node] : starts[node] + common[node]] = False
    ids = (np.cumsum(is_own) - 1).astype(np.int32)
    for node in np.flatnonzero(common):
        source = starts[parents[node]]
        ids[starts[node] : starts[node] + common[node]] = ids[source : source + common[node]]
    return Contents(starts[roots:-1], ids, int(is_own.sum()))


def children(after: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """First follower of each request, and next follower of the same one."""
    child = np.full(len(after), -1, np.int32)
    sibling = np.full(len(after), -1, np.int32)
    for index in np.flatnonzero(after >= 0)[::-1]:
        sibling[index] = child[after[index]]
        child[after[index]] = index
    return child, sibling


def _make_requests(config: Config, requests: Requests, offsets: NDArray[np.int64], refused: NDArray[np.bool_]) -> Rows:
    child, sibling = children(requests.after)
    target = np.minimum(_total_tokens(requests), np.iinfo(np.int32).max)
    nan = float("nan")
    return make_rows(
        REQUEST,
        len(target),
        known=requests.prompt_tokens,
        prompt=requests.prompt_tokens,
        target=target,
        end=np.minimum(target, config.max_model_len),
        status=np.where(refused, np.uint8(Status.REFUSED), np.uint8(Status.PENDING)),
        content=offsets,
        arrival_s=requests.arrival_s,
        gap_s=requests.gap_s,
        child=child,
        sibling=sibling,
        slot=-1,
        last_step=-2,
        scheduled_s=nan,
        first_s=nan,
        finish_s=nan,
    )


def _make_lines(requests: Requests, size: int) -> tuple[Rows, int]:
    """Waiting ring, arrivals and text nodes; and how many arrivals are known from the start."""
    roots, count = len(requests.root_tokens), len(requests.prompt_tokens)
    order = np.argsort(requests.arrival_s, kind="stable").astype(np.int32)
    order = order[requests.after[order] < 0]
    parent, common, places = np.full(size, -1), np.zeros(size, np.int32), np.zeros(size, np.int32)
    parent[roots : roots + count] = requests.parent
    common[roots : roots + count] = requests.common_tokens
    places[: len(order)] = order
    return make_rows(LINE, size, order=places, parent=parent, common=common), len(order)


def _make_blocks(usable: int) -> Rows:
    numbers = np.arange(usable + 1)
    size = usable + 1
    return make_rows(BLOCK, size, content=-1, prev=(numbers - 1) % size, next=(numbers + 1) % size)


def make_state(
    config: Config,
    cost: Cost,
    requests: Requests,
    refused: NDArray[np.bool_],
    accepts: NDArray[np.int32],
    sizes: LogSizes | None = None,
) -> State:
    """State of a run before its first step.

    Parameters
    ----------
    config : Config
        The server, all resolved.
    cost : Cost
        What a step takes.
    requests : Requests
        N requests.
    refused : ndarray of bool, shape (N,)
        Requests that can never fit: turned away on arrival.
    accepts : ndarray of int, shape (P,)
        Drafts accepted by successive verifications, read cyclically.
    sizes : LogSizes, optional
        How much the logs hold.

    Returns
    -------
    State
    """
    sizes = sizes or log_sizes(config, requests)
    has_contents = config.cache == Cache.SHARED
    contents = content_ids(requests, config.block_size, config.max_model_len) if has_contents else NO_CONTENTS
    tables = config.max_num_seqs * config.table_width
    offsets = contents.offsets + tables if has_contents else np.zeros(len(refused), np.int64)
    line_size = len(requests.root_tokens) + len(refused) + 1
    lines, num_open = _make_lines(requests, line_size)
    places = {"accepts_at": tables + len(contents.ids), "num_accepts": len(accepts), "line_size": line_size}
    return State(
        config=make_row(CONFIG, **config._asdict(), **places, num_open=num_open, num_roots=len(requests.root_tokens)),
        cost=make_row(np.dtype([(name, "f8") for name in Cost._fields]), **cost._asdict()),
        count=make_row(COUNT, free=config.usable_blocks),
        requests=_make_requests(config, requests, offsets, refused),
        seats=make_rows(SEAT, config.max_num_seqs, request=-1, kept=-1),
        plan=make_rows(PLAN, 2 * config.max_num_seqs),
        lines=lines,
        blocks=_make_blocks(config.usable_blocks),
        contents=make_rows(CONTENT, contents.size),
        numbers=make_ints(np.concatenate([np.zeros(tables, np.int32), contents.ids, accepts])),
        steps=make_log(STEP, sizes.steps),
        events=make_log(EVENT, sizes.events),
        ids=make_ints(np.empty(sizes.ids, np.int32)),
    )
