"""Steps of a run of llama-server in the form of its recordings, rebuilt from the run's record alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.llama_server.record import SlotKind
from sim.engine.llama_server.recorder import Log
from sim.engine.record import Kind

Part = list[Any]  # slot, request, kind, first position, tokens, whether it has an output


class Replay:
    """Who is in which slot, and how many tokens the slot holds, after each event.

    Parameters
    ----------
    log : Log
        Record of the run.
    prompts : ndarray of int, shape (N,)
        Prompt of each request [tokens].
    slots : int
        Slots of the server.

    Attributes
    ----------
    launches : list
        Step, slot and request of every launch.
    """

    def __init__(self, log: Log, prompts: NDArray[np.int32], slots: int) -> None:
        self._log, self._prompts = log, prompts
        self._request: list[int] = [-1] * slots
        self._tokens = [0] * slots
        self._generates = [False] * slots
        self._slot_of: dict[int, int] = {}
        self._batch: list[Part] = []
        self._at = 0
        self._step = 0
        self.launches: list[list[int]] = []

    def steps(self) -> Iterator[dict[str, Any]]:
        """Every step; what the last left behind is taken in at the end."""
        first = 0
        for row, call in zip(self._log.steps, self._log.calls, strict=True):
            if call["is_new"]:
                self._apply(int(call["batch_at"]))
                self._batch = self._decodes()
            self._apply(int(row["events_end"]))
            ubatches = self._log.ubatches[first : row["ids_end"]]
            first = int(row["ids_end"])
            yield self._told(call, ubatches)
            self._step += 1
        self._apply(len(self._log.events))

    def _decodes(self) -> list[Part]:
        """Decode tokens of a new batch, which the record leaves out."""
        parts = []
        for slot, request in enumerate(self._request):
            if self._generates[slot]:
                parts.append([slot, request, "D", self._tokens[slot], 1, 1])
                self._tokens[slot] += 1
        return parts

    def _apply(self, end: int) -> None:
        for event in self._log.events[self._at : end]:
            self._apply_one(int(event["kind"]), int(event["request"]), int(event["a"]), int(event["b"]))
        self._at = max(self._at, end)

    def _apply_one(self, kind: int, request: int, a: int, b: int) -> None:
        if kind == SlotKind.LAUNCH:
            self._request[b] = request
            self._slot_of[request] = b
            self.launches.append([self._step, b, request])
        elif kind in {SlotKind.CACHED, SlotKind.LOAD}:
            self._tokens[b] = a
        elif kind == SlotKind.SHIFT:
            self._tokens[b] -= a
        elif kind in {SlotKind.CLEAR, SlotKind.PURGE}:
            self._tokens[b] = 0
        elif kind == Kind.CHUNK:
            self._add_chunk(request, a, b)
        elif kind == Kind.FIRST:
            self._generates[self._slot_of[request]] = True
        elif kind == Kind.FINISH or (kind == SlotKind.STOP and b >= 0):
            slot = self._slot_of[request]
            self._request[slot] = -1
            self._generates[slot] = False

    def _add_chunk(self, request: int, tokens: int, before: int) -> None:
        slot = self._slot_of[request]
        self._batch.append([slot, request, "P", before, tokens, int(before + tokens == self._prompts[request])])
        self._tokens[slot] = before + tokens

    def _told(self, call: Any, ubatches: NDArray[Any]) -> dict[str, Any]:
        offset, tokens = int(call["offset"]), int(call["tokens"])
        parts = view(self._batch, offset, tokens)
        return {
            "tok": tokens,
            "off": offset,
            "nb": int(call["n_batch"]),
            "parts": parts,
            "ub": [told_ubatch(parts, ubatches, i) for i in range(len(ubatches))],
        }


def view(parts: list[Part], first: int, tokens: int) -> list[Part]:
    """Parts of the batch in a call that decodes so many tokens from the one at place `first` on."""
    seen, start = [], 0
    for slot, request, kind, position, length, has_output in parts:
        begin, end = max(first, start), min(first + tokens, start + length)
        if begin < end:
            is_last = end == start + length
            seen.append([slot, request, kind, position + begin - start, end - begin, has_output if is_last else 0])
        start += length
    return seen


def told_ubatch(parts: list[Part], ubatches: NDArray[Any], i: int) -> list[Any]:
    """Tokens of one ubatch, and of each slot in it."""
    row = ubatches[i]
    first, slots, tokens = int(row["first"]), int(row["slots"]), int(row["tokens"])
    if slots > 0:
        return [slots * tokens, {str(slot): tokens for slot in range(first, first + slots)}]
    cut = view(parts, int(ubatches["tokens"][:i].sum()), tokens)
    held: dict[str, int] = {}
    for part in cut:
        held[str(part[0])] = held.get(str(part[0]), 0) + part[4]
    return [tokens, held]
