"""Numbers as engines and benchmarks write them."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_COUNT = re.compile(r"(-?\d[\d_]{0,18})(\.\d{1,9})?([kmgtKMGT])?", re.ASCII)
_NUMBER = re.compile(r"-?(?:\d[\d_]{0,18}\.?\d{0,18}|\.\d{1,18})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_ENDLESS = ("inf", "infinity", "+inf")


def read_count(text: str) -> int:
    """Whole number as vLLM reads one: 1k is 1,000, 1K is 1,024, 25.6k is 25,600.

    Raises
    ------
    ValueError
        If it is none.

    References
    ----------
    vLLM, vllm/engine/arg_utils.py, human_readable_int.
    """
    found = _COUNT.fullmatch(text.strip())
    if not found or (found[2] and (found[3] or "x") not in "kmgt"):
        raise ValueError(f"{text} is not a whole number")
    return round(float(found[1] + (found[2] or "")) * _SUFFIXES[found[3]]) if found[3] else int(found[1])


def read_number(text: str) -> float:
    """Number, or infinity.

    Raises
    ------
    ValueError
        If it is none.
    """
    word = text.strip().lower()
    if word in _ENDLESS:
        return float("inf")
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"{text} is not a number")
    return float(word)


def read_plain(text: str) -> float:
    """Number of a log or table, where commas separate thousands."""
    return read_number(text.replace(",", ""))


def read_switch(text: str) -> bool:
    """Truth of a switch's value.

    Raises
    ------
    ValueError
        If it is neither true nor false.
    """
    word = text.strip().lower()
    if word in ("true", "1", "yes", "on"):
        return True
    if word in ("false", "0", "no", "off"):
        return False
    raise ValueError(f"{text} is neither true nor false")


def read_object(text: str) -> dict[str, Any]:
    """JSON object of a flag's value; one level of quotes or backslashes too many is forgiven.

    Raises
    ------
    ValueError
        If it is none.
    """
    text = text.strip()
    for attempt in (text, text.strip("'\""), text.replace('\\"', '"').strip("'\""), text.replace("'", '"')):
        try:
            value = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise ValueError(f"{text[:40]} is not a JSON object")


def number_of(value: Any) -> float | None:
    """Finite or endless number of a JSON value or of its text; None if it is none."""
    if isinstance(value, str) and value.strip().lower() in ("inf", "infinity"):
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return math.inf if value == math.inf else None
    return None if math.isnan(value) else float(value)
