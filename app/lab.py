"""The lab page as a view: what its scenarios, runs and figures are called, and all that its template prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any
from urllib.parse import urlencode

from app.batchview import batch_view
from app.cards import metric_views
from app.compare import comparison_of
from app.course import MOST_REQUESTS, MOST_STEPS, is_long
from app.curves import curves_json
from app.events import events_view
from app.fields import Choice
from app.figures import course_json
from app.form import groups_of, hidden_of, text_of
from app.formulas import batch_curve_json, roofline_json
from app.frames import frame_view
from app.gallery import FIGURES, OPEN_FIGURES
from app.latency import latency_json
from app.moment import end_of
from app.names import names_of, subtitle_of, title_of
from app.params import VIEW_BY_NAME, Views, parse_query, read_query, write_query
from app.presets import Preset, canonical, presets
from app.view import FigureView, LabView, PanelView, PresetLink, RunView, StageView, inner
from sim.dialects import DIALECTS
from sim.run import Run
from sim.scenario import Scenario, settings_of
from sim.setup_card import Line, setup_card

ALL_ROWS = 32
CHARTS: Mapping[str, Callable[[tuple[tuple[str, str], ...]], str]] = {
    "course": course_json,
    "latency": latency_json,
    "batch-curve": batch_curve_json,
    "roofline": roofline_json,
    "load-curve": curves_json,
}
"""Figures with a chart, and what makes it for the names of the runs."""


def opening(query: bytes) -> tuple[str, bool]:
    """Query that the lab opens on, and whether the address gave a time: without parameters the first preset."""
    pairs = parse_query(query)
    if any(name not in VIEW_BY_NAME for name, _ in pairs):
        return query.decode("utf-8", "replace"), any(name == "t" for name, _ in pairs)
    first = presets()[0]
    view = {"t": f"{first.t:g}"} | dict(pairs)
    return f"{first.query}&{urlencode(view, safe=',:')}", any(name == "t" for name, _ in pairs)


def read_opening(query: bytes) -> tuple[Views, bool]:
    """Scenarios and view of the page, and whether the address gave a time."""
    text, is_given = opening(query)
    return read_query(parse_query(text)), is_given


def lab_view(views: Views, runs: Mapping[str, Run], is_given: bool) -> LabView:
    """The page for the runs of its scenarios."""
    stage, labels = stage_view(views, runs), labels_of(views)
    t_s, groups = _time_s(views, runs), groups_of(views.scenarios, runs["a"].facts)
    focus = _unless_a(stage.frame.run)
    metrics = {name: run.metrics(views.dialect) for name, run in runs.items()}
    return LabView(
        **{each.name: getattr(stage, each.name) for each in fields(stage)},
        is_given=is_given,
        groups=groups,
        hidden=hidden_of(views.scenarios, groups, t=t_s, run=focus, **views.page),
        presets=preset_links(runs),
        metrics=metric_views(metrics, labels, stage.is_timed),
        dialect=views.dialect,
        dialects=tuple(Choice(dialect.name, dialect.title) for dialect in DIALECTS),
        windows={dialect.name: dialect.window for dialect in DIALECTS},
        page_pairs=hidden_of(views.scenarios, (), t=t_s, run=focus, **views.page),
        comparison=comparison_of(views, t_s),
        events=events_view(runs, views),
    )


def stage_view(views: Views, runs: Mapping[str, Run], charts: Iterable[str] = tuple(CHARTS)) -> StageView:
    """The scenarios with their figures, of which `charts` come with the chart that the browser fills."""
    panel = panel_view(views, runs)
    named = tuple((name, inner(label)) for name, label in labels_of(views).items())
    return StageView(
        **{each.name: getattr(panel, each.name) for each in fields(panel)},
        query=write_query(views.scenarios),
        is_long=is_long(runs),
        most_steps=MOST_STEPS,
        most_requests=MOST_REQUESTS,
        open_views=views.views,
        normal_views=OPEN_FIGURES,
        kept=urlencode(views.kept, safe=",:"),
        picture_query=write_query(views.scenarios, full=True, t=_time_s(views, runs)),
        charts={name: CHARTS[name](named) for name in charts if name in CHARTS},
        batch=batch_view(views.scenarios[panel.frame.run]),
    )


def panel_view(views: Views, runs: Mapping[str, Run]) -> PanelView:
    """What follows the playhead, at the time of the page, which is not after the end of the longest run."""
    names, t_s = names_of(views.scenarios), _time_s(views, runs)
    frame = frame_view(runs, labels_of(views), views.run if views.run in runs else "a", t_s, views.page)
    return PanelView(
        title=title_of(names, views.scenarios),
        subtitle=subtitle_of(views.scenarios),
        is_timed=views.scenarios["a"].server.cost != "unit",
        runs=tuple(
            RunView(
                name=name,
                label=names[name].label,
                note=names[name].note,
                rows=_rows(run),
                is_focused=name == frame.run,
                focus_query=write_query(views.scenarios, t=t_s, run=_unless_a(name), **views.page),
            )
            for name, run in reversed(list(runs.items()))
        ),
        frame=frame,
        setup=_setup(views, runs),
        figures=_figures(views, t_s, frame.run),
    )


def _rows(run: Run) -> int:
    """Slots that a lane draws: of very many those that were used, as in static/js/figures/timeline.js."""
    if run.slots <= ALL_ROWS:
        return run.slots
    busy = run.steps["running"] + run.steps["held"]
    return min(run.slots, max(int(busy.max(initial=0)), ALL_ROWS // 2))


def _setup(views: Views, runs: Mapping[str, Run]) -> tuple[Line, ...]:
    """The set-up of the plain run, and what the others change of it."""
    plain = settings_of(views.scenarios["a"])
    others = [
        Line(labels_of(views)[name], ", ".join(f"{key} {text_of(value)}" for key, value in settings.items()))
        for name, settings in ((name, _changed(scenario, plain)) for name, scenario in views.scenarios.items())
        if settings
    ]
    return (*setup_card(runs["a"], views.dialect), *others)


def _changed(scenario: Scenario, plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings_of(scenario).items() if value != plain[name]}


def _figures(views: Views, t_s: float, run: str) -> dict[str, FigureView]:
    def toggled(name: str) -> tuple[str, ...]:
        return tuple(figure.name for figure in FIGURES if (figure.name in views.views) != (figure.name == name))

    def query(name: str) -> str:
        return write_query(views.scenarios, t=t_s, run=_unless_a(run), **views.page | {"views": toggled(name)})

    return {
        figure.name: FigureView(
            figure.name, figure.title, figure.summary, figure.name in views.views, query(figure.name)
        )
        for figure in FIGURES
    }


def labels_of(views: Views) -> dict[str, str]:
    """Label of each run."""
    return {name: each.label for name, each in names_of(views.scenarios).items()}


def preset_links(runs: Mapping[str, Run]) -> tuple[PresetLink, ...]:
    """Presets as links; the one whose runs are shown is marked, and says what they come to."""
    shown = write_query({name: run.scenario for name, run in runs.items()}) if runs else ""
    return tuple(_preset_link(preset, runs, canonical(preset.query) == shown) for preset in presets())


def _preset_link(preset: Preset, runs: Mapping[str, Run], is_current: bool) -> PresetLink:
    remark = preset.remark(runs) if preset.remark and is_current else ""
    return PresetLink(preset.title, preset.see, preset.link, is_current, remark)


def _end_s(runs: Mapping[str, Run]) -> float:
    return max(end_of(run) for run in runs.values())


def _time_s(views: Views, runs: Mapping[str, Run]) -> float:
    return min(views.t or 0.0, _end_s(runs))


def _unless_a(run: str) -> str | None:
    """The run as a query names it: a is the default."""
    return None if run == "a" else run
