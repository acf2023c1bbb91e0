"""Numbers in prose: what the engine computed, written with its unit; `static/js/units.js` writes the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from sim.run import Run, simulate
from sim.scenario import Scenario, scenario_from, settings_of

UNITS: Mapping[str, tuple[float, str]] = {
    "ms": (1e3, "\u202fms"),
    "us": (1e6, "\u202fµs"),
    "s": (1, "\u202fs"),
    "times": (1, "×"),
    "percent": (100, "\u202f%"),
    "count": (1, ""),
    "number": (1, ""),
    "GB": (1e-9, "\u202fGB"),
    "GiB": (2**-30, "\u202fGiB"),
    "KiB": (2**-10, "\u202fKiB"),
    "MB": (1e-6, "\u202fMB"),
    "KB": (1e-3, "\u202fkB"),
    "TB_s": (1e-12, "\u202fTB/s"),
    "tokens_s": (1, "\u202ftokens/s"),
    "requests_s": (1, "\u202frequests/s"),
}
"""Units by name: the factor from SI, and what stands behind the number."""

UNKNOWN = "–"


class Missing:
    """In place of the numbers of a run that could not be made: whatever is made of it is missing, too."""

    def __getattr__(self, _: str) -> Missing:
        return self

    def __call__(self, *_: Any, **__: Any) -> Missing:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __getitem__ = __call__

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __lt__(self, _: Any) -> Missing:
        return self

    __gt__ = __le__ = __ge__ = __lt__

    def __str__(self) -> str:
        return UNKNOWN


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """What prose may quote of a run; of one that could not be made only its scenario is known."""

    scenario: Scenario
    run: Run | Missing = MISSING
    metrics: Mapping[str, Any] | Missing = MISSING
    facts: Mapping[str, Any] | Missing = MISSING


def numbers_of(runs: Mapping[str, Run]) -> dict[str, RunNumbers]:
    """Numbers of the runs by name."""
    return {name: RunNumbers(run.scenario, run, run.metrics(), run.facts) for name, run in runs.items()}


@lru_cache(64)
def _numbers(scenario: Scenario) -> RunNumbers:
    return numbers_of({"a": simulate(scenario)})["a"]


def what_if(numbers: RunNumbers | Missing, **settings: Any) -> RunNumbers | Missing:
    """Numbers of a run with other parameters, for what a question asks before the reader has moved anything."""
    if isinstance(numbers, Missing) or isinstance(numbers.run, Missing):
        return MISSING
    return _numbers(scenario_from({**settings_of(numbers.scenario), **settings}))


def written(value: Any, unit: str = "number", digits: int | None = None) -> str:
    """The number with its unit, to three figures or so unless `digits` behind the point are asked for.

    Examples
    --------
    >>> written(0.00618, "ms"), written(1.163, "times"), written(1430.2, "tokens_s"), written(0.057, "percent")
    ('6.18\u202fms', '1.16×', '1,430\u202ftokens/s', '5.7\u202f%')
    """
    if isinstance(value, Missing) or value is None or not math.isfinite(value):
        return UNKNOWN
    scale, suffix = UNITS[unit]
    scaled = value * scale
    if digits is None:
        size = abs(scaled)
        digits = 0 if unit == "count" or size >= 100 else 1 if size >= 10 or unit == "percent" else 2
    return f"{scaled:,.{digits}f}{suffix}"


def number(value: Any, unit: str = "number", digits: int | None = None, fixed: str = "") -> Markup:
    """A number of the engine in prose; `fixed` says why another GPU does not change it."""
    text = written(value, unit, digits)
    if fixed:
        return Markup('<span class="number" data-fixed="{}">{}</span>').format(fixed, text)
    return Markup('<span class="number">{}</span>').format(text)


_JOINS: Mapping[str, Callable[[float, float], float]] = {
    " / ": lambda x, y: x / y if y else math.nan,
    " - ": lambda x, y: x - y,
}


def look_up(path: str, runs: Mapping[str, RunNumbers]) -> Any:
    """Value of a path such as `a.metrics.ttft_s.p50`, or of two with a sign between: ` / ` or ` - `."""
    for sign, joined in _JOINS.items():
        left, found, right = path.partition(sign)
        if found:
            pair = look_up(left, runs), look_up(right, runs)
            return None if None in pair else joined(*pair)
    name, *rest = path.split(".")
    value: Any = runs.get(name)
    for key in rest:
        value = value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
    return value


def reading(runs: Mapping[str, RunNumbers], path: str, unit: str = "number", value: Any = None) -> Markup:
    """A number that follows the stage; `value` stands there until the browser knows it, for paths of figures."""
    known = value if value is not None else look_up(path, runs)
    return Markup('<span class="number reading" data-reading="{}" data-unit="{}">{}</span>').format(
        path, unit, written(known, unit)
    )


def nearest(value: Any, options: Mapping[float, str]) -> list[tuple[str, bool]]:
    """Options of a question as texts, and whether each is the one nearest to the engine's value, by ratio.

    Without a value there is nothing to ask: no options.
    """
    if isinstance(value, Missing) or not value > 0:
        return []
    right = min(options, key=lambda option: abs(math.log(option / value)))
    return [(text, option == right) for option, text in options.items()]


def around(value: Any, unit: str, factors: tuple[float, ...]) -> list[tuple[str, bool]]:
    """Options of a question: the engine's value among others that are so many times as large; one factor is 1.

    Without a value, or where the options would read alike, there is nothing to ask.
    """
    texts = {written(value * factor, unit) for factor in factors}
    if len(texts) < len(factors) or UNKNOWN in texts:
        return []
    return [(f"about {written(value * factor, unit)}", factor == 1) for factor in factors]
