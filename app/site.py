"""What all pages are made with: templates, addresses that hold under any prefix, headers."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from fastapi import Request
from jinja2 import Environment, FileSystemLoader
from jinja2_fragments import render_block
from starlette.responses import HTMLResponse

from app.form import with_code
from app.settings import ROOT
from app.terms import term_of

PAGES = (("", "Tour"), ("lessons/", "Lessons"), ("lab/", "Lab"), ("glossary/", "Glossary"))
"""Pages that exist, in the order of the header."""

_IMPORT = re.compile(r'^import (?:[^;"]* from )?"(\.[\w./-]+)";', re.MULTILINE)
_templates = Environment(
    loader=FileSystemLoader(ROOT / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_templates.filters["code"] = with_code
_templates.globals["term_of"] = term_of


def page(request: Request, template: str, up: str, status: int = 200, **context: Any) -> HTMLResponse:
    """A whole page; `up` leads from it to the root."""
    html = _templates.get_template(template).render(**context, **_frame_of_page(request, up))
    return HTMLResponse(html, status, page_headers())


def fragment(request: Request, template: str, block: str, up: str, **context: Any) -> HTMLResponse:
    """The named block of a page alone."""
    html = render_block(_templates, template, block, **context, **_frame_of_page(request, up))
    return HTMLResponse(html, headers=page_headers())


def is_partial(request: Request) -> bool:
    """Whether part of a page is asked for."""
    return request.headers.get("HX-Request-Type") == "partial"


def page_headers() -> dict[str, str]:
    """A page is asked for anew each time, and is told from its fragment."""
    return {"Cache-Control": "no-cache", "Vary": "HX-Request-Type, Accept-Encoding"}


@cache
def modules(entry: str, figures: tuple[str, ...]) -> list[str]:
    """Scripts that a page's entry and its open figures import, for the browser to fetch ahead."""
    scripts = ROOT / "static" / "js"
    found: dict[Path, None] = {}

    def follow(script: Path) -> None:
        if script in found or not script.exists():
            return
        found[script] = None
        for name in _IMPORT.findall(script.read_text()):
            follow((script.parent / name).resolve())

    for name in (entry, *(f"figures/{figure}.js" for figure in figures)):
        follow(scripts / name)
    return [str(script.relative_to(scripts)) for script in found if script.name != entry]


def _frame_of_page(request: Request, up: str) -> dict[str, Any]:
    static = request.app.state.settings.static_dir
    path = request.scope["path"].removeprefix(request.scope.get("root_path", "")).lstrip("/")
    return {
        "up": up,
        "root": str(request.base_url),
        "page": path,
        "pages": PAGES,
        "term_number": count(1).__next__,
        "asset": lambda path: f"{up}static/{path}?v={_version(static / path)}",
    }


@cache
def _version(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=4).hexdigest() if path.exists() else "0"
