"""The tour: six steps, each with one figure that the reader moves. Words are in `templates/lessons/tour/`."""

from __future__ import annotations

from app.lessons.sources import ORCA, PAGED
from app.presets import TWELVE
from app.sections import Lesson, Section, Slider

STATIC_PENALTY = Section(
    "static-penalty",
    "The static penalty",
    f"{TWELVE}&t=20.5",
    ("timeline",),
    (
        Slider(
            "longest",
            "Answer of request 5",
            ("6", "20", "40", "60", "80", "100", "120"),
            "tokens",
            (("output_list", "40,3,25,5,{},4,18,6,33,2,50,8"),),
        ),
    ),
    speed="10",
)

TOUR = Lesson(
    slug="tour",
    title="How an LLM server batches requests",
    aim="Cause each effect with your own hand: free batching, the static penalty, paging and the memory limit.",
    minutes=10,
    sections=(STATIC_PENALTY,),
    sources=(ORCA, PAGED),
)
