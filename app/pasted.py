"""What the paste box shows: what was made of each part of a text, its figures beside the simulated ones, a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.params import write_query
from sim.catalog import GIB
from sim.importers import Reading
from sim.importers.command_text import command_text
from sim.importers.playable import Playable
from sim.importers.reading import ENGINE_NAMES, PasteKind
from sim.importers.verdict import verdict_of
from sim.run import Run
from sim.scenario import Scenario

KINDS = {
    PasteKind.SERVE_COMMAND: "A command",
    PasteKind.SERVER_LOG: "A server's log",
    PasteKind.BENCH_RESULT: "A benchmark's result",
    PasteKind.TRACE: "A trace",
}
SHOWN_SAMPLES = 5
LATENCIES = {
    "ttft_ms": ("TTFT", "ttft_s"),
    "tpot_ms": ("TPOT", "tpot_s"),
    "itl_ms": ("ITL", "itl_s"),
    "e2e_ms": ("Latency", "e2e_s"),
}
STATISTICS = ("mean", "p50", "p90", "p95", "p99")
SIMILAR_PERCENT = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of the text, the simulated one, and how that differs; '' where there is none."""

    label: str
    unit: str
    pasted: str
    simulated: str
    difference: str
    is_near: bool


@dataclass(frozen=True, slots=True)
class PastedView:
    """All that the box prints of a text."""

    title: str
    query: str
    understood: tuple[str, ...]
    repaired: tuple[tuple[str, str], ...]
    ignored: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    rows: tuple[Row, ...]
    other: tuple[tuple[str, str], ...]
    refusal: str
    verdict: str


@dataclass(frozen=True, slots=True)
class CommandsView:
    """A scenario as commands, and what they do not say."""

    serve: str
    bench: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that can be set beside a simulated one: factor and digits to show it with."""

    name: str
    label: str
    unit: str
    source: str
    scale: float = 1.0
    digits: int = 0


FIGURES: tuple[Figure, ...] = (
    Figure("requests_per_s", "Requests", "req/s", "metrics", 1, 2),
    Figure("output_tokens_per_s", "Output", "tok/s", "metrics", 1, 0),
    Figure("total_tokens_per_s", "Prompt + output", "tok/s", "metrics", 1, 0),
    Figure("goodput_rps", "Goodput", "req/s", "metrics", 1, 2),
    Figure("duration_s", "Duration", "s", "metrics", 1, 1),
    Figure("kv_tokens", "KV pool", "tokens", "facts"),
    Figure("num_gpu_blocks", "KV blocks", "blocks", "facts"),
    Figure("max_concurrency", "Longest requests that fit", "", "facts", 1, 2),
    Figure("weights_gib", "Weights on a GPU", "GiB", "facts:weights_bytes", 1 / GIB, 2),
    Figure("kv_gib", "KV on a GPU", "GiB", "facts:kv_bytes", 1 / GIB, 2),
    Figure("activation_gib", "Activations on a GPU", "GiB", "facts:activation_bytes", 1 / GIB, 2),
)


def pasted_view(reading: Reading, played: Playable, run: Run | None, refusal: str) -> PastedView:
    """View of a reading; without a run it says why there is none."""
    rows = tuple(_rows(reading, run))
    shown = {figure.name for figure in FIGURES} | set(LATENCIES)
    engine = f" · {ENGINE_NAMES[reading.engine]}" if reading.engine else ""
    return PastedView(
        title=f"{KINDS[reading.kind]}{engine}",
        query=write_query({"a": played.scenario}),
        understood=reading.understood,
        repaired=reading.repaired,
        ignored=reading.ignored,
        unknown=reading.unknown,
        notes=(*reading.warnings, *played.notes),
        rows=rows,
        other=tuple((name, _listed(value)) for name, value in reading.figures.items() if name not in shown),
        refusal=refusal,
        verdict=verdict_of(reading, played),
    )


def commands_view(scenario: Scenario) -> CommandsView:
    """View of a scenario's commands."""
    text = command_text(scenario)
    return CommandsView(text.serve, text.bench, text.notes)


def _rows(reading: Reading, run: Run | None) -> list[Row]:
    metrics, facts = (run.metrics(), run.facts) if run else ({}, {})
    rows = []
    for figure in FIGURES:
        pasted = reading.figures.get(figure.name)
        if isinstance(pasted, int | float):
            source, _, key = figure.source.partition(":")
            simulated = (facts if source == "facts" else metrics).get(key or figure.name)
            scaled = None if simulated is None else simulated * figure.scale
            rows.append(_row(figure.label, figure.unit, float(pasted), scaled, figure.digits))
    for name, (label, key) in LATENCIES.items():
        pasted_ms = reading.figures.get(name, {})
        for statistic in STATISTICS:
            if statistic in pasted_ms:
                seconds = (metrics.get(key) or {}).get(statistic)
                ms = None if seconds is None else seconds * 1000
                rows.append(_row(f"{label} {statistic}", "ms", pasted_ms[statistic], ms, 1))
    return rows


def _row(label: str, unit: str, pasted: float, simulated: float | None, digits: int) -> Row:
    difference = _difference(pasted, simulated)
    return Row(
        label=label,
        unit=unit,
        pasted=f"{pasted:,.{digits}f}",
        simulated="–" if simulated is None else f"{simulated:,.{digits}f}",
        difference="" if difference is None else _signed(difference),
        is_near=difference is not None and abs(difference) <= SIMILAR_PERCENT,
    )


def _difference(pasted: float, simulated: float | None) -> float | None:
    """How far the simulated figure is from the pasted one [percent]."""
    return None if simulated is None or pasted == 0 else (simulated / pasted - 1) * 100


def _signed(percent: float) -> str:
    if abs(percent) < 0.5:
        return "0 %"
    sign = "+" if percent > 0 else "−"
    return f"{sign}{abs(percent):,.0f} %"


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:,.6g}" for name, number in value.items())
    if isinstance(value, list):
        shown = ", ".join(f"{number:,.6g}" for number in value[:SHOWN_SAMPLES])
        return shown + (f" … ({len(value)} samples)" if len(value) > SHOWN_SAMPLES else "")
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)
