"""What the engine's state is made of: one record per kind of thing, one array per kind.

Compiled, a kind is a NumPy structured array and ``requests[i].computed += n`` is a store into it.
Uncompiled (``NUMBA_DISABLE_JIT=1``) the same text runs over lists of slotted objects, which are some
fifty times faster to touch from plain Python than NumPy records; both give equal results.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.compiled import IS_COMPILED

Rows = Any  # a structured array, or a list of slotted objects when uncompiled
Ints = Any  # an int32 array, or a list of ints when uncompiled


class Status(IntEnum):
    """Where a request is in its life."""

    PENDING = 0
    WAITING = 1
    PREEMPTED = 2
    RUNNING = 3
    FINISHED = 4
    REJECTED = 5
    REFUSED = 6


class Cache(IntEnum):
    """Who may reuse computed KV."""

    OFF = 0
    SHARED = 1
    PER_SLOT = 2


# Hot fields first: a decode row that flows touches the first 24 bytes only.
REQUEST = np.dtype(
    [
        ("computed", "i4"),
        ("known", "i4"),
        ("room", "i4"),
        ("end", "i4"),
        ("last_step", "i8"),  # step at whose end the last token came
        ("drafts", "i4"),
        ("placeholders", "i4"),
        ("last_s", "f8"),  # when it came; not kept up while tokens come at every step
        ("status", "u1"),
        ("is_chunked", "u1"),
        ("held", "i4"),
        ("hashed", "i4"),
        ("slot", "i4"),
        ("in_flight", "i4"),
        ("stale", "i4"),
        ("prompt", "i4"),
        ("target", "i4"),
        ("content", "i8"),
        ("verified", "i4"),
        ("hit", "i4"),
        ("preemptions", "i4"),
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
BLOCK = np.dtype([("ref", "i4"), ("content", "i4"), ("prev", "i4"), ("next", "i4"), ("older", "i4"), ("newer", "i4")])
CONTENT = np.dtype([("first", "i4"), ("last", "i4")])
SEAT = np.dtype(
    [
        ("running", "i4"),  # request at this place of the running list
        ("request", "i4"),  # request in this slot, -1 if it is free
        ("kept", "i4"),
        ("kept_tokens", "i4"),
        ("kept_blocks", "i4"),
        ("used_at", "i8"),
    ],
    align=True,
)
LINE = np.dtype(
    [
        ("waiting", "i4"),  # request at this place of the waiting ring
        ("order", "i4"),  # request at this place among the arrivals known from the start
        ("due", "i4"),  # heap of the arrivals that followed from an end
        ("due_s", "f8"),
        ("parent", "i4"),  # text node: whose beginning this text repeats
        ("common", "i4"),
    ],
    align=True,
)
PLAN = np.dtype([("request", "i4"), ("tokens", "i4"), ("samples", "i4"), ("drafts", "i4")])

# The mutable scalars: one record, passed by reference.
COUNT = np.dtype(
    [
        ("now_s", "f8"),
        ("emitted_s", "f8"),
        ("pending_s", "f8"),
        ("releases", "i8"),
        ("running", "i4"),
        ("held", "i4"),
        ("wait_head", "i4"),
        ("waiting", "i4"),
        ("lowest_slot", "i4"),
        ("free", "i4"),
        ("cached", "i4"),
        ("next_open", "i4"),
        ("heap", "i4"),
        ("planned", "i4"),
        ("pending", "i4"),
        ("parity", "i4"),
        ("why", "i4"),
        # totals of the step being planned
        ("tokens", "i4"),
        ("prefill", "i4"),
        ("decode", "i4"),
        ("sampled", "i4"),
        ("padding", "i4"),
        ("admitted", "i4"),
        ("needed", "i4"),
        ("drafted", "i4"),
        ("regular", "i4"),
        ("flowing", "i4"),
        ("decode_context", "f8"),
        ("prefill_context", "f8"),
        ("prefill_pairs", "f8"),
        # rows written to the logs
        ("steps", "i8"),
        ("events", "i8"),
        ("ids", "i8"),
    ]
)


class Config(NamedTuple):
    """The server's settings as the engine needs them, all resolved. Ints, but for one time."""

    max_num_seqs: int
    max_num_batched_tokens: int
    block_size: int
    max_model_len: int
    usable_blocks: int
    long_prefill_token_threshold: int
    is_chunked: int
    cache: int
    reserves_full_isl: int
    watermark_blocks: int
    num_speculative_tokens: int
    is_async: int
    is_static: int
    drops_finished_rows: int
    region_blocks: int
    num_seats: int
    max_waiting: int
    emits_idle_steps: int
    table_width: int
    accept_stride: int
    static_wait_s: float


class State(NamedTuple):
    """Everything a run is at a moment: three records, then one array per kind of thing.

    Each array in it costs compile time, for every function that is handed the state; hence few of them.
    """

    config: Any
    cost: Any
    count: Any
    requests: Rows
    seats: Rows  # running list and slots
    plan: Rows  # two plans, so that one can be in flight
    lines: Rows  # waiting ring, arrivals, text nodes
    blocks: Rows
    contents: Rows
    numbers: Ints  # block tables by slot, content ids, drafts accepted
    steps: Rows  # the logs
    events: Rows
    ids: Ints


_PLAIN: dict[str, type] = {}


def _plain_class(dtype: np.dtype[Any]) -> type:
    names = dtype.names or ()
    key = ",".join(names)
    if key not in _PLAIN:
        _PLAIN[key] = type("Row", (), {"__slots__": names})
    return _PLAIN[key]


def make_rows(dtype: np.dtype[Any], count: int, **fields: Any) -> Rows:
    """Rows of one kind, zero but for `fields` (a value, or a column of `count` values)."""
    if IS_COMPILED:
        array = np.zeros(count, dtype)
        for name, value in fields.items():
            array[name] = value
        return array
    kind = _plain_class(dtype)
    rows = [kind() for _ in range(count)]
    for name in dtype.names or ():
        zero = 0.0 if dtype[name].kind == "f" else 0
        value = fields.get(name, zero)
        column = np.broadcast_to(value, (count,)).tolist()
        for row, item in zip(rows, column, strict=True):
            setattr(row, name, type(zero)(item))
    return rows


def make_log(dtype: np.dtype[Any], count: int) -> Rows:
    """Rows that are written before they are read: not cleared."""
    if IS_COMPILED:
        return np.empty(count, dtype)
    kind = _plain_class(dtype)
    return [kind() for _ in range(count)]


def make_ints(values: NDArray[np.int32] | list[int]) -> Ints:
    """A flat array of ints, or a list of them when uncompiled."""
    array = np.ascontiguousarray(values, dtype=np.int32)
    return array if IS_COMPILED else array.tolist()


def make_row(dtype: np.dtype[Any], **fields: Any) -> Any:
    """One record, readable and writable by name, compiled or not."""
    rows = make_rows(dtype, 1, **fields)
    return rows.view(np.recarray)[0] if isinstance(rows, np.ndarray) else rows[0]


def as_array(rows: Rows, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """First `count` rows as a NumPy array: a view when compiled."""
    if isinstance(rows, np.ndarray):
        return rows[:count]
    if dtype.names is None:
        return np.array(rows[:count], dtype)
    return np.array([tuple(getattr(row, name) for name in dtype.names) for row in rows[:count]], dtype)
