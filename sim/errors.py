"""The one error a user's input can cause."""

from __future__ import annotations

SHOWN_CHARACTERS = 80


class ScenarioError(ValueError):
    """A value that is refused where it enters.

    Parameters
    ----------
    field : str
        Name of the parameter (or file) at fault.
    value : object
        What was given.
    allowed : str
        What would be accepted, in words.
    """

    def __init__(self, field: str, value: object, allowed: str) -> None:
        self.field, self.value, self.allowed = one_line(field), value, allowed
        super().__init__(f"{self.field}: {one_line(value)} is not accepted; allowed: {allowed}")


def one_line(value: object) -> str:
    """A value as one short line of text."""
    text = " ".join(str(value).split()) if str(value).strip() else "(empty)"
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
