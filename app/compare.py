"""Which runs a page compares: the editor's view of them, and what its links and forms do to the address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlencode

from app.controls import CONTROLS
from app.fields import Field
from app.form import groups_of
from app.names import names_of
from app.params import GROUPS, OTHERS, Views, parse_query, read_query, write_query
from app.view import Change, Compared, Comparison
from sim.fork import FORK, FORKABLE
from sim.scenario import Scenario, ScenarioError

EDIT_FIELDS = ("edit", "edit_run", "edit_name", "edit_value", "edit_time")
EDITS = ("set", "drop", "remove", "swap")
Pairs = list[tuple[str, str]]


def comparison_of(views: Views, t_s: float) -> Comparison:
    """The editor for the runs of a page at its time."""
    scenarios = views.scenarios
    query = write_query(scenarios, t=t_s, run=None if views.run == "a" else views.run, **views.page)
    pairs = tuple(parse_query(query))
    names = names_of(scenarios)
    runs = tuple(_compared(run, scenarios, names[run].label, pairs) for run in (*OTHERS, FORK) if run in scenarios)
    free = next((run for run in OTHERS if run not in scenarios), "")
    labels = {control.name: control.label for control in CONTROLS}
    return Comparison(
        query=query,
        pairs=pairs,
        runs=runs,
        free=free,
        time_s=f"{t_s:.6g}",
        options=tuple((g, tuple((c.name, c.label) for c in CONTROLS if c.group == g)) for g in GROUPS),
        fork_options=tuple((name, labels[name]) for name in FORKABLE),
    )


def _compared(run: str, scenarios: Mapping[str, Scenario], label: str, pairs: Iterable[tuple[str, str]]) -> Compared:
    fork = scenarios[run].fork
    scenario = scenarios[run].forked if fork else scenarios[run]
    names = [name.removeprefix(f"{run}.") for name, _ in pairs if name.startswith(f"{run}.")]
    return Compared(
        name=run,
        label=label,
        changes=_changes(run, names, scenario, scenarios["a"]),
        kept=tuple((name, value) for name, value in pairs if not name.startswith(f"{run}.") and name != run),
        time_s=f"{fork.time_s:.6g}" if fork else "",
    )


def _changes(run: str, names: list[str], scenario: Scenario, plain: Scenario) -> tuple[Change, ...]:
    own, first = (_fields(each) for each in (scenario, plain))
    changes = []
    for name in names:
        edit = urlencode({"edit": "drop", "edit_run": run, "edit_name": name})
        field = replace(own[name], name=f"{run}.{name}", default=first[name].value, needs="", why="", hint="")
        changes.append(Change(replace(field, is_idle=False), edit))
    return tuple(changes)


def _fields(scenario: Scenario) -> dict[str, Field]:
    return {field.name: field for group in groups_of({"a": scenario}) for field in group.fields}


def edited(query: str | bytes) -> str:
    """Query of the page after the edit that the query asks for in its `edit` fields.

    Raises
    ------
    ScenarioError
        If there is no such edit, or no run for it.
    """
    pairs = parse_query(query)
    edit = {name: value for name, value in pairs if name in EDIT_FIELDS}
    pairs = [(name, value) for name, value in pairs if name not in EDIT_FIELDS]
    what, run = edit.get("edit", ""), edit.get("edit_run", "")
    if what not in EDITS:
        raise ScenarioError("edit", what, ", ".join(EDITS))
    if run not in (*OTHERS, FORK):
        raise ScenarioError("edit_run", run, ", ".join((*OTHERS, FORK)))
    if what == "swap":
        return _swapped(pairs, run)
    if what == "set":
        return _written(_with(pairs, run, edit))
    return _written(_without(pairs, run, edit.get("edit_name") if what == "drop" else None))


def _with(pairs: Pairs, run: str, edit: Mapping[str, str]) -> Pairs:
    """Pairs with a parameter of a run; the fork is at the time given, unless there is one already."""
    name = f"{run}.{edit.get('edit_name', '')}"
    pairs = [(key, value) for key, value in pairs if key != name] + [(name, edit.get("edit_value", ""))]
    if run == FORK and FORK not in dict(pairs):
        pairs.append((FORK, edit.get("edit_time") or dict(pairs).get("t", "0")))
    return pairs


def _without(pairs: Pairs, run: str, name: str | None) -> Pairs:
    """Pairs without a parameter of a run, or without the run; a run without a difference goes too."""
    left = [(key, value) for key, value in pairs if not key.startswith(f"{run}.") or (name and key != f"{run}.{name}")]
    if any(key.startswith(f"{run}.") for key, _ in left):
        return left
    return [(key, value) for key, value in left if key != run and (key, value) != ("run", run)]


def _written(pairs: Pairs) -> str:
    """Canonical query; of what cannot be read the pairs as they are, for the page to say so."""
    try:
        views = read_query(pairs)
    except ScenarioError:
        return urlencode(pairs)
    return _query_of(views, views.scenarios)


def _query_of(views: Views, scenarios: Mapping[str, Scenario]) -> str:
    run = views.run if views.run in scenarios and views.run != "a" else None
    return write_query(scenarios, t=views.t, run=run, **views.page)


def _swapped(pairs: Pairs, run: str) -> str:
    """The run takes the plain one's place and the other way round; a fork that does not go with it is given up."""
    views = read_query(pairs)
    scenarios = dict(views.scenarios)
    if run == FORK or run not in scenarios:
        raise ScenarioError("edit_run", run, ", ".join(name for name in scenarios if name in OTHERS) or "no run")
    scenarios["a"], scenarios[run] = scenarios[run], scenarios["a"]
    fork = scenarios.pop(FORK, None)
    if fork:
        try:
            scenarios[FORK] = replace(scenarios["a"], fork=fork.fork)
        except ScenarioError:
            scenarios.pop(FORK, None)
    return _query_of(views, scenarios)
