"""Collects the rows of a trace file: good ones as arrays, bad ones with their reason, within limits."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sim.errors import ScenarioError
from sim.parameters import MAX_REQUESTS, MAX_TOKENS
from sim.workload.trace import HashIds, Trace, trie_of

LISTED = 1000
"""Rejected and repaired rows that are listed; more are counted."""
MAX_HASH_IDS = 10_000_000
EPOCHS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3), (1e8, 1.0))
"""From each size on, a first arrival is an epoch in units of so many seconds; below all, it is seconds from a start."""
LATEST = 1e19
LONGEST_SPAN_S = 1e9


Floats = NDArray[np.float64]


class RowError(ValueError):
    """Why one row is not used."""


@dataclass(slots=True)
class Columns:
    """Rows read so far."""

    name: str
    line: int = 0
    count: int = 0
    is_dated: bool = False
    arrivals: list[Floats] = field(default_factory=list)
    prompts: list[NDArray[np.int32]] = field(default_factory=list)
    outputs: list[NDArray[np.int32]] = field(default_factory=list)
    hash_ids: array[int] = field(default_factory=lambda: array("q"))
    hash_lengths: array[int] = field(default_factory=lambda: array("i"))
    rejected: list[tuple[int, str]] = field(default_factory=list)
    rejected_count: int = 0
    repaired: list[tuple[int, str]] = field(default_factory=list)

    def add(self, arrivals: Floats, prompts: Floats, outputs: Floats) -> None:
        """Take checked rows.

        Raises
        ------
        ScenarioError
            If the file has too many.
        """
        self.count += len(arrivals)
        if self.count > MAX_REQUESTS:
            raise ScenarioError("trace", f"{self.name}, more than {MAX_REQUESTS} rows", f"at most {MAX_REQUESTS} rows")
        self.arrivals.append(arrivals)
        self.prompts.append(prompts.astype(np.int32))
        self.outputs.append(outputs.astype(np.int32))

    def add_hashes(self, ids: array[int], lengths: Sequence[int]) -> None:
        """Take the hashes of the rows added last, `lengths` of them each."""
        self.hash_ids.extend(ids)
        self.hash_lengths.extend(lengths)
        if len(self.hash_ids) > MAX_HASH_IDS:
            raise ScenarioError("trace", f"{self.name}, more than {MAX_HASH_IDS} hashes", f"at most {MAX_HASH_IDS}")

    def is_good(self, arrivals: Floats, prompts: Floats, outputs: Floats) -> NDArray[np.bool_]:
        """Which rows `check` accepts."""
        lengths = np.stack((prompts, outputs))
        is_length = (lengths >= 1) & (lengths <= MAX_TOKENS) & (lengths == np.rint(lengths))
        good: NDArray[np.bool_] = (arrivals >= self.earliest_s) & (arrivals < LATEST) & is_length.all(axis=0)
        return good

    def check(self, arrival_s: float, prompt_tokens: float, output_tokens: float) -> None:
        """Raise RowError unless a request can be made of it."""
        if not self.earliest_s <= arrival_s < LATEST:
            raise RowError(f"arrival {arrival_s:g} is not a time from 0 on")
        for what, tokens in (("prompt", prompt_tokens), ("output", output_tokens)):
            if not (1 <= tokens <= MAX_TOKENS and tokens == int(tokens)):
                raise RowError(f"{what} of {tokens:.15g} tokens: a whole number from 1 to {MAX_TOKENS} is needed")

    @property
    def earliest_s(self) -> float:
        """Earliest time that can be used; dates count from the first row, which need not be the earliest."""
        return -math.inf if self.is_dated else 0.0

    def reject(self, line: int, reason: str) -> None:
        """Note a row that is not used; far too many of them end the reading."""
        self.rejected_count += 1
        if self.rejected_count <= LISTED:
            self.rejected.append((line, reason))
        if self.rejected_count > MAX_REQUESTS:
            raise ScenarioError("trace", f"{self.name}, more than {MAX_REQUESTS} rows", f"at most {MAX_REQUESTS} rows")

    def repair(self, line: int, what: str) -> None:
        """Note a row that is used, but not as written; line 0 is the file as a whole."""
        if len(self.repaired) < LISTED:
            self.repaired.append((line, what))

    def finish(self, sha256: str) -> Trace:
        """Trace of what was read, in order of arrival.

        Raises
        ------
        ScenarioError
            If no row can be used.
        """
        if self.count == 0:
            first = f"; line {self.rejected[0][0]}: {self.rejected[0][1]}" if self.rejected else ""
            raise ScenarioError("trace", f"{self.name}, no usable row{first}", "a file with at least one request")
        arrivals = np.concatenate(self.arrivals)
        order = np.argsort(arrivals, kind="stable")
        if (np.diff(arrivals) < 0).any():
            self.repair(0, "rows were not in order of arrival: sorted")
        return Trace(
            sha256=sha256,
            arrival_s=self._from_start(arrivals[order]),
            prompt_tokens=np.concatenate(self.prompts)[order],
            output_tokens=np.concatenate(self.outputs)[order],
            hash_ids=self._hashes(order),
            rejected=tuple(self.rejected),
            repaired=tuple(self.repaired),
            rejected_count=self.rejected_count,
        )

    def _from_start(self, arrivals: Floats) -> Floats:
        """Times in seconds; epoch times and dates count from the first."""
        unit_s = next((unit_s for size, unit_s in EPOCHS if arrivals[0] >= size), None)
        if self.is_dated or unit_s:
            arrivals = (arrivals - arrivals[0]) * (unit_s or 1.0)
        if arrivals[-1] > LONGEST_SPAN_S:
            raise ScenarioError("trace", f"{self.name}, last arrival at {arrivals[-1]:g} s", "times within 1e9 s")
        return arrivals

    def _hashes(self, order: NDArray[np.int64]) -> HashIds | None:
        if not self.hash_ids:
            return None
        ids, lengths = (
            np.frombuffer(self.hash_ids, np.int64),
            np.frombuffer(self.hash_lengths, np.int32).astype(np.int64),
        )
        starts = np.cumsum(lengths) - lengths
        lengths = lengths[order]
        new_starts = np.cumsum(lengths) - lengths
        at = np.arange(len(ids)) + np.repeat(starts[order] - new_starts, lengths)
        return trie_of(ids[at], lengths)
