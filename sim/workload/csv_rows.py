"""Rows of a CSV trace: a column of many rows at once, and singly those rows that need a second look."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from math import nan
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from sim.errors import ScenarioError, one_line
from sim.workload.columns import LISTED, Columns, RowError
from sim.workload.headers import Header, read_header

PIECE_ROWS = 32_768
ROWS_TO_TELL_DATES = 9
FIRST_DATE, LAST_DATE = "1900", "2200"
"""Years that a clock in nanoseconds can hold, with room."""

Floats = NDArray[np.float64]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?", re.ASCII)
_DATES = re.compile(rf"(?:{_DATE.pattern}\n)*{_DATE.pattern}", re.ASCII)
_UTC = re.compile(r"(?:Z|\+00:?00)[ \t]*$", re.MULTILINE)


class _Reader:
    """Turns cells into numbers for one file."""

    def __init__(self, header: Header, columns: Columns) -> None:
        self.header, self.columns = header, columns
        self.needed = max(header.arrival, header.prompt, header.output) + 1
        self.epoch: np.datetime64 | None = None

    def read(self, rows: Sequence[list[str]], lines: Sequence[int]) -> None:
        """Take the good rows; say why the others are not."""
        cells = list(zip(*rows, strict=False))
        if len(cells) < self.needed:
            padding = [""] * self.needed
            cells = list(zip(*((row + padding)[: self.needed] for row in rows), strict=True))
        values = np.stack([self._times(cells), *(self._counts(cells[i]) for i in self._lengths)])
        good = self.columns.is_good(*values)
        for i in np.flatnonzero(~good).tolist():
            good[i] = self._look_again(rows[i], lines[i], values[:, i])
        self.columns.add(*values[:, good])

    @property
    def _lengths(self) -> tuple[int, int]:
        return self.header.prompt, self.header.output

    def _times(self, cells: list[tuple[str, ...]]) -> Floats:
        if self.header.arrival < 0:
            return np.zeros(len(cells[0]))
        column = cells[self.header.arrival]
        if self.columns.is_dated:
            return self._dates(column)
        return _floats(self._with_points(_joined(column), is_time=True)) * self.header.arrival_scale

    def _counts(self, column: Sequence[str]) -> Floats:
        return _floats(self._with_points(_joined(column), is_time=False))

    def _with_points(self, text: str, *, is_time: bool) -> str:
        """Numbers without thousands separators and with decimal points; commas are decimal if they do not delimit."""
        if "," not in text:
            return text
        is_decimal_comma = self.header.delimiter == ";"
        if not (is_time and is_decimal_comma):
            text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
        return text.replace(",", ".") if is_decimal_comma else text

    def _dates(self, column: Sequence[str]) -> Floats:
        """Seconds from the file's first date, exact to the nanosecond; nan where there is none."""
        text = _joined(column)
        if "Z" in text or "+" in text:
            text = _UTC.sub("", text)
        cells = text.split("\n")
        if not _DATES.fullmatch(text):
            cells = [cell if _DATE.fullmatch(cell) else "NaT" for cell in map(str.strip, cells)]
        cells = [cell if FIRST_DATE <= cell < LAST_DATE else "NaT" for cell in cells]
        try:
            times = np.array(cells, "datetime64[ns]")
        except ValueError:
            times = np.array([_date(cell) for cell in cells])
        if self.epoch is None and not np.isnat(times).all():
            self.epoch = times[~np.isnat(times)][0]
        return np.where(np.isnat(times), nan, (times - self.epoch).astype(np.int64) / 1e9)

    def _look_again(self, row: list[str], line: int, values: Floats) -> bool:
        """Read one row cell by cell into `values`; say whether it can be used, and note why not unless it is blank."""
        text = "".join(row).strip()
        if not text:
            return False
        if text.isascii() and self.columns.rejected_count >= LISTED:
            self.columns.reject(line, "")
            return False
        try:
            values[:] = self._row(row, line, values[0])
        except RowError as error:
            self.columns.reject(line, str(error))
            return False
        return True

    def _row(self, row: list[str], line: int, time_s: float) -> tuple[float, float, float]:
        if len(row) < self.needed:
            raise RowError(f"{len(row)} of {self.needed} columns")
        if self.header.arrival >= 0:
            time_s = self._time(row[self.header.arrival], line, time_s)
        prompt, output = (self._number(row[i], line, is_time=False) for i in self._lengths)
        self.columns.check(time_s, prompt, output)
        return time_s, prompt, output

    def _time(self, cell: str, line: int, time_s: float) -> float:
        if not self.columns.is_dated:
            return self._number(cell, line, is_time=True) * self.header.arrival_scale
        if np.isnan(time_s):
            raise RowError(f"{one_line(cell)} is not a date and time")
        return time_s

    def _number(self, cell: str, line: int, *, is_time: bool) -> float:
        text = unicodedata.normalize("NFKC", cell.strip())
        text = self._with_points(text, is_time=is_time)
        if not _NUMBER.fullmatch(text):
            raise RowError(f"{one_line(cell)} is not a number")
        if not cell.isascii():
            self.columns.repair(line, f"{one_line(cell)} is read as {text}")
        return float(text)


def read_csv(first: str, text: TextIO, columns: Columns) -> None:
    """Read the rest of a CSV file whose first line is `first`.

    Raises
    ------
    ScenarioError
        If the header names no prompt and output, or the file is not CSV.
    """
    header = read_header(first, columns.name)
    reader = _Reader(header, columns)
    if header.arrival < 0:
        columns.repair(0, "no column of arrivals: all arrive at 0")
    try:
        for rows, lines in _pieces(csv.reader(text, delimiter=header.delimiter), columns):
            if not columns.count:
                columns.is_dated = any(_has_date(row, header.arrival) for row in rows[:ROWS_TO_TELL_DATES])
            reader.read(rows, lines)
    except csv.Error as error:
        raise ScenarioError("trace", f"{columns.name}, after line {columns.line}: {error}", "CSV") from None


def _has_date(row: list[str], column: int) -> bool:
    return 0 <= column < len(row) and _DATE.match(row[column].strip()) is not None


def _pieces(reader: Iterator[list[str]], columns: Columns) -> Iterator[tuple[list[list[str]], Sequence[int]]]:
    """Rows that are not blank, with the line of each."""
    for first in reader:
        rows = [first, *islice(reader, PIECE_ROWS - 1)]
        lines: Sequence[int] = range(columns.line + 1, columns.line + 1 + len(rows))
        columns.line += len(rows)
        if not all(rows):
            kept = [(row, line) for row, line in zip(rows, lines, strict=True) if row]
            rows, lines = [row for row, _ in kept], [line for _, line in kept]
        if rows:
            yield rows, lines


def _joined(column: Sequence[str]) -> str:
    """A column as text, one cell a line, so that it can be searched and cleaned at once."""
    text = "\n".join(column)
    return text if text.count("\n") < len(column) else "\n".join(cell.replace("\n", " ") for cell in column)


def _floats(text: str) -> Floats:
    """Numbers, one a line; nan where it is none, or none in plain digits."""
    cells = text.split("\n")
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        numbers = np.fromiter(map(_float, cells), np.float64, len(cells))
    if not text.isascii() or "_" in text:
        numbers[[not cell.isascii() or "_" in cell for cell in cells]] = nan
    return numbers


def _float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return nan


def _date(cell: str) -> np.datetime64:
    try:
        return np.datetime64(cell, "ns")
    except ValueError:
        return np.datetime64("NaT", "ns")
