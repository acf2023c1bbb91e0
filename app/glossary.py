"""The glossary: the field's terms, what they mean, and what each engine calls them."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.site import page
from app.terms import SUBJECTS
from app.terms.term import ENGINES

router = APIRouter(include_in_schema=False)


@router.get("/glossary/")
async def get_glossary(request: Request) -> Response:
    """The whole table, by subjects."""
    return page(request, "glossary.html", "../", subjects=SUBJECTS, engines=ENGINES)
