"""Rows of a long table of tests: some run always, the others with --all."""

from collections.abc import Iterable
from typing import Any

import pytest


def some_always(rows: Iterable[Any], every: int) -> list[Any]:
    """Every so manieth row always, beginning with the first; the others marked thorough."""
    return [row if i % every == 0 else _further(row) for i, row in enumerate(rows)]


def _further(row: Any) -> Any:
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.thorough)
