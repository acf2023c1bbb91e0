"""A recorded workload: arrivals, lengths and, if the file has them, the hashes that say what prompts share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

BLOCK_TOKENS = 512
"""Tokens per hash in Mooncake traces."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HashIds:
    """The blocks of each row's prompt as nodes of a trie: two rows have a node in common if all text up to it is equal.

    Notes
    -----
    Row i's nodes, from its first block on, are nodes[starts[i]:starts[i + 1]].
    """

    nodes: Ints
    starts: Ints

    def between(self, first: int, end: int) -> HashIds:
        """Rows first to end - 1."""
        starts = self.starts[first : end + 1]
        return HashIds(self.nodes[starts[0] : starts[-1]], starts - starts[0])

    def sharing(self, prompt_tokens: Ints) -> tuple[Ints, Ints]:
        """For each row the first row that has its longest common prefix (-1: none), and that prefix [tokens]."""
        rows = np.repeat(np.arange(len(prompt_tokens)), np.diff(self.starts))
        first_row = np.zeros(self.nodes.max(initial=-1) + 1, np.int64)
        first_row[self.nodes[::-1]] = rows[::-1]
        blocks = np.bincount(rows[first_row[self.nodes] < rows], minlength=len(prompt_tokens))
        parent = np.full(len(prompt_tokens), -1)
        shares = blocks > 0
        parent[shares] = first_row[self.nodes[(self.starts[:-1] + blocks - 1)[shares]]]
        longest = np.minimum(prompt_tokens, prompt_tokens[parent])
        return parent, np.where(shares, np.minimum(blocks * BLOCK_TOKENS, longest), 0)


def trie_of(ids: Ints, lengths: Ints) -> HashIds:
    """Nodes of rows of hashes, level by level: a node is a hash below a node.

    Parameters
    ----------
    ids : int64 (sum of lengths)
        Hashes of all rows, one row after the other.
    lengths : int64 (N)
        Hashes per row.
    """
    starts = np.concatenate(([0], np.cumsum(lengths)))
    distinct, ids = np.unique(ids, return_inverse=True)
    nodes, above, count = np.empty(len(ids), np.int64), np.zeros(len(lengths), np.int64), 0
    by_length = np.argsort(-lengths, kind="stable")
    negative_lengths = -lengths[by_length]
    for level in range(int(lengths.max(initial=0))):
        rows = by_length[: np.searchsorted(negative_lengths, -level)]
        at = starts[rows] + level
        keys, local = np.unique(above[rows] * len(distinct) + ids[at], return_inverse=True)
        nodes[at] = above[rows] = local + count
        count += len(keys)
    return HashIds(nodes, starts)


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace file as read, in order of arrival.

    Notes
    -----
    `rejected` and `repaired` hold (line of the file, what), at most `LISTED` each; `rejected_count` counts all.
    Line 0 is the file as a whole. Times are the file's own; dates and epoch times count from the first request.
    """

    sha256: str
    arrival_s: NDArray[np.float64]
    prompt_tokens: NDArray[np.int32]
    output_tokens: NDArray[np.int32]
    hash_ids: HashIds | None
    rejected: tuple[tuple[int, str], ...]
    repaired: tuple[tuple[int, str], ...]
    rejected_count: int = 0

    @property
    def rows(self) -> int:
        """Number of requests."""
        return len(self.arrival_s)

    @property
    def span_s(self) -> float:
        """From the first arrival to the last [s]."""
        return float(self.arrival_s[-1] - self.arrival_s[0]) if self.rows else 0.0

    def between(self, start_s: float, end_s: float) -> Trace:
        """Requests that arrive from start_s [s] on and before end_s."""
        first, end = (int(i) for i in np.searchsorted(self.arrival_s, (start_s, end_s)))
        if (first, end) == (0, self.rows):
            return self
        return replace(
            self,
            arrival_s=self.arrival_s[first:end],
            prompt_tokens=self.prompt_tokens[first:end],
            output_tokens=self.output_tokens[first:end],
            hash_ids=self.hash_ids.between(first, end) if self.hash_ids else None,
        )
