"""Reads, writes and checks one parameter's value: text from a URL or command line, JSON, or what a program passes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from sim.catalog import Gpu, Model, find_gpu, find_model
from sim.errors import ScenarioError
from sim.parameters import Parameter

_CATALOGUES: dict[str, Callable[[str], Gpu | Model]] = {"model": find_model, "gpu": find_gpu}
_BOOLS = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}
_INT = re.compile(r"[+-]?\d{1,30}", re.ASCII)
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}|", re.ASCII)


def read_value(parameter: Parameter, raw: object) -> Any:
    """Value of the parameter from text, a JSON value or a list; checked.

    Raises
    ------
    ScenarioError
        If it cannot be read as the parameter's kind or is out of range.
    """
    if parameter.is_list:
        return _read_list(parameter, raw)
    text = _text(raw)
    if parameter.word and text == parameter.word:
        return None
    value = _read_one(parameter, text, raw)
    check_value(parameter, value)
    return value


def write_value(parameter: Parameter, value: Any) -> Any:
    """JSON value that `read_value` reads back as the same; None is the kind's word, a list is text with commas."""
    if parameter.is_list:
        return ",".join(str(_short(item)) for item in value)
    return parameter.word if value is None else _short(value)


def check_value(parameter: Parameter, value: Any) -> None:
    """Raise ScenarioError unless a stored value has the parameter's type and lies in its range."""
    if parameter.is_list:
        for item in value:
            _check_one(parameter, item)
    elif value is not None or not parameter.word:
        _check_one(parameter, value)


def _check_one(parameter: Parameter, value: Any) -> None:
    base = parameter.base.removesuffix("s")
    if base == "choice":
        is_allowed = value in parameter.choices
    elif base == "bool":
        is_allowed = isinstance(value, bool)
    elif base == "text":
        is_allowed = isinstance(value, str) and _SHA256.fullmatch(value) is not None
    else:
        is_allowed = _is_number(base, value) and _in_range(parameter, value)
    if not is_allowed:
        raise ScenarioError(parameter.name, value, parameter.allowed)


def _is_number(base: str, value: object) -> bool:
    numbers = int if base == "int" else (int, float)
    return isinstance(value, numbers) and not isinstance(value, bool)


def _in_range(parameter: Parameter, value: float) -> bool:
    above = value > parameter.low if parameter.above_low else value >= parameter.low
    return above and value <= parameter.high


def _read_list(parameter: Parameter, raw: object) -> tuple[Any, ...]:
    if isinstance(raw, list | tuple):
        items = [_text(item) for item in raw]
    else:
        items = [item.strip() for item in _text(raw).split(",")] if _text(raw) else []
    values = tuple(_read_one(parameter, item, item) for item in items)
    check_value(parameter, values)
    return values


def _read_one(parameter: Parameter, text: str, raw: object) -> Any:
    base = parameter.base.removesuffix("s")
    if parameter.name in _CATALOGUES:
        return _CATALOGUES[parameter.name](text).id
    if base == "int" and _INT.fullmatch(text):
        return int(text)
    if base == "float" and _FLOAT.fullmatch(text):
        return float(text)
    if base == "bool" and text in _BOOLS:
        return _BOOLS[text]
    if base in ("choice", "text"):
        return text
    raise ScenarioError(parameter.name, raw, parameter.allowed)


def _text(raw: object) -> str:
    return str(_short(raw)).strip().lower()


def _short(value: Any) -> Any:
    """6 for 6.0, "inf" for infinity: how JSON and URLs write a number."""
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
