"""The other side of app.codec, as plain as can be: what a client makes of the lines of /api/v1/steps."""

import json
from dataclasses import dataclass, field
from typing import Any

PARTS = ("matmul_us", "attention_us", "comm_us", "host_us")
DELTA = (
    "dur", "decode", "running", "held", "waiting", "free", "free_end", "cached", "sampled", "decode_context", *PARTS,
)  # fmt: skip
PLAIN = ("gap_us", "prefill", "why", "bound", "ev", "needed", "padding", "prefill_context", "prefill_pairs")
COLUMNS = (*DELTA, *PLAIN)
OWN_COLUMNS = {"dur", "gap_us", "ev", *PARTS}  # of the stream, not of the record


@dataclass
class Decoded:
    head: dict[str, Any]
    tail: dict[str, Any] | None = None
    first: int = 0
    steps: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    events: list[tuple[int, int, int, int]] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    rows: dict[str, list[Any]] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    start_us: list[int] = field(default_factory=list)
    end_us: list[int] = field(default_factory=list)


def decode(body: bytes) -> Decoded:
    lines = [json.loads(line) for line in body.splitlines()]
    run = Decoded(lines[0])
    middle = [line for line in lines[1:] if "steps" in line]
    run.first = middle[0]["from"] if middle else 0
    for line in middle:
        _add_line(run, line)
    run.tail = lines[-1] if "metrics" in lines[-1] else None
    run.rows = middle[0].get("rows", {}) if middle else {}
    run.state = middle[0].get("state", {}) if middle else {}
    now = middle[0].get("end_us", 0) if middle else 0
    for gap, duration in zip(run.steps["gap_us"], run.steps["dur"], strict=True):
        run.start_us.append(now + gap)
        now += gap + duration
        run.end_us.append(now)
    return run


def _add_line(run: Decoded, line: dict[str, Any]) -> None:
    count = line["count"]
    assert len(line["steps"]["dur"]) == count
    for name in COLUMNS:
        column = line["steps"].get(name, [0] * count)
        run.steps[name] += _sums(column) if name in DELTA else column
    events = line["events"]
    run.events += zip(events["kind"], _sums(events["request"]), events["a"], events["b"], strict=True)
    evicted = set(events.get("evicted", []))
    run.ids += [-block if i in evicted else block for i, block in enumerate(_sums(events.get("ids", [])))]


def from_runs(coded: dict[str, list[int]]) -> list[int]:
    return _sums([by for by, n in zip(coded["by"], coded["n"], strict=True) for _ in range(n)])


def from_tables(coded: dict[str, Any]) -> list[list[int]]:
    ids = iter(from_runs(coded["ids"]))
    return [[next(ids) for _ in range(length)] for length in coded["length"]]


def _sums(differences: list[int]) -> list[int]:
    total, values = 0, []
    for difference in differences:
        total += difference
        values.append(total)
    return values
