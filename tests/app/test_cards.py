"""Figures are written in their unit, and a difference says which way is better."""

import pytest

from app.cards import CARDS, Card, difference, metric_views, written

TTFT, TPOT, ITL, THROUGHPUT, WITHIN, HELD = CARDS


@pytest.mark.parametrize(
    ("value", "other", "card", "expected"),
    [
        (0.44, 3.64, TTFT, ("−88 %", "better")),
        (0.1, 3.0, TTFT, ("÷ 30", "better")),
        (336.0, 182.0, THROUGHPUT, ("+85 %", "better")),
        (182.0, 336.0, THROUGHPUT, ("−46 %", "worse")),
        (1.0, 0.1, WITHIN, ("+90 pp", "better")),
        (0.2, 0.0, HELD, ("+20 pp", "worse")),
        (0.0155, 0.015502, TPOT, ("", "same")),
        (None, 1.0, TTFT, ("", "same")),
        (0.0, 3.0, TTFT, ("", "better")),
    ],
)
def test_difference_is_said_with_its_verdict(
    value: float | None, other: float | None, card: Card, expected: tuple[str, str]
) -> None:
    assert difference(value, other, card) == expected


def test_undefined_figure_is_a_dash() -> None:
    assert written(None, TPOT) == "–"


def test_counted_steps_are_not_called_uncalibrated() -> None:
    metrics = {"a": {"ttft_s": {"p50": 1.0}}, "b": {"ttft_s": {"p50": None}}}
    views = metric_views(metrics, {"a": "Continuous", "b": "Static"}, is_timed=False)
    assert not any(view.is_time for view in views)
    assert views[0].versus[0].value == "–"
