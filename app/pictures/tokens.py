"""Colours of a picture: the tokens of the page, read from static/css/tokens.css, light and dark."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from app.settings import ROOT
from app.view import SERIES

SHEET = ROOT / "static" / "css" / "tokens.css"
FILLS = ("card", "ink", "muted", "line", "edge", "lane", "idle", "wait", "bad", "accent", "part")

_COLOUR = re.compile(r"--(?P<name>[\w-]+):\s*(?:light-dark\((?P<light>[^,]+),\s*(?P<dark>[^)]+)\)|(?P<both>#\w+));")
_FONT = re.compile(r"--font:\s*([^;]+);")


class Token(NamedTuple):
    """One colour in both schemes."""

    light: str
    dark: str


@cache
def read_tokens() -> dict[str, Token]:
    """Colours by name, as the page's custom properties have them."""
    found = _COLOUR.finditer(SHEET.read_text(encoding="utf-8"))
    return {m["name"]: Token(m["both"] or m["light"].strip(), m["both"] or m["dark"].strip()) for m in found}


@cache
def style_sheet() -> str:
    """Rules of every picture; plain colours only, for not every program that shows SVG knows custom properties."""
    return f"{_plain_rules()}{_rules(0)}@media (prefers-color-scheme:dark){{{_rules(1)}}}"


def _rules(scheme: int) -> str:
    tokens = read_tokens()
    fills = "".join(f".{name}{{fill:{tokens[name][scheme]}}}" for name in FILLS)
    series = "".join(
        f".s{i}{{color:{tokens[f'series-{i}'][scheme]}}}.o{i}{{fill:{tokens[f'on-{i}'][scheme]}}}"
        for i in range(1, SERIES + 1)
    )
    ink, line, card = (tokens[name][scheme] for name in ("ink", "line", "card"))
    strokes = f".frame{{stroke:{line}}}.stroke{{stroke:{ink}}}.gap{{stroke:{card}}}"
    return f"{fills}{series}{strokes}.over{{color:{tokens['bad'][scheme]}}}.hue{{color:{tokens['part'][scheme]}}}"


def _plain_rules() -> str:
    font = _FONT.search(SHEET.read_text(encoding="utf-8"))
    assert font, "tokens.css names a font"
    return (
        f"text{{font-family:{font[1].strip()};font-size:11px}}.strong{{font-weight:650}}.title{{font-size:14px}}"
        ".small text{font-size:9.5px}.num{text-anchor:end}.middle{text-anchor:middle}"
        ".hued{fill:currentColor}.tint{fill:currentColor;fill-opacity:.3}"
        ".held{stroke:currentColor;stroke-width:1.25;stroke-dasharray:4 3}.stroke,.gap{fill:none}"
    )
