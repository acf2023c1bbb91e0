"""What a run comes to, as JSON."""

from __future__ import annotations

import orjson

from sim.report import request_columns, requests_csv, summary_of
from sim.run import Run

__all__ = ["request_columns", "requests_csv", "summary_json", "summary_of"]


def summary_json(run: Run, with_requests: bool = False) -> bytes:
    """Summary as JSON."""
    return orjson.dumps(summary_of(run, with_requests), option=orjson.OPT_SERIALIZE_NUMPY)
