"""Load curves: scenarios run at each value of one parameter, with several seeds; where a curve crosses or peaks.

`spots` lists what is to be run, `points` runs it in threads and yields each point once it is there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from sim.axis import Axis
from sim.errors import ScenarioError
from sim.run import Run, simulate
from sim.scenario import Scenario
from sim.workload import Trace

MAX_SEEDS = 100

CURVES = (
    "ttft_s.p50",
    "ttft_s.p95",
    "ttft_s.p99",
    "tpot_s.p50",
    "tpot_s.p95",
    "itl_s.p50",
    "itl_s.p99",
    "queue_s.p50",
    "queue_s.p95",
    "e2e_s.p50",
    "e2e_s.p95",
    "output_tokens_per_s",
    "requests_per_s",
    "goodput_rps",
    "slo_attainment",
    "held_slot_share",
    "idle_slot_share",
    "prefix_hit_share",
    "preemptions",
    "rejected",
    "duration_s",
)
"""Metrics of a curve, as paths into `Run.metrics`; times in s, rates per s, shares from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A curve at one value of x: the same scenario with each of its seeds."""

    curve: str
    index: int
    x: float
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """What a spot came to: for each path of CURVES a value per seed, None where it is undefined."""

    curve: str
    index: int
    x: float
    values: Mapping[str, tuple[float | None, ...]]

    def band(self, path: str) -> dict[str, float | None]:
        """Mean, least and greatest value over the seeds for which it is defined; None if there is none."""
        defined = [value for value in self.values[path] if value is not None]
        if not defined:
            return {"mean": None, "low": None, "high": None}
        return {"mean": sum(defined) / len(defined), "low": min(defined), "high": max(defined)}


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where a curve first rises to a level, each seed on its own.

    Attributes
    ----------
    mean, low, high : float or None
        x at the crossing over the seeds that cross; None if none does.
    after, before : float or None
        Points between which all of these cross: how coarse the grid is there.
    crossed, above, below : int
        Seeds that cross, that are above the level from the first point on, and that stay below it to the last.
    """

    mean: float | None
    low: float | None
    high: float | None
    after: float | None
    before: float | None
    crossed: int
    above: int
    below: int


def spots(scenarios: Mapping[str, Scenario], axis: Axis, seeds: int) -> list[Spot]:
    """What is to be run, all curves at the first x, then at the next.

    Parameters
    ----------
    scenarios : Mapping
        Scenario by name of its curve.
    axis : Axis
        Parameter that is varied; it replaces the scenarios' own value.
    seeds : int
        Runs per point: with the scenario's own seed and those that follow it.

    Raises
    ------
    ScenarioError
        If a value of the axis is not accepted together with the rest of a scenario.
    """
    if not 1 <= seeds <= MAX_SEEDS:
        raise ScenarioError("seeds", seeds, f"a whole number from 1 to {MAX_SEEDS}")
    return [
        Spot(name, index, x, _seeded(axis.applied(scenario, x), seeds))
        for index, x in enumerate(axis.values)
        for name, scenario in scenarios.items()
    ]


def curve_values(run: Run) -> dict[str, float | None]:
    """Metrics of a run by path of CURVES."""
    metrics = run.metrics()
    return {path: _at(metrics, path) for path in CURVES}


def point_of(spot: Spot, runs: Iterable[Mapping[str, float | None]]) -> Point:
    """Point of a spot from the `curve_values` of its runs, in the order of the seeds."""
    by_seed = list(runs)
    return Point(spot.curve, spot.index, spot.x, {path: tuple(run[path] for run in by_seed) for path in CURVES})


def points(todo: Sequence[Spot], trace: Trace | None = None, threads: int | None = None) -> Iterator[Point]:
    """Points in the order of the spots, each as soon as it and those before it are there.

    The engine holds no lock of the interpreter, so runs go on side by side. Closing the iterator drops what has not
    begun.

    Raises
    ------
    ScenarioError
        If a run cannot be made.
    """
    pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="sweep")
    try:
        futures = [[pool.submit(_measure, scenario, trace) for scenario in spot.scenarios] for spot in todo]
        for spot, runs in zip(todo, futures, strict=True):
            yield point_of(spot, map(Future.result, runs))
    finally:
        pool.shutdown(cancel_futures=True)


def curves_of(axis: Axis, found: Iterable[Point]) -> dict[str, Any]:
    """A whole sweep as JSON-able values: x, and by curve and path the mean, least and greatest value at each x."""
    curves: dict[str, dict[str, dict[str, list[float | None]]]] = {}
    for point in found:
        paths = curves.setdefault(point.curve, {path: {"mean": [], "low": [], "high": []} for path in CURVES})
        for path, columns in paths.items():
            for key, value in point.band(path).items():
                columns[key].append(value)
    return {"x": {"name": axis.name, "values": list(axis.values)}, "curves": curves}


def crossing_of(curve: Sequence[Point], path: str, level: float) -> Crossing:
    """Where a metric first rises to a level, by linear interpolation between neighbouring points of each seed.

    Parameters
    ----------
    curve : sequence of Point
        Points of one curve in order of x.
    path : str
        One of CURVES.
    level : float
        In the unit of the metric.

    Notes
    -----
    A crossing is as fine as the grid: near saturation curves are steep and bent, and between two points the
    line through them is all that is known. The band shows the scatter of the seeds; `after` and `before` bound that
    error.
    """
    found, above, below = [], 0, 0
    for values in zip(*(point.values[path] for point in curve), strict=True):
        known = [(point.x, value) for point, value in zip(curve, values, strict=True) if value is not None]
        if known and known[0][1] >= level:
            above += 1
        elif (rise := _first_rise(known, level)) is not None:
            found.append(rise)
        else:
            below += 1
    if not found:
        return Crossing(None, None, None, None, None, 0, above, below)
    xs = [rise.x for rise in found]
    after, before = min(rise.after for rise in found), max(rise.before for rise in found)
    return Crossing(sum(xs) / len(xs), min(xs), max(xs), after, before, len(xs), above, below)


def peak_of(curve: Iterable[Point], path: str) -> Point | None:
    """Point with the greatest mean of a metric, the first of equals; None if it is undefined or 0 throughout."""
    best, most = None, 0.0
    for point in curve:
        mean = point.band(path)["mean"]
        if mean is not None and mean > most:
            best, most = point, mean
    return best


def _seeded(scenario: Scenario, seeds: int) -> tuple[Scenario, ...]:
    workload = scenario.workload
    return tuple(replace(scenario, workload=replace(workload, seed=workload.seed + k)) for k in range(seeds))


def _measure(scenario: Scenario, trace: Trace | None) -> dict[str, float | None]:
    return curve_values(simulate(scenario, trace))


def _at(metrics: Mapping[str, Any], path: str) -> float | None:
    name, _, percentile = path.partition(".")
    value = metrics[name][percentile] if percentile else metrics[name]
    return None if value is None else float(value)


class Rise(NamedTuple):
    """Where one seed's curve reaches the level, and the points on either side."""

    x: float
    after: float
    before: float


def _first_rise(known: Sequence[tuple[float, float]], level: float) -> Rise | None:
    for (x0, y0), (x1, y1) in pairwise(known):
        if y0 < level <= y1:
            return Rise(x0 + (x1 - x0) * (level - y0) / (y1 - y0), x0, x1)
    return None
