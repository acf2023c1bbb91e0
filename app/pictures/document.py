"""A picture as an SVG file: title, drawing, legend and caption, one under the other on a card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from app.pictures.shapes import group, label, rect, text_of, width_of, wrapped
from app.pictures.tokens import style_sheet

WIDTH = 960
PADDING = 14
LINE = 15.0
HEAD = 26.0
KEY_GAP = 16.0
LEAST_BODY = 60.0
BADGE = "uncalibrated"


class Drawing(NamedTuple):
    """Shapes from the origin on, and how tall they are."""

    shapes: str
    height: float


class Key(NamedTuple):
    """One entry of a legend: a mark of 12 by 12 pixels and what it means."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture shows.

    Attributes
    ----------
    draw : callable
        Makes the drawing for a width and, if one is wanted, a height.
    definitions : str
        Patterns that the drawing uses.
    caption : list of str
        The set-up, in pieces that are not broken.
    """

    title: str
    subtitle: str
    description: str
    draw: Callable[[float, float | None], Drawing]
    definitions: str = ""
    legend: tuple[Key, ...] = ()
    caption: list[str] = field(default_factory=list)
    is_timed: bool = True


def write_picture(picture: Picture, width: int | None = None, height: int | None = None) -> str:
    """The SVG file. What does not fit into a small `height` is left out from the bottom up: caption, then legend."""
    wide = width or WIDTH
    inner = wide - 2 * PADDING
    head = _head(picture, inner)
    feet = [_legend(picture.legend, inner), _caption(picture.caption, inner)]
    while height and feet and _left(height, head, feet) < LEAST_BODY:
        feet.pop()
    body = picture.draw(inner, max(LEAST_BODY, _left(height, head, feet)) if height else None)
    stack, y = "", float(PADDING)
    for drawing in (head, body, *feet):
        stack += group(drawing.shapes, x=PADDING, y=y)
        y += drawing.height
    return _file(picture, stack, wide, height or round(y + PADDING))


def _left(height: float, head: Drawing, feet: list[Drawing]) -> float:
    return height - 2 * PADDING - head.height - sum(foot.height for foot in feet)


def _file(picture: Picture, shapes: str, width: int, height: int) -> str:
    frame = rect("card frame", 0.5, 0.5, width - 1, height - 1, ' rx="10"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-labelledby="title desc"><title id="title">{text_of(picture.title)}</title>'
        f'<desc id="desc">{text_of(picture.description)}</desc><style>{style_sheet()}</style>'
        f"<defs>{picture.definitions}</defs>{frame}{shapes}</svg>\n"
    )


def _head(picture: Picture, width: float) -> Drawing:
    title_width = width_of(picture.title, 14, is_bold=True)
    shapes = label("ink strong title", 0, 13, picture.title)
    if picture.is_timed and title_width + 10 + width_of(BADGE) + 12 <= width:
        shapes += _badge(title_width + 10)
        title_width += 10 + width_of(BADGE) + 12
    is_beside = title_width + 20 + width_of(picture.subtitle) <= width
    if is_beside:
        return Drawing(shapes + label("muted num", width, 13, picture.subtitle), HEAD)
    lines = wrapped(picture.subtitle.split(" · "), width)
    return Drawing(shapes + _lines(lines, HEAD + 4), HEAD + LINE * len(lines) + 4)


def _badge(x: float) -> str:
    frame = rect("card frame", x, 1, width_of(BADGE) + 12, 16, ' rx="8"')
    return frame + label("muted", x + 6, 12.5, BADGE)


def _legend(keys: tuple[Key, ...], width: float) -> Drawing:
    shapes, x, y = "", 0.0, 8.0
    for key in keys:
        wide = 18 + width_of(key.text)
        if x and x + wide > width:
            x, y = 0.0, y + LINE + 2
        shapes += group(key.mark, x=x, y=y) + label("muted", x + 17, y + 10, key.text)
        x += wide + KEY_GAP
    return Drawing(shapes, y + LINE + 2 if keys else 0)


def _caption(parts: list[str], width: float) -> Drawing:
    lines = wrapped(parts, width)
    return Drawing(_lines(lines, 12), LINE * len(lines) + 2 if lines else 0)


def _lines(lines: list[str], y: float) -> str:
    return "".join(label("muted", 0, y + i * LINE, line) for i, line in enumerate(lines))
