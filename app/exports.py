"""Runs as files: steps and requests as CSV, a whole run as JSON, a trace for Perfetto. Made and sent in pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from app.caching import cache_headers, is_known
from app.compress import COMPRESSORS, accepted_encoding
from app.connection import ClosingStream
from app.names import names_of
from app.openapi import answers, problems, query_parameters
from app.params import Views, parse_query, read_query
from app.perfetto import trace_json
from app.runs import runs_of
from app.service import Service, key_of
from app.tables import Window, event_columns, step_columns, steps_csv
from sim.report import requests_csv, summary_of
from sim.run import Run
from sim.scenario import Scenario, ScenarioError

router = APIRouter(prefix="/api/v1/export")

JSON, CSV = "application/json", "text/csv"
OBJECT, TEXT = {"type": "object"}, {"type": "string"}
WINDOW = query_parameters("run", "from", "count")

Pieces = Callable[[Mapping[str, Run]], Iterator[bytes]]


@router.get(
    "/steps.csv",
    summary="A row per step, times in seconds",
    openapi_extra=WINDOW,
    responses=answers("The steps", {CSV: TEXT}) | problems(409, 422, 503),
    response_class=Response,
)
async def get_steps_csv(request: Request) -> Response:
    views = _read(request)

    def pieces(runs: Mapping[str, Run]) -> Iterator[bytes]:
        run, most = runs[views.run], request.app.state.settings.max_export_rows
        return steps_csv(run, _window(views, run, most, has_events=False))

    return await _file(request, views, "steps.csv", CSV, pieces)


@router.get(
    "/requests.csv",
    summary="A row per request, times in seconds; an empty cell is what never came",
    openapi_extra=query_parameters("run"),
    responses=answers("The requests", {CSV: TEXT}) | problems(409, 422, 503),
    response_class=Response,
)
async def get_requests_csv(request: Request) -> Response:
    views = _read(request)
    return await _file(request, views, "requests.csv", CSV, lambda runs: iter([requests_csv(runs[views.run]).encode()]))


@router.get(
    "/run.json",
    summary="The whole run: scenario, facts, metrics, and the columns of requests, steps and events",
    openapi_extra=WINDOW,
    responses=answers("The run", {JSON: OBJECT}) | problems(409, 422, 503),
    response_class=Response,
)
async def get_run_json(request: Request) -> Response:
    views = _read(request)

    def pieces(runs: Mapping[str, Run]) -> Iterator[bytes]:
        run, most = runs[views.run], request.app.state.settings.max_export_rows
        return _run_json(run, _window(views, run, most))

    return await _file(request, views, "run.json", JSON, pieces)


@router.get(
    "/trace.json",
    summary="All runs of the address as trace events, for Perfetto: a process per run, a thread per slot",
    openapi_extra=WINDOW,
    responses=answers("The trace", {JSON: OBJECT}) | problems(409, 422, 503),
    response_class=Response,
)
async def get_trace_json(request: Request) -> Response:
    views = _read(request)
    labels = {name: each.label for name, each in names_of(views.scenarios).items()}

    def pieces(runs: Mapping[str, Run]) -> Iterator[bytes]:
        most = request.app.state.settings.max_export_rows // len(runs)
        return trace_json(runs, {name: _window(views, run, most) for name, run in runs.items()}, labels)

    return await _file(request, views, "trace.json", JSON, pieces, views.scenarios)


def _read(request: Request) -> Views:
    return read_query(parse_query(request.scope["query_string"]))


async def _file(
    request: Request,
    views: Views,
    name: str,
    media_type: str,
    pieces: Pieces,
    scenarios: Mapping[str, Scenario] | None = None,
) -> Response:
    """A file of the runs of `scenarios`; without them of the one in focus."""
    scenarios = scenarios or {views.run: views.scenario}
    keys = [f"{run}={key_of(scenario)}" for run, scenario in scenarios.items()]
    headers = cache_headers(request, "export", name, *keys, views.first, views.count)
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    runs = await runs_of(request, scenarios)
    service: Service = request.app.state.service
    content = await service.in_thread(pieces, runs)
    encoding = accepted_encoding(request.headers.get("Accept-Encoding", ""))
    headers["Content-Disposition"] = f'attachment; filename="{_file_name(views, name)}"'
    if encoding:
        headers["Content-Encoding"] = encoding
    return ClosingStream(_compressed(service, content, encoding), headers, media_type)


async def _compressed(service: Service, content: Iterator[bytes], encoding: str) -> AsyncGenerator[bytes, None]:
    compressor = COMPRESSORS[encoding]()

    def take() -> bytes | None:
        piece = next(content, None)
        return None if piece is None else compressor.add(piece)

    while (piece := await service.in_thread(take)) is not None:
        yield piece
    yield compressor.finish()


def _run_json(run: Run, window: Window) -> Iterator[bytes]:
    """One JSON object, a piece for each of its members."""
    members = summary_of(run, with_requests=True) | {"from": window.first}
    members |= {"steps": step_columns(run, window), "events": event_columns(run, window)}
    lead = b"{"
    for name, value in members.items():
        yield lead + orjson.dumps(name) + b":" + _json(value)
        lead = b",\n"
    yield b"}\n"


def _json(value: object) -> bytes:
    def words(other: object) -> object:
        return other.tolist()  # type: ignore[attr-defined] # arrays of words, which orjson does not know

    return orjson.dumps(value, default=words, option=orjson.OPT_SERIALIZE_NUMPY)


def _window(views: Views, run: Run, most: int, *, has_events: bool = True) -> Window:
    """Steps that are asked for.

    Raises
    ------
    ScenarioError
        If they are more than a file may hold, with what to do.
    """
    count = len(run.steps)
    window = Window(min(views.first, count), count if views.count is None else min(views.first + views.count, count))
    ends = run.steps["events_end"]
    events = int(ends[window.last - 1]) - int(ends[window.first - 1] if window.first else 0) if window.last else 0
    rows = window.last - window.first + (events if has_events else 0)
    if rows > most:
        what = f"{rows:,} rows of {window.last - window.first:,} steps{' and their events' if has_events else ''}"
        raise ScenarioError(
            "count", what, f"at most {most:,} rows in a file; from and count choose a window of the run"
        )
    return window


def _file_name(views: Views, name: str) -> str:
    """Says the model, the policy and which scenario it is of."""
    server = views.scenario.server
    return f"batchscope-{server.model}-{server.batching}-{key_of(views.scenario)[:8]}-{name}"
