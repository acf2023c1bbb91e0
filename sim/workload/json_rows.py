"""Rows of a JSON-lines trace, Mooncake's: timestamp [ms], input_length, output_length, hash_ids."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from itertools import chain
from typing import Any, TextIO

import numpy as np

from sim.errors import ScenarioError, one_line
from sim.workload.columns import Columns, RowError
from sim.workload.headers import ARRIVAL, ARRIVAL_MS, OUTPUT, PROMPT, spelled

KEPT_ROWS = 8192
IN_MS = {"timestamp", "timestamps", *ARRIVAL_MS}
"""Names of times in milliseconds: Mooncake's `timestamp` is."""


def read_json_lines(first: str, text: TextIO, columns: Columns) -> None:
    """Read a file of one JSON object per line, of which `first` was read already.

    Raises
    ------
    ScenarioError
        If it is a JSON document instead.
    """
    if first.lstrip().startswith("["):
        raise ScenarioError("trace", f"{columns.name}, a JSON list", "JSON lines: one object per line")
    rows: list[tuple[float, float, float]] = []
    columns.line -= 1
    for line in chain([first], text):
        columns.line += 1
        if line.strip():
            _read_line(line, columns, rows)
        if len(rows) == KEPT_ROWS:
            _hand_over(rows, columns)
    _hand_over(rows, columns)


def _hand_over(rows: list[tuple[float, float, float]], columns: Columns) -> None:
    if rows:
        columns.add(*np.array(rows, np.float64).T)
        rows.clear()


def _read_line(line: str, columns: Columns, rows: list[tuple[float, float, float]]) -> None:
    try:
        row = _object(line)
        arrival_s, prompt, output = _arrival_s(row), _number(row, PROMPT), _number(row, OUTPUT)
        columns.check(arrival_s, prompt, output)
        ids = _hash_ids(row)
    except RowError as error:
        columns.reject(columns.line, str(error))
        return
    rows.append((arrival_s, prompt, output))
    columns.add_hashes(ids, prompt)


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise RowError(f"{one_line(line[:80])} is not JSON") from None
    if not isinstance(value, dict):
        raise RowError(f"{one_line(line[:80])} is not an object")
    return {spelled(key): item for key, item in value.items()}


def _arrival_s(row: Mapping[str, Any]) -> float:
    name = next((name for name in (*ARRIVAL, *ARRIVAL_MS) if name in row), "")
    return _number(row, (name,)) * (1e-3 if name in IN_MS else 1.0)


def _number(row: Mapping[str, Any], names: tuple[str, ...]) -> float:
    name = next((name for name in names if name in row), None)
    if name is None:
        raise RowError(f"no {names[0] or 'arrival'}")
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowError(f"{name} {one_line(value)} is not a number")
    return float(min(max(value, -1e300), 1e300)) if isinstance(value, int) else value


def _hash_ids(row: Mapping[str, Any]) -> array[int]:
    try:
        return array("q", row.get("hashids") or [])
    except (TypeError, OverflowError):
        raise RowError("hash_ids is not a list of whole numbers") from None
