"""The lab's form: the basic controls of app.controls with the values of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.controls import CONTROL_BY_NAME, CONTROLS, GROUPS, Control
from app.params import parse_query, write_query
from app.view import Choice, Field, Group
from sim.catalog import load_gpus, load_models
from sim.parameters import BY_NAME, RECORDED
from sim.scenario import Scenario, settings_of

SHOWN = (*(c.name for c in CONTROLS if c.is_basic), "num_speculative_tokens", "trace_scale")
SEGMENTS = ("batching", "kv", "prefix_cache", "prefill", "num_speculative_tokens")
DRAFTS = ("0", "2", "4")
LABELS = {
    "open": "Poisson arrivals",
    "closed": "Closed loop: users",
    "burst": "All at once",
    "trace": "A recorded trace",
    "per_slot": "per slot",
}
TITLES = {"num_speculative_tokens": "Speculative"}
DRAWN = {f"{each}_tokens": f"load!=trace&{each}_dist!={'|'.join(RECORDED)}" for each in ("prompt", "output")}
"""What medians need, in the grammar of data-needs: conditions joined by &, values by |."""
_LISTS = {"prompt_tokens": "prompt_list", "output_tokens": "output_list", "rate": "arrival_list"}


def groups_of(scenarios: Mapping[str, Scenario]) -> tuple[Group, ...]:
    """Groups of the form for the plain scenario; what another run overrides is not offered."""
    settings = {name: text_of(value) for name, value in settings_of(scenarios["a"]).items()}
    others = [settings_of(scenario) for name, scenario in scenarios.items() if name != "a"]
    fixed = {name for other in others for name, value in other.items() if text_of(value) != settings[name]}
    shown = [c for c in CONTROLS if c.name in SHOWN and c.name not in fixed]
    return tuple(Group(title, tuple(_field(c, settings) for c in shown if c.group == title)) for title in GROUPS)


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


def _field(control: Control, settings: Mapping[str, str]) -> Field:
    parameter, value = control.parameter, settings[control.name]
    needs = DRAWN.get(control.name, control.needs)
    widget = "segments" if control.name in SEGMENTS else control.widget
    return Field(
        name=control.name,
        label=TITLES.get(control.name, control.label),
        widget=widget,
        value=value,
        default=text_of(_default(control.name)),
        help=_help(control),
        unit=control.unit,
        low=control.low,
        high=control.high,
        step=control.step,
        scale=control.scale,
        word=parameter.word,
        needs=needs,
        is_hidden=not _has_effect(control.name, needs, settings),
        choices=_choices(control, value, settings) if widget in ("segments", "select") else (),
    )


def _default(name: str) -> Any:
    parameter = BY_NAME[name]
    return parameter.word if parameter.default is None else parameter.default


def _help(control: Control) -> str:
    flags = f" ({', '.join(control.flags)})" if control.flags else ""
    return f"{control.parameter.help}{flags}"


def _has_effect(name: str, needs: str, settings: Mapping[str, str]) -> bool:
    if settings.get(_LISTS.get(name, "")):
        return False
    return all(_holds(condition, settings) for condition in needs.split("&") if condition)


def _holds(condition: str, settings: Mapping[str, str]) -> bool:
    name, _, wanted = condition.partition("=")
    return (settings[name.removesuffix("!")] in wanted.split("|")) != name.endswith("!")


def _choices(control: Control, value: str, settings: Mapping[str, str]) -> tuple[Choice, ...]:
    if control.name == "num_speculative_tokens":
        drafts = DRAFTS if value in DRAFTS else (*DRAFTS, value)
        return tuple(Choice(count, f"{count} drafts" if count != "0" else "off") for count in drafts)
    if control.name == "model":
        return tuple(Choice(model.id, model.name) for model in load_models().values())
    if control.name == "gpu":
        return tuple(Choice(gpu.id, gpu.name) for gpu in load_gpus().values())
    values = control.parameter.choices
    if control.name == "load" and not settings["trace"]:
        values = tuple(load for load in values if load != "trace")
    return tuple(Choice(choice, LABELS.get(choice, choice)) for choice in values)


assert set(SHOWN) <= set(CONTROL_BY_NAME), "every shown control has its row"
