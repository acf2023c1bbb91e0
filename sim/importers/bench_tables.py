"""The tables that AIPerf and GuideLLM print."""

from __future__ import annotations

import re

from sim.importers.bench_console import statistic_name
from sim.importers.quantities import read_plain
from sim.importers.reading import Draft

AIPERF_MS = {
    "time to first token": "ttft_ms",
    "time to second token": "ttst_ms",
    "inter token latency": "itl_ms",
    "request latency": "e2e_ms",
}
AIPERF_FIGURES = {
    "request throughput": "requests_per_s",
    "output token throughput": "output_tokens_per_s",
    "request count": "requests",
    "output sequence length": "mean_output_tokens",
    "input sequence length": "mean_prompt_tokens",
    "benchmark duration": "duration_s",
}
_BORDERS = re.compile(r"[│┃|]")
_UNIT = re.compile(r"\s*\(([^)]*)\)\s*$")
TO_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "sec": 1e3, "seconds": 1e3}


def read_aiperf_table(text: str, draft: Draft) -> bool:
    """Read AIPerf's or GenAI-Perf's table; say whether there was one."""
    statistics: list[str] = []
    found = False
    for cells in _rows(text):
        if cells[0].lower() in ("metric", "statistic"):
            statistics = [statistic_name(cell) for cell in cells[1:]]
        elif statistics:
            found = _read_aiperf_row(cells, statistics, draft) or found
    return found


def _read_aiperf_row(cells: list[str], statistics: list[str], draft: Draft) -> bool:
    unit = _UNIT.search(cells[0])
    name = _UNIT.sub("", cells[0]).strip().lower()
    values = {
        statistic: value
        for statistic, cell in zip(statistics, cells[1:], strict=False)
        if (value := _number(cell)) is not None
    }
    if name in AIPERF_MS:
        for statistic, value in values.items():
            draft.latency(AIPERF_MS[name], statistic, value * TO_MS.get(unit[1] if unit else "ms", 1.0))
    elif name in AIPERF_FIGURES and "mean" in values:
        draft.figure(AIPERF_FIGURES[name], values["mean"])
    else:
        return False
    draft.understand(cells[0])
    return True


def read_guidellm_table(text: str, draft: Draft) -> bool:
    """Read GuideLLM's statistics, of its first benchmark; say whether there were any.

    One wide table with mean, median and p99, or, since version 0.4, several tables with median and p95. The lines above
    the first row of numbers are headings: an empty cell belongs to the heading at its left.
    """
    headings: list[list[str]] = []
    is_heading, read = False, set[str]()
    for cells in _rows(text):
        if not _has_numbers(cells):
            headings = [*(headings if is_heading else []), _filled(cells)]
            is_heading = True
            continue
        is_heading = False
        if headings and headings[0][0] in ("Metadata", "Benchmark"):
            _read_guidellm_row(cells, headings, read, draft)
    return bool(read)


def _read_guidellm_row(cells: list[str], headings: list[list[str]], read: set[str], draft: Draft) -> None:
    table = " ".join(headings[0])
    if table in read:
        draft.warn("The table has several benchmarks; the figures are those of the first.")
        return
    is_used = False
    for place, cell in enumerate(cells[1:], 1):
        value = _number(cell)
        heading = " ".join(row[min(place, len(row) - 1)] for row in headings).lower()
        is_used = (value is not None and _note_guidellm(heading, value, draft)) or is_used
    if is_used:
        read.add(table)
        draft.load.setdefault("tool", "guidellm")
        draft.understand(f"GuideLLM's table of {cells[0]}")


def _note_guidellm(heading: str, value: float, draft: Draft) -> bool:
    """Note a cell by its heading, such as "ttft (ms) median"; say whether the heading is known."""
    statistic = statistic_name(heading.rsplit(maxsplit=1)[-1])
    latency = next((name for name in ("ttft", "tpot", "itl") if heading.startswith(name)), "")
    if latency:
        draft.latency(f"{latency}_ms", statistic, value)
    elif "latency" in heading:
        draft.latency("e2e_ms", statistic, value * 1000)  # in seconds, though older headings say ms
    else:
        figure = next((name for start, part, name in _GUIDELLM if heading.startswith(start) and part in heading), "")
        if not figure or (statistic == "p50" and figure in draft.figures):
            return False
        draft.figure(figure, value)
    return True


_GUIDELLM = (
    ("request", "concurrency", "concurrency"),
    ("request", "per sec", "requests_per_s"),
    ("out tok/sec", "", "output_tokens_per_s"),
    ("output tokens", "per sec", "output_tokens_per_s"),
    ("tot tok/sec", "", "total_tokens_per_s"),
    ("total tokens", "per sec", "total_tokens_per_s"),
)
"""Figures by how a heading begins and what else it has."""


def _filled(cells: list[str]) -> list[str]:
    filled: list[str] = []
    for cell in cells:
        filled.append(cell or (filled[-1] if filled else ""))
    return filled


def _rows(text: str) -> list[list[str]]:
    """Cells of each line that has at least two borders."""
    rows = []
    for line in text.split("\n"):
        inner = line.strip()
        if len(_BORDERS.findall(inner)) >= 2 and not re.fullmatch(r"[|=+\-─━┼╇\s]+", inner):
            rows.append([cell.strip() for cell in _BORDERS.split(inner.strip("|│┃"))])
    return [row for row in rows if row]


def _has_numbers(cells: list[str]) -> bool:
    return any(_number(cell) is not None for cell in cells[1:])


def _number(cell: str) -> float | None:
    try:
        return read_plain(cell)
    except ValueError:
        return None
