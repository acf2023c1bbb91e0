"""What cannot be drawn, as a small picture that says why: an image has no other way to tell it."""

from __future__ import annotations

from app.errors import Problem
from app.pictures.document import Drawing, Picture, write_picture
from app.pictures.shapes import label, width_of

WIDTH, LINE = 480, 16.0


def problem_picture(problem: Problem, width: int | None = None) -> str:
    """The SVG file; its text names the field."""
    field = str(problem.more.get("field", ""))
    return write_picture(
        Picture(
            title=f"Not drawn: {field}" if field else "Not drawn",
            subtitle=f"error {problem.status}",
            description=problem.detail,
            draw=lambda wide, _: _draw(problem.detail, wide),
            is_timed=False,
        ),
        width or WIDTH,
    )


def _draw(text: str, width: float) -> Drawing:
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return Drawing("".join(label("ink", 0, 12 + i * LINE, line) for i, line in enumerate(lines)), LINE * len(lines))
