"""The lab's form as its template prints it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a select or segment."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """A control with its value."""

    name: str
    label: str
    widget: str  # range, select, segments, number or text
    value: str
    default: str
    help: str
    flags: tuple[tuple[str, Markup], ...] = ()
    unit: str = ""
    low: float = 0
    high: float = 0
    step: float = 1
    scale: str = "linear"
    word: str = ""
    resolved: str = ""
    needs: str = ""
    why: str = ""
    is_idle: bool = False
    hint_if: str = ""
    hint: str = ""
    is_hinted: bool = False
    is_basic: bool = False
    choices: tuple[Choice, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether the value is another than the default."""
        return self.value != self.default

    @property
    def is_hidden(self) -> bool:
        """Whether it has no effect, and says no reason."""
        return self.is_idle and not self.why

    @property
    def is_disabled(self) -> bool:
        """Whether it has no effect, and says why."""
        return self.is_idle and bool(self.why)


@dataclass(frozen=True, slots=True)
class Group:
    """A titled group of controls: `fields` all of them, the seldom ones folded away."""

    title: str
    fields: tuple[Field, ...]

    @property
    def basic(self) -> tuple[Field, ...]:
        """Those that are always in sight."""
        return tuple(field for field in self.fields if field.is_basic)

    @property
    def more(self) -> tuple[Field, ...]:
        """Those that are folded."""
        return tuple(field for field in self.fields if not field.is_basic)

    @property
    def changed(self) -> int:
        """How many of the folded ones have another value than the default."""
        return sum(field.is_changed and not field.is_hidden for field in self.more)
