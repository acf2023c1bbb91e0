"""The pieces of /api/v1/steps: encoded and compressed in a thread, made only as fast as they are read."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator

import orjson

from app import codec
from app.compress import COMPRESSORS, accepted_encoding
from app.errors import Problem, problem_document, problem_of
from app.job import Job
from app.params import Views
from app.service import Service
from app.window import before
from sim.report import scenario_settings
from sim.scenario import ScenarioError

MOST_STEPS_PER_PIECE = 4 * codec.STEPS_PER_LINE
MOST_STEPS_WITH_BLOCKS = 8192
MOST_OUTPUTS_WITH_BLOCKS = 20_000


class StepStream:
    """One reader's stream of a run.

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
        self._coder: codec.StepCoder | None = None

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Pieces of the compressed body. An error after the first piece becomes the last line.

        Raises
        ------
        ScenarioError, Problem
            Before the first piece only.
        """
        async with self._service.open(self._views.scenario) as job:
            while not self.is_complete:
                try:
                    piece = await self._piece(job)
                except (ScenarioError, Problem) as error:
                    if self._coder is None:
                        raise
                    piece = self._last_words(error)
                yield piece

    async def _piece(self, job: Job) -> bytes:
        """Wait for something to send, and encode it."""
        while self._coder is None and job.is_fork_ahead:
            await job.reach(job.steps + 1)  # the head says at which step the fork is
        if self._coder is None and self._views.first:
            await job.finished()  # how things stand in mid-run is known of finished runs
        elif self._next < self._stop:
            await job.reach(self._next + 1)
        else:
            await job.finished()
        return await self._service.in_thread(self._encode, job)

    @property
    def _next(self) -> int:
        """First step that is not sent."""
        return self._coder.next if self._coder else self._views.first

    @property
    def _stop(self) -> float:
        """Step before which the window ends."""
        return math.inf if self._views.count is None else self._views.first + self._views.count

    def _encode(self, job: Job) -> bytes:
        """Encode what there is, at most a line of steps if the run goes on; in a thread."""
        # In this order: what is finished when it is looked at has all its steps in the log that is looked at next.
        run, log = job.run, job.log
        assert log is not None, "encoded before a step was reached"
        lines = [] if self._coder else [self._head(job)]
        coder = self._coder = self._coder or self._new_coder(job)
        end = int(min(self._stop, len(log.steps), coder.next + MOST_STEPS_PER_PIECE))
        while coder.next < end:
            lines.append(coder.line(log, min(coder.next + codec.STEPS_PER_LINE, end)))
        if run is not None and coder.next >= min(self._stop, len(log.steps)):
            metrics = run.metrics(self._views.dialect)
            lines.append(codec.tail_line(metrics, run.rejected, run.requests, run.results, coder.with_blocks))
            self.is_complete = True
        return self._compressed(lines)

    def _head(self, job: Job) -> bytes:
        return codec.head_line(scenario_settings(job.scenario), job.facts, job.requests)

    def _new_coder(self, job: Job) -> codec.StepCoder:
        first, with_blocks = self._views.first, self._has_blocks(job)
        return codec.StepCoder(first, with_blocks, before(job.run, first, with_blocks) if first and job.run else {})

    def _has_blocks(self, job: Job) -> bool:
        views = self._views
        if views.blocks is not None:
            return views.blocks
        if views.count is not None:
            return views.count <= MOST_STEPS_WITH_BLOCKS
        return int(job.requests.output_tokens.sum()) <= MOST_OUTPUTS_WITH_BLOCKS

    def _last_words(self, error: ScenarioError | Problem) -> bytes:
        problem = problem_of(error) if isinstance(error, ScenarioError) else error
        self.is_complete = True
        return self._compressed([orjson.dumps(problem_document(problem), option=orjson.OPT_APPEND_NEWLINE)])

    def _compressed(self, lines: list[bytes]) -> bytes:
        compress = self._compressor.finish if self.is_complete else self._compressor.add
        return compress(b"".join(lines))


async def resumed(first: bytes, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """A stream whose first piece was taken already."""
    try:
        yield first
        async for piece in pieces:
            yield piece
    finally:
        await pieces.aclose()
