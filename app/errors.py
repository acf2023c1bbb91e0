"""Errors as RFC 9457 problem documents, or as an HTML fragment when htmx asks for part of a page."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, Response

from app.security import security_headers
from sim.errors import ScenarioError

SHOWN_CHARACTERS = 200


class Problem(Exception):  # noqa: N818 (RFC 9457's word)
    """An answer that is not a result.

    `more` holds members of the problem document beyond RFC 9457's own: field, value, allowed, …
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.more = status, detail, dict(headers or {}), more


def busy(detail: str, retry_after_s: int = 1) -> Problem:
    """503 with Retry-After: the server has more work than it may take on."""
    return Problem(503, detail, {"Retry-After": str(retry_after_s)})


def problem_of(error: ScenarioError) -> Problem:
    """422 that names the field."""
    return Problem(422, _shown(str(error)), field=error.field, value=_json_value(error.value), allowed=error.allowed)


def problem_response(request: Request, problem: Problem) -> Response:
    """The problem in the form that the client asked for."""
    headers = {"Cache-Control": "no-store", "Vary": "Accept, HX-Request-Type", **problem.headers}
    if request.headers.get("HX-Request-Type") == "partial":
        return HTMLResponse(_fragment(problem), problem.status, headers)
    if "text/html" in request.headers.get("Accept", ""):
        return HTMLResponse(_page(request, problem), problem.status, headers)
    document = orjson.dumps(problem_document(problem))
    return Response(document, problem.status, headers, "application/problem+json")


def problem_document(problem: Problem) -> dict[str, Any]:
    """Members of the problem+json document."""
    title = _title(problem.status)
    return {"type": "about:blank", "title": title, "status": problem.status, "detail": problem.detail, **problem.more}


def error_id(field: str = "") -> str:
    """Element id of the error next to a control: error-max_num_seqs, error-b-max_num_seqs, or error."""
    return "-".join(["error", *field.split(".")]) if field else "error"


def install(app: FastAPI) -> None:
    """Answer every error of the app as a problem."""
    for kind, to_problem in _PROBLEMS.items():
        app.add_exception_handler(kind, _handler(to_problem))


def _from_http(error: HTTPException) -> Problem:
    return Problem(error.status_code, str(error.detail), error.headers)


def _from_validation(error: RequestValidationError) -> Problem:
    first = error.errors()[0]
    return Problem(422, first["msg"], field=".".join(map(str, first["loc"][1:])), value=_json_value(first.get("input")))


def _from_anything(_: Exception) -> Problem:
    # The server logs it: Starlette raises it again once this is sent.
    return Problem(500, "The server made a mistake. It has been logged.")


_PROBLEMS: dict[type[Exception], Any] = {
    Problem: lambda error: error,
    ScenarioError: problem_of,
    HTTPException: _from_http,
    RequestValidationError: _from_validation,
    ClientDisconnect: lambda _: Problem(400, "The client left before its request was complete."),
    Exception: _from_anything,
}


def _handler(to_problem: Any) -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        response = problem_response(request, to_problem(error))
        if response.status_code == 500:  # answered outside all middleware
            response.raw_headers += security_headers(request.app.state.settings.frame_ancestors)
        return response

    return handle


def _fragment(problem: Problem) -> str:
    element_id = html.escape(error_id(str(problem.more.get("field", ""))))
    return f'<p class="error" id="{element_id}" role="alert">{html.escape(problem.detail)}</p>'


def _page(request: Request, problem: Problem) -> str:
    root = "../" * max(request.url.path.count("/") - request.scope.get("root_path", "").count("/") - 1, 0) or "./"
    title = f"{problem.status} {_title(problem.status)}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{title} · Batchscope</title><link rel="icon" href="{root}favicon.ico"><main><h1>{title}</h1>'
        f'{_fragment(problem)}<p><a href="?">This page without its parameters</a> · <a href="{root}">Start</a></p>'
        "</main>"
    )


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def _json_value(value: object) -> Any:
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**53):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _shown(value)


def _shown(value: object) -> str:
    # Lone surrogates and other text that cannot be sent as UTF-8 are shown as question marks.
    text = str(value).encode("utf-8", "replace").decode()
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
