"""The lab's form: every control of app.controls with the value of the plain scenario."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup, escape

from app.controls import CONTROLS, GROUPS, Control
from app.fields import Choice, Field, Group
from app.flags import ENGINE_NAMES
from app.params import parse_query, write_query
from sim.catalog import load_gpus, load_lengths, load_models
from sim.scenario import Scenario, settings_of
from sim.values import write_value

LABELS = {
    "open": "Poisson arrivals",
    "closed": "Closed loop: users",
    "burst": "All at once",
    "trace": "A recorded trace",
    "per_slot": "per slot",
    "round_robin": "round robin",
    "tensorrt-llm": "TensorRT-LLM",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "false": "off",
    "true": "on",
}
ONLY_VALUE = "nothing else to choose in this version"
NO_EQUIVALENT = "no equivalent"
_CONDITION = re.compile(r"(\w+)(!=|=|<)(.*)")
_CODE = re.compile(r"`([^`]+)`")


def groups_of(scenarios: Mapping[str, Scenario], facts: Mapping[str, Any] | None = None) -> tuple[Group, ...]:
    """Groups of the form for the plain scenario; `facts` of its run tell what `auto` comes to."""
    settings = {name: text_of(value) for name, value in settings_of(scenarios["a"]).items()}
    fields = [(control.group, _field(control, settings, facts or {})) for control in CONTROLS]
    return tuple(Group(title, tuple(field for group, field in fields if group == title)) for title in GROUPS)


def hidden_of(scenarios: Mapping[str, Scenario], groups: tuple[Group, ...], **view: Any) -> tuple[tuple[str, str], ...]:
    """Fields that a form without scripts has to send along: whatever else makes the page what it is."""
    shown = {field.name for group in groups for field in group.fields}
    pairs = parse_query(write_query(scenarios, **view))
    return tuple((name, value) for name, value in pairs if name not in shown)


def text_of(value: Any) -> str:
    """A setting as a query string writes it."""
    if isinstance(value, bool):
        return ("false", "true")[value]
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _field(control: Control, settings: Mapping[str, str], facts: Mapping[str, Any]) -> Field:
    parameter, value = control.parameter, settings[control.name]
    choices = _choices(control, settings)
    is_fixed = len(choices) == 1 or (parameter.base == "int" and parameter.low == parameter.high)
    return Field(
        name=control.name,
        label=control.label,
        widget=control.widget,
        value=value,
        default=text_of(write_value(parameter, parameter.default)),
        help=parameter.help,
        flags=_flags(control),
        unit=control.unit,
        low=control.low,
        high=control.high,
        step=control.step,
        scale=control.scale,
        word=parameter.word,
        resolved=_resolved(control, value, facts),
        needs=control.needs,
        why=control.why or (ONLY_VALUE if is_fixed else ""),
        is_idle=is_fixed or not holds(control.needs, settings),
        hint_if=control.hint_if,
        hint=control.hint,
        is_hinted=bool(control.hint) and holds(control.hint_if, settings),
        is_basic=control.is_basic,
        choices=choices,
    )


def holds(conditions: str, settings: Mapping[str, str]) -> bool:
    """Whether all conditions hold: the grammar of `Control.needs`, which static/js/conditions.js reads alike."""
    return all(_holds(condition, settings) for condition in conditions.split("&") if condition)


def _holds(condition: str, settings: Mapping[str, str]) -> bool:
    match = _CONDITION.fullmatch(condition)
    assert match, f"{condition!r} is no condition"
    name, sign, other = match.groups()
    if sign == "<":
        return float(settings[name]) < float(settings[other])
    return (settings[name] in other.split("|")) == (sign == "=")


def _resolved(control: Control, value: str, facts: Mapping[str, Any]) -> str:
    """What `auto` comes to, in words."""
    if value != "auto" or control.name not in facts:
        return ""
    return f"auto: {facts[control.name]:,}"


def _flags(control: Control) -> tuple[tuple[str, Markup], ...]:
    """What each engine calls it; nothing if none has a name for it."""
    if not any(control.flags):
        return ()
    pairs = zip(ENGINE_NAMES, control.flags, strict=True)
    return tuple((engine, with_code(text or NO_EQUIVALENT)) for engine, text in pairs)


def with_code(text: str) -> Markup:
    """A text with what is in backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 it is escaped


_NAMES: dict[str, Callable[[], Mapping[str, Any]]] = {
    "model": load_models,
    "gpu": load_gpus,
    "prompt_dist": load_lengths,
    "output_dist": load_lengths,
}
"""Catalogues whose entries name choices."""


def _choices(control: Control, settings: Mapping[str, str]) -> tuple[Choice, ...]:
    if control.widget not in ("segments", "select"):
        return ()
    values: tuple[str, ...] = control.parameter.choices or ("false", "true")
    if control.name == "load" and not settings["trace"]:
        values = tuple(load for load in values if load != "trace")
    names = _NAMES[control.name]() if control.name in _NAMES else {}
    return tuple(Choice(value, names[value].name if value in names else LABELS.get(value, value)) for value in values)
