"""What the state of this engine is made of, and its settings; the container is the `State` of all engines.

``lines.waiting`` holds the executor's active list: everyone who has arrived and not ended, in order of arrival, started
or not. It is never reordered, and a paused request keeps its place in it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np


class CapacitySchedulerPolicy(IntEnum):
    """Which requests of the active list fit in memory."""

    MAX_UTILIZATION = 0
    GUARANTEED_NO_EVICT = 1
    STATIC_BATCH = 2


class ContextChunkingPolicy(IntEnum):
    """How prompts that do not all fit into the token budget share it; OFF: whole prompts only."""

    OFF = 0
    FIRST_COME_FIRST_SERVED = 1
    EQUAL_PROGRESS = 2


class Config(NamedTuple):
    """The server's settings as the engine needs them, all resolved. Ints only."""

    max_batch_size: int
    max_num_requests: int
    max_num_tokens: int
    tokens_per_block: int
    num_blocks: int
    capacity_scheduler_policy: int
    context_chunking_policy: int
    chunk_unit_size: int
    enable_block_reuse: int
    is_prefix_aware: int
    two_step_lookahead: int
    max_waiting: int
    emits_idle_steps: int


# What the engine's functions read as `config`: the settings, and where things lie in the arrays.
CONFIG = np.dtype([(name, "i8") for name in (*Config._fields, "table_width", "line_size", "num_open")])

# Hot fields first: a decoding row touches the first 48 bytes only.
REQUEST = np.dtype(
    [
        ("tokens", "i4"),  # with KV in the request's blocks, or with a place kept there (the whole prompt)
        ("room", "i4"),  # tokens that its blocks hold
        ("known", "i4"),  # prompt and outputs
        ("target", "i4"),  # at which it really ends
        ("held", "i4"),
        ("blocks_to_completion", "i4"),  # of prompt + max_new_tokens, which a pause does not change
        ("last_step", "i8"),  # step at whose end the last token came
        ("last_s", "f8"),
        ("is_context", "u1"),  # its prompt is not yet computed
        ("status", "u1"),
        ("limit", "i4"),  # prompt + max_new_tokens
        ("slot", "i4"),
        ("prompt", "i4"),  # what is to be computed as prompt: after a pause, outputs too
        ("position", "i4"),  # context_current_position
        ("prepopulated", "i4"),  # prepopulated_prompt_len: tokens reused
        ("chunk", "i4"),  # context_chunk_size
        ("reusable", "i4"),  # estimated_reusable_tokens
        ("content", "i8"),
        ("hit", "i4"),
        ("preemptions", "i4"),
        ("child", "i4"),
        ("sibling", "i4"),
        ("first_prompt", "i4"),  # as the client sent it
        ("arrival_s", "f8"),
        ("scheduled_s", "f8"),
        ("first_s", "f8"),
        ("finish_s", "f8"),
        ("gap_s", "f8"),
    ],
    align=True,
)
# A block without content and user is on a stack through `next`; one with content is on the ring of the evictable,
# least recently released first, which block 0 anchors.
BLOCK = np.dtype([("ref", "i4"), ("content", "i4"), ("prev", "i4"), ("next", "i4")])
CONTENT = np.dtype([("block", "i4"), ("seen", "i8")], align=True)  # seen: 1 + last step in which a prompt computes it
SEAT = np.dtype([("request", "i4"), ("used_at", "i8")], align=True)
LINE = np.dtype([("waiting", "i4"), ("order", "i4"), ("due", "i4"), ("due_s", "f8")], align=True)
# Columns of their own length each: what fits, what is paused, and the micro-batch.
PLAN = np.dtype([("fitting", "i4"), ("paused", "i4"), ("context", "i4"), ("sorted", "i4"), ("decode", "i4")])

COUNT = np.dtype(
    [
        ("now_s", "f8"),
        ("releases", "i8"),
        ("running", "i4"),  # requests that hold blocks
        ("held", "i4"),  # none: a finished row leaves at once
        ("wait_head", "i4"),
        ("waiting", "i4"),  # length of the active list
        ("lowest_slot", "i4"),
        ("free", "i4"),
        ("cached", "i4"),
        ("empty", "i4"),  # top of the stack of blocks without content
        ("next_open", "i4"),
        ("heap", "i4"),
        ("generating", "i4"),
        ("partial", "i4"),  # prompts of which a chunk is computed
        ("ending", "i4"),
        ("missing", "i4"),  # blocks that could not be had
        ("is_idle", "i4"),  # the last step did nothing, nor would the next
        ("fitting", "i4"),
        ("paused", "i4"),
        ("contexts", "i4"),
        ("decodes", "i4"),
        ("why", "i4"),
        # totals of the step being planned
        ("prefill", "i4"),
        ("decode", "i4"),
        ("sampled", "i4"),
        ("padding", "i4"),
        ("admitted", "i4"),
        ("needed", "i4"),
        ("drafted", "i4"),
        ("regular", "i4"),
        ("decode_context", "f8"),
        ("prefill_context", "f8"),
        ("prefill_pairs", "f8"),
        # rows written to the logs
        ("steps", "i8"),
        ("events", "i8"),
        ("ids", "i8"),
    ]
)
