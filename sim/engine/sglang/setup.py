"""An SGLang run's state at its start, and room in its logs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.cost import Cost
from sim.engine.compiled import IS_COMPILED
from sim.engine.layout import Rows, Status, make_ints, make_log, make_row, make_rows
from sim.engine.record import EVENT
from sim.engine.setup import LogSizes, children
from sim.engine.sglang.layout import (
    COUNT,
    ENDLESS,
    LINE,
    NODE,
    REQUEST,
    RESULT,
    SCRATCH,
    SEAT,
    SGLANG_STEP,
    TEXT,
    Config,
    State,
)
from sim.engine.sglang.queues import MOST_SORTED
from sim.engine.sglang.record import least_room
from sim.workload.requests import Requests

MOST_LOG_STEPS = 1 << 19 if IS_COMPILED else 1 << 10
MOST_BUCKETS = 1 << 14
START_RATIO, FLOOR, DECAY_STEPS, MOST_RATIO = 0.7, 0.14, 600, 1.0
_RATIOS = ("initial_ratio", "least_ratio", "ratio_decay")

# What the engine's functions read as `config`: the settings, and what follows from them and the requests.
CONFIG = np.dtype(
    [(name, "f8" if name in _RATIOS else "i8") for name in Config._fields]
    + [(name, "i8") for name in ("line_size", "num_open", "num_roots", "step_events", "step_ids", "buckets")]
)


def token_ratios(schedule_conservativeness: float) -> dict[str, float]:
    """Start, floor and decay a step of the token ratio.

    Parameters
    ----------
    schedule_conservativeness : float
        Factor on the start.

    Returns
    -------
    dict
        Fields of `Config`.

    References
    ----------
    sgl-project/sglang, managers/scheduler_components/new_token_ratio_tracker.py, 0.5.23.
    """
    initial = min(START_RATIO * schedule_conservativeness, MOST_RATIO)
    least = min(initial * FLOOR, MOST_RATIO)
    return dict(zip(_RATIOS, (initial, least, (initial - least) / DECAY_STEPS), strict=True))


def clipped_max_new(config: Config, requests: Requests) -> NDArray[np.int64]:
    """Output tokens a request may write, cut on arrival so that it always fits alone [tokens]."""
    prompts = requests.prompt_tokens.astype(np.int64)
    pages = -(-prompts // config.page_size) * config.page_size
    most = min(config.context_len, config.max_total_tokens) - 1
    clipped = np.minimum(requests.max_new_tokens, most - prompts - 1).clip(0)
    return np.minimum(clipped, config.max_total_tokens - pages - config.page_size - 1).clip(0)


def _make_texts(requests: Requests, stops: NDArray[np.int64]) -> Rows:
    """Texts with the one all their parents end in, and how many those are."""
    roots = len(requests.root_tokens)
    common = np.concatenate([np.zeros(roots, np.int64), np.minimum(requests.common_tokens, requests.prompt_tokens)])
    parent = np.concatenate([np.full(roots, -1, np.int64), requests.parent])
    parent = np.where(common > 0, parent, -1)
    origin, depth, above = np.arange(len(parent)), np.zeros(len(parent), np.int64), parent
    while (above >= 0).any():
        origin = np.where(above >= 0, above, origin)
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    stop = np.concatenate([np.full(roots, ENDLESS), stops])
    return make_rows(TEXT, len(parent), parent=parent, common=common, origin=origin, depth=depth, stop=stop)


def _make_requests(requests: Requests, refused: NDArray[np.bool_], **columns: Any) -> Rows:
    child, sibling = children(requests.after)
    nan = float("nan")
    return make_rows(
        REQUEST,
        len(requests),
        prompt=requests.prompt_tokens,
        output=requests.output_tokens,
        status=np.where(refused, np.uint8(Status.REFUSED), np.uint8(Status.PENDING)),
        arrival_s=requests.arrival_s,
        gap_s=requests.gap_s,
        child=child,
        sibling=sibling,
        ended=-1,
        launch=-1,
        last_step=-2,
        scheduled_s=nan,
        first_s=nan,
        finish_s=nan,
        **columns,
    )


def _log_sizes(config: Config, requests: Requests) -> LogSizes:
    events, ids = least_room(config.max_running_requests)
    tokens = int(requests.output_tokens.sum(dtype=np.int64)) + 2 * len(requests)
    steps = min(tokens, MOST_LOG_STEPS)
    return LogSizes(steps + 1, events + 2 * steps, ids + 4 * steps)


def make_state(
    config: Config,
    cost: Cost,
    requests: Requests,
    refused: NDArray[np.bool_],
    ignore_eos: NDArray[np.bool_],
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
    ignore_eos : ndarray of bool, shape (N,)
        Requests that write on to `max_new_tokens`.
    sizes : LogSizes, optional
        How much the logs hold.

    Returns
    -------
    State
    """
    sizes = sizes or _log_sizes(config, requests)
    seats = config.max_running_requests + 2
    order = np.argsort(requests.arrival_s, kind="stable")
    order = order[requests.after[order] < 0]
    size = len(requests) + 1
    places = np.zeros(size, np.int64)
    places[: len(order)] = order
    events, ids = least_room(config.max_running_requests)
    given = {"line_size": size, "num_open": len(order), "num_roots": len(requests.root_tokens)}
    nodes = config.max_total_tokens // config.page_size + 2
    buckets = min(nodes, MOST_BUCKETS)
    max_new = clipped_max_new(config, requests)
    outputs = np.maximum(requests.output_tokens, 1)
    stops = np.where(ignore_eos | (outputs >= max_new), ENDLESS, requests.prompt_tokens + outputs - 1)
    return State(
        config=make_row(CONFIG, **config._asdict(), **given, step_events=events, step_ids=ids, buckets=buckets),
        cost=make_row(np.dtype([(name, "f8") for name in Cost._fields]), **cost._asdict()),
        count=make_row(
            COUNT,
            free=config.max_total_tokens,
            rows=config.max_running_requests,
            ratio=config.initial_ratio,
            chunk=-1,
            last_chunk=-1,
            nodes=1,
        ),
        requests=_make_requests(requests, refused, max_new=max_new, ignore_eos=ignore_eos),
        seats=make_rows(SEAT, seats),
        results=make_rows(RESULT, 2 * seats),
        scratch=make_rows(SCRATCH, max(seats, MOST_SORTED)),
        lines=make_rows(LINE, size, order=places),
        texts=_make_texts(requests, stops),
        nodes=make_rows(NODE, nodes),
        steps=make_log(SGLANG_STEP, sizes.steps),
        events=make_log(EVENT, sizes.events),
        ids=make_ints(np.zeros(sizes.ids, np.int32)),
    )


def _larger(log: Rows, fresh: Rows, used: int) -> Rows:
    if isinstance(log, list):
        return log[:used] + fresh[used:]
    fresh[:used] = log[:used]
    return fresh


def make_room(state: State, growth: float = 1.5) -> State:
    """State with larger logs; what was read of the old ones stays as it is."""
    count, config = state.count, state.config
    steps = int(len(state.steps) * growth) + 1
    events = max(int(len(state.events) * growth), int(count.events + config.step_events)) + 1
    ids = max(int(len(state.ids) * growth), int(count.ids + config.step_ids)) + 1
    return state._replace(
        steps=_larger(state.steps, make_log(SGLANG_STEP, steps), int(count.steps)),
        events=_larger(state.events, make_log(EVENT, events), int(count.events)),
        ids=_larger(state.ids, make_ints(np.zeros(ids, np.int32)), int(count.ids)),
    )
