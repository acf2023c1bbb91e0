"""Pieces of SVG as text. Places are in pixels; what is written inside comes from us or is escaped here."""

from __future__ import annotations

import re
from html import escape

CHARACTER_EM = 0.54
BOLD_EM = 0.6


_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text_of(value: object) -> str:
    """Text that may stand in an SVG file; characters that XML cannot hold become question marks."""
    return escape(_NOT_XML.sub("?", str(value)))


def number(value: float) -> str:
    """A coordinate with no more digits than can be seen."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def rect(style: str, x: float, y: float, width: float, height: float, more: str = "") -> str:
    """A rectangle."""
    return painted(f'class="{style}"{more}', x, y, width, height)


def painted(paint: str, x: float, y: float, width: float, height: float) -> str:
    """A rectangle with attributes of its own."""
    place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f"<rect {paint} {place}/>"


def label(style: str, x: float, y: float, text: object, more: str = "") -> str:
    """A line of text, its baseline at y."""
    return f'<text class="{style}" x="{number(x)}" y="{number(y)}"{more}>{text_of(text)}</text>'


def path(style: str, steps: str) -> str:
    """A path."""
    return f'<path class="{style}" d="{steps}"/>' if steps else ""


def group(inside: str, style: str = "", x: float = 0, y: float = 0) -> str:
    """Shapes with a style or a place in common."""
    place = f' transform="translate({number(x)} {number(y)})"' if x or y else ""
    return f"<g{f' class={chr(34)}{style}{chr(34)}' if style else ''}{place}>{inside}</g>" if inside else ""


def hatch(name: str, style: str) -> str:
    """Pattern of stripes in the style's colour, lighter between them: as prefill is drawn on the page."""
    return (
        f'<pattern id="{name}" class="{style}" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(-45)"><rect class="card" width="6" height="6"/>'
        '<rect class="tint" width="6" height="6"/><rect class="hued" width="6" height="2.4"/></pattern>'
    )


def width_of(text: str, size: float = 11, *, is_bold: bool = False) -> float:
    """Width of a line of text, roughly: no font is at hand here."""
    return len(text) * size * (BOLD_EM if is_bold else CHARACTER_EM)


def wrapped(parts: list[str], width: float, separator: str = " · ", size: float = 11) -> list[str]:
    """Parts joined to lines that are no wider, as far as a part alone is not."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and width_of(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines
