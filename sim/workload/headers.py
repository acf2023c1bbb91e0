"""Which column of a file is what, by its name."""

from __future__ import annotations

import csv
from typing import NamedTuple

from sim.errors import ScenarioError

ARRIVAL = (
    "arrival", "arrivals", "arrivaltime", "arrivaltimes", "arrivaltimestamp", "timestamp", "timestamps",
    "time", "times", "start", "starttime", "starttimes", "ts", "t",
)  # fmt: skip
ARRIVAL_MS = ("arrivalms", "arrivaltimems", "timestampms", "timems", "startms", "starttimems")
PROMPT = (
    "prompt", "prompttokens", "promptlen", "promptlength", "numprompttokens", "prefilltokens", "numprefilltokens",
    "input", "inputs", "inputtokens", "inputlen", "inputlength", "numinputtokens", "isl",
    "context", "contexttokens", "request", "requesttokens",
)  # fmt: skip
OUTPUT = (
    "output", "outputs", "outputtokens", "outputlen", "outputlength", "numoutputtokens", "osl",
    "decodetokens", "numdecodetokens", "generated", "generatedtokens", "completion", "completiontokens",
    "response", "responsetokens",
)  # fmt: skip
DELIMITERS = ",;\t"


class Header(NamedTuple):
    """Where the three columns are; arrival is -1 if the file has none. A cell x `arrival_scale` is in seconds."""

    delimiter: str
    arrival: int
    prompt: int
    output: int
    arrival_scale: float


def read_header(line: str, file_name: str) -> Header:
    """Header of a CSV file, whatever its delimiter, case and spelling (`arrival_s` is read as `Arrival s` is).

    Raises
    ------
    ScenarioError
        If it does not name a prompt and an output column.
    """
    headers = [_header(line, delimiter) for delimiter in DELIMITERS]
    best = max(headers, key=lambda h: (h.prompt >= 0) + (h.output >= 0) + (h.arrival >= 0))
    if best.prompt < 0 or best.output < 0:
        allowed = "a header line that names arrival_s, prompt_tokens and output_tokens (or the like)"
        raise ScenarioError("trace", f"{file_name}, header {line.strip()[:60]}", allowed)
    return best


def spelled(name: str) -> str:
    """A column's name without case, spaces and punctuation."""
    return "".join(character for character in name.lower() if character.isalnum())


def _header(line: str, delimiter: str) -> Header:
    names = [spelled(cell) for cell in next(csv.reader([line], delimiter=delimiter), [])]
    seconds, milliseconds = _find(names, ARRIVAL), _find(names, ARRIVAL_MS)
    return Header(
        delimiter,
        seconds if seconds >= 0 else milliseconds,
        _find(names, PROMPT),
        _find(names, OUTPUT),
        1.0 if seconds >= 0 else 1e-3,
    )


def _find(names: list[str], spellings: tuple[str, ...]) -> int:
    return next((names.index(spelling) for spelling in spellings if spelling in names), -1)
