"""What other sites show of ours: figures as SVG files. Only what is under /embed/ may be framed from anywhere."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.caching import cache_headers, is_known
from app.compress import compressed
from app.errors import Problem, problem_of
from app.lab import read_opening
from app.params import Views
from app.pictures.document import write_picture
from app.pictures.gallery import PICTURES, Row
from app.pictures.problem import problem_picture
from app.runs import runs_of
from app.service import Service, key_of
from sim.run import Run
from sim.scenario import ScenarioError

router = APIRouter(prefix="/embed", include_in_schema=False)

SVG = "image/svg+xml"


@router.get("/{name}.svg")
async def get_picture(request: Request, name: str) -> Response:
    """A figure as an image, also when it cannot be made: then the image says why."""
    try:
        if name not in PICTURES:
            raise Problem(404, f"There is no picture {name}; there are {', '.join(PICTURES)}.")
        views, _ = read_opening(request.scope["query_string"])
        return await _picture(request, name, views)
    except (ScenarioError, Problem) as error:
        problem = problem_of(error) if isinstance(error, ScenarioError) else error
        headers = {**_picture_headers(request), "Cache-Control": "no-store", **problem.headers}
        return Response(problem_picture(problem), problem.status, headers, SVG)


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
