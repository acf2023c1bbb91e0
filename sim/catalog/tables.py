"""Reads a TOML table of the catalogue and finds entries by id or alias."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from sim.errors import ScenarioError


class Entry(Protocol):
    """What the finder needs of an entry."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def aliases(self) -> tuple[str, ...]: ...  # noqa: D102


def read_table(name: str) -> dict[str, dict[str, Any]]:
    """Rows of a table of this folder by id, in the order of the file."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def names_of(entries: Mapping[str, Entry]) -> dict[str, str]:
    """Id of every id, name and alias, all in lower case; an id wins over a name, a name over an alias."""
    names: dict[str, str] = {}
    for spellings in (lambda e: e.aliases, lambda e: (e.name,), lambda e: (e.id,)):
        names |= {spelling.lower(): entry.id for entry in entries.values() for spelling in spellings(entry)}
    return names


def unknown(field: str, name: str, ids: Mapping[str, Entry]) -> ScenarioError:
    """Refusal that puts the closest ids first."""
    close = get_close_matches(name.lower(), ids, n=3, cutoff=0.5)
    return ScenarioError(field, name, "one of " + ", ".join([*close, *(i for i in ids if i not in close)]))
