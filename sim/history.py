"""What happened in a run, event by event in words; and the life of one request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.record import Kind
from sim.run import FINISHED, Run

Indices = NDArray[np.int64]
NO_REQUEST = -1
NO_EVENT = -1


class EventKind(NamedTuple):
    """A kind of entry: its name, and what a list calls it."""

    name: str
    label: str


EVENT_KINDS: tuple[EventKind, ...] = (
    EventKind("arrived", "arrives"),
    EventKind("refused", "refused"),
    EventKind("admitted", "admitted"),
    EventKind("chunk", "prompt chunk"),
    EventKind("first", "first token"),
    EventKind("preempted", "preempted"),
    EventKind("resumed", "resumed"),
    EventKind("finished", "finished"),
    EventKind("released", "slot given back"),
    EventKind("batch", "batch formed"),
    EventKind("evicted", "cache evicted"),
    EventKind("fork", "fork"),
)
KIND_NAMES = tuple(kind.name for kind in EVENT_KINDS)
_NUMBER = {name: number for number, name in enumerate(KIND_NAMES)}
_OF_RECORD = {
    Kind.REJECT: "refused",
    Kind.ADMIT: "admitted",
    Kind.RESUME: "resumed",
    Kind.CHUNK: "chunk",
    Kind.FIRST: "first",
    Kind.PREEMPT: "preempted",
    Kind.FINISH: "finished",
    Kind.RELEASE: "released",
    Kind.BATCH: "batch",
    Kind.EVICT: "evicted",
    Kind.FORK: "fork",
}
_AT_END = (Kind.FIRST, Kind.FINISH, Kind.RELEASE)


@dataclass(frozen=True)
class History:
    """Entries of a run in the order of time, as columns.

    Notes
    -----
    `time_s` [s]; `step` is the step an entry belongs to (an arrival: the first that knows of it); `kind` indexes
    EVENT_KINDS; `request` is NO_REQUEST where an entry is of nobody; `event` indexes `run.events`, NO_EVENT where the
    record has none.
    """

    run: Run
    time_s: NDArray[np.float64]
    step: Indices
    kind: Indices
    request: Indices
    event: Indices

    def __len__(self) -> int:
        return len(self.time_s)

    def chosen(self, kinds: Collection[str] = (), request: int | None = None) -> Indices:
        """Positions of the entries of these kinds (none: all) and of this request."""
        is_chosen = np.ones(len(self), np.bool_)
        if kinds:
            is_chosen &= np.isin(self.kind, [_NUMBER[name] for name in kinds])
        if request is not None:
            is_chosen &= self.request == request
        return np.flatnonzero(is_chosen)

    def sentence(self, position: int) -> str:
        """What happened, in words."""
        name = KIND_NAMES[self.kind[position]]
        request, event = int(self.request[position]), int(self.event[position])
        row = self.run.events[event] if event != NO_EVENT else None
        return _SENTENCES[name](Entry(self.run, request, int(self.step[position]), row))


def history_of(run: Run) -> History:
    """All entries of a run."""
    parts = [_arrivals(run), _recorded(run), _evictions(run)]
    time_s, step, kind, request, event = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((np.arange(len(time_s)), time_s))
    return History(run, time_s[order], step[order], kind[order], request[order], event[order])


def _arrivals(run: Run) -> tuple[NDArray[Any], ...]:
    """Who came: the record does not have it."""
    request = np.flatnonzero(~np.isnan(run.results["arrival_s"]))
    kind = np.full(len(request), _NUMBER["arrived"])
    time_s = run.results["arrival_s"][request]
    step = np.minimum(np.searchsorted(run.steps["start_s"], time_s, "left"), max(len(run.steps) - 1, 0))
    return time_s, step, kind, request, np.full(len(request), NO_EVENT)


def _recorded(run: Run) -> tuple[NDArray[Any], ...]:
    """Entries of the record."""
    events = run.events
    numbers = np.full(max(Kind) + 1, -1)
    for record, name in _OF_RECORD.items():
        numbers[record] = _NUMBER[name]
    event = np.flatnonzero((numbers[events["kind"]] >= 0) & ~_is_told_before(run))
    kind = events["kind"][event]
    step = np.searchsorted(run.steps["events_end"], event, "right")
    request = np.where(np.isin(kind, [Kind.BATCH, Kind.EVICT, Kind.FORK]), NO_REQUEST, events["request"][event])
    time_s = run.steps["start_s"][step] + np.where(np.isin(kind, _AT_END), run.steps["duration_s"][step], 0.0)
    for record, column in ((Kind.FIRST, "first_s"), (Kind.FINISH, "finish_s")):
        is_kind = kind == record
        time_s[is_kind] = run.results[column][request[is_kind]]
    return time_s, step, numbers[kind], request, event


def _is_told_before(run: Run) -> NDArray[np.bool_]:
    """Chunks that are no news: the first one, told with the admission, and decodes that verify drafts."""
    kind, request = run.events["kind"], run.events["request"]
    is_chunk = kind == Kind.CHUNK
    step = np.searchsorted(run.steps["events_end"], np.arange(len(kind)), "right")
    key = step * (len(run.results) + 1) + request
    is_first = np.isin(key, key[np.isin(kind, [Kind.ADMIT, Kind.RESUME])])
    is_draft = np.append(kind[1:] == Kind.DRAFT, [False])[: len(kind)]
    return is_chunk & (is_first | is_draft)


def _evictions(run: Run) -> tuple[NDArray[Any], ...]:
    """Steps in which blocks lost their cached content because new tokens needed them."""
    step = np.flatnonzero(_evicted(run))
    count = len(step)
    nobody = np.full(count, NO_REQUEST)
    return run.steps["start_s"][step], step, np.full(count, _NUMBER["evicted"]), nobody, np.full(count, NO_EVENT)


def _evicted(run: Run) -> Indices:
    """Blocks that lost their content, per step."""
    lost = np.concatenate([[0], np.cumsum(run.blocks < 0)])
    return np.diff(lost[run.steps["ids_end"]], prepend=0)


# -- sentences -----------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """What a sentence is made of: `row` is the record's event, None where it has none."""

    run: Run
    request: int
    step: int
    row: Any


def _who(request: int) -> str:
    return f"Request {request + 1}"


def _arrived(it: Entry) -> str:
    tokens = int(it.run.requests.prompt_tokens[it.request])
    return f"{_who(it.request)} arrives with a prompt of {tokens:,} token{'s' if tokens != 1 else ''}."


def _refused(it: Entry) -> str:
    reason = next(
        (each["reason"] for each in it.run.rejected if each["request"] == it.request + 1), "it cannot be served"
    )
    return f"{_who(it.request)} is refused: {reason}."


def _admitted(it: Entry) -> str:
    waited_s = float(it.run.steps["start_s"][it.step] - it.run.results["arrival_s"][it.request])
    waited = f"after {duration_text(waited_s)}" if waited_s >= 5e-5 else "at once"
    cached = f"; {it.row['a']:,} of its tokens are in the cache" if it.row["a"] else ""
    return f"{_who(it.request)} gets slot {it.row['b'] + 1} {waited}{cached}."


def _resumed(it: Entry) -> str:
    cached = f", but for {it.row['a']:,} in the cache" if it.row["a"] else ""
    return f"{_who(it.request)} is back in slot {it.row['b'] + 1}; its tokens are computed again{cached}."


def _chunk(it: Entry) -> str:
    return f"{it.row['a']:,} more prompt tokens of request {it.request + 1} are computed, {it.row['b']:,} were before."


def _first(it: Entry) -> str:
    ttft = duration_text(float(it.run.results["first_s"][it.request] - it.run.results["arrival_s"][it.request]))
    return f"{_who(it.request)} has its first token, {ttft} after it came."


def _preempted(it: Entry) -> str:
    return (
        f"{_who(it.request)} is preempted: no KV block is left, its own are freed, and it goes to the head of the line."
    )


def _finished(it: Entry) -> str:
    life = life_of(it.run, it.request)
    each = f", {duration_text(life.tpot_s)} each after the first" if life.tpot_s is not None else ""
    return f"{_who(it.request)} is finished: {life.outputs:,} token{'s' if life.outputs != 1 else ''}{each}."


def _released(it: Entry) -> str:
    return f"{_who(it.request)} gives its slot back: its batch has ended."


def _batch(it: Entry) -> str:
    return f"A static batch of {it.row['a']:,} is formed; prompts are padded to {it.row['b']:,} tokens."


def _evicted_words(it: Entry) -> str:
    if it.row is not None:
        return f"What slot {it.row['b'] + 1} keeps of its last request is cut to {it.row['a']:,} blocks."
    count = int(_evicted(it.run)[it.step])
    return f"{count:,} cached block{'s lose their' if count != 1 else ' loses its'} content to new tokens."


def _forked(it: Entry) -> str:
    changes = ", ".join(f"{name} = {value}" for name, value in it.run.facts["fork"]["changes"].items())
    return f"From here on {changes}."


_SENTENCES = {
    "arrived": _arrived,
    "refused": _refused,
    "admitted": _admitted,
    "chunk": _chunk,
    "first": _first,
    "preempted": _preempted,
    "resumed": _resumed,
    "finished": _finished,
    "released": _released,
    "batch": _batch,
    "evicted": _evicted_words,
    "fork": _forked,
}


# -- lives ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Life:
    """One request from its arrival to its end; times [s], None for what never came.

    Notes
    -----
    `ttft_s` from arrival to first token, `tpot_s` mean time of each further token, `preempted_s` when it was preempted.
    """

    request: int
    arrival_s: float | None
    admitted_s: float | None
    first_s: float | None
    finish_s: float | None
    preempted_s: tuple[float, ...]
    ttft_s: float | None
    tpot_s: float | None
    prompt_tokens: int
    outputs: int
    hit_tokens: int


def life_of(run: Run, request: int) -> Life:
    """Life of one request, by its index."""
    row = run.results[request]
    arrival_s, admitted_s, first_s, finish_s = (
        _time(row[name]) for name in ("arrival_s", "scheduled_s", "first_s", "finish_s")
    )
    outputs = int(row["outputs"])
    is_over = row["status"] == FINISHED and outputs > 1 and first_s is not None and finish_s is not None
    return Life(
        request=request,
        arrival_s=arrival_s,
        admitted_s=admitted_s,
        first_s=first_s,
        finish_s=finish_s,
        preempted_s=_preemptions_s(run, request),
        ttft_s=None if first_s is None or arrival_s is None else first_s - arrival_s,
        tpot_s=(finish_s - first_s) / (outputs - 1)
        if is_over and finish_s is not None and first_s is not None
        else None,
        prompt_tokens=int(run.requests.prompt_tokens[request]),
        outputs=outputs,
        hit_tokens=int(row["hit_tokens"]),
    )


def _preemptions_s(run: Run, request: int) -> tuple[float, ...]:
    if not run.results["preemptions"][request]:
        return ()
    events = np.flatnonzero((run.events["kind"] == Kind.PREEMPT) & (run.events["request"] == request))
    times: list[float] = run.steps["start_s"][np.searchsorted(run.steps["events_end"], events, "right")].tolist()
    return tuple(times)


def _time(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def duration_text(seconds: float) -> str:
    """A time with three digits or so, in the unit that suits it."""
    if seconds >= 1:
        return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s"
    milliseconds = 1000 * seconds
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
