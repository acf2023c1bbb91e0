"""What a row of the glossary is. Text in backticks is code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from app.gallery import FIGURE_BY_NAME


class Words(NamedTuple):
    """A thing in the words of each engine, by its flags, metrics and classes; '' where it has none."""

    vllm: str = ""
    sglang: str = ""
    tensorrt_llm: str = ""
    tgi: str = ""
    llama_server: str = ""


NO_WORDS = Words()
ENGINES = Words("vLLM", "SGLang", "TensorRT-LLM", "TGI", "llama-server")


class Live(NamedTuple):
    """Where a thing can be seen and tried: an address below the root, and what is there."""

    address: str
    label: str


@dataclass(frozen=True, slots=True)
class Term:
    """One word of the field.

    Attributes
    ----------
    key : str
        Its anchor on the page, and its name in templates.
    name, definition : str
        The word, and what it means in one sentence, in which no term of a later row is used.
    words : Words
        What the engines call it.
    live : Live or None
        Where it can be seen.
    other : str
        What it is called too, or what its letters stand for.
    """

    key: str
    name: str
    definition: str
    words: Words = NO_WORDS
    live: Live | None = None
    other: str = ""

    @property
    def in_text(self) -> str:
        """The word as it stands in a sentence."""
        return self.name if self.name[1:] != self.name[1:].lower() else self.name.lower()


class Subject(NamedTuple):
    """Terms that belong together."""

    title: str
    terms: tuple[Term, ...]


def lab(query: str, figure: str, t: float = 0) -> Live:
    """A figure of the lab with a scenario and a moment that show the thing."""
    views, place = (figure, figure) if figure == "timeline" else (f"timeline,{figure}", f"fig-{figure}")
    address = f"lab/?{query}&t={t:g}&views={views}#{place}"
    return Live(address, FIGURE_BY_NAME[figure].title)


def figures_of(query: str) -> Live:
    """The figures of a whole run, each with its meaning."""
    return Live(f"lab/?{query}#metrics", "Figures of the run")
