"""What the runs of a page are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.form import text_of
from sim.scenario import Scenario, settings_of

NOTES = {
    ("batching", "static"): "waits for the slowest",
    ("batching", "continuous"): "joins at the next step",
    ("kv", "paged"): "blocks as they are needed",
    ("kv", "contiguous"): "reserves the longest context",
    ("prefill", "chunked"): "prompts between decodes",
    ("prefill", "whole"): "a prompt in one step",
}
TITLES = ("{} batching", "Same requests, two policies", "Same requests, three policies")


@dataclass(frozen=True, slots=True)
class Name:
    """What a run is called."""

    label: str
    note: str


def names_of(scenarios: Mapping[str, Scenario]) -> dict[str, Name]:
    """Each run is called after the value in which it differs: of one parameter if one tells them apart."""
    settings = {name: settings_of(scenario) for name, scenario in scenarios.items()}
    texts = {name: {key: text_of(value) for key, value in values.items()} for name, values in settings.items()}
    differing = [key for key in texts["a"] if len({values[key] for values in texts.values()}) > 1] or ["batching"]
    differing.sort(key=lambda key: key != "batching")
    telling = [key for key in differing if len({values[key] for values in texts.values()}) == len(texts)]
    keys = telling[:1] or differing
    return {name: _name([(key, values[key]) for key in keys]) for name, values in texts.items()}


def _name(pairs: list[tuple[str, str]]) -> Name:
    label = ", ".join(value if (key, value) in NOTES else f"{key} {value}" for key, value in pairs)
    return Name(label[:1].upper() + label[1:], NOTES.get(pairs[0], "") if len(pairs) == 1 else "")


def title_of(names: Mapping[str, Name]) -> str:
    """Heading of the timeline."""
    return TITLES[len(names) - 1].format(names["a"].label)


def subtitle_of(scenarios: Mapping[str, Scenario]) -> str:
    """How the timeline is read."""
    return f"{scenarios['a'].server.max_num_seqs} slots · a row is a slot · a bar is a request · width is time"
