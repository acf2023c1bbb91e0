"""Reads the words of a command by a table of flags: one row a flag, one reader for all tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

from sim.importers.quantities import read_count, read_number, read_switch
from sim.importers.reading import Draft

Effect = Callable[[Draft, str, str], None]
"""What a flag does: (draft, its value, the flag as written)."""


class Arity(IntEnum):
    """How many words follow a flag."""

    SWITCH = 0
    ONE = 1
    MANY = 2


@dataclass(frozen=True, slots=True)
class Flag:
    """One row: names without their dashes, the first being the engine's own; what it takes; what it does.

    `why` says of a flag without effect why it has none.
    """

    names: tuple[str, ...]
    arity: Arity
    effect: Effect | None = None
    why: str = ""


def sets(name: str, parameter: str, read: Callable[[str], Any] = read_count, *aliases: str) -> Flag:
    """Row of a flag whose value is a parameter's."""

    def effect(draft: Draft, text: str, said: str) -> None:
        draft.set(parameter, read(text), said)

    return Flag((name, *aliases), Arity.ONE, effect)


def notes(name: str, figure: str, read: Callable[[str], Any], *aliases: str) -> Flag:
    """Row of a flag whose value is noted and does not change what is simulated."""

    def effect(draft: Draft, text: str, said: str) -> None:
        draft.figure(figure, read(text))
        draft.understand(said)

    return Flag((name, *aliases), Arity.ONE, effect)


def switches(name: str, parameter: str, on: Any, off: Any, *aliases: str) -> Flag:
    """Row of a switch that puts a parameter to one of two values."""

    def effect(draft: Draft, text: str, said: str) -> None:
        draft.set(parameter, on if read_switch(text) else off, said)

    return Flag((name, *aliases), Arity.SWITCH, effect)


def does(name: str, effect: Effect, *aliases: str, arity: Arity = Arity.ONE) -> Flag:
    """Row of a flag with an effect of its own."""
    return Flag((name, *aliases), arity, effect)


def without_effect(why: str, arity: Arity, names: str) -> tuple[Flag, ...]:
    """Rows of flags that are known and change nothing here; a row's aliases are joined by a bar."""
    return tuple(Flag(tuple(row.split("|")), arity, why=why) for row in names.split())


class Resolved(NamedTuple):
    """A flag that was recognised: its full name, its row, and whether it is the `--no-` of a switch."""

    name: str
    row: Flag
    is_negated: bool


@dataclass(frozen=True)
class FlagTable:
    """The flags of one program, and what a word that is no flag's value does."""

    program: str
    rows: tuple[Flag, ...]
    positional: Effect | None = None

    @cached_property
    def by_name(self) -> Mapping[str, Flag]:
        """Row of every name."""
        return {name: row for row in self.rows for name in row.names}

    def resolve(self, name: str) -> Resolved | None:
        """What a name without its dashes stands for; None if it is not known or could be several."""
        if name in self.by_name:
            return Resolved(name, self.by_name[name], is_negated=False)
        row = self.by_name.get(name.removeprefix("no-")) if name.startswith("no-") else None
        if row and row.arity is Arity.SWITCH:
            return Resolved(name, row, is_negated=True)
        matches = self.beginning_with(name)
        return Resolved(matches[0], self.by_name[matches[0]], is_negated=False) if len(matches) == 1 else None

    def beginning_with(self, name: str) -> list[str]:
        """Names that a beginning may stand for, one for each row."""
        if len(name) < SHORTEST_BEGINNING:
            return []
        rows = [row for row in self.rows if any(full.startswith(name) for full in row.names)]
        return [next(full for full in row.names if full.startswith(name)) for row in rows]


UNKNOWN = Flag((), Arity.ONE)
SHORTEST_BEGINNING = 4
"""Letters from which on a beginning may stand for a whole name."""
LONGEST_WORD = 300
"""Characters from which on a word is not looked at for a flag that sticks to it."""
SHORT = 4
"""Letters up to which a name may follow a single dash."""

_GLUED = re.compile(r"(?P<value>\S*?[^-\s])(?P<flag>--[A-Za-z][\w-]*)(?P<rest>=.*)?")
_FLAG = re.compile(r"(?P<dashes>--?)(?P<name>[A-Za-z][\w-]*)(?P<dot>(?:\.[\w.-]+)?)(?:=(?P<value>.*))?", re.DOTALL)


def read_flags(words: Iterable[str], table: FlagTable, draft: Draft) -> None:
    """Read the words of a command after its program's name into the draft.

    Notes
    -----
    Said as repairs: a value and a flag without a blank between, underscores in a name, one dash for two, the beginning
    of a name. A name that could mean several flags is unknown, never guessed.
    """
    pending = list(unglued(words, table, draft))
    at = 0
    while at < len(pending):
        word, at = pending[at], at + 1
        found = _FLAG.fullmatch(word)
        if not found:
            _positional(word, table, draft)
            continue
        resolved = _resolved(found, table, draft)
        values, at = _values(found, resolved.row if resolved else UNKNOWN, pending, at)
        if resolved:
            _apply(found, resolved, values, draft)
        else:
            draft.not_known(" ".join([word.partition("=")[0], *values]))


def unglued(words: Iterable[str], table: FlagTable, draft: Draft) -> Iterator[str]:
    """Words, with a known flag that sticks to the value before it taken off."""
    for word in words:
        found = _GLUED.fullmatch(word) if len(word) < LONGEST_WORD else None
        if found and table.resolve(_name(found["flag"].lstrip("-"))):
            flag = found["flag"] + (found["rest"] or "")
            draft.repair(word, f"{found['value']} {flag}")
            yield from (found["value"], flag)
        else:
            yield word


def _resolved(found: re.Match[str], table: FlagTable, draft: Draft) -> Resolved | None:
    written, dashes = found["name"], found["dashes"]
    resolved = table.resolve(written) or table.resolve(_name(written))
    if resolved is None:
        several = table.beginning_with(_name(written))
        if several:
            draft.warn(f"{dashes}{written} could mean " + " or ".join(f"--{name}" for name in several) + ".")
        return None
    if written != resolved.name or (dashes == "-" and len(written) > SHORT):
        draft.repair(f"{dashes}{written}", f"--{resolved.name}")
    return resolved


def _values(found: re.Match[str], row: Flag, words: list[str], at: int) -> tuple[list[str], int]:
    if found["value"] is not None:
        values, most = [found["value"]], 1
    else:
        values, most = [], (1 if row.arity is not Arity.MANY else 10_000)
    while at < len(words) and len(values) < most and not _is_flag(words[at]):
        if row.arity is Arity.SWITCH and words[at].lower() not in ("true", "false"):
            break
        values.append(words[at])
        at += 1
    return values, at


def _apply(found: re.Match[str], resolved: Resolved, values: list[str], draft: Draft) -> None:
    row = resolved.row
    said = " ".join([f"{found['dashes']}{found['name']}{found['dot']}", *values])
    if row.effect is None:
        draft.ignore(said, row.why)
        return
    if row.arity is Arity.SWITCH:
        try:
            is_on = read_switch(values[0]) if values else True
        except ValueError as error:
            draft.ignore(said, str(error))
            return
        row.effect(draft, "true" if is_on != resolved.is_negated else "false", said)
    elif not values:
        draft.ignore(said, "no value follows it")
    else:
        value = " ".join(values)
        if found["dot"]:
            value = f'{{"{found["dot"][1:]}": {value if _is_json(value) else _quoted(value)}}}'
        try:
            row.effect(draft, value, said)
        except ValueError as error:
            draft.ignore(said, str(error))


def _positional(word: str, table: FlagTable, draft: Draft) -> None:
    if table.positional is None or "model" in draft.figures:
        draft.not_known(word)
    else:
        table.positional(draft, word, word)


def _is_flag(word: str) -> bool:
    return _FLAG.fullmatch(word) is not None


def _name(written: str) -> str:
    return written.replace("_", "-").lower()


def _is_json(value: str) -> bool:
    return value in ("true", "false", "null") or _is_number(value)


def _is_number(value: str) -> bool:
    try:
        read_number(value)
    except ValueError:
        return False
    return value.lower().lstrip("+-") not in ("inf", "infinity")


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
