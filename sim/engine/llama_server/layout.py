"""What the state of llama-server is made of; how rows are made is told in `sim.engine.layout`.

A sequence of tokens is two stretches of one flat array of texts: token p is ``tokens[head_at + p]`` below ``head``
and ``tokens[tail_at + p]`` from there on. A text is a request's prompt and its outputs. What a slot holds is always
the beginning of a text, with one gap once the context was shifted, so tokens are never copied.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from sim.engine.layout import Ints, Rows


class SlotState(IntEnum):
    """What a slot does."""

    IDLE = 0
    STARTED = 1
    PROCESSING_PROMPT = 2
    DONE_PROMPT = 3
    GENERATING = 4


class Status(IntEnum):
    """Where a request is in its life, and how it ended."""

    PENDING = 0
    DEFERRED = 1
    PROCESSING = 2
    FINISHED = 3
    TOO_LONG = 4  # HTTP 400: the prompt does not fit a slot's context
    OVERFLOWN = 5  # HTTP 500: the unified pool was full
    CANCELLED = 6  # the client went away


REQUEST = np.dtype(
    [
        ("text", "i8"),  # where its prompt begins in the flat array of texts
        ("prompt", "i4"),
        ("n_predict", "i4"),
        ("generated", "i4"),
        ("last_step", "i8"),  # step at whose end the last token came
        ("last_s", "f8"),  # when it came
        ("status", "u1"),
        ("cache_prompt", "u1"),
        ("truncated", "u1"),
        ("id_slot", "i4"),  # slot it is pinned to, -1 if none
        ("n_keep", "i4"),
        ("n_cache_reuse", "i4"),
        ("slot", "i4"),  # slot it was launched in, -1 before
        ("cached", "i4"),  # prompt tokens reused
        ("child", "i4"),
        ("sibling", "i4"),
        ("arrival_s", "f8"),
        ("cancel_s", "f8"),
        ("launched_s", "f8"),
        ("first_s", "f8"),
        ("finish_s", "f8"),
        ("gap_s", "f8"),
    ],
    align=True,
)
SLOT = np.dtype(
    [
        ("state", "i4"),
        ("request", "i4"),  # -1 if it is idle
        ("i_batch", "i4"),  # place in the batch of the token that it samples from, -1 if none
        ("kv", "i4"),  # cells of the pool that hold its tokens
        ("released", "i8"),  # how many releases there had been with this one, -1 if it was never used
    ],
    align=True,
)
# Rows: what the slots hold, then the prompt of the task in hand, then the copies in host RAM, oldest first.
SEQUENCE = np.dtype([("head_at", "i8"), ("tail_at", "i8"), ("head", "i4"), ("length", "i4")])
PART = np.dtype(
    [
        ("slot", "i4"),
        ("is_prompt", "i4"),
        ("position", "i4"),
        ("tokens", "i4"),
        ("has_output", "i4"),
        ("start", "i4"),  # place of its first token in the batch
        ("at", "i4"),  # next position that no ubatch has yet
        ("left", "i4"),  # tokens of the decode call that no ubatch has yet
        ("chosen", "i4"),
    ]
)
LINE = np.dtype(
    [
        ("waiting", "i4"),  # request at this place of the ring of deferred tasks
        ("order", "i4"),  # request at this place among the arrivals known from the start
        ("due", "i4"),  # heap of the arrivals that followed from an end
        ("due_s", "f8"),
        ("returned", "i4"),  # stack of tasks that releases put at the front of the task queue
        ("cancel", "i4"),  # request at this place among those whose client goes away
    ],
    align=True,
)
COUNT = np.dtype(
    [
        ("now_s", "f8"),
        ("releases", "i8"),
        ("wait_head", "i4"),
        ("waiting", "i4"),
        ("pinned", "i4"),  # waiting requests that want one slot
        ("next_open", "i4"),
        ("heap", "i4"),
        ("returned", "i4"),
        ("next_cancel", "i4"),
        ("busy", "i4"),
        ("cells", "i8"),
        ("copies", "i4"),  # sequences in host RAM
        ("ram_tokens", "i8"),
        ("spare", "i8"),  # where the flat array of texts has room, for the defect alone
        # the batch in hand
        ("parts", "i4"),
        ("batch", "i4"),  # its tokens
        ("offset", "i4"),  # of which so many are decoded
        ("n_batch", "i4"),  # most tokens a call, halved when there is no room
        ("batch_at", "i8"),  # event from which on its prompt parts are recorded
        # totals of the decode call in hand
        ("is_new", "i4"),
        ("admitted", "i4"),
        ("prefill", "i4"),
        ("decode", "i4"),
        ("sampled", "i4"),
        ("regular", "i4"),
        ("decode_context", "f8"),
        ("prefill_context", "f8"),
        ("prefill_pairs", "f8"),
        # rows written to the logs
        ("steps", "i8"),
        ("events", "i8"),
        ("ubatches", "i8"),
    ],
    align=True,
)


class Config(NamedTuple):
    """The server's settings, all resolved: tokens, counts, yes or no. Ints, but for the similarity."""

    n_slots: int
    n_ctx: int
    n_ctx_slot: int
    n_batch: int
    n_ubatch: int
    kv_unified: int
    cache_ram_bytes: int  # 0 is none, negative no limit
    kv_bytes_per_token: int
    cache_idle_slots: int
    cont_batching: int
    context_shift: int
    imitates_defect: int
    has_unit_steps: int
    slot_prompt_similarity: float


class State(NamedTuple):
    """Everything a run is at a moment."""

    config: Any
    cost: Any
    count: Any
    requests: Rows
    slots: Rows
    sequences: Rows
    parts: Rows  # the batch in hand
    lines: Rows  # deferred tasks, arrivals, cancels
    tokens: Ints  # the texts
    steps: Rows  # the logs
    calls: Rows
    ubatches: Rows
    events: Rows
