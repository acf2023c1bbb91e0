"""Scenarios and views from a query string, and back: a plain scenario; b., c. and fork. repeat only what differs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from app.controls import CONTROL_BY_NAME, CONTROLS, GROUPS, Control
from app.gallery import FIGURE_BY_NAME, FIGURES, OPEN_FIGURES
from sim.axis import GRID, Axis, read_axis
from sim.dialects import DEFAULT, DIALECT_BY_NAME
from sim.fork import FORK, PREFIX, is_fork_name
from sim.history import KIND_NAMES
from sim.parameters import BY_NAME, PARAMETERS
from sim.scenario import Scenario, ScenarioError, scenario_from, settings_of

__all__ = [
    "CONTROLS",
    "CONTROL_BY_NAME",
    "GROUPS",
    "VIEWS",
    "Control",
    "View",
    "Views",
    "parse_query",
    "read_query",
    "write_query",
]

OTHERS = ("b", "c")
RUNS = ("a", FORK, *OTHERS)
MAX_FIELDS = 300
MOST_SEEDS = 16


@dataclass(frozen=True, slots=True)
class View:
    """A parameter that chooses what of a run is shown; it does not change the run."""

    name: str
    kind: str
    help: str
    low: float = 0
    high: float = 2**53 - 1
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What it accepts, in words."""
        if self.kind == "names":
            return f"names out of {', '.join(self.choices)}, separated by commas"
        if self.kind == "axis":
            return f"NAME:{GRID}"
        return (
            ", ".join(self.choices)
            or f"a {'whole ' if self.kind == 'int' else ''}number from {self.low:.15g} to {self.high:.15g}"
        )


VIEWS: tuple[View, ...] = (
    View("t", "float", "Time that is shown [s]", high=1e9),
    View("run", "choice", "Which run: a is the plain scenario, b and c are the prefixed ones, fork is a with its fork",
         choices=RUNS),
    View("views", "names", "Figures that are open", choices=tuple(FIGURE_BY_NAME)),
    View("from", "int", "First step of the window", high=1e9),
    View("count", "int", "Steps in the window; without it, all that follow", low=1, high=1e9),
    View("blocks", "bool", "Whether block ids are sent", choices=("0", "1")),
    View("requests", "bool", "Whether the per-request table is added", choices=("0", "1")),
    View("width", "int", "Width of a picture [px]", low=240, high=2400),
    View("height", "int", "Height of a picture [px]; without it, what suits it", low=120, high=2400),
    View("x", "axis", "What a load curve varies, NAME:LOW:HIGH:COUNT or NAME:V,V,…; without it, the load"),
    View("seeds", "int", "Runs per point of a load curve", low=1, high=MOST_SEEDS),
    View("dialect", "choice", "Benchmark tool whose definitions of the metrics hold", choices=tuple(DIALECT_BY_NAME)),
    View("cross_s", "float", "Median TTFT whose crossing a load curve tells [s]", high=1e9),
    View("kind", "choice", "Kind of the events that are listed; without it, all", choices=KIND_NAMES),
    View("request", "int", "Request whose events are listed; without it, those of all", low=1, high=1e9),
    View("page", "int", "Page of the event list; without it, the one with the time shown", low=1, high=1e9),
)  # fmt: skip
VIEW_BY_NAME = {view.name: view for view in VIEWS}


@dataclass(frozen=True, slots=True)
class Views:
    """What a query string says: one to three scenarios, the fork of the first, and what of them is shown."""

    scenarios: dict[str, Scenario]
    t: float | None = None
    run: str = "a"
    views: tuple[str, ...] = OPEN_FIGURES
    first: int = 0
    count: int | None = None
    blocks: bool | None = None
    requests: bool = False
    width: int | None = None
    height: int | None = None
    x: Axis | None = None
    seeds: int = 2
    cross_s: float = 2.0
    dialect: str = DEFAULT
    kind: str = ""
    request: int | None = None
    page_number: int | None = None
    given: frozenset[str] = field(default_factory=frozenset)

    @property
    def kept(self) -> dict[str, str]:
        """View parameters of figures that the links of a page keep, as far as the address gave them."""
        values = {"x": self.x and self.x.text, "seeds": self.seeds, "cross_s": self.cross_s, "dialect": self.dialect}
        values |= {"kind": self.kind, "request": self.request}
        return {name: _text(value) for name, value in values.items() if name in self.given}

    @property
    def page(self) -> dict[str, Any]:
        """View parameters, besides time and focus, that the links of a page keep."""
        return {"views": self.views, **self.kept}

    @property
    def scenario(self) -> Scenario:
        """The scenario that `run` names; without it the plain one, with its fork if it has one."""
        run = FORK if FORK in self.scenarios and "run" not in self.given else self.run
        if run not in self.scenarios:
            raise ScenarioError("run", run, ", ".join(self.scenarios))
        return self.scenarios[run]


def parse_query(query: str | bytes) -> list[tuple[str, str]]:
    """Pairs of a query string, blank values kept.

    Raises
    ------
    ScenarioError
        If it has too many fields.
    """
    text = query.decode("utf-8", "replace") if isinstance(query, bytes) else query
    if text.count("&") >= MAX_FIELDS:
        raise ScenarioError("query", f"{text.count('&') + 1} fields", f"at most {MAX_FIELDS} fields")
    return parse_qsl(text, keep_blank_values=True)


def read_query(pairs: Iterable[tuple[str, str]]) -> Views:
    """Scenarios and view of the pairs.

    Raises
    ------
    ScenarioError
        For an unknown or repeated name or a bad value; `field` has the prefix, as in `b.max_num_seqs`.
    """
    settings: dict[str, dict[str, str]] = {run: {} for run in RUNS}
    view: dict[str, Any] = {}
    for name, value in pairs:
        run, plain = _place_of(name)
        if run in OTHERS and is_fork_name(plain):
            raise ScenarioError(name, value, "a fork of the plain scenario only: fork and fork.NAME without a prefix")
        if plain in settings[run] or name in view:
            raise ScenarioError(name, "a repeated name", "each name once")
        if name in VIEW_BY_NAME:
            view[name] = _read_view(VIEW_BY_NAME[name], value)
        else:
            settings[run][plain] = value
    given = frozenset(name for name, _ in pairs)
    return Views(
        _scenarios(settings), **{_ATTRIBUTES.get(name, name): value for name, value in view.items()}, given=given
    )


def write_query(scenarios: Mapping[str, Scenario], full: bool = False, **view: Any) -> str:
    """Canonical query string of the scenarios, in the order of the table, without defaults unless `full`.

    `view` are view parameters by name (`t`, `run`, …), written last; those that are None, and `views` as they are
    unless the address says otherwise, are left out.

    Examples
    --------
    >>> write_query({"a": scenario_from({"rate": 2}), "b": scenario_from({"rate": 2, "batching": "static"})}, t=3.5)
    'rate=2&b.batching=static&t=3.5'
    """
    plain = settings_of(scenarios["a"])
    pairs = list(settings_of(scenarios["a"], defaults=full).items())
    for run in OTHERS:
        if run in scenarios:
            differing = {name: value for name, value in settings_of(scenarios[run]).items() if value != plain[name]}
            # A run that equals the first is named by one parameter, or it would vanish from the page.
            pairs += [
                (f"{run}.{name}", value) for name, value in (differing or {"batching": plain["batching"]}).items()
            ]
    if FORK in scenarios:
        pairs += _fork_pairs(scenarios[FORK], plain)
    # A page opens on the first preset when nothing is named, so a scenario of defaults alone names one.
    pairs = pairs or [("num_requests", plain["num_requests"])]
    is_usual = not full and view.get("views") == OPEN_FIGURES
    shown = {name: value for name, value in view.items() if value is not None and not (name == "views" and is_usual)}
    pairs += [(name, shown[name]) for name in VIEW_BY_NAME if name in shown]
    return urlencode([(name, _text(value)) for name, value in pairs], safe=",:")


def _place_of(name: str) -> tuple[str, str]:
    """Run that a parameter is of, and its name there."""
    if name.startswith(tuple(f"{run}." for run in OTHERS)):
        return name[0], name[2:]
    return (FORK if is_fork_name(name) else "a"), name


def _fork_pairs(scenario: Scenario, plain: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Time of the fork and what differs after it; as with other runs at least one parameter."""
    fork = scenario.fork
    assert fork, "the run of a fork has one"
    changes = fork.settings()
    differing = {name: value for name, value in changes.items() if value != plain[name]}
    return [(FORK, fork.time_s), *((PREFIX + name, value) for name, value in (differing or changes).items())]


def _scenarios(settings: Mapping[str, Mapping[str, str]]) -> dict[str, Scenario]:
    scenarios = {"a": scenario_from(settings["a"])}
    if settings[FORK]:
        scenarios[FORK] = scenario_from({**settings["a"], **settings[FORK]})
    for run in OTHERS:
        if settings[run]:
            try:
                scenarios[run] = scenario_from({**settings["a"], **settings[run]})
            except ScenarioError as error:
                raise ScenarioError(f"{run}.{error.field}", error.value, error.allowed) from None
    return scenarios


_ATTRIBUTES = {"from": "first", "page": "page_number"}
_BOOLS = {"0": False, "false": False, "1": True, "true": True}
_NUMBERS = {
    "int": re.compile(r"\d{1,16}", re.ASCII),
    "float": re.compile(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE),
}


def _read_view(view: View, text: str) -> Any:
    if view.kind == "bool" and text in _BOOLS:
        return _BOOLS[text]
    if view.kind == "choice" and text in view.choices:
        return text
    if view.kind == "names" and set(text.split(",")) - {""} <= set(view.choices):
        return tuple(figure.name for figure in FIGURES if figure.name in text.split(","))
    if view.kind == "axis":
        return read_axis(*text.partition(":")[::2], field=view.name)
    if view.kind in _NUMBERS and _NUMBERS[view.kind].fullmatch(text) and view.low <= float(text) <= view.high:
        return int(text) if view.kind == "int" else float(text)
    raise ScenarioError(view.name, text, view.allowed)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return ("false", "true")[value]
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


assert {control.name for control in CONTROLS} == set(BY_NAME) == {parameter.name for parameter in PARAMETERS}
