"""The x of a load curve: one numeric parameter and the values it takes, given or chosen around a scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sim.errors import ScenarioError
from sim.parameters import BY_NAME, PARAMETERS, Parameter
from sim.scenario import Scenario
from sim.values import read_value

MAX_POINTS = 1000
GRID = "LOW:HIGH:COUNT (evenly spaced) or values separated by commas"


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter and its values, in rising order, as `grid` gave them; `field` is what an error names."""

    name: str
    values: tuple[float, ...]
    grid: str
    field: str = "x"

    @property
    def text(self) -> str:
        """Name and grid, as a URL writes them."""
        return f"{self.name}:{self.grid}"

    def applied(self, scenario: Scenario, value: float) -> Scenario:
        """The scenario with the parameter set.

        Raises
        ------
        ScenarioError
            If the value is not accepted together with the rest.
        """
        section = BY_NAME[self.name].section
        try:
            return replace(scenario, **{section: replace(getattr(scenario, section), **{self.name: value})})
        except ScenarioError as error:
            if error.field != self.name:
                raise
            raise ScenarioError(self.field, f"{self.name}={error.value}", error.allowed) from None


def is_numeric(parameter: Parameter) -> bool:
    """Whether a parameter can be an axis."""
    return parameter.base in ("int", "float")


def read_axis(name: str, grid: str, field: str = "x") -> Axis:
    """Axis from text; values of whole-numbered parameters are rounded, equal ones count once.

    Parameters
    ----------
    name : str
        A numeric parameter.
    grid : str
        ``low:high:count`` or values separated by commas.
    field : str
        What an error names.

    Raises
    ------
    ScenarioError
        If the parameter is unknown or not numeric, or a value is unreadable or out of range.

    Examples
    --------
    >>> read_axis("rate", "1:3:5").values
    (1.0, 1.5, 2.0, 2.5, 3.0)
    >>> read_axis("max_num_seqs", "8,32").values
    (8, 32)
    """
    parameter = BY_NAME.get(name)
    if parameter is None or not is_numeric(parameter):
        numeric = ", ".join(p.name for p in PARAMETERS if is_numeric(p))
        raise ScenarioError(field, name, f"a numeric parameter: {numeric}")
    texts = _grid(parameter, grid, field) if ":" in grid else grid.split(",")
    values = sorted({_value(parameter, text, field) for text in texts})
    if len(values) > MAX_POINTS:
        raise ScenarioError(field, f"{len(values)} values", f"at most {MAX_POINTS}")
    return Axis(name, tuple(values), grid, field)


def _grid(parameter: Parameter, grid: str, field: str) -> list[str]:
    low_text, _, rest = grid.partition(":")
    high_text, _, count_text = rest.partition(":")
    if not count_text.isdecimal() or not 1 <= int(count_text[:9]) <= MAX_POINTS:
        raise ScenarioError(field, grid, f"{GRID}; COUNT from 1 to {MAX_POINTS}")
    low, high, count = _value(parameter, low_text, field), _value(parameter, high_text, field), int(count_text)
    if low > high:
        raise ScenarioError(field, grid, f"{GRID}; LOW not above HIGH")
    values = [low + (high - low) * i / max(count - 1, 1) for i in range(count)]
    return [_text(parameter, value) for value in values]


def _text(parameter: Parameter, value: float) -> str:
    return str(round(value)) if parameter.base == "int" else f"{value:.12g}"


def _value(parameter: Parameter, text: str, field: str) -> float:
    try:
        value: float | None = read_value(parameter, text)
    except ScenarioError as error:
        raise ScenarioError(field, f"{parameter.name}={text}", error.allowed) from None
    if value is None or not math.isfinite(value):
        raise ScenarioError(field, f"{parameter.name}={text}", "a finite number")
    return value


def load_name(scenario: Scenario) -> str:
    """Parameter that says how heavy the load is: rate (open), concurrency (closed) or trace_scale (trace).

    Raises
    ------
    ScenarioError
        If nothing does: all requests come at once, or at listed times.
    """
    workload = scenario.workload
    if workload.load == "burst" or workload.arrival_list:
        field = "load" if workload.load == "burst" else "arrival_list"
        raise ScenarioError(field, "a load without a rate", "load=open without arrival_list, closed or trace")
    return {"open": "rate", "closed": "concurrency", "trace": "trace_scale"}[workload.load]


def at_once(scenario: Scenario) -> Scenario:
    """The same requests, all there from the start: what it serves a second is about what the server can."""
    workload = scenario.workload
    pressed = {"trace_scale": BY_NAME["trace_scale"].high} if workload.load == "trace" else {"load": "burst"}
    return replace(scenario, workload=replace(workload, **pressed))


def axis_around(scenario: Scenario, limit: float, count: int = 9) -> Axis:
    """Evenly spaced round values of the load, from light to well over a limit and the scenario's own value.

    Parameters
    ----------
    scenario : Scenario
        Whose load is varied.
    limit : float
        Value of `load_name` at which the server is about full.
    count : int
        Number of values.
    """
    name = load_name(scenario)
    parameter, own = BY_NAME[name], getattr(scenario.workload, name)
    step = _round_up(max(1.8 * limit, 1.1 * own) / count)
    if parameter.base == "int":
        step = max(1, math.ceil(step))
    values = [min(parameter.high, i * step) for i in range(1, count + 1)]
    return read_axis(name, ",".join(_text(parameter, value) for value in values if value >= parameter.low))


def _round_up(value: float) -> float:
    """Smallest of 1, 2, 2.5 or 5 times a power of ten that is not below the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= value * (1 - 1e-9))
