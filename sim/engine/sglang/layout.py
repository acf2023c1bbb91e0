"""What the state of an SGLang run is made of: one record per kind of thing, one array per kind.

Names are those of vLLM where the thing is the same; SGLang's own are kept where it is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sim.engine.layout import Ints, Rows
from sim.engine.record import STEP

ENDLESS = 1 << 30  # tokens; a text that is not cut short by an end token
ROOT = 0  # node of the radix tree

REQUEST = np.dtype(
    [
        ("committed", "i4"),  # tokens with memory (kv_committed_len)
        ("outputs", "i4"),
        ("filled", "i4"),  # outputs that the last look at the request knew
        ("end", "i4"),  # end of the extend under way
        ("prefix", "i4"),
        ("protected", "i4"),  # leading tokens that the tree owns (cache_protected_len)
        ("prompt", "i4"),
        ("max_new", "i4"),
        ("output", "i4"),  # tokens after which the model says it is done
        ("ended", "i4"),  # outputs at its end, -1 before
        ("chunks", "i4"),  # chunks in flight whose results sample nothing (inflight_middle_chunks)
        ("last_node", "i4"),
        ("lock_node", "i4"),
        ("launch", "i8"),  # number of the last batch it was in
        ("last_step", "i8"),
        ("last_s", "f8"),
        ("match", "i4"),
        ("status", "u1"),
        ("ignore_eos", "u1"),
        ("has_row", "u1"),
        ("is_retracted", "u1"),
        ("is_finished", "u1"),
        ("is_seen", "u1"),  # admitted, and not retracted since
        ("was_retracted", "u1"),
        ("retractions", "i4"),
        ("child", "i4"),
        ("sibling", "i4"),
        ("arrival_s", "f8"),
        ("scheduled_s", "f8"),
        ("first_s", "f8"),
        ("finish_s", "f8"),
        ("gap_s", "f8"),
    ],
    align=True,
)
SEAT = np.dtype([("running", "i4"), ("batch", "i4")])  # running batch; extend batch of this step or the last
RESULT = np.dtype([("request", "i4"), ("token", "u1"), ("is_decode", "u1")], align=True)
SCRATCH = np.dtype(
    [("request", "i4"), ("key", "i4"), ("is_first", "u1"), ("left", "f8"), ("occupied", "i8")], align=True
)
LINE = np.dtype([("waiting", "i4"), ("order", "i4"), ("due", "i4"), ("due_s", "f8")], align=True)
TEXT = np.dtype(
    [
        ("parent", "i4"),  # text whose beginning this one repeats, -1 none
        ("common", "i4"),
        ("origin", "i4"),  # the text that all its parents end in
        ("depth", "i4"),
        ("stop", "i4"),  # position of its end token; two of them are equal tokens
    ]
)
NODE = np.dtype(
    [
        ("text", "i4"),  # holds tokens [start, end) of this text; end 0 is a free row
        ("start", "i4"),
        ("end", "i4"),
        ("parent", "i4"),
        ("kids", "i4"),
        ("lock", "i4"),
        ("key", "i4"),  # of its first page
        ("next", "i4"),  # of the chain it is in, or of the free rows; 0 none
        ("prev", "i4"),
        ("head", "i4"),  # first of the chain that has this row's number
        ("time", "i8"),
    ]
)
# A step of SGLang: the common columns (free: tokens; cached: evictable tokens at its end) and its own.
SGLANG_STEP = np.dtype(
    [(name, STEP[name]) for name in STEP.names or ()]
    + [
        ("mode", "u1"),
        ("is_full", "u1"),
        ("chunk", "i4"),  # request whose prompt is unfinished, -1 none
        ("evictable", "i4"),
        ("ratio", "f8"),
        ("ratio_end", "f8"),
    ],
    align=True,
)

COUNT = np.dtype(
    [
        ("now_s", "f8"),
        ("pending_s", "f8"),
        ("ratio", "f8"),  # new_token_ratio
        ("running", "i4"),
        ("batch", "i4"),
        ("extended", "i4"),  # rows of it that compute prompts
        ("mode", "i4"),  # of the batch of the step under way
        ("last_mode", "i4"),
        ("last_chunk", "i4"),
        ("chunk", "i4"),  # chunked request
        ("is_full", "i4"),  # batch_is_full
        ("has_moved", "i4"),  # the running batch changed
        ("rows", "i4"),  # free rows of the request table
        ("hold", "i4"),  # passes until prefill is tried again
        ("touches", "i8"),
        ("launches", "i8"),
        ("parity", "i4"),
        ("pending", "i4"),
        ("pending_mode", "i4"),
        ("is_out", "i4"),  # an allocation failed
        # memory and tree
        ("free", "i4"),
        ("evictable", "i4"),
        ("node", "i4"),  # where the last look-up or insert ended
        ("nodes", "i4"),
        ("free_node", "i4"),
        ("clock", "i8"),
        # budgets of the prefill pass under way (PrefillAdder)
        ("left_input", "i8"),
        ("left_chunk", "i8"),
        ("current", "i8"),
        ("total", "f8"),
        ("new_chunk", "i4"),
        ("futures", "i4"),
        # waiting line and arrivals
        ("wait_head", "i4"),
        ("waiting", "i4"),
        ("next_open", "i4"),
        ("heap", "i4"),
        # totals of the step
        ("why", "i4"),
        ("needed", "i4"),
        ("prefill", "i4"),
        ("decode", "i4"),
        ("sampled", "i4"),
        ("admitted", "i4"),
        ("regular", "i4"),
        ("decode_context", "f8"),
        ("prefill_context", "f8"),
        ("prefill_pairs", "f8"),
        # rows written to the logs
        ("steps", "i8"),
        ("events", "i8"),
        ("ids", "i8"),
    ],
    align=True,
)


class Config(NamedTuple):
    """The server's settings as the engine needs them, all resolved.

    Notes
    -----
    `chunked_prefill_size` 0 is off, `prefill_max_requests` 0 is no limit, `max_waiting` 0 is no limit.
    """

    max_total_tokens: int
    page_size: int
    max_running_requests: int
    chunked_prefill_size: int
    max_prefill_tokens: int
    context_len: int
    is_lpm: int
    is_mixed: int
    is_overlap: int
    has_radix: int
    prefill_decode_interval: int
    prefill_max_requests: int
    max_waiting: int
    emits_idle_steps: int
    initial_ratio: float
    least_ratio: float
    ratio_decay: float


class State(NamedTuple):
    """Everything a run is at a moment: three records, then one array per kind of thing."""

    config: Any
    cost: Any
    count: Any
    requests: Rows
    seats: Rows
    results: Rows  # two batches, so that one can be in flight
    scratch: Rows
    lines: Rows  # waiting ring, arrivals
    texts: Rows
    nodes: Rows
    steps: Rows  # the logs
    events: Rows
    ids: Ints
