"""A run that somebody reads: under way or finished."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.limits import check_size
from sim.engine.layout import BLOCK, REQUEST
from sim.replay import Log
from sim.run import Run, Session
from sim.scenario import Scenario, ScenarioError
from sim.workload.requests import Requests

if TYPE_CHECKING:
    from app.service import Service

FIRST_SLICE_STEPS = 4096
GROWTH = 4
SLICE_S = 0.5


class Job:
    """Pulled forward by its readers, one slice at a time.

    Attributes
    ----------
    readers : int
        Those who hold it.
    run : Run or None
        The finished run.
    log : Log
        The record up to the end of the last slice; its arrays are never written again.
    """

    def __init__(self, service: Service, scenario: Scenario, run: Run | None, on_finish: Callable[[Run], None]) -> None:
        self.scenario, self.run, self.readers = scenario, run, 0
        self.log: Log | None = run.log if run else None
        self._service, self._on_finish = service, on_finish
        self._session: Session | None = None
        self._slice: asyncio.Task[None] | None = None
        self._slice_steps = FIRST_SLICE_STEPS

    @property
    def steps(self) -> int:
        """Steps that can be read."""
        return len(self.log.steps) if self.log else 0

    @property
    def nbytes(self) -> int:
        """Memory it takes, roughly."""
        if self._session is None:
            return self.run.nbytes if self.run else 0
        blocks = self._session.plan.num_gpu_blocks * BLOCK.itemsize
        return blocks + len(self.requests.arrival_s) * REQUEST.itemsize + _nbytes(self.log)

    @property
    def requests(self) -> Requests:
        """Requests of the run; known once a first step was reached."""
        return self._known.requests

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts of the server; known once a first step was reached."""
        return self._known.facts

    @property
    def is_fork_ahead(self) -> bool:
        """Whether the run has a fork that it has not come to."""
        if self.run is not None or self.scenario.fork is None:
            return False
        return self._session is None or self._session.is_fork_ahead

    async def reach(self, steps: int) -> int:
        """Wait until so many steps can be read or the run is finished; return how many can.

        Raises
        ------
        ScenarioError, Problem
            If the run cannot be made, or is more than this server takes on.
        """
        while self.run is None and self.steps < steps:
            if self._slice is None:
                self._slice = asyncio.create_task(self._take_slice())
                self._slice.add_done_callback(_retrieve)
            # Shielded: a reader that leaves does not stop a slice that others wait for, and one runs at a time.
            await asyncio.shield(self._slice)
        return self.steps

    async def finished(self) -> Run:
        """Wait for the finished run."""
        while self.run is None:
            await self.reach(self.steps + 1)
        return self.run

    @property
    def _known(self) -> Run | Session:
        known = self.run or self._session
        assert known is not None, "no step was reached yet"
        return known

    async def _take_slice(self) -> None:
        try:
            await self._service.in_thread(self._advance)
        finally:
            self._slice = None
        self._service.check_memory()
        if self.run is not None:
            self._on_finish(self.run)

    def _advance(self) -> None:
        """Take a slice; in a thread."""
        session = self._session or self._begin()
        start_s = time.perf_counter()
        is_done = session.advance(self._slice_steps)
        rate = self._slice_steps / max(time.perf_counter() - start_s, 1e-4)
        # Reading the log costs its whole length, so slices grow with it, but none is to take much longer than SLICE_S.
        self._slice_steps = max(min(int(rate * SLICE_S), GROWTH * self._slice_steps), FIRST_SLICE_STEPS)
        self.log = session.log()
        self._check_bytes()
        if is_done:
            self.run = session.run()

    def _begin(self) -> Session:
        settings, workload = self._service.settings, self.scenario.workload
        trace = self._service.traces.get(workload.trace) if workload.trace else None
        check_size(self.scenario, trace, settings)
        self._session = Session(self.scenario, trace)
        return self._session

    def _check_bytes(self) -> None:
        most = self._service.settings.max_run_bytes
        if _nbytes(self.log) > most:
            what = f"a run whose record is larger than {most / 2**20:,.0f} MiB"
            raise ScenarioError("num_requests", what, "fewer requests, or a shorter window of the trace")


def _nbytes(log: Log | None) -> int:
    return sum(part.nbytes for part in log) if log else 0


def _retrieve(task: asyncio.Task[None]) -> None:
    """Take note of a slice's error, which its readers get too, if any are left."""
    if not task.cancelled():
        task.exception()
