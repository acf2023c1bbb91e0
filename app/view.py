"""What the lab's templates print: plain values, already chosen and written. Nothing here computes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.batchview import BatchView
from app.fields import Choice, Field, Group
from sim.setup_card import Line

SERIES = 8


def series(request: int) -> int:
    """Number of the colour of a request, 1 to 8: the same everywhere on the page."""
    return request % SERIES + 1


def inner(label: str) -> str:
    """What a run is called inside a sentence: a word begins small, what is written in capitals stays."""
    return label[:1].lower() + label[1:] if re.match(r"[A-Z][a-z]+\b(?!-)", label) else label


@dataclass(frozen=True, slots=True)
class PresetLink:
    """A scenario to start from."""

    title: str
    see: str
    query: str
    is_current: bool
    remark: str = ""


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure of the page: whether it is open, and the query that opens or closes it."""

    name: str
    title: str
    summary: str
    is_open: bool
    toggle_query: str


@dataclass(frozen=True, slots=True)
class RunView:
    """One of the runs on the page."""

    name: str
    label: str
    note: str
    rows: int
    is_focused: bool
    focus_query: str

    @property
    def inner(self) -> str:
        """The label inside a sentence."""
        return inner(self.label)


@dataclass(frozen=True, slots=True)
class Versus:
    """A figure of another run and how ours differs from it."""

    run: str
    label: str
    value: str
    change: str
    verdict: str


@dataclass(frozen=True, slots=True)
class MetricView:
    """One figure of all runs."""

    path: str
    label: str
    meaning: str
    unit: str
    scale: float
    digits: int
    better: str
    is_time: bool
    meanings: dict[str, str]
    drivers: tuple[Choice, ...]
    value: str
    versus: tuple[Versus, ...]


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot at a step."""

    slot: int
    request: int = -1
    phase: str = ""
    tokens: str = ""
    step_tokens: str = ""
    blocks: str = ""
    series: int = 0


@dataclass(frozen=True, slots=True)
class WaitRow:
    """A waiting request at a step."""

    request: int
    series: int
    since: str
    reason: str
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a stacked bar, as a share of its width."""

    percent: float
    series: int = 0
    style: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Where a step's time goes: what a part took, and what its other limit would need."""

    label: str
    ms: str
    percent: float
    other_percent: float = 0
    note: str = ""
    is_bound: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """Why, for one run at its own step."""

    label: str
    step: str
    text: str


@dataclass(frozen=True, slots=True)
class StepLinks:
    """Queries the step buttons go to; '' where there is nothing to go to."""

    start: str
    back: str
    forward: str
    end: str


@dataclass(frozen=True, slots=True)
class FrameView:
    """The focused run at a time; without a step that runs, the panels say so."""

    run: str
    label: str
    t: str
    clock: str
    why: tuple[Sentence, ...]
    links: StepLinks
    summary: str = "no slot in use"
    slots: tuple[SlotRow, ...] = ()
    blocks: tuple[Slice, ...] = ()
    blocks_caption: str = "no block in use"
    waiting: tuple[WaitRow, ...] = ()
    waiting_title: str = "nobody waits"
    waiting_more: str = ""
    budget: tuple[Slice, ...] = ()
    budget_title: str = "no step runs"
    budget_caption: str = ""
    parts: tuple[Part, ...] = ()
    parts_title: str = ""
    is_timed: bool = False
    parts_caption: str = ""


@dataclass(frozen=True, slots=True)
class EventRow:
    """An entry of the event list, and the query of its time."""

    us: int
    time: str
    step: int
    kind: str
    label: str
    request: int
    series: int
    text: str
    query: str
    is_now: bool


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of the event list; links are queries, '' where there is nothing."""

    rows: tuple[EventRow, ...]
    total: int
    first: int
    before: Neighbour | None
    after: Neighbour | None
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The entry next to the time shown: its time and the query of it."""

    us: int
    query: str


@dataclass(frozen=True, slots=True)
class EventsView:
    """The filter of the event list, and the page shown while the figure is open."""

    kinds: tuple[Choice, ...]
    kind: str
    request: str
    hidden: tuple[tuple[str, str], ...]
    page: EventPage | None


@dataclass(frozen=True, slots=True)
class PanelView:
    """What follows the playhead and the controls: a fragment brings it anew."""

    title: str
    subtitle: str
    is_timed: bool
    runs: tuple[RunView, ...]
    frame: FrameView
    setup: tuple[Line, ...]
    figures: dict[str, FigureView]


@dataclass(frozen=True, slots=True)
class Change:
    """A parameter in which a run differs, as a control, and the edit that takes it back."""

    field: Field
    drop: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A run beside the plain one: what differs, and what its form without scripts sends along."""

    name: str
    label: str
    changes: tuple[Change, ...]
    kept: tuple[tuple[str, str], ...]
    time_s: str = ""

    @property
    def inner(self) -> str:
        """The label inside a sentence."""
        return inner(self.label)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that the editor prints; `free` is the name that the next run gets, '' if there are three."""

    query: str
    pairs: tuple[tuple[str, str], ...]
    runs: tuple[Compared, ...]
    free: str
    time_s: str
    options: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    fork_options: tuple[tuple[str, str], ...]

    @property
    def has_fork(self) -> bool:
        """Whether one of the runs is a fork."""
        return any(run.name == "fork" for run in self.runs)


@dataclass(frozen=True, slots=True)
class StageView(PanelView):
    """Scenarios with the figures that show them: what the browser's stage begins with."""

    query: str
    is_long: bool
    most_steps: int
    most_requests: int
    open_views: tuple[str, ...]
    normal_views: tuple[str, ...]
    kept: str
    picture_query: str
    charts: dict[str, str]
    batch: BatchView


@dataclass(frozen=True, slots=True)
class LabView(StageView):
    """All of the page."""

    is_given: bool
    events: EventsView
    groups: tuple[Group, ...]
    hidden: tuple[tuple[str, str], ...]
    presets: tuple[PresetLink, ...]
    metrics: tuple[MetricView, ...]
    dialect: str
    dialects: tuple[Choice, ...]
    windows: dict[str, str]
    page_pairs: tuple[tuple[str, str], ...]
    comparison: Comparison
