"""The HTTP API: what a run comes to, the run itself as a stream, the catalogue, the parameters, traces."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from app.caching import cache_headers, is_known
from app.compress import compressed
from app.connection import ClosingStream, while_connected
from app.costs import costs_of
from app.openapi import answers, describe_fork, describe_parameters, describe_views, problems, query_parameters, results
from app.params import Views, parse_query, read_query
from app.service import Service, key_of
from app.streams import StepStream, resumed
from app.sweep import SweepStream
from app.uploads import read_upload
from sim.catalog import load_gpus, load_models
from sim.report import requests_csv, summary_of
from sim.run import Run
from sim.workload import Trace
from sim.workload.read import MAX_BYTES

router = APIRouter(prefix="/api/v1")

JSON, CSV, NDJSON = "application/json", "text/csv", "application/x-ndjson"
MOST_KEPT_BYTES = 64 * 1024
OBJECT = {"type": "object"}
TEXT = {"type": "string"}
FILE = {"type": "string", "format": "binary"}


@router.get(
    "/run",
    summary="What a run comes to: facts, metrics and, with requests=1 or as CSV, a row per request",
    openapi_extra=query_parameters("run", "requests", "dialect"),
    responses=answers("Summary of the run", {JSON: OBJECT, CSV: TEXT}) | problems(409, 422, 503),
    response_class=Response,
)
async def get_run(request: Request) -> Response:
    views = read_query(parse_query(request.scope["query_string"]))
    service: Service = request.app.state.service
    is_csv = _wants_csv(request.headers.get("Accept", ""))
    headers = cache_headers(
        request, "run", key_of(views.scenario), views.requests, views.dialect, is_csv, vary="Accept, Accept-Encoding"
    )
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    async with service.open(views.scenario) as job:
        run = await while_connected(request, job.finished())
    accept_encoding = request.headers.get("Accept-Encoding", "")
    body, encoding = await service.in_thread(_run_body, run, is_csv, views, accept_encoding)
    return Response(body, headers=headers | encoding, media_type=CSV if is_csv else JSON)


@router.get(
    "/steps",
    summary="The run as lines of JSON, sent while it is computed; a stream without a last line of metrics was cut off",
    openapi_extra=query_parameters("run", "from", "count", "blocks", "dialect"),
    responses=answers("The run", {NDJSON: TEXT}) | problems(409, 422, 503),
    response_class=Response,
)
async def get_steps(request: Request) -> Response:
    views = read_query(parse_query(request.scope["query_string"]))
    window = (views.first, views.count, views.blocks)
    headers = cache_headers(request, "steps", key_of(views.scenario), *window, views.dialect)
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    service: Service = request.app.state.service
    return await _streamed(request, StepStream(service, views, request.headers.get("Accept-Encoding", "")), headers)


@router.get(
    "/costs",
    summary="What follows from a formula, without a run: price of a step, memory; also of a model that does not fit",
    openapi_extra=query_parameters("run"),
    responses=answers("Coefficients and terms", {JSON: OBJECT}) | problems(422),
    response_class=Response,
)
async def get_costs(request: Request) -> Response:
    views = read_query(parse_query(request.scope["query_string"]))
    headers = cache_headers(request, "costs", key_of(views.scenario))
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    return Response(orjson.dumps(costs_of(views.scenario)), headers=headers, media_type=JSON)


@router.get(
    "/sweep",
    summary="Load curves as lines of JSON, a point each, sent as computed; a last line has peaks and crossings",
    openapi_extra=query_parameters("x", "seeds", "cross_s"),
    responses=answers("The curves", {NDJSON: TEXT}) | problems(409, 422, 503),
    response_class=Response,
)
async def get_sweep(request: Request) -> Response:
    views = read_query(parse_query(request.scope["query_string"]))
    keys = (f"{name}:{key_of(scenario)}" for name, scenario in views.scenarios.items())
    headers = cache_headers(request, "sweep", *keys, views.x, views.seeds, views.cross_s)
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    service: Service = request.app.state.service
    return await _streamed(request, SweepStream(service, views, request.headers.get("Accept-Encoding", "")), headers)


async def _streamed(request: Request, stream: StepStream | SweepStream, headers: dict[str, str]) -> Response:
    """The stream as an answer: at once if it was sent before, else as it is made; short ones are kept."""
    service: Service = request.app.state.service
    if stream.encoding:
        headers["Content-Encoding"] = stream.encoding
    body_key = (headers["ETag"], stream.encoding)
    if body_key in service.bodies:
        return Response(service.bodies[body_key], headers=headers, media_type=NDJSON)
    pieces = stream.pieces()
    # Whatever is wrong with the scenario is known when the first piece is, before the answer has begun.
    first = await while_connected(request, anext(pieces))
    if not stream.is_complete:
        return ClosingStream(resumed(first, pieces), headers, NDJSON)
    await pieces.aclose()
    if len(first) <= min(MOST_KEPT_BYTES, service.bodies.maxsize):
        service.bodies[body_key] = first
    return Response(first, headers=headers, media_type=NDJSON)


@router.get("/catalog", summary="Models and GPUs", responses=answers("The catalogue", {JSON: OBJECT}))
async def get_catalog(request: Request) -> Response:
    return _table(request, "catalog", {"models": _rows(load_models()), "gpus": _rows(load_gpus())})


@router.get(
    "/params", summary="Every parameter: range, default, meaning", responses=answers("The table", {JSON: OBJECT})
)
async def get_params(request: Request) -> Response:
    return _table(
        request, "params", {"parameters": describe_parameters(), "views": describe_views(), "fork": describe_fork()}
    )


@router.post(
    "/traces",
    summary="Upload a trace file, as the body or as a form's file; it is named by its sha256 from then on",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": FILE},
                "multipart/form-data": {
                    "schema": {"type": "object", "properties": {"file": FILE}, "required": ["file"]}
                },
            },
        }
    },
    responses=results("What was read", {JSON: OBJECT}) | problems(400, 413, 422, 503),
    response_class=Response,
)
async def post_trace(request: Request) -> Response:
    service: Service = request.app.state.service
    async with service.upload_slot():
        upload = await read_upload(request, MAX_BYTES)
        trace = await service.in_thread(service.traces.add, upload.content, upload.name)
    return Response(orjson.dumps(_describe_trace(trace)), media_type=JSON)


def _run_body(run: Run, is_csv: bool, views: Views, accept_encoding: str) -> tuple[bytes, dict[str, str]]:
    if is_csv:
        return compressed(requests_csv(run).encode(), accept_encoding)
    summary = summary_of(run, views.requests, views.dialect)
    return compressed(orjson.dumps(summary, option=orjson.OPT_SERIALIZE_NUMPY), accept_encoding)


def _wants_csv(accept: str) -> bool:
    return "text/csv" in accept and "application/json" not in accept


def _rows(catalogue: Any) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in catalogue.values()]


def _table(request: Request, name: str, content: dict[str, Any]) -> Response:
    headers = cache_headers(request, name)
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    return Response(orjson.dumps(content), headers=headers, media_type=JSON)


def _describe_trace(trace: Trace) -> dict[str, Any]:
    return {
        "sha256": trace.sha256,
        "rows": trace.rows,
        "span_s": trace.span_s,
        "rejected": [{"row": row, "reason": reason} for row, reason in trace.rejected],
        "rejected_count": trace.rejected_count,
        "repaired": [{"row": row, "what": what} for row, what in trace.repaired],
    }
