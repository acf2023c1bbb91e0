"""A run's state at its start: from requests, resolved settings and prices to the arrays the engine works on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sim.cost import Cost
from sim.engine.layout import Rows, State, Status, make_ints, make_log, make_row, make_rows
from sim.engine.record import EVENT, STEP
from sim.engine.setup import MOST_LOG_STEPS, NO_CONTENTS, LogSizes, children, content_ids
from sim.engine.tensorrt_llm.layout import BLOCK, CONFIG, CONTENT, COUNT, LINE, PLAN, REQUEST, SEAT, Config
from sim.engine.tensorrt_llm.loop import EVENTS_PER_REQUEST
from sim.workload.requests import Requests


def _target_tokens(requests: Requests) -> NDArray[np.int64]:
    return requests.prompt_tokens.astype(np.int64) + requests.output_tokens


def table_width(config: Config, requests: Requests) -> int:
    """Blocks that the longest request can hold at most."""
    longest = int(_target_tokens(requests).max(initial=0))
    return min(-(-longest // config.tokens_per_block), config.num_blocks) + 1


def num_seats(config: Config, requests: Requests) -> int:
    """Requests that can hold blocks at once: each holds one that it took itself, and whole-prompt blocks at that."""
    return min(len(requests), config.num_blocks) + 1


def least_log_sizes(config: Config, requests: Requests) -> LogSizes:
    """Sizes with which the logs hold one step of any kind."""
    rows = num_seats(config, requests) + min(config.max_num_requests, len(requests)) + 1
    ids = config.num_blocks + min(config.max_batch_size, len(requests)) * table_width(config, requests)
    return LogSizes(1, EVENTS_PER_REQUEST * rows, ids)


def log_sizes(config: Config, requests: Requests) -> LogSizes:
    """Sizes that hold most runs of these requests whole: a step brings a token, or a chunk of a prompt."""
    steps = min(int(requests.output_tokens.sum(dtype=np.int64)) + 2 * len(requests), MOST_LOG_STEPS)
    least = least_log_sizes(config, requests)
    return LogSizes(steps + 1, least.events + 2 * steps, least.ids + 4 * steps)


def _make_requests(config: Config, requests: Requests, offsets: NDArray[np.int64], refused: NDArray[np.bool_]) -> Rows:
    child, sibling = children(requests.after)
    limit = requests.prompt_tokens.astype(np.int64) + requests.max_new_tokens
    nan = float("nan")
    return make_rows(
        REQUEST,
        len(requests),
        is_context=1,
        known=requests.prompt_tokens,
        prompt=requests.prompt_tokens,
        first_prompt=requests.prompt_tokens,
        target=_target_tokens(requests),
        limit=limit,
        blocks_to_completion=-(-limit // config.tokens_per_block),
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


def _make_lines(requests: Requests) -> tuple[Rows, int]:
    """Active list and arrivals; and how many arrivals are known from the start."""
    order = np.argsort(requests.arrival_s, kind="stable").astype(np.int32)
    order = order[requests.after[order] < 0]
    places = np.zeros(len(requests) + 1, np.int32)
    places[: len(order)] = order
    return make_rows(LINE, len(places), order=places), len(order)


def _make_blocks(config: Config) -> Rows:
    """All blocks on the stack of those without content, 1 on top; 0 anchors the evictable."""
    after = np.arange(1, config.num_blocks + 2)
    after[[0, -1]] = 0
    return make_rows(BLOCK, len(after), content=-1, next=after)


def make_state(
    config: Config, cost: Cost, requests: Requests, refused: NDArray[np.bool_], sizes: LogSizes | None = None
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
        Requests that can never fit: turned away on arrival. One that is not turned away then blocks the line for ever.
    sizes : LogSizes, optional
        How much the logs hold.

    Returns
    -------
    State
    """
    sizes = sizes or log_sizes(config, requests)
    longest = int(_target_tokens(requests).max(initial=0))
    contents = content_ids(requests, config.tokens_per_block, longest) if config.enable_block_reuse else NO_CONTENTS
    seats, width = num_seats(config, requests), table_width(config, requests)
    offsets = contents.offsets + seats * width if config.enable_block_reuse else np.zeros(len(requests), np.int64)
    lines, num_open = _make_lines(requests)
    places = {"table_width": width, "line_size": len(requests) + 1, "num_open": num_open}
    return State(
        config=make_row(CONFIG, **config._asdict(), **places),
        cost=make_row(np.dtype([(name, "f8") for name in Cost._fields]), **cost._asdict()),
        count=make_row(COUNT, free=config.num_blocks, empty=1),
        requests=_make_requests(config, requests, offsets, refused),
        seats=make_rows(SEAT, seats, request=-1),
        plan=make_rows(PLAN, max(min(config.max_num_requests, len(requests)), seats)),
        lines=lines,
        blocks=_make_blocks(config),
        contents=make_rows(CONTENT, contents.size),
        numbers=make_ints(np.concatenate([np.zeros(seats * width, np.int32), contents.ids])),
        steps=make_log(STEP, sizes.steps),
        events=make_log(EVENT, sizes.events),
        ids=make_ints(np.empty(sizes.ids, np.int32)),
    )
