"""The tour: six steps, each with one figure that the reader moves. Words are in `templates/lessons/tour/`."""

from __future__ import annotations

from app.lessons.sources import ORCA, PAGED
from app.sections import Lesson, Section, Slider

TOUR = Lesson(
    slug="tour",
    title="How an LLM server batches requests",
    aim="Cause each effect with your own hand: free batching, the static penalty, paging and the memory limit.",
    minutes=10,
    sections=(
        Section(
            "static-penalty",
            "The static penalty",
            "load=burst&prompt_list=200,200,200,200,200,200,200,200&output_list=300,60,90,40,80,120,50,70&max_num_seqs=4"
            "&prefix_cache=off&async_scheduling=false&b.batching=static&t=1.2",
            ("timeline",),
            (
                Slider(
                    "longest",
                    "Answer of request 1",
                    ("60", "120", "200", "300", "450", "600"),
                    "tokens",
                    (("output_list", "{},60,90,40,80,120,50,70"),),
                ),
            ),
        ),
    ),
    sources=(ORCA, PAGED),
)
