"""The lab page as a view: what its scenarios, runs and figures are called, and all that its template prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.cards import metric_views
from app.course import MOST_REQUESTS, MOST_STEPS, is_long
from app.figures import course_json
from app.form import groups_of, hidden_of, text_of
from app.frames import frame_view
from app.moment import end_of
from app.params import Views, parse_query, read_query, write_query
from app.picture import axis_picture, lane_picture
from app.presets import canonical, presets
from app.view import FrameView, LabView, PresetLink, RunView
from sim.run import Run
from sim.scenario import Scenario, settings_of

PICTURE_S = 30.0
"""Longest span of the picture for pages without scripts; of a longer run it shows what is around the time."""

NOTES = {
    ("batching", "static"): "waits for the slowest",
    ("batching", "continuous"): "joins at the next step",
    ("kv", "paged"): "blocks as they are needed",
    ("kv", "contiguous"): "reserves the longest context",
    ("prefill", "chunked"): "prompts between decodes",
    ("prefill", "whole"): "a prompt in one step",
}
TITLES = ("{} batching", "Same requests, two policies", "Same requests, three policies")


@dataclass(frozen=True, slots=True)
class Name:
    """What a run is called."""

    label: str
    note: str


def opening(query: bytes) -> tuple[str, bool]:
    """Query that the lab opens on, and whether the address gave a time: without parameters the first preset."""
    pairs = parse_query(query)
    if any(name not in ("t", "run") for name, _ in pairs):
        return query.decode("utf-8", "replace"), any(name == "t" for name, _ in pairs)
    first = presets()[0]
    view = dict(pairs)
    rest = "".join(f"&{name}={value}" for name, value in ({"t": f"{first.t:g}"} | view).items())
    return first.query + rest, "t" in view


def read_opening(query: bytes) -> tuple[Views, bool]:
    """Scenarios and view of the page, and whether the address gave a time."""
    text, is_given = opening(query)
    return read_query(parse_query(text)), is_given


def names_of(scenarios: Mapping[str, Scenario]) -> dict[str, Name]:
    """Each run is called after the value in which it differs: of one parameter if one tells them apart."""
    settings = {name: settings_of(scenario) for name, scenario in scenarios.items()}
    texts = {name: {key: text_of(value) for key, value in values.items()} for name, values in settings.items()}
    differing = [key for key in texts["a"] if len({values[key] for values in texts.values()}) > 1] or ["batching"]
    differing.sort(key=lambda key: key != "batching")
    telling = [key for key in differing if len({values[key] for values in texts.values()}) == len(texts)]
    keys = telling[:1] or differing
    return {name: _name([(key, values[key]) for key in keys]) for name, values in texts.items()}


def _name(pairs: list[tuple[str, str]]) -> Name:
    label = ", ".join(value if (key, value) in NOTES else f"{key} {value}" for key, value in pairs)
    return Name(label[:1].upper() + label[1:], NOTES.get(pairs[0], "") if len(pairs) == 1 else "")


def lab_view(views: Views, runs: Mapping[str, Run], is_given: bool) -> LabView:
    """The page for the runs of its scenarios."""
    names = names_of(views.scenarios)
    labels = {name: each.label for name, each in names.items()}
    end_s = max(end_of(run) for run in runs.values())
    frame, t_s = frame_at(views, runs), min(views.t or 0.0, end_s)
    span_s = _span_of(end_s, t_s)
    groups = groups_of(views.scenarios)
    server = views.scenarios["a"].server
    return LabView(
        query=write_query(views.scenarios),
        t=frame.t,
        is_given=is_given,
        is_long=is_long(runs),
        most_steps=MOST_STEPS,
        most_requests=MOST_REQUESTS,
        title=TITLES[len(runs) - 1].format(labels["a"]),
        subtitle=f"{server.max_num_seqs} slots · a row is a slot · a bar is a request · width is time",
        is_timed=server.cost != "unit",
        groups=groups,
        hidden=hidden_of(views.scenarios, groups, t=t_s, run=None if frame.run == "a" else frame.run),
        presets=preset_links(views.scenarios),
        runs=_run_views(views, runs, names, frame.run, t_s, span_s),
        axis=axis_picture(runs["a"].results["arrival_s"], span_s),
        metrics=metric_views({name: run.metrics() for name, run in runs.items()}, labels, server.cost != "unit"),
        frame=frame,
        figure=course_json(tuple(sorted((name, label.lower()) for name, label in labels.items()))),
    )


def frame_at(views: Views, runs: Mapping[str, Run]) -> FrameView:
    """The panels at the time of the page, which is not after the end of the longest run."""
    labels = {name: each.label for name, each in names_of(views.scenarios).items()}
    t_s = min(views.t or 0.0, max(end_of(run) for run in runs.values()))
    return frame_view(runs, labels, views.run if views.run in runs else "a", t_s)


def preset_links(scenarios: Mapping[str, Scenario]) -> tuple[PresetLink, ...]:
    """Presets as links; the one that is shown is marked."""
    shown = write_query(scenarios)
    return tuple(
        PresetLink(preset.title, preset.see, f"{preset.query}&t={preset.t:g}", canonical(preset.query) == shown)
        for preset in presets()
    )


def _run_views(
    views: Views,
    runs: Mapping[str, Run],
    names: Mapping[str, Name],
    focus: str,
    t_s: float,
    span_s: tuple[float, float],
) -> tuple[RunView, ...]:
    """Runs from top to bottom: what is compared with above, the scenario itself last."""
    most = max(int(run.steps["waiting"].max(initial=0)) for run in runs.values())
    return tuple(
        RunView(
            name=name,
            label=names[name].label,
            note=names[name].note,
            slots=runs[name].scenario.server.max_num_seqs,
            is_focused=name == focus,
            focus_query=write_query(views.scenarios, t=t_s, run=name),
            picture=lane_picture(runs[name], name, span_s, t_s, most),
        )
        for name in reversed(list(runs))
    )


def _span_of(end_s: float, t_s: float) -> tuple[float, float]:
    """Time that the picture shows [s]: all of a short run, of a long one what is around the time."""
    if end_s <= 2 * PICTURE_S:
        return 0.0, end_s
    start_s = min(max(0.0, t_s - PICTURE_S / 2), end_s - PICTURE_S)
    return start_s, start_s + PICTURE_S
