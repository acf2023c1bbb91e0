"""Lengths of recorded requests as tables of quantiles, computed by scripts/trace_tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from sim.catalog.tables import read_table


@dataclass(frozen=True, slots=True)
class LengthTable:
    """What was computed of one recorded workload.

    Notes
    -----
    `prompt`, `added` and `output` are lengths [tokens] at `levels` (shares from 0 to 1). `added` is what of a prompt no
    earlier prompt began with; without prefix hashes it is the prompt. `output_by_prompt` are the outputs of the thirds
    of the requests by prompt, shortest first. `rate_rps` [requests/s], `burstiness` (gamma shape; None: unknown) and
    `ideal_hit_share` (of prompt blocks, by a cache without end; None: unknown) describe the file.
    """

    id: str
    name: str
    authors: str
    licence: str
    source: str
    levels: tuple[float, ...]
    prompt: tuple[int, ...]
    added: tuple[int, ...]
    output: tuple[int, ...]
    output_by_prompt: tuple[tuple[int, ...], ...]
    requests: int
    span_s: float
    rate_rps: float
    burstiness: float | None
    mean_prompt_tokens: float
    mean_output_tokens: float
    ideal_hit_share: float | None


@cache
def load_lengths() -> Mapping[str, LengthTable]:
    """All tables by id, in the order of the file."""
    rows: dict[str, Any] = dict(read_table("lengths.toml"))
    levels = tuple(map(float, rows.pop("levels")))
    return MappingProxyType({name: _table(name, row, levels) for name, row in rows.items()})


def _table(name: str, row: Mapping[str, Any], levels: tuple[float, ...]) -> LengthTable:
    return LengthTable(
        id=name,
        levels=levels,
        prompt=tuple(row["prompt"]),
        added=tuple(row.get("added", row["prompt"])),
        output=tuple(row["output"]),
        output_by_prompt=tuple(map(tuple, row["output_by_prompt"])),
        burstiness=row.get("burstiness"),
        ideal_hit_share=row.get("ideal_hit_share"),
        **{key: row[key] for key in ("name", "authors", "licence", "source", "requests", "span_s", "rate_rps")},
        **{key: row[key] for key in ("mean_prompt_tokens", "mean_output_tokens")},
    )
