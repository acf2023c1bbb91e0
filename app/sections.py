"""What a lesson is made of: sections of words with a stage beside them, and the stage's sliders and switches."""

from __future__ import annotations

from dataclasses import dataclass

from app.gallery import FIGURE_BY_NAME
from app.params import parse_query, read_query


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider of a stage; each of its places sets parameters of the scenario.

    Attributes
    ----------
    values : tuple of str
        What the places stand for, in order.
    sets : tuple of (parameter, text)
        What is set; `{}` in the text is the place's value. Without any the parameter that the slider is named after.
    also : tuple of (parameter, texts)
        What is set besides, with a text for each place.
    """

    name: str
    label: str
    values: tuple[str, ...]
    unit: str = ""
    sets: tuple[tuple[str, str], ...] = ()
    also: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def settings(self, value: str) -> tuple[tuple[str, str], ...]:
        """Parameters and their values at a place."""
        place = self.values.index(value)
        besides = tuple((name, texts[place]) for name, texts in self.also)
        return tuple((name, text.replace("{}", value)) for name, text in self.templates) + besides

    @property
    def templates(self) -> tuple[tuple[str, str], ...]:
        """What is set, with `{}` for the value of a place."""
        return self.sets or ((self.name, "{}"),)

    def place(self, query: str) -> int:
        """Place at which the slider stands for a scenario."""
        pairs = set(parse_query(query))
        return next(i for i, value in enumerate(self.values) if pairs.issuperset(self.settings(value)))


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of a stage: parameters when it is on and when it is off, as a query each."""

    name: str
    label: str
    on: str
    off: str

    def is_on(self, query: str) -> bool:
        """Whether a scenario has what the switch sets when it is on."""
        return set(parse_query(query)).issuperset(parse_query(self.on))


@dataclass(frozen=True, slots=True)
class Section:
    """One idea: words in `templates/lessons/LESSON/NAME.html`, and a stage with a scenario of its own.

    Attributes
    ----------
    query : str
        Scenarios and view, as an address of the lab has them; '' for words alone.
    figures : tuple of str
        Names of the gallery, the main one first.
    speed : str
        How fast it plays at first, one of the speeds of the transport.
    batch : (int, int) or None
        Users and context that the batch curve begins with.
    labels : tuple of (run, name)
        What the runs are called where the reader's switches would make their usual names wrong.
    is_still : bool
        The figures have nothing to play.
    """

    name: str
    title: str
    query: str = ""
    figures: tuple[str, ...] = ()
    knobs: tuple[Slider | Switch, ...] = ()
    speed: str = "1"
    batch: tuple[int, int] | None = None
    labels: tuple[tuple[str, str], ...] = ()
    is_still: bool = False

    @property
    def opens_s(self) -> float:
        """Time at which the stage opens [s]."""
        return read_query(parse_query(self.query)).t or 0

    @property
    def has_transport(self) -> bool:
        """Whether the stage needs a transport of its own: the timeline brings one."""
        return (
            not self.is_still
            and "timeline" not in self.figures
            and any(FIGURE_BY_NAME[name].is_timed for name in self.figures)
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Where a claim of a lesson comes from."""

    text: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A row of the table of lessons.

    Attributes
    ----------
    aim : str
        What a student can do afterwards.
    before : tuple of str
        What is taken for granted: other lessons by their slug, or plain words.
    teacher : tuple of str
        Notes for who teaches it, folded away on the page.
    cover : str
        Picture of its first section that the contents show, of `app.pictures.gallery`.
    """

    slug: str
    title: str
    aim: str
    minutes: int
    sections: tuple[Section, ...]
    sources: tuple[Source, ...]
    before: tuple[str, ...] = ()
    teacher: tuple[str, ...] = ()
    cover: str = "timeline"

    @property
    def path(self) -> str:
        """Address of the page, from the root."""
        return f"lessons/{self.slug}/" if self.slug != "tour" else ""
