"""Rows of a JSON-lines trace, Mooncake's: timestamp [ms], input_length, output_length, hash_ids."""

from __future__ import annotations

import json
from array import array
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple, TextIO

import numpy as np

from sim.errors import ScenarioError, one_line
from sim.workload.columns import Columns, RowError
from sim.workload.headers import ARRIVAL, ARRIVAL_MS, OUTPUT, PROMPT, spelled
from sim.workload.trace import BLOCK_TOKENS

PIECE_ROWS = 8192
HASH_IDS = ("hashids",)
IN_MS = {"timestamp", "timestamps", *ARRIVAL_MS}
"""Names of times in milliseconds: Mooncake's `timestamp` is."""
NUMBERS = {int, float}


class Keys(NamedTuple):
    """Which key of an object is what; a time x `arrival_scale` is in seconds."""

    arrival: str
    arrival_scale: float
    prompt: str
    output: str
    hash_ids: str | None


class Row(NamedTuple):
    """One request as read, not yet checked."""

    arrival_s: float
    prompt_tokens: float
    output_tokens: float
    hash_ids: array[int]


def read_json_lines(first: str, text: TextIO, columns: Columns) -> None:
    """Read a file of one JSON object per line, of which `first` was read already.

    Raises
    ------
    ScenarioError
        If it is a JSON document instead.
    """
    if first.lstrip().startswith("["):
        raise ScenarioError("trace", f"{columns.name}, a JSON list", "JSON lines: one object per line")
    lines = chain([first], text)
    start = columns.line
    while piece := list(islice(lines, PIECE_ROWS)):
        _read_piece(piece, start, columns)
        start += len(piece)


def _read_piece(piece: list[str], start: int, columns: Columns) -> None:
    numbers = [number for number, line in enumerate(piece, start) if not line.isspace()]
    values = _values([piece[number - start] for number in numbers])
    if not _read_at_once(values, columns):
        _read_singly(values, numbers, columns)


def _read_at_once(values: list[Any], columns: Columns) -> bool:
    """Take values if all are objects of one kind and good; say whether they were."""
    try:
        if len(kinds := set(map(tuple, values))) != 1:
            return False
        keys = _keys(kinds.pop())
        cells = [[value[key] for value in values] for key in (keys.arrival, keys.prompt, keys.output)]
        lists = [value[keys.hash_ids] for value in values] if keys.hash_ids else [()] * len(values)
        ids, lengths = array("q", chain.from_iterable(lists)), list(map(len, lists))
        if not set(map(type, chain(*cells))) <= NUMBERS:
            return False
        arrivals, prompts, outputs = np.array(cells, np.float64)
    except (RowError, LookupError, TypeError, OverflowError):
        return False
    arrivals *= keys.arrival_scale
    if not columns.is_good(arrivals, prompts, outputs).all() or (np.array(lengths) > _most_hashes(prompts)).any():
        return False
    columns.add(arrivals, prompts, outputs)
    columns.add_hashes(ids, lengths)
    return True


def _read_singly(values: list[Any], numbers: list[int], columns: Columns) -> None:
    rows: list[tuple[int, Row]] = []
    for number, value in zip(numbers, values, strict=True):
        try:
            rows.append((number, _row(value)))
        except RowError as error:
            columns.reject(number, str(error))
    if not rows:
        return
    numbers_read = np.array([row[:3] for _, row in rows], np.float64).T
    good = columns.is_good(*numbers_read)
    columns.add(*numbers_read[:, good])
    for (number, row), is_good in zip(rows, good.tolist(), strict=True):
        if is_good:
            ids = row.hash_ids[: int(_most_hashes(row.prompt_tokens))]
            columns.add_hashes(ids, [len(ids)])
        else:
            _reject(number, row, columns)


def _most_hashes(prompt_tokens: Any) -> Any:
    """Blocks of a prompt: hashes beyond them are dropped."""
    return np.ceil(prompt_tokens / BLOCK_TOKENS)


def _reject(number: int, row: Row, columns: Columns) -> None:
    try:
        columns.check(*row[:3])
    except RowError as error:
        columns.reject(number, str(error))


def _values(lines: list[str]) -> list[Any]:
    """JSON value of each line: all at once if that goes, else one by one, a RowError for what is none."""
    try:
        values = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError):
        values = []
    return values if len(values) == len(lines) else [_value(line) for line in lines]


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return RowError(f"{one_line(line[:80])} is not JSON")


def _row(row: Any) -> Row:
    if type(row) is not dict:
        raise row if isinstance(row, RowError) else RowError(f"{one_line(row)} is not an object")
    keys = _keys(tuple(row))
    arrival_s = _number(row, keys.arrival) * keys.arrival_scale
    ids = _hash_ids(row[keys.hash_ids]) if keys.hash_ids else array("q")
    return Row(arrival_s, _number(row, keys.prompt), _number(row, keys.output), ids)


@lru_cache(maxsize=64)
def _keys(names: tuple[str, ...]) -> Keys:
    spellings = {spelled(name): name for name in reversed(names)}
    arrival = _key(spellings, (*ARRIVAL, *ARRIVAL_MS))
    return Keys(
        arrival,
        1e-3 if spelled(arrival) in IN_MS else 1.0,
        _key(spellings, PROMPT),
        _key(spellings, OUTPUT),
        next((spellings[name] for name in HASH_IDS if name in spellings), None),
    )


def _key(spellings: dict[str, str], wanted: tuple[str, ...]) -> str:
    for name in wanted:
        if name in spellings:
            return spellings[name]
    raise RowError(f"no {wanted[0]}")


def _number(row: dict[str, Any], key: str) -> float:
    value = row[key]
    if type(value) not in NUMBERS:
        raise RowError(f"{key} {one_line(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise RowError(f"{key} {one_line(value)} is too large") from None


def _hash_ids(value: Any) -> array[int]:
    try:
        return array("q", value or ())
    except (TypeError, OverflowError):
        raise RowError("hash_ids is not a list of whole numbers") from None
