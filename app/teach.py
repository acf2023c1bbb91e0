"""The tour, the lessons and their contents: words beside stages whose numbers the engine has just computed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from app import batching, blocktally, demand
from app.batchview import batch_view
from app.errors import Problem, problem_of
from app.fields import Choice
from app.lab import stage_view
from app.lessons import LESSON_BY_SLUG, LESSONS
from app.lessons.tour import TOUR
from app.numbers import MISSING, Missing, RunNumbers, around, nearest, number, numbers_of, reading, what_if
from app.params import VIEW_BY_NAME, Views, parse_query, read_query
from app.runs import runs_of
from app.sections import Lesson, Section
from app.service import Service
from app.settings import ROOT
from app.site import modules, page, page_headers
from app.view import StageView
from sim.catalog import find_gpu, find_model, load_gpus, load_models
from sim.run import Run
from sim.scenario import ScenarioError, scenario_from

router = APIRouter(include_in_schema=False)

MACHINE = ("model", "gpu")
"""Parameters that a reader may set for all stages of a page."""


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section with its stage; without one, or where the model does not fit, `stage` is None and `problem` says so."""

    section: Section
    stage: StageView | None
    numbers: Mapping[str, Any]
    query: str = ""
    problem: str = ""

    @property
    def scenarios(self) -> str:
        """The query without its view, every parameter that the section names in it."""
        return urlencode([(k, v) for k, v in parse_query(self.query) if k not in VIEW_BY_NAME], safe=",:")

    @property
    def pre(self) -> str:
        """Prefix of the ids in the stage."""
        return f"{self.section.name}-"


@router.get("/")
async def get_tour(request: Request) -> Response:
    """The tour is the first thing that is seen."""
    return await _lesson_page(request, TOUR, "")


@router.get("/lessons/")
async def get_lessons(request: Request) -> Response:
    """Contents."""
    return page(request, "lessons.html", "../", lessons=LESSONS)


@router.get("/lessons/{slug}/")
async def get_lesson(request: Request, slug: str) -> Response:
    """A lesson."""
    if slug not in LESSON_BY_SLUG:
        names = ", ".join(LESSON_BY_SLUG)
        raise Problem(404, f"There is no lesson {slug}; there are {names}.")
    return await _lesson_page(request, LESSON_BY_SLUG[slug], "../../")


async def _lesson_page(request: Request, lesson: Lesson, up: str) -> Response:
    try:
        machine = _machine(request.scope["query_string"])
    except ScenarioError as error:
        return page(request, "problem.html", up, 422, problem=problem_of(error), picture="", presets=())
    service: Service = request.app.state.service
    key = lesson.slug, urlencode(sorted(machine.items()))
    if key in service.bodies:
        return HTMLResponse(service.bodies[key], headers=page_headers())
    sections = await asyncio.gather(*(_section(request, section, machine) for section in lesson.sections))
    answer = await service.in_thread(_made, request, lesson, up, machine, sections)
    if not any(section.problem for section in sections):  # which may be gone the next time
        service.bodies[key] = bytes(answer.body)
    return answer


def _made(
    request: Request, lesson: Lesson, up: str, machine: Mapping[str, str], sections: list[SectionView]
) -> HTMLResponse:
    place = LESSONS.index(lesson) if lesson in LESSONS else -1
    return page(
        request,
        "lesson.html",
        up,
        lesson=lesson,
        sections=sections,
        lessons=LESSON_BY_SLUG,
        later=LESSONS[place + 1] if place + 1 < len(LESSONS) else None,
        earlier=LESSONS[place - 1] if place > 0 else TOUR if place == 0 else None,
        machine=machine,
        models=[Choice(name, model.name) for name, model in load_models().items()],
        gpus=[Choice(name, gpu.name) for name, gpu in load_gpus().items()],
        names=_names(machine),
        plain_names=_names({}),
        modules=modules("lesson.js", lesson.sections[0].figures),
        styles=_styles(lesson),
        number=number,
        read=reading,
        nearest=nearest,
        around=around,
        what_if=what_if,
        batching=batching,
        demand=demand,
        blocktally=blocktally,
    )


def _names(machine: Mapping[str, str]) -> dict[str, Choice]:
    """Model and GPU of the page, as catalogue id and name."""
    server = scenario_from(machine).server
    model, gpu = find_model(server.model), find_gpu(server.gpu)
    return {"model": Choice(model.id, model.name), "gpu": Choice(gpu.id, gpu.name)}


def _machine(query: bytes) -> dict[str, str]:
    """Model and GPU that the reader has chosen.

    Raises
    ------
    ScenarioError
        For another parameter, or a model or GPU that is not in the catalogue.
    """
    pairs = dict(parse_query(query))
    for name, value in pairs.items():
        if name not in MACHINE:
            raise ScenarioError(name, value, f"{' and '.join(MACHINE)} only; the lab takes every parameter")
    scenario_from(pairs)
    return pairs


async def _section(request: Request, section: Section, machine: Mapping[str, str]) -> SectionView:
    if not section.query:
        return SectionView(section, None, _without_gaps({}))
    own = parse_query(section.query)
    pairs = [*((name, value) for name, value in machine.items() if name not in dict(own)), *own]
    query = urlencode(pairs, safe=",:")
    views = replace(read_query(pairs), views=section.figures)
    try:
        runs = await runs_of(request, views.scenarios)
    except (ScenarioError, Problem) as error:
        problem = problem_of(error) if isinstance(error, ScenarioError) else error
        numbers = {name: RunNumbers(scenario) for name, scenario in views.scenarios.items()}
        return SectionView(section, None, _without_gaps(numbers), query, problem.detail)
    service: Service = request.app.state.service
    return await service.in_thread(_shown, section, views, runs, query)


def _without_gaps(numbers: Mapping[str, RunNumbers]) -> dict[str, RunNumbers | Missing]:
    """A name for every run that words may speak of."""
    return {name: numbers.get(name, MISSING) for name in "abc"}


def _shown(section: Section, views: Views, runs: Mapping[str, Run], query: str) -> SectionView:
    stage = stage_view(views, runs, section.figures)
    if section.batch:
        stage = replace(stage, batch=batch_view(views.scenarios["a"], *section.batch))
    if section.labels:
        labels = dict(section.labels)
        named = tuple(replace(run, label=labels[run.name], note="") for run in stage.runs)
        stage = replace(stage, title=section.title, runs=named)
    return SectionView(section, stage, _without_gaps(numbers_of(runs)), query)


_STYLES = ("slider", "overview", "timeline", "transport", "frame", "gallery", "charts", "term", "lesson")


def _styles(lesson: Lesson) -> list[str]:
    """Style sheets of the page: those of its figures that have one of their own come first."""
    figures = dict.fromkeys(name for section in lesson.sections for name in section.figures)
    own = [name for name in figures if name not in _STYLES and (ROOT / "static" / "css" / f"{name}.css").exists()]
    return [*own, *_STYLES]
