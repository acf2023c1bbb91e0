"""The table of pictures: which figures of the page there are as SVG, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.names import names_of
from app.params import Views
from app.pictures.document import Picture
from app.pictures.kv_map import kv_map_picture
from app.pictures.memory import memory_picture
from app.pictures.timeline import timeline_picture
from sim.run import Run
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Row:
    """A picture: the scenarios it needs the runs of, and how it is made of them. Calls of `make` are for a thread."""

    needed: Callable[[Views], Mapping[str, Scenario]]
    make: Callable[[Views, Mapping[str, Run]], Picture]


def _focus(views: Views) -> dict[str, Scenario]:
    """The scenario that the page's panels follow."""
    run = views.run if views.run in views.scenarios else "a"
    return {run: views.scenarios[run]}


def _kv_map(views: Views, runs: Mapping[str, Run]) -> Picture:
    ((name, run),) = runs.items()
    return kv_map_picture(run, names_of(views.scenarios)[name].label, views.t)


PICTURES: Mapping[str, Row] = {
    "timeline": Row(lambda views: views.scenarios, lambda views, runs: timeline_picture(runs, views.t)),
    "kv-map": Row(_focus, _kv_map),
    "memory": Row(lambda _: {}, lambda views, _: memory_picture(views.scenarios)),
}
"""By the name of the figure."""
