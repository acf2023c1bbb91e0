"""The table of pictures: which figures of the page there are as SVG, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.params import Views
from app.pictures.document import Picture
from app.pictures.memory import memory_picture
from app.pictures.timeline import timeline_picture
from sim.run import Run
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Row:
    """A picture: the scenarios it needs the runs of, and how it is made of them. Calls of `make` are for a thread."""

    needed: Callable[[Views], Mapping[str, Scenario]]
    make: Callable[[Views, Mapping[str, Run]], Picture]


PICTURES: Mapping[str, Row] = {
    "timeline": Row(lambda views: views.scenarios, lambda views, runs: timeline_picture(runs, views.t)),
    "memory": Row(lambda _: {}, lambda views, _: memory_picture(views.scenarios)),
}
"""By the name of the figure."""
