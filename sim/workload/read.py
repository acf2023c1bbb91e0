"""Reads trace files: Azure CSV, BurstGPT CSV, plain CSV, Mooncake JSON lines; gzip too; bounded in every direction."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from functools import cache
from pathlib import Path

from sim.errors import ScenarioError
from sim.workload.columns import Columns
from sim.workload.csv_rows import read_csv
from sim.workload.json_rows import read_json_lines
from sim.workload.trace import Trace

MAX_BYTES = 20 * 10**6
MAX_UNPACKED_BYTES = 400 * 10**6
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_trace(data: bytes, name: str = "") -> Trace:
    """Trace from a file's bytes; its format is told by its content.

    Parameters
    ----------
    data : bytes
        At most 20 MB, or 400 MB unpacked, and 2,000,000 rows.
    name : str
        File name, for messages.

    Raises
    ------
    ScenarioError
        If it is too large, not a trace, or without a single usable row.

    Notes
    -----
    A row that cannot be used is rejected with its line and the reason; blank lines are ignored. Rows out of order are
    sorted. CSV needs a header that names prompt and output, and arrival unless only lengths are wanted. Delimiter is a
    comma, semicolon (then a comma is a decimal point) or tab. JSON lines give `timestamp` in ms, as Mooncake does.
    """
    name = name or "trace"
    if len(data) > MAX_BYTES:
        raise ScenarioError("trace", f"{name}, {len(data) / 1e6:.1f} MB", f"at most {MAX_BYTES // 10**6} MB")
    text = io.TextIOWrapper(io.BytesIO(_unpacked(data, name)), encoding=_encoding(data), newline="")
    columns = Columns(name)
    try:
        first = _skip_blank(text, columns)
        (read_json_lines if first.lstrip().startswith(("{", "[")) else read_csv)(first, text, columns)
    except UnicodeDecodeError:
        raise ScenarioError("trace", name, "text in UTF-8: CSV or JSON lines, plain or gzip") from None
    return columns.finish(hashlib.sha256(data).hexdigest())


@cache
def sample_trace() -> Trace:
    """The small trace that ships with the simulator: made by a script, not recorded."""
    path = Path(__file__).parent / "sample_trace.csv"
    return read_trace(path.read_bytes(), path.name)


def _encoding(data: bytes) -> str:
    return "utf-16" if data.startswith(_UTF16) else "utf-8-sig"


def _unpacked(data: bytes, name: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        unpacked = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MAX_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise ScenarioError("trace", name, "an undamaged gzip file") from None
    if len(unpacked) > MAX_UNPACKED_BYTES:
        raise ScenarioError("trace", name, f"at most {MAX_UNPACKED_BYTES // 10**6} MB when unpacked")
    return unpacked


def _skip_blank(text: io.TextIOWrapper, columns: Columns) -> str:
    for line in text:
        columns.line += 1
        if line.strip():
            return line
    raise ScenarioError("trace", f"{columns.name}, empty", "a file with a header and at least one request")
