"""The pieces of /api/v1/sweep: a line per point of each curve, in order, made only as fast as they are read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import orjson

from app.compress import COMPRESSORS, accepted_encoding
from app.errors import Problem, problem_document, problem_of
from app.limits import check_sweep
from app.params import Views
from app.service import Service
from sim.axis import Axis, at_once, axis_around, load_name
from sim.run import Run
from sim.scenario import Scenario, ScenarioError, settings_of
from sim.sweep import CURVES, Point, Spot, crossing_of, curve_values, peak_of, point_of, spots

CROSSED = "ttft_s.p50"


class SweepStream:
    """One reader's stream of load curves.

    Attributes
    ----------
    encoding : str
        Content-Encoding of the pieces.
    is_complete : bool
        Whether the pieces made so far are the whole body.
    """

    def __init__(self, service: Service, views: Views, accept_encoding: str) -> None:
        self.encoding = accepted_encoding(accept_encoding)
        self.is_complete = False
        self._service, self._views = service, views
        self._compressor = COMPRESSORS[self.encoding]()

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Pieces of the compressed body. An error after the first piece becomes the last line.

        Raises
        ------
        ScenarioError, Problem
            Before the first piece only.
        """
        axis = self._views.x or await self._own_axis()
        todo = spots(self._views.scenarios, axis, self._views.seeds)
        await self._service.in_thread(self._check, todo)
        lines, found = [self._head(axis)], list[Point]()
        computed = self._points(todo)
        try:
            async for point in computed:
                found.append(point)
                yield self._compressed([*lines, _point_line(point)])
                lines = []
        except (ScenarioError, Problem) as error:
            if not found:
                raise
            problem = problem_of(error) if isinstance(error, ScenarioError) else error
            yield self._last([_line(problem_document(problem))])
        else:
            yield self._last([self._tail(found)])
        finally:
            await computed.aclose()

    async def _own_axis(self) -> Axis:
        """The load, from light to beyond what the strongest of the servers can do."""
        first, *others = self._views.scenarios.values()
        name = load_name(first)
        full = [(await self._run_of(at_once(scenario))).metrics() for scenario in (first, *others)]
        served_rps = max(metrics["requests_per_s"] or 0 for metrics in full)
        if name == "concurrency":
            return axis_around(first, max(scenario.server.max_num_seqs for scenario in (first, *others)))
        if name == "trace_scale":
            own = (await self._run_of(first)).metrics()["requests_per_s"] or served_rps
            return axis_around(first, first.workload.trace_scale * served_rps / max(own, 1e-9))
        return axis_around(first, served_rps)

    def _check(self, todo: Sequence[Spot]) -> None:
        workload = self._views.scenarios["a"].workload
        trace = self._service.traces.get(workload.trace) if workload.trace else None
        check_sweep(todo, trace, self._service.settings)

    async def _points(self, todo: Sequence[Spot]) -> AsyncGenerator[Point, None]:
        """Points in order, as many under way at once as there are threads; all are dropped when the reader leaves."""
        waiting, under_way = iter(todo), deque[asyncio.Task[Point]]()
        try:
            self._begin(waiting, under_way, self._service.settings.workers)
            while under_way:
                yield await under_way[0]
                under_way.popleft()
                self._begin(waiting, under_way, 1)
        finally:
            for task in under_way:
                task.cancel()
            for task in under_way:
                with suppress(asyncio.CancelledError, ScenarioError, Problem):
                    await task

    def _begin(self, waiting: Iterator[Spot], under_way: deque[asyncio.Task[Point]], count: int) -> None:
        for _, spot in zip(range(count), waiting, strict=False):
            under_way.append(asyncio.create_task(self._point(spot)))

    async def _point(self, spot: Spot) -> Point:
        runs = [await self._run_of(scenario) for scenario in spot.scenarios]
        return await self._service.in_thread(point_of, spot, map(curve_values, runs))

    async def _run_of(self, scenario: Scenario) -> Run:
        async with self._service.open(scenario) as job:
            return await job.finished()

    def _head(self, axis: Axis) -> bytes:
        scenarios = {name: settings_of(scenario) for name, scenario in self._views.scenarios.items()}
        x = {"name": axis.name, "values": axis.values}
        return _line({"x": x, "seeds": self._views.seeds, "scenarios": scenarios})

    def _tail(self, found: Sequence[Point]) -> bytes:
        curves = {name: [point for point in found if point.curve == name] for name in self._views.scenarios}
        level = self._views.cross_s
        crossing = {name: asdict(crossing_of(curve, CROSSED, level)) for name, curve in curves.items()}
        peaks = {name: _peak(curve) for name, curve in curves.items()}
        return _line({"peaks": peaks, "crossing": {"metric": CROSSED, "level": level, "curves": crossing}})

    def _last(self, lines: list[bytes]) -> bytes:
        self.is_complete = True
        return self._compressed(lines)

    def _compressed(self, lines: list[bytes]) -> bytes:
        compress = self._compressor.finish if self.is_complete else self._compressor.add
        return compress(b"".join(lines))


def _peak(curve: Sequence[Point]) -> dict[str, float | None] | None:
    best = peak_of(curve, "goodput_rps")
    return None if best is None else {"x": best.x, "goodput_rps": best.band("goodput_rps")["mean"]}


def _point_line(point: Point) -> bytes:
    metrics = {path: point.band(path) for path in CURVES}
    return _line({"curve": point.curve, "index": point.index, "x": point.x, "metrics": metrics})


def _line(content: dict[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
