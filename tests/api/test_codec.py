import json

import numpy as np
import pytest

from app import codec
from sim.engine.record import EVENT, STEP, Kind
from sim.replay import Log
from sim.workload.requests import Requests
from tests.api.decoder import COLUMNS, OWN_COLUMNS, decode


def make_requests(count: int, dynamic: bool = False) -> Requests:
    arrivals = np.arange(count) * 0.1
    after = np.full(count, -1, np.int32)
    if dynamic:
        arrivals[-1], after[-1] = np.nan, 0
    ones = np.ones(count, np.int32)
    return Requests(
        arrivals, ones * 512, ones * 180, ones * 180, -ones, 0 * ones, np.zeros(0, np.int32), after, ones * 0.5
    )


def make_record(count: int) -> Log:
    generator = np.random.default_rng(3)
    steps = np.zeros(count, STEP)
    gaps, durations = (
        generator.exponential(0.01, count) * (generator.random(count) < 0.1),
        generator.random(count) / 100,
    )
    steps["start_s"] = np.cumsum(gaps + durations) - durations
    steps["duration_s"] = durations
    for name in set(COLUMNS) - OWN_COLUMNS:
        steps[name] = generator.integers(0, 9, count)
    events = np.zeros(3 * count, EVENT)
    steps["events_end"] = np.sort(generator.integers(0, len(events), count))
    steps["events_end"][-1] = len(events)
    for name in ("request", "a", "b"):
        events[name] = generator.integers(0, 99, len(events))
    events["kind"] = generator.integers(1, max(Kind) + 1, len(events))
    ids = generator.integers(1, 500, 2 * count).astype(np.int32) * generator.choice([-1, 1, 1, 1], 2 * count)
    steps["ids_end"] = np.sort(generator.integers(0, len(ids), count))
    steps["ids_end"][-1] = len(ids)
    return Log(steps, events, ids.astype(np.int32))


def events_of(log: Log) -> list[tuple[int, ...]]:
    return [event for event in log.events[["kind", "request", "a", "b"]].tolist() if event[0] != Kind.GAP]


def make_stream(log: Log, first: int = 0, blocks: bool = True) -> bytes:
    coder = codec.StepCoder(first, blocks, {"rows": {"request": []}})
    lines = [codec.head_line({}, {}, make_requests(3))]
    while coder.next < len(log.steps):
        lines.append(coder.line(log, min(coder.next + 70, len(log.steps))))
    return b"".join(lines)


def test_steps_decode_to_the_record():
    log = make_record(200)
    run = decode(make_stream(log))
    for name in COLUMNS:
        if name not in OWN_COLUMNS:
            assert run.steps[name] == log.steps[name].tolist(), name
    assert run.events == events_of(log)
    assert run.ids == log.ids.tolist()
    assert sum(run.steps["ev"]) == len(run.events)


def test_times_stay_near_the_exact_ones():
    steps = make_record(20_000).steps
    ends_us = (steps["start_s"] + steps["duration_s"]) * 1e6
    starts, ends, _ = codec.ticks(steps)
    assert np.abs(ends - ends_us).max() <= codec.MOST_DRIFT_US + 1
    assert np.abs(starts - steps["start_s"] * 1e6).max() <= codec.MOST_DRIFT_US + 2
    assert (starts <= ends).all()
    assert (starts[1:] >= ends[:-1]).all()


def test_equal_durations_stay_equal():
    steps = np.zeros(1000, STEP)
    steps["duration_s"] = 0.0067034
    steps["start_s"] = np.cumsum(steps["duration_s"]) - steps["duration_s"]
    starts, ends, _ = codec.ticks(steps)
    assert np.count_nonzero(np.diff(ends - starts)) < 100


def test_steps_shorter_than_the_drift_do_not_go_back_in_time():
    steps = np.zeros(5000, STEP)
    steps["duration_s"] = 1.4e-6
    steps["start_s"] = np.cumsum(steps["duration_s"]) - steps["duration_s"]
    starts, ends, _ = codec.ticks(steps)
    assert (ends >= starts).all()
    assert (starts[1:] >= ends[:-1]).all()


def test_the_stream_has_the_times_of_the_clock():
    log = make_record(300)
    starts, ends, _ = codec.ticks(log.steps)
    run = decode(make_stream(log))
    assert run.start_us == starts.tolist()
    assert run.end_us == ends.tolist()


def test_a_window_holds_the_same_numbers_as_the_whole():
    log = make_record(300)
    whole, window = decode(make_stream(log)), decode(make_stream(log, first=140))
    assert window.first == 140
    for name in COLUMNS:
        assert window.steps[name] == whole.steps[name][140:], name
    assert window.start_us == whole.start_us[140:]
    assert window.events == whole.events[-len(window.events) :]
    assert window.ids == whole.ids[-len(window.ids) :]


def test_without_blocks_what_only_tells_of_them_is_left_out():
    log = make_record(100)
    run = decode(make_stream(log, blocks=False))
    assert run.events == [event for event in events_of(log) if event[0] not in (Kind.SHARE, Kind.TAKE)]
    assert sum(run.steps["ev"]) == len(run.events)
    assert run.steps["free"] == log.steps["free"].tolist()
    assert run.ids == []
    columns = set(json.loads(make_stream(log, blocks=False).splitlines()[1])["steps"])
    assert columns == {"dur", "gap_us", "ev", *codec.PLAIN_COLUMNS, *codec.DELTA_COLUMNS}


def test_parts_of_a_step_are_whole_microseconds():
    log = make_record(50)
    log.steps["attention_s"] = np.linspace(0, 0.01, 50)
    parts = decode(make_stream(log)).steps["attention_us"]
    assert np.abs(np.array(parts) - np.linspace(0, 10_000, 50)).max() <= 0.5 + 1e-3


def test_order_of_arrivals_is_told_where_microseconds_hide_it():
    results, requests = np.zeros(3, [("arrival_s", "f8")]), make_requests(3)
    results["arrival_s"] = [1.0000002, 1.0000001, 2.0]

    def told(with_blocks: bool) -> list[int] | None:
        return json.loads(codec.tail_line({}, [], requests, results, with_blocks)).get("order")

    assert told(with_blocks=True) == [1, 0, 2]
    assert told(with_blocks=False) is None
    results["arrival_s"] = [1.0, 1.0, 2.0]
    assert told(with_blocks=True) is None


def test_a_column_of_zeros_is_left_out():
    log = make_record(10)
    log.steps["waiting"] = 0
    assert "waiting" not in json.loads(make_stream(log).splitlines()[1])["steps"]


@pytest.mark.parametrize("dynamic", [False, True])
def test_requests_without_a_known_arrival_are_null(dynamic: bool):
    columns = json.loads(codec.head_line({}, {}, make_requests(3, dynamic)))["requests"]
    assert columns["arrival_us"] == [0, 100_000, None if dynamic else 200_000]
    assert ("after" in columns) is dynamic


def test_times_that_never_came_are_null():
    assert codec.microseconds(np.array([0.5, np.nan])) == [500_000, None]
