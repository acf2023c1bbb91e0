"""A fork: from a time on, a run goes on with some of its parameters changed; up to there it is the same run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim.errors import ScenarioError
from sim.parameters import BY_NAME, Kind, Parameter
from sim.values import check_value, read_value, write_value

FORK = "fork"
PREFIX = "fork."
FORKABLE = (
    "rate",
    "max_num_seqs",
    "max_num_batched_tokens",
    "long_prefill_token_threshold",
    "max_waiting",
    "batching",
    "prefix_cache",
    "num_speculative_tokens",
    "acceptance",
    "draft_cost",
    "slo_ttft_ms",
    "slo_tpot_ms",
)
"""Parameters that can change in mid-run; all others shape what exists from the start: requests, memory, hardware."""

FORK_TIME = Parameter(
    FORK,
    Kind.FLOAT,
    None,
    "From the first step that starts at or after this time on, the run goes on with the fork.NAME values",
    "s",
    section=FORK,
    group=FORK,
    high=1e9,
)


@dataclass(frozen=True, slots=True)
class Fork:
    """Changes of a scenario in mid-run.

    Attributes
    ----------
    time_s : float
        The changes hold from the first step that starts at or after this time on [s].
    changes : tuple of (name, value)
        New values of parameters in FORKABLE, as stored; a value may equal the one before.
    """

    time_s: float
    changes: tuple[tuple[str, Any], ...]

    def __post_init__(self) -> None:
        check_value(FORK_TIME, self.time_s)
        if not self.changes:
            raise ScenarioError(FORK, self.time_s, f"with something that changes then, as in fork.{FORKABLE[1]}=16")
        for name, value in self.changes:
            if name not in FORKABLE:
                raise ScenarioError(PREFIX + name, value, f"what can change in mid-run: {', '.join(FORKABLE)}")

    def settings(self) -> dict[str, Any]:
        """JSON values of the changes by parameter name."""
        return {name: write_value(BY_NAME[name], value) for name, value in self.changes}


def is_fork_name(name: str) -> bool:
    """Whether a setting says something of a fork."""
    return name == FORK or name.startswith(PREFIX)


def read_fork(settings: Mapping[str, Any]) -> Fork | None:
    """Fork that `fork` and `fork.NAME` among the settings ask for, None if there is neither.

    Raises
    ------
    ScenarioError
        If one comes without the other, a value cannot be read, or a parameter cannot change in mid-run.

    Examples
    --------
    >>> read_fork({"rate": "2", "fork": "3.42", "fork.max_num_seqs": "16"})
    Fork(time_s=3.42, changes=(('max_num_seqs', 16),))
    """
    named = {name.removeprefix(PREFIX): raw for name, raw in settings.items() if name.startswith(PREFIX)}
    if FORK not in settings:
        if named:
            raise ScenarioError(FORK, "", f"the time from which fork.{next(iter(named))} holds [s]")
        return None
    time_s = read_value(FORK_TIME, settings[FORK])
    order = [name for name in FORKABLE if name in named] + [name for name in named if name not in FORKABLE]
    return Fork(time_s, tuple((name, _read(name, named[name])) for name in order))


def _read(name: str, raw: object) -> Any:
    """Value of a change; of one that is not possible the text, for `Fork` to refuse."""
    if name not in FORKABLE:
        return raw
    try:
        return read_value(BY_NAME[name], raw)
    except ScenarioError as error:
        raise ScenarioError(PREFIX + name, error.value, error.allowed) from None
