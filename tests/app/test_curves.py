"""The load curve as a figure: a line, a band and a peak per run, all of metrics that a sweep has."""

import orjson
import pytest

from app.curves import PANELS, curves_figure, curves_json
from sim.sweep import CURVES

RUNS = (("a", "continuous"), ("b", "static"), ("c", "contiguous"))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_run_has_a_line_and_a_band_in_each_panel_and_a_peak(count: int) -> None:
    metas = [trace.meta for trace in curves_figure(RUNS[:count]).data]
    for run, _ in RUNS[:count]:
        parts = sorted(meta["part"] for meta in metas if meta["run"] == run)
        assert parts == sorted(["mean", "band"] * len(PANELS) + ["peak"])
    assert {meta["path"] for meta in metas} <= set(CURVES)


def test_runs_differ_by_more_than_colour() -> None:
    dashes = {trace.line.dash for trace in curves_figure(RUNS).data if trace.meta["part"] == "mean"}
    assert len(dashes) == len(RUNS)


def test_rules_stand_where_the_script_looks_for_them() -> None:
    layout = curves_figure(RUNS).layout
    assert ["domain" in shape.xref for shape in layout.shapes] == [False] * 4 + [True] * 2
    assert ["domain" in note.yref for note in layout.annotations] == [True] * 4 + [False] * 2


def test_figure_in_a_page_is_json_without_an_end_tag() -> None:
    text = curves_json((("a", "</script>"),))
    assert "</" not in text
    assert orjson.loads(text)["config"]["showSendToCloud"] is False
