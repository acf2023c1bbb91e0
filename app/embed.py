"""What other sites show of ours: a figure as a page of its own, or as an SVG file.

Only what is under /embed/ may be framed from anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from app.caching import cache_headers, is_known
from app.compress import compressed
from app.errors import Problem, problem_of
from app.gallery import FIGURE_BY_NAME, FIGURES
from app.lab import lab_view, panel_view, read_opening
from app.params import Views
from app.pictures.document import write_picture
from app.pictures.gallery import PICTURES, Row
from app.pictures.problem import problem_picture
from app.pictures.setup import setup_parts
from app.pictures.unfit import memory_address
from app.runs import runs_of
from app.security import CONTENT_SECURITY_POLICY
from app.service import Service, key_of
from app.settings import ROOT
from app.site import fragment, is_partial, modules, page, page_headers
from sim.run import Run
from sim.scenario import ScenarioError

router = APIRouter(prefix="/embed", include_in_schema=False)

SVG = "image/svg+xml"
_STYLES = ("slider", "overview", "timeline", "transport", "frame", "gallery", "charts", "embed")


@router.get("/{name}/")
async def get_figure(request: Request, name: str) -> Response:
    """A figure alone, for a frame on another site."""
    try:
        views = _views(request, name)
        runs = await runs_of(request, views.scenarios)
    except (ScenarioError, Problem) as error:
        return _open(request, _problem_page(request, name, error))
    service: Service = request.app.state.service
    lab = await service.in_thread(lab_view, views, runs, True)
    return _open(
        request,
        page(
            request,
            "embed.html",
            "../../",
            lab=lab,
            figure=FIGURE_BY_NAME[name],
            styles=_styles(name),
            modules=modules("embed.js", (name,)),
            caption=" · ".join(setup_parts(views.scenarios["a"])),
        ),
    )


@router.get("/{name}/frame/")
async def get_figure_frame(request: Request, name: str) -> Response:
    """The state at a time, for a figure that the server tells; as a whole page it is the figure."""
    if not is_partial(request):
        return RedirectResponse(f"../?{request.url.query}", 307, page_headers())
    views = _views(request, name)
    runs = await runs_of(request, views.scenarios)
    service: Service = request.app.state.service
    panel = await service.in_thread(panel_view, views, runs)
    context = {"lab": panel, "figure": FIGURE_BY_NAME[name], "is_partial": True}
    return fragment(request, "embed.html", "frame", "../../", **context)


@router.get("/{name}.svg")
async def get_picture(request: Request, name: str) -> Response:
    """A figure as an image, also when it cannot be made: then the image says why."""
    try:
        if name not in PICTURES:
            raise Problem(404, f"There is no picture {name}; there are {', '.join(PICTURES)}.")
        views, _ = read_opening(request.scope["query_string"])
        return await _picture(request, name, views)
    except (ScenarioError, Problem) as error:
        problem = _problem(error)
        headers = {**_picture_headers(request), "Cache-Control": "no-store", **problem.headers}
        return Response(problem_picture(problem), problem.status, headers, SVG)


def _views(request: Request, name: str) -> Views:
    """Scenarios of the address, and the figure as the only one that is open."""
    if name not in FIGURE_BY_NAME:
        raise Problem(404, f"There is no figure {name}.")
    views, _ = read_opening(request.scope["query_string"])
    return replace(views, views=(name,))


def _styles(name: str) -> list[str]:
    """Style sheets of the page; that of the figure if it has one of its own."""
    own = [name] if name not in _STYLES and (ROOT / "static" / "css" / f"{name}.css").exists() else []
    return [*own, *_STYLES]


def _problem(error: ScenarioError | Problem) -> Problem:
    return problem_of(error) if isinstance(error, ScenarioError) else error


def _problem_page(request: Request, name: str, error: ScenarioError | Problem) -> Response:
    problem = _problem(error)
    is_unknown = name not in FIGURE_BY_NAME
    return page(
        request,
        "embed_problem.html",
        "../../",
        problem.status,
        title="No such figure" if is_unknown else "This figure cannot be shown",
        detail=problem.detail,
        figures=FIGURES if is_unknown else (),
        picture="" if is_unknown else memory_address(request, "../../"),
    )


def _open(request: Request, response: Response) -> Response:
    """An answer that may be framed."""
    ancestors = request.app.state.settings.embed_ancestors
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY + ancestors
    return response


async def _picture(request: Request, name: str, views: Views) -> Response:
    keys = [f"{run}={key_of(scenario)}" for run, scenario in views.scenarios.items()]
    headers = cache_headers(request, "picture", name, *keys, views.run, views.t, views.width, views.height)
    headers |= _picture_headers(request)
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    row = PICTURES[name]
    runs = await runs_of(request, row.needed(views))
    service: Service = request.app.state.service
    accept_encoding = request.headers.get("Accept-Encoding", "")
    body, encoding = await service.in_thread(_written, row, views, runs, accept_encoding)
    return Response(body, headers=headers | encoding, media_type=SVG)


def _written(row: Row, views: Views, runs: Mapping[str, Run], accept_encoding: str) -> tuple[bytes, dict[str, str]]:
    picture = write_picture(row.make(views, runs), views.width, views.height)
    return compressed(picture.encode(), accept_encoding)


def _picture_headers(request: Request) -> dict[str, str]:
    """A picture styles itself, runs nothing, and may be shown anywhere."""
    ancestors = request.app.state.settings.embed_ancestors
    policy = f"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors {ancestors}"
    return {"Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "cross-origin"}
