"""What was read of a pasted text: the result, and the draft that readers write into."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sim.errors import ScenarioError
from sim.parameters import BY_NAME
from sim.values import read_value, write_value

ENGINE_NAMES = {"vllm": "vLLM", "sglang": "SGLang", "llama-server": "llama-server", "tensorrt-llm": "TensorRT-LLM"}
MOST_NOTES = 200
"""Entries of one list of a reading; a paste that has more is not helped by them."""

LONGEST_NOTE = 200
"""Characters of an entry."""


class PasteKind(StrEnum):
    """What a text is, by what it tells most."""

    SERVE_COMMAND = "serve_command"
    SERVER_LOG = "server_log"
    BENCH_RESULT = "bench_result"
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class Reading:
    """A pasted text as read.

    Notes
    -----
    `params` holds parameters of `PARAMETERS` and, under their engine's own names, knobs of an engine. `figures` is what
    the text reports: sizes in tokens, blocks or GiB, latencies as {"mean", "p50", "p99", …} in ms, lists where a log
    has samples; shares are 0 to 1. What the text does not say is absent. `engine` is the engine that the text names, ''
    if it names none.
    """

    kind: PasteKind
    engine: str
    params: dict[str, Any]
    figures: dict[str, Any]
    understood: tuple[str, ...]
    ignored: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]
    repaired: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values, as the command line and the API give them."""
        return {
            "kind": str(self.kind),
            **({"engine": self.engine} if self.engine else {}),
            "params": self.params,
            "figures": self.figures,
            "understood": list(self.understood),
            "ignored": [{"what": what, "why": why} for what, why in self.ignored],
            "unknown": list(self.unknown),
            "repaired": [{"from": before, "to": after} for before, after in self.repaired],
            "warnings": list(self.warnings),
        }


@dataclass(slots=True)
class Draft:
    """A reading under way. Its methods are the only way in, so that nothing read is dropped without a word.

    `load` collects what a benchmark's command or result says of the requests, until `settle_load` reads it as a whole.
    """

    engine: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    understood: list[str] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    repaired: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    load: dict[str, Any] = field(default_factory=dict)

    def set(self, name: str, value: Any, said: str = "") -> None:
        """Set a parameter that the text `said`; one out of range is reported as ignored.

        A parameter that is not of `PARAMETERS` is an engine's own and taken as it is.
        """
        if name in BY_NAME:
            try:
                value = write_value(BY_NAME[name], read_value(BY_NAME[name], value))
            except ScenarioError as error:
                self.ignore(said or f"{name} {value}", f"{error.field} takes {error.allowed}")
                return
        before = self.params.get(name)
        if before is not None and before != value:
            self.warn(f"{name} is given as {before} and as {value}: the later one, {value}, is taken.")
        self.params[name] = value
        if said:
            shown = str(value).lower() if isinstance(value, bool) else value
            self.understand(said if said.startswith(f"{name} = ") else f"{said} → {name} = {shown}")

    def figure(self, name: str, value: float | str | list[Any] | dict[str, float]) -> None:
        """Note a figure that the text reports; what is not finite is left out."""
        if isinstance(value, float):
            if not math.isfinite(value):
                return
            value = int(value) if value.is_integer() and abs(value) < 2**53 else value
        if isinstance(value, int) and abs(value) >= 2**53:
            return
        self.figures[name] = value

    def latency(self, name: str, statistic: str, value_ms: float) -> None:
        """Note a mean or percentile of a latency [ms]."""
        if math.isfinite(value_ms):
            self.figures.setdefault(name, {})[statistic] = value_ms

    def understand(self, what: str) -> None:
        """Note a part of the text that had its effect."""
        _add(self.understood, _short(what))

    def ignore(self, what: str, why: str) -> None:
        """Note a part of the text that is known and has no effect here."""
        _add(self.ignored, (_short(what), why))

    def not_known(self, what: str) -> None:
        """Note a part of the text that nothing is known about."""
        _add(self.unknown, _short(what))

    def repair(self, before: str, after: str) -> None:
        """Note what was read as something else than what is written."""
        _add(self.repaired, (_short(before), _short(after)))

    def warn(self, text: str) -> None:
        """Note what the reader of the result should know."""
        _add(self.warnings, text)

    def finish(self, kind: PasteKind) -> Reading:
        """The reading, which no longer changes."""
        return Reading(
            kind=kind,
            engine=self.engine,
            params=dict(self.params),
            figures=dict(self.figures),
            understood=tuple(self.understood),
            ignored=tuple(self.ignored),
            unknown=tuple(self.unknown),
            repaired=tuple(self.repaired),
            warnings=tuple(self.warnings),
        )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_NOTE else line[: LONGEST_NOTE - 1] + "…"


def _add(entries: list[Any], entry: Any) -> None:
    if entry not in entries and len(entries) < MOST_NOTES:
        entries.append(entry)
