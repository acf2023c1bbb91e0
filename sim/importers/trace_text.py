"""Recorded workloads as pasted text: read as trace files are, and summed up."""

from __future__ import annotations

import numpy as np

from sim.importers.clean import decode
from sim.importers.reading import Draft
from sim.workload import Trace, read_trace
from sim.workload.headers import ARRIVAL, ARRIVAL_MS, DELIMITERS, OUTPUT, PROMPT, spelled

SHOWN_ROWS = 20

_COLUMNS = {*ARRIVAL, *ARRIVAL_MS, *PROMPT, *OUTPUT}


def looks_like_trace(data: bytes) -> bool:
    """Whether the first line is a header or row of a trace: then what is wrong with it is said as of a trace."""
    if data.startswith(b"\x1f\x8b"):
        return True
    lines = decode(data[:8000]).splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("{"):
        return '"input_length"' in first or '"hash_ids"' in first
    return max(sum(spelled(cell) in _COLUMNS for cell in first.split(mark)) for mark in DELIMITERS) >= 2


def read_trace_text(data: bytes, name: str, draft: Draft) -> Trace:
    """Read a trace into a draft.

    Raises
    ------
    ScenarioError
        If it is none.
    """
    trace = read_trace(data, name)
    draft.set("load", "trace")
    draft.set("trace", trace.sha256)
    draft.figure("rows", trace.rows)
    draft.figure("span_s", round(trace.span_s, 9))
    draft.figure("rejected_rows", trace.rejected_count)
    draft.figure("total_prompt_tokens", int(trace.prompt_tokens.sum(dtype=np.int64)))
    draft.figure("total_output_tokens", int(trace.output_tokens.sum(dtype=np.int64)))
    draft.understand(f"{trace.rows:,} requests over {trace.span_s:,.6g} s")
    for line, what in trace.repaired[:SHOWN_ROWS]:
        draft.repair(f"line {line}" if line else "the file", what)
    for line, why in trace.rejected[:SHOWN_ROWS]:
        draft.ignore(f"line {line}", why)
    if trace.rejected_count > SHOWN_ROWS:
        draft.warn(f"{trace.rejected_count:,} rows could not be used; the first {SHOWN_ROWS} are listed.")
    _note_sharing(trace, draft)
    return trace


def _note_sharing(trace: Trace, draft: Draft) -> None:
    """What an endless prefix cache would find: blocks seen before, of all blocks."""
    if trace.hash_ids is None:
        return
    blocks = int(trace.hash_ids.starts[-1])
    hits = blocks - len(np.unique(trace.hash_ids.nodes))
    draft.figure("prefix_blocks", blocks)
    draft.figure("ideal_hit_blocks", hits)
    draft.warn(
        f"{hits:,} of {blocks:,} blocks of 512 prompt tokens were there before: the most that a prefix cache can find."
    )
