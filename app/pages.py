"""The pages. With `HX-Request-Type: partial` a page answers with the named block only."""

from __future__ import annotations

import asyncio
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, Request
from jinja2 import Environment, FileSystemLoader
from jinja2_fragments import render_block
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.caching import cache_headers, is_known
from app.connection import while_connected
from app.course import courses_of
from app.errors import Problem
from app.lab import lab_view, panel_view, preset_links, read_opening
from app.params import Views, parse_query, read_query
from app.service import Service, key_of
from app.settings import ROOT
from sim.run import Run

router = APIRouter(include_in_schema=False)

PAGES = (("lab/", "Lab"),)
"""Pages that exist, in the order of the header."""

_ENTRY_SCRIPTS = ("theme.js", "lab.js", "missing.js")
_templates = Environment(
    loader=FileSystemLoader(ROOT / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)


@router.get("/")
async def get_home() -> Response:
    """The lab, until there is a tour."""
    return RedirectResponse("lab/", 307)


@router.get("/lab/")
async def get_lab(request: Request) -> Response:
    """The whole page."""
    views, is_given = read_opening(request.scope["query_string"])
    try:
        runs = await _runs_of(request, views)
    except Problem as problem:
        return await _missing(request, views, problem)
    service: Service = request.app.state.service
    view = await service.in_thread(lab_view, views, runs, is_given)
    context = {"lab": view, "modules": _modules(), **_frame_of_page(request, "../", "lab/")}
    return HTMLResponse(_templates.get_template("lab.html").render(context), headers=_vary())


@router.get("/lab/frame/")
async def get_frame(request: Request) -> Response:
    """The state at a time of one run; as a whole page it is the lab."""
    if request.headers.get("HX-Request-Type") != "partial":
        return RedirectResponse(f"../?{request.url.query}", 307, _vary())
    views, _ = read_opening(request.scope["query_string"])
    runs = await _runs_of(request, views)
    service: Service = request.app.state.service
    panel = await service.in_thread(panel_view, views, runs)
    html = render_block(_templates, "lab.html", "frame", lab=panel, is_partial=True)
    return HTMLResponse(html, headers=_vary())


@router.get("/lab/overview/")
async def get_overview(request: Request) -> Response:
    """The course of the runs, for a timeline too long to draw whole."""
    views = read_query(parse_query(request.scope["query_string"]))
    headers = cache_headers(request, "overview", *map(key_of, views.scenarios.values()))
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    runs = await _runs_of(request, views)
    service: Service = request.app.state.service
    courses = await service.in_thread(courses_of, runs)
    body = orjson.dumps(courses, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, headers=headers, media_type="application/json")


async def _runs_of(request: Request, views: Views) -> dict[str, Run]:
    """Finished runs of all scenarios of the page."""
    service: Service = request.app.state.service

    async def run_of(name: str) -> Run:
        async with service.open(views.scenarios[name]) as job:
            return await job.finished()

    names = list(views.scenarios)
    runs = await while_connected(request, asyncio.gather(*map(run_of, names)))
    return dict(zip(names, runs, strict=True))


async def _missing(request: Request, views: Views, problem: Problem) -> Response:
    """A page that sends the trace again if this browser has it; any other problem is passed on."""
    trace = views.scenarios["a"].workload.trace
    if problem.status != 409:
        raise problem
    context = {"trace": trace, "presets": preset_links(views.scenarios), **_frame_of_page(request, "../", "lab/")}
    return HTMLResponse(_templates.get_template("missing.html").render(context), 409, _vary())


def _frame_of_page(request: Request, up: str, page: str) -> dict[str, Any]:
    """What base.html needs: `up` leads from the page to the root, so that any prefix works."""
    static = request.app.state.settings.static_dir
    return {
        "up": up,
        "page": page,
        "pages": PAGES,
        "asset": lambda path: f"{up}static/{path}?v={_version(static / path)}",
    }


def _vary() -> dict[str, str]:
    return {"Cache-Control": "no-cache", "Vary": "HX-Request-Type, Accept-Encoding"}


@cache
def _version(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=4).hexdigest() if path.exists() else "0"


@cache
def _modules() -> list[str]:
    """Scripts that the lab's entry imports, for the browser to fetch ahead."""
    return sorted(path.name for path in (ROOT / "static" / "js").glob("*.js") if path.name not in _ENTRY_SCRIPTS)
