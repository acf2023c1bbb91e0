"""What the service promises: each scenario is simulated once, work is bounded, and stops when nobody reads it."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import job as job_module
from app.errors import Problem
from app.params import Views
from app.service import Service
from app.settings import Settings
from app.streams import StepStream
from app.traces import TraceStore
from sim.run import Session
from sim.scenario import Scenario, ScenarioError, scenario_from
from tests.api.aside import run_aside

LONG = scenario_from({"num_requests": 2000, "max_num_seqs": 1, "output_tokens": 500})


class Counted(Session):
    """Counts sessions and slices."""

    sessions = 0
    slices = 0

    def __init__(self, *args) -> None:
        type(self).sessions += 1
        super().__init__(*args)

    def advance(self, *args) -> bool:
        type(self).slices += 1
        return super().advance(*args)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counted]:
    counted = type("Counted", (Counted,), {})
    monkeypatch.setattr(job_module, "Session", counted)
    return counted


def make_service(tmp_path: Path, **changes: int) -> Service:
    settings = Settings(trace_dir=tmp_path, workers=2, **changes)
    return Service(settings, TraceStore(settings))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = make_service(tmp_path)
    yield service
    service.close()


def small(seed: int = 1) -> Scenario:
    return scenario_from(
        {
            "num_requests": 4,
            "num_gpu_blocks": 999,
            "max_model_len": 512,
            "prompt_tokens": 64,
            "output_tokens": 8,
            "seed": seed,
        }
    )


async def finish(service: Service, scenario: Scenario) -> int:
    async with service.open(scenario) as job:
        return len((await job.finished()).steps)


def test_readers_of_one_scenario_share_its_simulation(service: Service, counted: type[Counted]):
    async def main() -> list[int]:
        return await asyncio.gather(*(finish(service, small()) for _ in range(8)))

    assert len(set(run_aside(main()))) == 1
    assert counted.sessions == 1


def test_a_finished_run_is_kept(service: Service, counted: type[Counted]):
    async def main() -> None:
        for _ in range(3):
            await finish(service, small())

    run_aside(main())
    assert counted.sessions == 1


def test_runs_beyond_the_memory_are_let_go(tmp_path: Path, counted: type[Counted]):
    service = make_service(tmp_path, cache_bytes=0)

    async def main() -> None:
        for _ in range(2):
            await finish(service, small())

    run_aside(main())
    assert counted.sessions == 2


def test_a_run_goes_on_only_as_far_as_it_is_read(service: Service, counted: type[Counted]):
    async def main() -> None:
        async with service.open(LONG) as job:
            await job.reach(10)
            await asyncio.sleep(0.05)
            assert counted.slices == 1
            assert job.run is None

    run_aside(main())


def test_work_stops_with_its_last_reader(service: Service, counted: type[Counted]):
    async def main() -> None:
        stream = StepStream(service, Views({"a": LONG}), "br").pieces()
        await anext(stream)
        await stream.aclose()
        slices = counted.slices
        await asyncio.sleep(0.1)
        assert counted.slices == slices
        assert service.open_jobs == 0

    run_aside(main())


def test_a_reader_that_is_cancelled_does_not_stop_the_others(service: Service, counted: type[Counted]):
    async def main() -> None:
        impatient = asyncio.create_task(finish(service, small(2)))
        patient = asyncio.create_task(finish(service, small(2)))
        await asyncio.sleep(0)
        impatient.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await impatient
        assert await patient > 0

    run_aside(main())
    assert counted.sessions == 1


def test_the_event_loop_goes_on_while_a_run_is_computed(service: Service):
    async def main() -> int:
        turns = 0
        task = asyncio.create_task(finish(service, LONG))
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        await task
        return turns

    assert run_aside(main()) > 100


def test_a_full_line_is_503_with_retry_after(tmp_path: Path):
    service = make_service(tmp_path, max_queue=0)
    gate = threading.Event()

    async def main() -> Problem:
        blocked = [asyncio.create_task(service.in_thread(gate.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        try:
            with pytest.raises(Problem) as raised:
                await finish(service, small(3))
        finally:
            gate.set()
            await asyncio.gather(*blocked)
        await asyncio.sleep(0.01)
        assert await finish(service, small(3)) > 0
        return raised.value

    problem = run_aside(main())
    assert problem.status == 503
    assert int(problem.headers["Retry-After"]) > 0


def test_too_many_open_runs_are_503(tmp_path: Path):
    service = make_service(tmp_path, max_streams=1)

    async def main() -> None:
        async with service.open(small()):
            with pytest.raises(Problem, match="Too many"):
                await finish(service, small(2))

    run_aside(main())


def test_runs_that_take_too_much_memory_together_are_503(tmp_path: Path):
    service = make_service(tmp_path, max_open_bytes=2**20)

    async def main() -> None:
        with pytest.raises(Problem, match="memory"):
            await finish(service, LONG)
        assert await finish(service, small()) > 0

    run_aside(main())


def test_a_run_that_cannot_be_made_tells_every_reader(service: Service):
    scenario = scenario_from({"model": "llama-3.1-70b"})

    async def main() -> list[object]:
        return await asyncio.gather(*(finish(service, scenario) for _ in range(3)), return_exceptions=True)

    errors = run_aside(main())
    assert [type(error) for error in errors] == [ScenarioError] * 3
    assert service.open_jobs == 0


def test_a_run_whose_record_grows_too_large_is_given_up(tmp_path: Path):
    service = make_service(tmp_path, max_run_bytes=2**20)

    async def main() -> list[bytes]:
        return [piece async for piece in StepStream(service, Views({"a": LONG}), "").pieces()]

    last = run_aside(main())[-1]
    assert b'"status":422' in last
    assert b'"metrics"' not in last
