"""What a comparison with a recorded trace says."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one trace compared: equal, or the first difference in words."""

    path: str
    steps: int
    fields: int
    difference: str | None


def short(value: object) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) < 200 else text[:200] + " …"
