"""A reading as lines of text, for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sim.importers.playable import playable
from sim.importers.reading import Reading
from sim.importers.verdict import verdict_of

SHOWN_SAMPLES = 6


def lines_of(reading: Reading) -> Iterator[str]:
    """What was read, section by section, ending with the verdict."""
    played = playable(reading)
    yield f"{reading.kind}{f', engine {reading.engine}' if reading.engine else ''}"
    sections = (
        ("understood", reading.understood),
        ("repaired", tuple(f"{before} → {after}" for before, after in reading.repaired)),
        ("ignored", tuple(f"{what}: {why}" for what, why in reading.ignored)),
        ("unknown", reading.unknown),
        ("figures", tuple(f"{name}: {_shown(value)}" for name, value in reading.figures.items())),
        ("note", (*reading.warnings, *played.notes)),
        ("scenario", tuple(f"--set {name}={_text(value)}" for name, value in played.settings.items())),
    )
    for title, entries in sections:
        yield from (f"  {title:10} {entry}" for entry in entries)
    yield verdict_of(reading, played)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:,.6g}" for name, number in value.items())
    if isinstance(value, list):
        shown = ", ".join(f"{number:,.6g}" for number in value[:SHOWN_SAMPLES])
        return shown + (f", … ({len(value)} samples)" if len(value) > SHOWN_SAMPLES else "")
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
