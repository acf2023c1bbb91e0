"""Lesson: static or continuous batching. Words are in `templates/lessons/static-or-continuous/`."""

from __future__ import annotations

from app.lessons.sources import ORCA
from app.sections import Lesson, Section

STATIC_OR_CONTINUOUS = Lesson(
    slug="static-or-continuous",
    title="Static or continuous",
    aim="Say what a static batch wastes and when, and what continuous batching costs.",
    minutes=5,
    before=("tour",),
    sections=(
        Section(
            "formation",
            "How a batch is formed",
            "rate=3.9&num_requests=24&max_num_seqs=4&b.batching=static&t=2",
            ("timeline",),
        ),
    ),
    sources=(ORCA,),
)
