"""Trace files: the formats, the traps seen in real ones, and the bounds."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import ScenarioError
from sim.scenario import scenario_from
from sim.workload import make_requests, read_trace, sample_trace
from sim.workload import read as read_module

PLAIN = b"arrival_s,prompt_tokens,output_tokens\n"
ANY_SHA256 = "0" * 64


def columns_of(trace):
    return trace.arrival_s.tolist(), trace.prompt_tokens.tolist(), trace.output_tokens.tolist()


def make_recorded(trace, **settings):
    return make_requests(scenario_from({"load": "trace", "trace": ANY_SHA256} | settings).workload, trace)


def test_plain_csv():
    trace = read_trace(PLAIN + b"0,10,2\n1.5,20,3\n")

    assert columns_of(trace) == ([0, 1.5], [10, 20], [2, 3])
    assert (trace.rows, trace.span_s, trace.hash_ids, trace.rejected, trace.repaired) == (2, 1.5, None, (), ())


@pytest.mark.parametrize(
    "header",
    [
        "arrival,prompt,output",
        "timestamp;input;output_tokens",
        "Time\tInput Length\tOutput Length",
        "ARRIVAL_S,ContextTokens,GeneratedTokens",
        "request_id,arrival,request tokens,response tokens",
        '"t","isl","osl"',
        "ts, num_prefill_tokens, num_decode_tokens",
    ],
)
def test_header_has_aliases_delimiters_and_any_case(header):
    delimiter = next(d for d in ",;\t" if d in header)
    row = delimiter.join(["x"] * ("request_id" in header) + ["2", "7", "5"])

    assert columns_of(read_trace(f"{header}\n{row}\n".encode())) == ([2], [7], [5])


def test_milliseconds_by_name():
    assert read_trace(b"arrival_ms,prompt,output\n1500,7,5\n").arrival_s.tolist() == [1.5]


def test_azure_dates_keep_seven_digits(shared):
    trace = read_trace((shared / "field_inputs" / "trace_azure_like.csv").read_bytes())

    assert trace.span_s == pytest.approx(1.0200401, abs=1e-12)
    assert (trace.rows, trace.prompt_tokens.sum(), trace.output_tokens.sum()) == (4, 8113, 1944)


def test_dates_may_be_out_of_order_and_in_utc():
    trace = read_trace(
        b"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16T18:00:02Z,5,6\n2023-11-16 18:00:00.5,7,8\n"
    )

    assert columns_of(trace) == ([0, 1.5], [7, 5], [8, 6])


@pytest.mark.parametrize(
    "cell", ["now", "today", "NaT", "", "2023-13-45 00:00:00", "9999-01-01 00:00:00", "2023-11-16", "3"]
)
def test_what_is_no_date_is_rejected_among_dates(cell):
    trace = read_trace(f"time,prompt,output\n2023-11-16 18:00:00,5,6\n{cell},5,6\n2023-11-16 18:00:09,5,6\n".encode())

    assert trace.arrival_s.tolist() == [0, 9]
    assert trace.rejected[0][0] == 3


@pytest.mark.parametrize("digits", [0, 3, 6, 9])
def test_epoch_times_in_s_ms_us_or_ns_count_from_the_first_request(digits):
    rows = f"{1700000001 * 10**digits},1,1\n{1700000003 * 10**digits},1,1\n"

    assert read_trace(PLAIN + rows.encode()).arrival_s.tolist() == pytest.approx([0, 2])


def test_arrivals_that_are_ages_apart_are_refused():
    with pytest.raises(ScenarioError, match="within 1e9 s"):
        read_trace(PLAIN + b"0,1,1\n2e9,1,1\n")


def test_burst_gpt():
    rows = (
        b"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n"
    )

    assert columns_of(read_trace(rows + b"45,GPT-4,9,0,9,API log\n")) == ([5], [472], [18])


def test_nasty_file_is_read_as_its_notes_say(shared):
    trace = read_trace((shared / "field_inputs" / "trace_nasty_synthetic.csv").read_bytes())

    assert columns_of(trace) == ([0, 1.5, 3, 7, 9], [512, 512, 256, 1024, 512], [128, 128, 32, 32, 16])
    assert [line for line, _ in trace.rejected] == [4, 5, 6, 7, 8, 11]
    assert trace.rejected_count == 6
    assert [line for line, _ in trace.repaired] == [13, 0]
    assert "512" in trace.repaired[0][1]
    assert "sorted" in trace.repaired[1][1]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,0,5", "prompt of 0 tokens"),
        ("1,5,-1", "output of -1 tokens"),
        ("1,1e9,5", "prompt of 1000000000 tokens"),
        ("1,2.5,5", "prompt of 2.5 tokens"),
        ("-1,5,5", "arrival -1"),
        ("nan,5,5", "nan is not a number"),
        ("inf,5,5", "inf is not a number"),
        ("1e999,5,5", "arrival inf"),
        ("1,1_0,5", "1_0 is not a number"),
        ("1,,5", "(empty) is not a number"),
        ("1,5", "2 of 3 columns"),
        ('1,"a\nb",5', "a b is not a number"),
        ("1,\x00,5", "is not a number"),
    ],
)
def test_unusable_row_is_rejected_with_its_line_and_reason(row, reason):
    trace = read_trace(PLAIN + f"0,1,1\n{row}\n2,2,2\n".encode())

    assert trace.prompt_tokens.tolist() == [1, 2]
    assert [line for line, _ in trace.rejected] == [3]
    assert reason in trace.rejected[0][1]


def test_blank_rows_and_surplus_columns_are_no_error():
    trace = read_trace(b"\n\r\n" + PLAIN + b"\r\n0,1,1,x,y\r\n , ,\r\n\r\n1,2,2")

    assert columns_of(trace) == ([0, 1], [1, 2], [1, 2])
    assert trace.rejected == ()


@pytest.mark.parametrize("row", ['"1,000.5","12,345",7', "1000.5,12345,7.0", "1.0005e3,1.2345e4,7"])
def test_thousands_separators_and_exponents(row):
    assert columns_of(read_trace(PLAIN + row.encode())) == ([1000.5], [12345], [7])


def test_utf16_is_read():
    assert read_trace("arrival\tprompt\toutput\n1\t2\t3\n".encode("utf-16")).prompt_tokens.tolist() == [2]


def test_lengths_alone_are_a_trace_that_says_so():
    trace = read_trace(b"num_prefill_tokens,num_decode_tokens\n74,918\n")

    assert columns_of(trace) == ([0], [74], [918])
    assert "arrive at 0" in trace.repaired[0][1]


@pytest.mark.parametrize(
    ("data", "allowed"),
    [
        (b"", "a header and at least one request"),
        (b"\n \n", "a header and at least one request"),
        (b"\x89PNG\r\n\x1a\n\xff\xff", "UTF-8"),
        (b"hello\nworld\n", "a header line that names"),
        (b"0,1,2\n1,2,3\n", "a header line that names"),
        (b"arrival_s,prompt\n1,2\n", "a header line that names"),
        (PLAIN, "at least one request"),
        (PLAIN + b"1,0,1\n", "at least one request"),
        (PLAIN + b'1,"2,3\n' + b"x" * 200_000, "CSV"),
        (b'[{"timestamp": 0}]', "JSON lines"),
        (b"{}\n", "at least one request"),
        (b"{" * 100_000, "at least one request"),
        (b"\x1f\x8bnot gzip", "undamaged gzip"),
        (gzip.compress(PLAIN + b"0,1,1\n" * 999, mtime=0)[:60], "undamaged gzip"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(data, allowed):
    with pytest.raises(ScenarioError) as caught:
        read_trace(data, "file.csv")

    assert caught.value.field == "trace"
    assert allowed in caught.value.allowed
    assert "\n" not in str(caught.value)


def test_large_file_is_refused_by_its_size():
    with pytest.raises(ScenarioError, match="at most 20 MB"):
        read_trace(bytes(read_module.MAX_BYTES + 1))


def test_gzip_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(read_module, "MAX_UNPACKED_BYTES", 10**6)

    with pytest.raises(ScenarioError, match="at most 1 MB when unpacked"):
        read_trace(gzip.compress(bytes(2 * 10**6)))


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr("sim.workload.columns.MAX_REQUESTS", 10)

    assert read_trace(PLAIN + b"0,1,1\n" * 10).rows == 10
    for row in (b"0,1,1\n", b"0,0,1\n"):
        with pytest.raises(ScenarioError, match="at most 10 rows"):
            read_trace(PLAIN + row * 11 + b"0,1,1\n")


def test_rejected_rows_are_listed_up_to_a_limit_and_counted_beyond(monkeypatch):
    monkeypatch.setattr("sim.workload.columns.LISTED", 3)
    monkeypatch.setattr("sim.workload.csv_rows.LISTED", 3)

    trace = read_trace(PLAIN + b"0,1,1\n" + b"x,1,1\n" * 5 + "1,５,1\n".encode())

    assert (len(trace.rejected), trace.rejected_count, trace.rows) == (3, 5, 2)


def test_same_rows_read_the_same_whatever_the_piece(monkeypatch):
    rows = PLAIN + b"".join(b"%d,%d,%d\n" % (i % 7, i % 5, 1 + i % 3) for i in range(200)) + b'9,"1,024",5\n'
    whole = read_trace(rows)
    monkeypatch.setattr("sim.workload.csv_rows.PIECE_ROWS", 3)

    assert columns_of(read_trace(rows)) == columns_of(whole)
    assert read_trace(rows).rejected == whole.rejected


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1, max_size=20))
def test_what_is_written_is_read(rows):
    text = "".join(f"{a!r};{p};{n}\n" for a, p, n in rows).replace(".", ",")

    trace = read_trace(b"arrival;prompt;output\n" + text.encode())

    expected = sorted(rows, key=lambda row: row[0])
    assert list(zip(*columns_of(trace), strict=True)) == expected


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_give_a_trace_or_a_scenario_error(data):
    for content in (data, PLAIN + data, b'{"timestamp": 1}\n' + data, gzip.compress(data)):
        try:
            trace = read_trace(content)
        except ScenarioError:
            continue
        assert trace.rows > 0


@pytest.mark.parametrize(
    ("name", "rows", "span_s", "prompt", "output"),
    [("conv", 19_366, 3501.7, 1154.7, 211.1), ("code", 8_819, 3435.9, 2047.8, 27.9)],
)
def test_azure_traces_are_as_published(shared, name, rows, span_s, prompt, output):
    trace = read_trace((shared / "traces" / f"AzureLLMInferenceTrace_{name}_2023.csv").read_bytes())

    assert trace.rows == rows
    assert trace.span_s == pytest.approx(span_s, abs=0.06)
    assert (trace.prompt_tokens.mean(), trace.output_tokens.mean()) == pytest.approx((prompt, output), abs=0.05)


def test_window_and_scale_of_a_trace():
    trace = read_trace(PLAIN + b"".join(b"%d,1,1\n" % i for i in range(10)))

    requests = make_recorded(trace, trace_from_s=2, trace_to_s=6, trace_scale=2)

    assert requests.arrival_s.tolist() == [0, 0.5, 1, 1.5]


def test_empty_window_is_refused():
    with pytest.raises(ScenarioError, match="trace_from_s"):
        make_recorded(read_trace(PLAIN + b"0,1,1\n"), trace_from_s=50)


def test_sample_ships_and_is_clean():
    trace = sample_trace()

    assert trace.rows == 200
    assert (trace.rejected, trace.repaired) == ((), ())
    assert len(trace.sha256) == 64
