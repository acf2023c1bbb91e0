"""JSON-lines traces: rows, and hashes that become shared text."""

import json

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.scenario import scenario_from
from sim.workload import make_requests, read_trace

ANY_SHA256 = "0" * 64


def columns_of(trace):
    return trace.arrival_s.tolist(), trace.prompt_tokens.tolist(), trace.output_tokens.tolist()


def make_recorded(trace, **settings):
    return make_requests(scenario_from({"load": "trace", "trace": ANY_SHA256} | settings).workload, trace)


def test_mooncake_shares_leading_blocks(shared):
    trace = read_trace((shared / "field_inputs" / "trace_mooncake_like.jsonl").read_bytes())

    requests = make_recorded(trace)

    assert trace.arrival_s.tolist() == [0, 0, 3]
    assert requests.parent.tolist() == [-1, 0, 0]
    assert requests.common_tokens.tolist() == [0, 512, 1024]
    assert len(requests.root_tokens) == 0


@pytest.mark.parametrize(("name", "rows", "share"), [("conversation", 12_031, 0.3664), ("synthetic", 3_993, 0.6396)])
def test_mooncake_ideal_hits_are_as_published(shared, name, rows, share):
    trace = read_trace((shared / "traces" / f"mooncake_{name}_trace.jsonl.gz").read_bytes())

    _, common = trace.hash_ids.sharing(np.full(trace.rows, 2**40))

    assert trace.rows == rows
    assert common.sum() / 512 / len(trace.hash_ids.nodes) == pytest.approx(share, abs=5e-5)


def test_equal_hashes_after_different_ones_are_not_shared():
    rows = [
        {"timestamp": 0, "input_length": 1536, "output_length": 1, "hash_ids": ids} for ids in ([1, 2, 3], [9, 2, 3])
    ]

    requests = make_recorded(read_trace("\n".join(map(json.dumps, rows)).encode()))

    assert requests.parent.tolist() == [-1, -1]


def test_hashes_follow_their_rows_when_sorted():
    rows = [
        {"timestamp": 2000, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]},
        {"timestamp": 1000, "input_length": 100, "output_length": 1, "hash_ids": []},
        {"timestamp": 0, "input_length": 1000, "output_length": 1, "hash_ids": [1, 2, 7, 8]},
    ]

    requests = make_recorded(read_trace("\n".join(map(json.dumps, rows)).encode()))

    assert requests.parent.tolist() == [-1, -1, 0]
    assert requests.common_tokens.tolist() == [0, 0, 1000]


@pytest.mark.parametrize(
    "row",
    [
        '{"timestamp": 0, "input_length": 5}',
        '{"timestamp": "0", "input_length": 5, "output_length": 5}',
        '{"timestamp": 0, "input_length": true, "output_length": 5}',
        '{"timestamp": 0, "input_length": 5, "output_length": NaN}',
        '{"timestamp": 1' + "0" * 400 + ', "input_length": 5, "output_length": 5}',
        '{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": ["a"]}',
        '{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [1e99]}',
        '{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": 5}',
        "[1, 2, 3]",
        "nonsense",
    ],
)
def test_unusable_json_row_is_rejected(row):
    good = '{"timestamp": 1000, "input_length": 5, "output_length": 5}'

    trace = read_trace(f"{good}\n\n{row}\n{good}\n".encode())

    assert trace.rows == 2
    assert [line for line, _ in trace.rejected] == [3]


def test_window_cuts_sharing_too():
    rows = [{"timestamp": 1000 * i, "input_length": 512, "output_length": 1, "hash_ids": [5]} for i in range(3)]

    requests = make_recorded(read_trace("\n".join(map(json.dumps, rows)).encode()), trace_from_s=1)

    assert requests.parent.tolist() == [-1, 0]


def test_shared_prefix_on_a_trace_with_hashes_is_refused():
    row = b'{"timestamp": 0, "input_length": 600, "output_length": 1, "hash_ids": [1, 2]}'

    with pytest.raises(ScenarioError, match="shared_prefix_tokens"):
        make_recorded(read_trace(row), shared_prefix_tokens=100)


def test_hashes_beyond_the_prompt_are_dropped():
    row = '{"timestamp": 0, "input_length": 513, "output_length": 1, "hash_ids": [1, 2, 3, 4]}'

    assert len(read_trace(row.encode()).hash_ids.nodes) == 2


def test_too_many_hashes_are_refused(monkeypatch):
    monkeypatch.setattr("sim.workload.columns.MAX_HASH_IDS", 3)
    row = '{"timestamp": 0, "input_length": 2000, "output_length": 1, "hash_ids": [1, 2]}\n'

    with pytest.raises(ScenarioError, match="at most 3"):
        read_trace((2 * row).encode())


def test_json_lines_that_differ_are_read_as_those_that_are_alike():
    rows = [{"timestamp": 1000 * i, "input_length": 600, "output_length": 1 + i, "hash_ids": [1, i]} for i in range(9)]
    alike = read_trace("\n".join(map(json.dumps, rows)).encode())
    rows[3] = {"Timestamp": 3000, "input_tokens": 600, "osl": 4, "hash_ids": [1, 3]}

    mixed = read_trace("\n".join(map(json.dumps, rows)).encode())

    assert columns_of(mixed) == columns_of(alike)
    assert mixed.hash_ids.nodes.tolist() == alike.hash_ids.nodes.tolist()
