"""The pages. With `HX-Request-Type: partial` a page answers with the named block only."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from app.caching import cache_headers, is_known
from app.compare import edited
from app.course import courses_of
from app.errors import Problem, problem_of
from app.events import event_page
from app.lab import lab_view, panel_view, preset_links, read_opening
from app.latency import latencies_of
from app.params import parse_query, read_query
from app.pictures.unfit import memory_address
from app.runs import runs_of
from app.service import Service, key_of
from app.site import fragment, is_partial, modules, page, page_headers
from sim.scenario import ScenarioError

router = APIRouter(include_in_schema=False)

MISSING = 409
"""Status of a call for a trace that the server lacks: the browser sends it again."""


@router.get("/lab/")
async def get_lab(request: Request) -> Response:
    """The whole page."""
    try:
        views, is_given = read_opening(request.scope["query_string"])
        runs = await runs_of(request, views.scenarios)
    except ScenarioError as error:
        picture = memory_address(request, "../")
        return _plain_page(request, "problem.html", 422, problem=problem_of(error), picture=picture)
    except Problem as problem:
        if problem.status != MISSING:
            raise
        return _plain_page(request, "missing.html", MISSING, trace=views.scenarios["a"].workload.trace)
    service: Service = request.app.state.service
    view = await service.in_thread(lab_view, views, runs, is_given)
    return page(request, "lab.html", "../", lab=view, modules=modules("lab.js", views.views))


@router.get("/lab/frame/")
async def get_frame(request: Request) -> Response:
    """The state at a time of one run; as a whole page it is the lab."""
    if not is_partial(request):
        return RedirectResponse(f"../?{request.url.query}", 307, page_headers())
    views, _ = read_opening(request.scope["query_string"])
    runs = await runs_of(request, views.scenarios)
    service: Service = request.app.state.service
    panel = await service.in_thread(panel_view, views, runs)
    return fragment(request, "lab.html", "frame", "../", lab=panel, is_partial=True)


@router.get("/lab/events/")
async def get_events(request: Request) -> Response:
    """A page of the event list; as a whole page it is the lab."""
    pairs = [(name, value) for name, value in parse_query(request.scope["query_string"]) if value]
    if not is_partial(request):
        return RedirectResponse(f"../?{urlencode(pairs, safe=',:')}", 307, page_headers())
    views = read_query(pairs)
    runs = await runs_of(request, views.scenarios)
    service: Service = request.app.state.service
    entries = await service.in_thread(event_page, runs, views)
    return fragment(request, "figures/events.html", "events", "../", entries=entries)


@router.get("/lab/compare/")
async def get_compare(request: Request) -> Response:
    """To the page with another run, a change of one or without one."""
    try:
        query = edited(request.scope["query_string"])
    except ScenarioError:  # the page says what it cannot read
        query = request.url.query
    return RedirectResponse(f"../?{query}", 303, page_headers())


@router.get("/lab/charts/")
async def get_charts(request: Request) -> Response:
    """How the latencies of the runs are distributed."""
    views = read_query(parse_query(request.scope["query_string"]))
    headers = cache_headers(request, "charts", *map(key_of, views.scenarios.values()))
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    runs = await runs_of(request, views.scenarios)
    service: Service = request.app.state.service
    body = orjson.dumps(await service.in_thread(latencies_of, runs), option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, headers=headers, media_type="application/json")


@router.get("/lab/overview/")
async def get_overview(request: Request) -> Response:
    """The course of the runs, for a timeline too long to draw whole."""
    views = read_query(parse_query(request.scope["query_string"]))
    headers = cache_headers(request, "overview", *map(key_of, views.scenarios.values()))
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    runs = await runs_of(request, views.scenarios)
    service: Service = request.app.state.service
    courses = await service.in_thread(courses_of, runs)
    body = orjson.dumps(courses, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, headers=headers, media_type="application/json")


def _plain_page(request: Request, template: str, status: int, **more: Any) -> Response:
    """A page in place of the lab that says what is wrong and leads to the presets."""
    return page(request, template, "../", status, presets=preset_links({}), **more)
