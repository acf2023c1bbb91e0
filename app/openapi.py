"""What /openapi.json and /api/v1/params say of the parameters: all of it from the tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from app.params import CONTROL_BY_NAME, VIEWS, Control, View
from sim.fork import FORK, FORK_TIME, FORKABLE, PREFIX
from sim.parameters import BY_NAME, PARAMETERS, Parameter
from sim.values import write_value

CHANGEABLE = tuple(BY_NAME[name] for name in FORKABLE)

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string", "description": "Parameter at fault, with its prefix"},
        "value": {"description": "What was given"},
        "allowed": {"type": "string", "description": "What would be accepted"},
    },
}

_PROBLEMS = {
    400: "The request cannot be read",
    409: "This server does not have the trace; `sha256` names it",
    413: "The file is too large",
    422: "A name or value that is not accepted",
    503: "Too much work; try again after Retry-After",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Responses of FastAPI's `responses=` for these errors."""
    content = {"application/problem+json": {"schema": PROBLEM}, "text/html": {"schema": {"type": "string"}}}
    return {status: {"description": _PROBLEMS[status], "content": content} for status in statuses}


def results(description: str, content: Mapping[str, Mapping[str, Any]]) -> dict[int | str, dict[str, Any]]:
    """Responses for a result in the given media types."""
    media_types = {media_type: {"schema": dict(schema)} for media_type, schema in content.items()}
    return {200: {"description": description, "content": media_types}}


def answers(description: str, content: Mapping[str, Mapping[str, Any]]) -> dict[int | str, dict[str, Any]]:
    """Responses for a result that a client may keep."""
    return results(description, content) | {304: {"description": "The client has it already"}}


def query_parameters(*views: str) -> dict[str, Any]:
    """`openapi_extra` of a route that takes a scenario and these view parameters."""
    scenario = [_query(p.name, _help(p), parameter_schema(p)) for p in PARAMETERS]
    scenario.append(_query(FORK, _help(FORK_TIME), parameter_schema(FORK_TIME)))
    scenario += [_query(PREFIX + p.name, f"{_help(p)}, after the fork", _changed_schema(p)) for p in CHANGEABLE]
    return {"parameters": scenario + [_query(v.name, v.help, _view_schema(v)) for v in VIEWS if v.name in views]}


def describe_parameters() -> list[dict[str, Any]]:
    """Every parameter with its range, default and control, as /api/v1/params answers."""
    return [_describe(parameter) for parameter in PARAMETERS]


def describe_fork() -> dict[str, Any]:
    """The fork: its time, and what can change then."""
    time = {name: getattr(FORK_TIME, name) for name in ("name", "kind", "unit", "help", "allowed")}
    return time | {"changes": list(FORKABLE)}


def describe_views() -> list[dict[str, Any]]:
    """View parameters: they choose what is shown of a run."""
    return [{"name": v.name, "kind": v.kind, "help": v.help, "allowed": v.allowed} for v in VIEWS]


def parameter_schema(parameter: Parameter) -> dict[str, Any]:
    """JSON schema of the parameter as query text."""
    default = write_value(parameter, parameter.default)
    schema = _one(parameter)
    if parameter.word:
        schema = {"anyOf": [schema, {"const": parameter.word}]}
    return schema if default == "" else {**schema, "default": default}


def _changed_schema(parameter: Parameter) -> dict[str, Any]:
    """Schema of a parameter after the fork: without a value of its own it stays."""
    return {key: value for key, value in parameter_schema(parameter).items() if key != "default"}


def _one(parameter: Parameter) -> dict[str, Any]:
    if parameter.base == "choice":
        return {"type": "string", "enum": list(parameter.choices)}
    if parameter.base == "bool":
        return {"type": "boolean"}
    if parameter.base == "text":
        return {"type": "string", "pattern": "^([0-9a-f]{64})?$"}
    if parameter.is_list:
        return {"type": "string", "pattern": r"^([0-9.]+(,[0-9.]+)*)?$"}
    number = {"type": "integer" if parameter.base == "int" else "number", **_range(parameter)}
    return number if math.isfinite(parameter.high) else {"anyOf": [number, {"const": "inf"}]}


def _range(parameter: Parameter) -> dict[str, float]:
    low = {"exclusiveMinimum" if parameter.above_low else "minimum": parameter.low}
    return low | ({"maximum": parameter.high} if math.isfinite(parameter.high) else {})


def _view_schema(view: View) -> dict[str, Any]:
    if view.kind == "axis":
        return {"type": "string", "pattern": "^[a-z_]+:[0-9.]+(:[0-9.]+:[0-9]+|(,[0-9.]+)*)$"}
    if view.kind == "names":
        names = "|".join(view.choices)
        return {"type": "string", "pattern": f"^(({names})(,({names}))*)?$"}
    if view.choices:
        return {"type": "string", "enum": list(view.choices)}
    return {"type": "integer" if view.kind == "int" else "number", "minimum": view.low, "maximum": view.high}


def _query(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


def _help(parameter: Parameter) -> str:
    return f"{parameter.help} [{parameter.unit}]" if parameter.unit else parameter.help


def _describe(parameter: Parameter) -> dict[str, Any]:
    control = CONTROL_BY_NAME[parameter.name]
    is_number = parameter.base.startswith(("int", "float"))
    shown: dict[str, Any] = {
        "label": control.label,
        "widget": control.widget,
        "group": control.group,
        "unit": control.unit,
    }
    if control.widget == "range":
        shown |= {"low": control.low, "high": control.high, "step": control.step, "scale": control.scale}
    return {
        "name": parameter.name,
        "section": parameter.section,
        "group": parameter.group,
        "kind": str(parameter.kind),
        "default": write_value(parameter, parameter.default),
        "low": parameter.low if is_number else None,
        "high": parameter.high if is_number and math.isfinite(parameter.high) else None,
        "above_low": parameter.above_low,
        "choices": list(parameter.choices),
        "unit": parameter.unit,
        "help": parameter.help,
        "allowed": parameter.allowed,
        "needs": control.needs,
        "flags": control.flags._asdict(),
        "is_forkable": parameter.name in FORKABLE,
        "control": _describe_control(control),
    }


def _describe_control(control: Control) -> dict[str, Any]:
    names = ("label", "widget", "group", "unit", "is_basic")
    sliders = ("low", "high", "step", "scale") if control.widget == "range" else ()
    return {name: getattr(control, name) for name in (*names, *sliders)}
