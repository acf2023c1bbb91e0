"""Paste what you run: the API route, the paste box's answer, and the scenario as commands."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from app.errors import Problem
from app.lab import read_opening
from app.openapi import problems, results
from app.pasted import commands_view, pasted_view
from app.runs import runs_of
from app.service import Service
from app.site import fragment, is_partial, page
from app.uploads import Upload, read_pasted
from sim.errors import ScenarioError
from sim.importers import PasteKind, Reading, read_paste
from sim.importers.playable import Playable, playable
from sim.run import Run

router = APIRouter(prefix="/api/v1")
pages = APIRouter(include_in_schema=False)

MAX_BYTES = 8 * 10**6
"""Longest text; a larger trace is uploaded as a file."""
JSON = "application/json"
TEXT = {"type": "string"}
FORM = {"type": "object", "properties": {"text": TEXT, "file": {"type": "string", "format": "binary"}}}


@router.post(
    "/import",
    summary="Read a command, log, benchmark's result or trace: parameters, figures, and what was made of each part",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"text/plain": {"schema": TEXT}, "multipart/form-data": {"schema": FORM}},
        }
    },
    responses=results("What was read", {JSON: {"type": "object"}}) | problems(400, 413, 422, 503),
    response_class=Response,
)
async def post_import(request: Request) -> Response:
    _, reading = await _read(request)
    return Response(orjson.dumps(reading.as_json()), media_type=JSON)


@pages.post("/lab/paste/")
async def post_paste(request: Request) -> Response:
    """What was read, beside what the scenario that it describes comes to."""
    upload, reading = await _read(request)
    service: Service = request.app.state.service
    if reading.kind is PasteKind.TRACE:
        await service.in_thread(service.traces.add, upload.content, upload.name)
    played = playable(reading)
    run, refusal = await _run(request, played)
    view = pasted_view(reading, played, run, refusal)
    return _answer(request, "pasted", pasted=view)


@pages.get("/lab/commands/")
async def get_commands(request: Request) -> Response:
    """The scenario as the commands that set it up and measure it."""
    views, _ = read_opening(request.scope["query_string"])
    return _answer(request, "commands", commands=commands_view(views.scenario))


@pages.get("/lab/paste/")
async def get_paste(request: Request) -> Response:
    """The box alone, as a page."""
    return page(request, "paste.html", "../../")


async def _read(request: Request) -> tuple[Upload, Reading]:
    service: Service = request.app.state.service
    async with service.upload_slot():
        upload = await read_pasted(request, MAX_BYTES)
        return upload, await service.in_thread(read_paste, upload.content, upload.name)


async def _run(request: Request, played: Playable) -> tuple[Run | None, str]:
    """Run of the scenario, or why there is none."""
    try:
        runs = await runs_of(request, {"a": played.scenario})
    except ScenarioError as error:
        return None, f"{error.field}: {error.value} is too much; allowed is {error.allowed}."
    except Problem as problem:
        return None, problem.detail
    return runs["a"], ""


def _answer(request: Request, block: str, **context: Any) -> Response:
    """The block for htmx; the whole page of the box for a plain form."""
    if is_partial(request):
        return fragment(request, f"_{block}.html", block, "../", **context)
    return page(request, "paste.html", "../../", **context)
