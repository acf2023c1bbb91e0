import json

import numpy as np
import pytest
from numpy.typing import NDArray

from app import codec
from sim.engine.record import EVENT, STEP, Kind
from sim.workload.requests import Requests
from tests.api.decoder import COLUMNS, decode


def make_requests(count: int, dynamic: bool = False) -> Requests:
    arrivals = np.arange(count) * 0.1
    after = np.full(count, -1, np.int32)
    if dynamic:
        arrivals[-1], after[-1] = np.nan, 0
    ones = np.ones(count, np.int32)
    return Requests(
        arrivals, ones * 512, ones * 180, ones * 180, -ones, 0 * ones, np.zeros(0, np.int32), after, ones * 0.5
    )


def make_record(count: int) -> tuple[NDArray, NDArray, NDArray]:
    generator = np.random.default_rng(3)
    steps = np.zeros(count, STEP)
    gaps, durations = (
        generator.exponential(0.01, count) * (generator.random(count) < 0.1),
        generator.random(count) / 100,
    )
    steps["start_s"] = np.cumsum(gaps + durations) - durations
    steps["duration_s"] = durations
    for name in ("prefill", "decode", "running", "waiting", "free", "free_end", "cached", "why", "bound"):
        steps[name] = generator.integers(0, 9, count)
    events = np.zeros(3 * count, EVENT)
    steps["events_end"] = np.sort(generator.integers(0, len(events), count))
    steps["events_end"][-1] = len(events)
    for name in ("request", "a", "b"):
        events[name] = generator.integers(0, 99, len(events))
    events["kind"] = generator.integers(1, 17, len(events))
    ids = generator.integers(1, 500, 2 * count).astype(np.int32) * generator.choice([-1, 1, 1, 1], 2 * count)
    steps["ids_end"] = np.sort(generator.integers(0, len(ids), count))
    steps["ids_end"][-1] = len(ids)
    return steps, events, ids


def make_stream(record: tuple[NDArray, NDArray, NDArray], first: int = 0, blocks: bool = True) -> bytes:
    steps, events, ids = record
    lines = [codec.head_line({}, {}, make_requests(3))]
    for start in range(first, len(steps), 70):
        end = min(start + 70, len(steps))
        lines.append(codec.steps_line(steps, events, ids if blocks else None, start, end))
    return b"".join(lines)


def test_steps_decode_to_the_record():
    record = steps, events, ids = make_record(200)
    run = decode(make_stream(record))
    for name in COLUMNS:
        if name not in ("dur", "gap_us", "ev"):
            assert run.steps[name] == steps[name].tolist(), name
    assert run.events == events.tolist()
    assert run.ids == ids.tolist()
    assert np.cumsum(run.steps["ev"]).tolist() == steps["events_end"].tolist()


def test_ends_are_exact_to_the_microsecond():
    steps, _, _ = record = make_record(500)
    ends = np.rint((steps["start_s"] + steps["duration_s"]) * 1e6)
    assert decode(make_stream(record)).end_us == ends.astype(int).tolist()


def test_a_window_holds_the_same_numbers_as_the_whole():
    record = make_record(300)
    whole, window = decode(make_stream(record)), decode(make_stream(record, first=140))
    assert window.first == 140
    for name in COLUMNS:
        assert window.steps[name] == whole.steps[name][140:], name
    assert window.events == whole.events[-len(window.events) :]
    assert window.ids == whole.ids[-len(window.ids) :]


def test_without_blocks_the_events_that_count_them_are_left_out():
    record = _, events, _ = make_record(100)
    run = decode(make_stream(record, blocks=False))
    assert run.events == [event for event in events.tolist() if event[0] not in (Kind.SHARE, Kind.TAKE)]
    assert sum(run.steps["ev"]) == len(run.events)
    assert run.ids == []


def test_a_column_of_zeros_is_left_out():
    record = make_record(10)
    record[0]["waiting"] = 0
    assert "waiting" not in json.loads(make_stream(record).splitlines()[1])["steps"]


@pytest.mark.parametrize("dynamic", [False, True])
def test_requests_without_a_known_arrival_are_null(dynamic: bool):
    columns = json.loads(codec.head_line({}, {}, make_requests(3, dynamic)))["requests"]
    assert columns["arrival_us"] == [0, 100_000, None if dynamic else 200_000]
    assert ("after" in columns) is dynamic


def test_times_that_never_came_are_null():
    assert codec.microseconds(np.array([0.5, np.nan])) == [500_000, None]
