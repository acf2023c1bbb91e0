"""The pages. With `HX-Request-Type: partial` a page answers with the named block only."""

from __future__ import annotations

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
from app.course import courses_of
from app.errors import Problem, problem_of
from app.gallery import OPEN_FIGURES
from app.lab import lab_view, panel_view, preset_links, read_opening
from app.params import parse_query, read_query
from app.runs import runs_of
from app.service import Service, key_of
from app.settings import ROOT
from sim.scenario import ScenarioError

router = APIRouter(include_in_schema=False)

PAGES = (("lab/", "Lab"),)
"""Pages that exist, in the order of the header."""

MISSING = 409
"""Status of a call for a trace that the server lacks: the browser sends it again."""

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
    try:
        views, is_given = read_opening(request.scope["query_string"])
        runs = await runs_of(request, views.scenarios)
    except ScenarioError as error:
        return _plain_page(request, "problem.html", 422, problem=problem_of(error))
    except Problem as problem:
        if problem.status != MISSING:
            raise
        return _plain_page(request, "missing.html", MISSING, trace=views.scenarios["a"].workload.trace)
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
    runs = await runs_of(request, views.scenarios)
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
    runs = await runs_of(request, views.scenarios)
    service: Service = request.app.state.service
    courses = await service.in_thread(courses_of, runs)
    body = orjson.dumps(courses, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, headers=headers, media_type="application/json")


def _plain_page(request: Request, template: str, status: int, **more: Any) -> Response:
    """A page in place of the lab that says what is wrong and leads to the presets."""
    context = {**more, "presets": preset_links({}), **_frame_of_page(request, "../", "lab/")}
    return HTMLResponse(_templates.get_template(template).render(context), status, _vary())


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
    """Scripts that the lab's entry imports, for the browser to fetch ahead: all, and those of the open figures."""
    scripts = ROOT / "static" / "js"
    own = sorted(path.name for path in scripts.glob("*.js") if path.name not in _ENTRY_SCRIPTS)
    figures = [f"figures/{name}.js" for name in OPEN_FIGURES]
    return own + [name for name in figures if (scripts / name).exists()]
