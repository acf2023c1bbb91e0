"""Results of benchmarks, printed and in JSON, and what their figures say together."""

import json
from typing import Any

import pytest

from sim.importers import Reading, read_paste
from sim.importers.playable import playable

CONSOLE = """
============ Serving Benchmark Result ============
Successful requests:                     300
Failed requests:                         0
Maximum request concurrency:             25
Request rate configured (RPS):           1.50
Benchmark duration (s):                  300.00
Total input tokens:                      300000
Total generated tokens:                  30000
Request throughput (req/s):              1.00
Output token throughput (tok/s):         100.00
Total Token throughput (tok/s):          1100.00
Mean TTFT (ms):                          545.23
Median TTFT (ms):                        514.07
P99 TTFT (ms):                           1514.07
Mean E2EL (ms):                          24000.00
"""


def said(reading: Reading) -> str:
    return " ".join(reading.warnings)


def changed(**lines: str) -> Reading:
    """The console's result with other values."""
    text = CONSOLE
    for label, value in lines.items():
        text = "\n".join(
            line.rpartition(" ")[0] + f" {value}" if line.lower().startswith(label.replace("_", " ")) else line
            for line in text.split("\n")
        )
    return read_paste(text)


def test_console_of_vllm():
    reading = changed()
    assert reading.kind == "bench_result"
    assert reading.figures["ttft_ms"] == {"mean": 545.23, "p50": 514.07, "p99": 1514.07}
    assert reading.figures["e2e_ms"] == {"mean": 24_000}
    assert (reading.params["load"], reading.params["concurrency"], reading.params["num_requests"]) == (
        "closed",
        25,
        300,
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "24 in flight on average (Little's law): agrees with the cap of 25"),
        ({"mean_e2el": "40000.0"}, "more than the cap of 25: these figures contradict each other"),
        ({"mean_e2el": "10000.0"}, "of 25 allowed"),
        ({"request_throughput": "2.00"}, "600 requests, but 300 are reported"),
        ({"total_token_throughput": "5001"}, "5,001 tok/s is reported: these figures contradict each other"),
        ({"output_token_throughput": "200.00"}, "200 tok/s is reported"),
    ],
)
def test_contradiction_is_said_with_its_numbers(change: dict[str, str], words: str):
    assert words in said(changed(**change))


def test_rate_that_is_reached_is_an_open_loop():
    assert changed(request_rate_configured="1.00").params["load"] == "open"


def test_outputs_that_are_shorter_than_asked_for():
    reading = read_paste("vllm bench serve --dataset-name random --random-output-len 200\n" + CONSOLE)
    assert "Outputs have 100.0 tokens on average where 200 were asked for" in said(reading)


def test_second_set_of_guidellm_contradicts_itself():
    text = json.dumps(
        {"completed": 1141, "duration": 300.0, "request_throughput": 3.8, "total_input_tokens": 570_500,
         "total_output_tokens": 570_500, "total_token_throughput": 5001.0}
    )  # fmt: skip
    assert "3.8 requests/s x 1,000.0 prompt + output tokens = 3,800 tok/s, but 5,001" in said(read_paste(text))


VLLM: dict[str, Any] = {
    "backend": "vllm", "model_id": "Qwen/Qwen3-8B", "num_prompts": 200, "request_rate": "inf", "max_concurrency": None,
    "duration": 10.0, "completed": 200, "total_input_tokens": 20_000, "total_output_tokens": 10_000,
    "request_throughput": 20.0, "output_throughput": 1000.0, "total_token_throughput": 3000.0,
    "percentiles_ttft_ms": [[50, 10.0], [99.0, 20.5]], "p99_itl_ms": 4.5, "input_lens": [1, 2],
}  # fmt: skip


@pytest.mark.parametrize(
    "text", ["{}", "Here:\n```json\n{}\n```\nthanks", "\ufeff{}\r\n", "[{}]", "bench_out = \n{}\n"], ids=range(5)
)
def test_json_of_vllm_wherever_it_stands(text: str):
    reading = read_paste(text.replace("{}", json.dumps(VLLM)))
    assert (reading.engine, reading.params["model"], reading.params["load"]) == ("vllm", "qwen3-8b", "burst")
    assert reading.figures["ttft_ms"] == {"p50": 10, "p99": 20.5}
    assert reading.figures["itl_ms"] == {"p99": 4.5}
    assert reading.params["prompt_tokens"] == 100


def test_bare_infinity_and_nan_are_read_and_never_written():
    text = '{"request_rate": Infinity, "completed": 3, "mean_ttft_ms": NaN, "request_throughput": 1.5}'
    reading = read_paste(text)
    assert reading.params["load"] == "burst"
    assert json.dumps(reading.as_json(), allow_nan=False)


def test_broken_json_says_where():
    with pytest.raises(ValueError, match="line 2, column 18"):
        read_paste('{"duration": 10.0,\n "completed": 20,,}')


@pytest.mark.parametrize(("unit", "factor"), [("ms", 1), ("s", 1000), ("ns", 1e-6), ("us", 1e-3)])
def test_aiperf_has_its_unit_in_a_field(unit: str, factor: float):
    text = json.dumps({"request_latency": {"unit": unit, "avg": 7.0, "p99": 9.0}, "request_count": {"avg": 8}})
    assert read_paste(text).figures["e2e_ms"] == pytest.approx({"mean": 7 * factor, "p99": 9 * factor})


def test_aiperf_repeats_its_load():
    document = {
        "request_throughput": {"unit": "requests/sec", "avg": 2.0},
        "input_config": {
            "loadgen": {"concurrency": 10, "request_count": 100},
            "endpoint": {"model_names": ["Qwen/Qwen3-8B"]},
        },
    }
    params = read_paste(json.dumps(document)).params
    assert (params["load"], params["concurrency"], params["num_requests"], params["model"]) == (
        "closed",
        10,
        100,
        "qwen3-8b",
    )


def test_aiperf_table():
    text = (
        "NVIDIA AIPerf | LLM Metrics\n"
        "┃                   Metric ┃       avg ┃      min ┃       p99 ┃       p50 ┃\n"
        "│ Time to First Token (ms) │    561.30 │   351.43 │  2,973.45 │    368.61 │\n"
        "│     Request Latency (ms) │ 13,889.91 │ 8,535.88 │ 22,103.86 │ 13,510.24 │\n"
        "│ Request Throughput (requests/sec) │ 0.70 │ N/A │ N/A │ N/A │\n"
    )
    figures = read_paste(text).figures
    assert figures["ttft_ms"] == {"mean": 561.3, "min": 351.43, "p99": 2973.45, "p50": 368.61}
    assert (figures["e2e_ms"]["p99"], figures["requests_per_s"]) == (22_103.86, 0.7)


GUIDELLM = {
    "args": {"model": "Qwen/Qwen3-8B", "data": ["prompt_tokens=500,output_tokens=500"]},
    "benchmarks": [
        {
            "duration": 300.0,
            "config": {"strategy": {"type_": "constant", "rate": 5}},
            "metrics": {
                "request_totals": {"successful": 1479, "errored": 0, "incomplete": 3},
                "requests_per_second": {"successful": {"mean": 4.93}},
                "output_tokens_per_second": {"successful": {"mean": 2465}},
                "time_to_first_token_ms": {"successful": {"mean": 515, "median": 510, "percentiles": {"p99": 700}}},
                "inter_token_latency_ms": {"successful": {"mean": 6.7}},
                "time_per_output_token_ms": {"successful": {"mean": 7.8, "percentiles": {"p95": 8.0}}},
                "request_latency": {"successful": {"mean": 3.884}},
                "output_token_count": {"successful": {"mean": 500}},
            },
        }
    ],
}


def test_json_of_guidellm():
    reading = read_paste(json.dumps(GUIDELLM))
    assert reading.figures["ttft_ms"] == {"mean": 515, "p50": 510, "p99": 700}
    assert reading.figures["e2e_ms"] == {"mean": 3884}
    assert (reading.figures["requests"], reading.figures["requests_per_s"]) == (1479, 4.93)
    assert {name: reading.params[name] for name in ("load", "rate", "burstiness", "prompt_tokens")} == {
        "load": "open", "rate": 5, "burstiness": "inf", "prompt_tokens": 500,
    }  # fmt: skip


def test_tpot_of_guidellm_is_explained():
    assert "(515 + 499 x 6.7) / 500 = 7.717 ms" in said(read_paste(json.dumps(GUIDELLM)))


WIDE = """Benchmarks Stats:
Metadata   | Request Stats         || Out Tok/sec| Tot Tok/sec| Req Latency (ms)||| TTFT (ms)       ||| ITL (ms)        ||| TPOT (ms)       ||
  Benchmark| Per Second| Concurrency|        mean|        mean| mean| median|  p99| mean| median|  p99| mean| median|  p99| mean| median|  p99
-----------|-----------|------------|------------|------------|-----|-------|-----|-----|-------|-----|-----|-------|-----|-----|-------|-----
synchronous|       0.15|        1.00|        39.5|       197.4| 6.48|   6.48| 6.49| 53.5|   51.0| 58.3| 25.2|   25.2| 25.2| 25.1|   25.1| 25.0
"""  # noqa: E501 (as it is printed)
TALL = """ℹ Request Latency Statistics (Completed Requests)
| Benchmark  | Request Latency || TTFT           || ITL          || TPOT         ||
| Strategy   | Sec             || ms             || ms           || ms           ||
|            | Mdn     | p95    | Mdn    | p95    | Mdn   | p95   | Mdn   | p95   |
|------------|---------|--------|--------|--------|-------|-------|-------|-------|
| concurrent | 20.4    | 21.8   | 1465.9 | 2797.0 | 74.3  | 76.1  | 79.6  | 85.1  |
| concurrent | 28.3    | 30.3   | 2212.2 | 4038.4 | 102.6 | 103.0 | 110.7 | 118.4 |

ℹ Server Throughput Statistics (All Requests)
| Benchmark  | Requests             ||| Input Tokens | Output Tokens | Total Tokens |
| Strategy   | Concurrency || Per Sec | Per Sec      | Per Sec       | Per Sec      |
|            | Mdn   | Mean | Mean                                               ||||
| concurrent | 32.0  | 31.5 | 1.5     | 800.0        | 390.0         | 1190.0       |
"""


def test_wide_table_of_guidellm():
    figures = read_paste(WIDE).figures
    assert (figures["requests_per_s"], figures["concurrency"], figures["total_tokens_per_s"]) == (0.15, 1, 197.4)
    assert figures["e2e_ms"] == {"mean": 6480, "p50": 6480, "p99": 6490}
    assert figures["tpot_ms"] == {"mean": 25.1, "p50": 25.1, "p99": 25.0}


def test_tall_tables_of_guidellm_give_the_first_benchmark():
    reading = read_paste(TALL)
    assert reading.figures["ttft_ms"] == {"p50": 1465.9, "p95": 2797.0}
    assert (reading.figures["requests_per_s"], reading.figures["concurrency"]) == (1.5, 31.5)
    assert "several benchmarks" in said(reading)


def test_console_of_tensorrt_llm():
    text = (
        "Request Throughput (req/sec):                     141.2968\n"
        "Total Output Throughput (tokens/sec):             18085.9891\n"
        "Total Latency (ms):                               21231.9049\n"
        "Average request latency (ms):                     15698.2533\n"
        "[TTFT] P99    : 120.5\n"
    )
    reading = read_paste(text)
    assert reading.engine == "tensorrt-llm"
    assert (reading.figures["requests_per_s"], reading.figures["duration_s"]) == (141.2968, 21.2319049)
    assert (reading.figures["e2e_ms"], reading.figures["ttft_ms"]) == ({"mean": 15_698.2533}, {"p99": 120.5})


def test_console_of_sglang_names_its_engine():
    reading = read_paste(
        "Backend:    sglang\nTraffic request rate:   inf\nSuccessful requests:   10\nAccept length:  2.5\n"
    )
    assert (reading.engine, reading.params["load"], reading.figures["accept_length"]) == ("sglang", "burst", 2.5)


def test_rate_that_only_a_clock_could_make_is_a_burst():
    assert read_paste("Issue Rate (req/sec):   2.3129E+15\nSuccessful requests:  10\n").params["load"] == "burst"


def test_offline_benchmarks_of_vllm():
    text = "Throughput: 12.34 requests/s, 5678.90 total tokens/s, 1234.50 output tokens/s\n"
    figures = read_paste(text).figures
    assert (figures["requests_per_s"], figures["total_tokens_per_s"]) == (12.34, 5678.9)
    latency = read_paste("Avg latency: 1.25 seconds\n99% percentile latency: 1.5 seconds\n")
    assert latency.figures["e2e_ms"] == {"mean": 1250, "p99": 1500}


def test_sglang_does_not_stretch_arrivals():
    text = '{"backend": "sglang", "request_rate": 4.0, "completed": 100, "request_throughput": 4.0}'
    assert "rescale_arrivals" not in read_paste(text).params


@pytest.mark.parametrize(
    ("lines", "load"),
    [
        ("Mean E2EL (ms): 400000.0", {"load": "burst"}),
        ("Mean E2EL (ms): 1000.0", {"load": "closed", "concurrency": 1}),
        ("Mean E2EL (ms): 9000.0", {"load": "open", "rate": 1}),
    ],
)
def test_load_that_is_not_said_is_assumed_aloud(lines: str, load: dict[str, Any]):
    played = playable(read_paste(f"Successful requests: 600\nRequest throughput (req/s): 1.00\n{lines}\n"))
    assert {name: played.settings[name] for name in load} == load
    assert "assumed here" in " ".join(played.notes)


def test_capped_burst_is_played_as_a_closed_loop():
    reading = read_paste('{"backend": "sglang", "request_rate": Infinity, "max_concurrency": 16, "completed": 64}')
    assert (reading.params["load"], reading.params["concurrency"]) == ("burst", 16)
    played = playable(reading)
    assert (played.settings["load"], played.settings["concurrency"]) == ("closed", 16)
    assert "closed loop of as many users" in " ".join(played.notes)
