"""How a page is passed on: a link that writes everything, a code to scan, lines to embed, files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import segno
from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from app.caching import cache_headers, is_known
from app.gallery import FIGURES, Figure
from app.lab import read_opening
from app.params import Views, write_query
from app.pictures.document import WIDTH
from app.pictures.gallery import PICTURES
from app.pictures.setup import setup_parts
from app.site import fragment, is_partial, page

router = APIRouter(prefix="/share", include_in_schema=False)

FILES = (
    ("steps.csv", "Steps, CSV"),
    ("requests.csv", "Requests, CSV"),
    ("run.json", "The whole run, JSON"),
    ("trace.json", "Trace for Perfetto, JSON"),
)


@dataclass(frozen=True, slots=True)
class FigureLines:
    """How a figure is put into another page; `image` is '' where there is no picture of it."""

    figure: Figure
    address: str
    frame: str
    image: str


@dataclass(frozen=True, slots=True)
class FileLink:
    """A file of the runs: address from the root, name to save it under ('' as the server names it), what it is."""

    address: str
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class ShareView:
    """All that the share menu prints."""

    link: str
    short_link: str
    code: Markup
    figures: tuple[FigureLines, ...]
    files: tuple[FileLink, ...]
    trace: str
    caption: str


@router.get("/")
async def get_share(request: Request) -> Response:
    """The share menu of a page, or a page of its own without scripts."""
    views, _ = read_opening(request.scope["query_string"])
    menu = share_view(views, root_of(request))
    if is_partial(request):
        return fragment(request, "share.html", "share", "../", share=menu)
    return page(request, "share.html", "../", share=menu)


@router.get("/qr.svg")
async def get_code(request: Request) -> Response:
    """The code to scan, as a picture for a slide."""
    views, _ = read_opening(request.scope["query_string"])
    link = _short_link(views, root_of(request))
    headers = cache_headers(request, "qr", link)
    if is_known(request, headers):
        return Response(status_code=304, headers=headers)
    stream = BytesIO()
    code_of(link).save(stream, kind="svg", scale=8, border=4, dark="#000", light="#fff", title=link)
    return Response(stream.getvalue(), headers=headers, media_type="image/svg+xml")


def share_view(views: Views, root: str) -> ShareView:
    """The menu for the scenarios and the moment of a page under `root`."""
    link, short = f"{root}lab/?{_query(views, views.page)}", _short_link(views, root)
    workload = views.scenarios["a"].workload
    return ShareView(
        link=link,
        short_link=short,
        code=Markup(code_of(short).svg_inline(scale=4, border=4, dark="#000", light="#fff")),  # noqa: S704 (made of squares)
        figures=tuple(_lines(figure, views, root) for figure in FIGURES),
        files=_files(views),
        trace=workload.trace if workload.load == "trace" else "",
        caption=" · ".join(setup_parts(views.scenarios["a"])),
    )


def code_of(link: str) -> segno.QRCode:
    """QR code of a link."""
    return segno.make_qr(link, error="l", boost_error=True)


def root_of(request: Request) -> str:
    """Address of the root, as the reader sees it: the page says it where a proxy does not."""
    given = request.headers.get("Page-Root", "")
    is_address = urlsplit(given).scheme in ("http", "https") and given.endswith("/") and given.isprintable()
    return given if is_address else str(request.base_url)


def _query(views: Views, more: Mapping[str, Any]) -> str:
    """Query that writes all parameters, the moment and more of the view."""
    return write_query(views.scenarios, full=True, **_moment(views), **more)


def _moment(views: Views) -> dict[str, Any]:
    return {"t": views.t, "run": None if views.run == "a" else views.run}


def _short_link(views: Views, root: str) -> str:
    """The same page without what is the default today: the fewer letters, the better a code is read across a room."""
    return f"{root}lab/?{write_query(views.scenarios, **_moment(views), **views.page)}"


def _lines(figure: Figure, views: Views, root: str) -> FigureLines:
    query = _query(views, views.kept)
    address = f"{root}embed/{figure.name}/?{query}"
    title = f"Batchscope: {figure.title}"
    size = f'width="100%" height="{figure.height}"'
    frame = f'<iframe src="{escape(address)}" title="{title}" {size} loading="lazy" style="border:0"></iframe>'
    source = f"{root}embed/{figure.name}.svg?{query}"
    image = f'<img src="{escape(source)}" alt="{title}" width="{WIDTH}">' if figure.name in PICTURES else ""
    return FigureLines(figure, address, frame, image)


def _files(views: Views) -> tuple[FileLink, ...]:
    titles = {figure.name: figure.title for figure in FIGURES}
    query = _query(views, {})
    pictures = tuple(
        FileLink(f"embed/{name}.svg?{query}", f"batchscope-{name}.svg", f"{titles[name]}, SVG") for name in PICTURES
    )
    # A fork is served where no run is named, so it is named always.
    named = write_query(views.scenarios, full=True, run=views.run)
    return pictures + tuple(FileLink(f"api/v1/export/{name}?{named}", "", title) for name, title in FILES)
