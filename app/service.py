"""Simulates in threads, so that the event loop never waits, and simulates each scenario once.

A run that somebody reads is a `Job`. Its readers pull it forward: whoever needs more steps than there are asks for a
slice, and all wait for that one. So a run goes on only as fast as its fastest reader reads, and stops when the last has
left. Finished runs are kept; the least recently used go first.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import ParamSpec, TypeVar

import orjson
from cachetools import LRUCache

from app.errors import busy
from app.job import Job
from app.settings import Settings
from app.traces import TraceStore
from sim.report import scenario_settings
from sim.run import Run, Session
from sim.scenario import Scenario, scenario_from

P = ParamSpec("P")
T = TypeVar("T")


@lru_cache(1024)
def key_of(scenario: Scenario) -> str:
    """Name of a run: a hash of its canonical parameters."""
    return hashlib.blake2b(orjson.dumps(scenario_settings(scenario)), digest_size=16).hexdigest()


def _warm_up() -> None:
    Session(scenario_from({"num_requests": 1}), None).advance()
    # What was loaded stays; looking through it for garbage would hold up an answer now and then by a tenth of a second.
    gc.collect()
    gc.freeze()


class Service:
    """Threads, jobs under way, finished runs. One per worker process; used from its event loop only.

    Attributes
    ----------
    bodies : LRUCache
        Whole streams as they were sent, by ETag and encoding, and pages of lessons by model and GPU: many open the same
        link at once.
    """

    def __init__(self, settings: Settings, traces: TraceStore) -> None:
        self.settings, self.traces = settings, traces
        self._pool: ThreadPoolExecutor | None = None
        self._calls = 0
        self._uploads = 0
        self._jobs: dict[str, Job] = {}
        self.bodies: LRUCache[tuple[str, str], bytes] = LRUCache(settings.body_bytes, getsizeof=len)
        self._finished: LRUCache[str, Run] = LRUCache(settings.cache_bytes, getsizeof=lambda run: run.nbytes)

    @property
    def open_jobs(self) -> int:
        """Runs that somebody reads now."""
        return len(self._jobs)

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call in a worker thread. A call that is cancelled before it has begun does not begin."""
        loop = asyncio.get_running_loop()
        future = self._threads().submit(function, *args, **kwargs)
        self._calls += 1
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._count_down))
        return await asyncio.wrap_future(future)

    @asynccontextmanager
    async def open(self, scenario: Scenario) -> AsyncIterator[Job]:
        """Hold on the run of a scenario.

        Raises
        ------
        Problem
            503 if the server has as much work as it may take on.
        """
        key = key_of(scenario)
        job = self._jobs.get(key) or self._new_job(key, scenario)
        job.readers += 1
        try:
            yield job
        finally:
            job.readers -= 1
            if not job.readers:
                del self._jobs[key]

    def check_memory(self) -> None:
        """Raise 503 if the runs that are read now take more memory than they may."""
        if sum(job.nbytes for job in self._jobs.values()) > self.settings.max_open_bytes:
            raise busy("The runs under way take all the memory they may.", retry_after_s=5)

    @asynccontextmanager
    async def upload_slot(self) -> AsyncIterator[None]:
        """Hold on one of the places for uploads, which are large while they are read.

        Raises
        ------
        Problem
            503 if all are taken.
        """
        if self._uploads >= self.settings.max_uploads:
            raise busy("Too many files are being uploaded.")
        self._uploads += 1
        try:
            yield
        finally:
            self._uploads -= 1

    def warm_up(self) -> None:
        """Load the compiled engine in the background, so that the first visitor does not wait for it."""
        self._threads().submit(_warm_up)

    def close(self) -> None:
        """End the threads; calls that have not begun are dropped."""
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = None

    def _threads(self) -> ThreadPoolExecutor:
        """Made when first needed, so that the service can be used again after `close`."""
        self._pool = self._pool or ThreadPoolExecutor(self.settings.workers, thread_name_prefix="simulate")
        return self._pool

    def _new_job(self, key: str, scenario: Scenario) -> Job:
        run = self._finished.get(key)
        if run is None and self._calls >= self.settings.workers + self.settings.max_queue:
            raise busy("Too many simulations are waiting.")
        if len(self._jobs) >= self.settings.max_streams:
            raise busy("Too many runs are being read.")
        self._jobs[key] = Job(self, scenario, run, lambda run: self._keep(key, run))
        return self._jobs[key]

    def _keep(self, key: str, run: Run) -> None:
        if run.nbytes <= self._finished.maxsize:
            self._finished[key] = run

    def _count_down(self) -> None:
        self._calls -= 1
