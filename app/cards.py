"""The figures of the lab, each with how it is written and which way is better. static/js/cards.js writes them alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.controls import CONTROL_BY_NAME
from app.fields import Choice
from app.view import MetricView, Versus, inner
from sim.dialects import DIALECTS
from sim.metrics import METRICS

_METRIC_BY_NAME = {metric.name: metric for metric in METRICS}
MANY_TIMES = 10
FEW, MANY = 100, 1000


@dataclass(frozen=True, slots=True)
class Card:
    """A figure: where it is in the metrics, and how it is shown."""

    path: str
    label: str
    meaning: str
    unit: str
    scale: float
    digits: int
    better: str

    @property
    def name(self) -> str:
        """Metric that the figure is of."""
        return self.path.partition(".")[0]


CARDS: tuple[Card, ...] = (
    Card("ttft_s.p50", "TTFT p50", "From arrival to first token; median", "s", 1, 2, "lower"),
    Card("tpot_s.p50", "TPOT p50", "Mean time per token after the first; median over requests", "ms", 1000, 1, "lower"),
    Card("itl_s.p50", "ITL p50", "Every gap between outputs; median over all requests' gaps", "ms", 1000, 1, "lower"),
    Card("output_tokens_per_s", "Throughput", "Output tokens of finished requests / duration", "tok/s", 1, 0, "higher"),
    Card("slo_attainment", "Within the SLO", "Requests that meet the TTFT and TPOT limits", "%", 100, 0, "higher"),
    Card("held_slot_share", "Slots held while others wait", "Slot time of finished requests", "%", 100, 0, "lower"),
)


def metric_views(
    metrics: Mapping[str, Mapping[str, Any]], labels: Mapping[str, str], is_timed: bool
) -> tuple[MetricView, ...]:
    """Cards of all runs, by name; `a` is the one that is compared with the others."""
    return tuple(_view(card, metrics, labels, is_timed) for card in CARDS)


def _view(
    card: Card, metrics: Mapping[str, Mapping[str, Any]], labels: Mapping[str, str], is_timed: bool
) -> MetricView:
    mine = value_at(metrics["a"], card.path)
    return MetricView(
        path=card.path,
        label=card.label,
        meaning=card.meaning,
        unit=card.unit,
        scale=card.scale,
        digits=card.digits,
        better=card.better,
        is_time=is_timed and card.path != "held_slot_share",
        meanings={dialect.name: dialect.meanings.get(card.name, card.meaning) for dialect in DIALECTS},
        drivers=tuple(Choice(name, CONTROL_BY_NAME[name].label) for name in _METRIC_BY_NAME[card.name].driven_by),
        value=written(mine, card),
        versus=tuple(_versus(card, mine, name, metrics[name], labels[name]) for name in metrics if name != "a"),
    )


def _versus(card: Card, mine: float | None, name: str, metrics: Mapping[str, Any], label: str) -> Versus:
    other = value_at(metrics, card.path)
    change, verdict = difference(mine, other, card)
    return Versus(name, inner(label), written(other, card), change, verdict)


def value_at(metrics: Mapping[str, Any], path: str) -> float | None:
    """Value at a dotted path, None where it is undefined."""
    value: Any = metrics
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return None if value is None else float(value)


def written(value: float | None, card: Card) -> str:
    """The figure in its unit."""
    if value is None:
        return "–"
    scaled = value * card.scale
    return f"{scaled:,.{_digits(scaled, card)}f}"


def _digits(scaled: float, card: Card) -> int:
    """Digits after the point: none from 1,000 on, and one of a small rate."""
    if scaled >= MANY:
        return 0
    return 1 if card.unit == "tok/s" and scaled < FEW else card.digits


def difference(value: float | None, other: float | None, card: Card) -> tuple[str, str]:
    """How a figure differs from the one it is compared with, and whether that is better."""
    if value is None or other is None or written(value, card) == written(other, card):
        return "", "same"
    verdict = "better" if (value > other) == (card.better == "higher") else "worse"
    sign = "+" if value > other else "−"
    if card.unit == "%":
        return f"{sign}{abs(value - other) * 100:.0f} pp", verdict
    if other == 0 or value == 0:
        return "", verdict
    ratio = value / other
    if ratio >= MANY_TIMES or ratio <= 1 / MANY_TIMES:
        return f"{'×' if ratio > 1 else '÷'} {max(ratio, 1 / ratio):.0f}", verdict
    return f"{sign}{abs(ratio - 1) * 100:.0f} %", verdict
