"""Whatever is pasted: a reading or the one declared error, and always a scenario that can be run."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.errors import ScenarioError
from sim.importers import read_paste
from sim.importers.flags import FlagTable
from sim.importers.playable import playable
from sim.importers.programs import BENCHMARKS, SERVERS
from sim.importers.told import lines_of

PHRASES = (
    "vllm serve", "vllm bench serve", "python -m sglang.launch_server", "llama-server", "trtllm-serve", "docker run",
    "vllm/vllm-openai", "args:", "- --model", "command: >", "Available KV cache memory:", "GPU KV cache size:",
    "tokens",
    "# GPU blocks:", "Maximum concurrency for", "tokens per request:", "x", "Mean TTFT (ms):", "Successful requests:",
    "Request throughput (req/s):", "Decode batch. #running-req:", "#token:", "token usage:", "Running: 1 reqs",
    "non-default args: {", "timestamp,prompt,output", '{"benchmarks": [', '{"completed":', "Infinity", "NaN", "}", "]",
    "\\\n", "\n", "|", "--", "'", '"', "=",
    "\x1b[31m", "\u200b", "—", "…", "```", "inf", "-1", "0", "1e9", "99999999999999999999",
)  # fmt: skip
WORDS = st.one_of(st.sampled_from(PHRASES), st.text(max_size=8), st.integers().map(str))
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=30).map(" ".join))
VALUES = st.one_of(
    st.integers(-10, 10**12).map(str),
    st.floats(allow_nan=True).map(str),
    st.sampled_from(
        ["auto", "inf", "true", "1k", "8K", "fp8", "awq", "Qwen/Qwen3-8B", "{}", '{"num_speculative_tokens": 9}']
    ),
)


def assert_sound(text: str | bytes) -> None:
    try:
        reading = read_paste(text)
    except ScenarioError:
        return
    assert json.dumps(reading.as_json(), allow_nan=False)
    assert playable(reading).scenario
    assert list(lines_of(reading))


def commands(name: str, table: FlagTable) -> st.SearchStrategy[str]:
    names = st.sampled_from(sorted(table.by_name))
    flags = st.lists(st.tuples(names, VALUES).map(lambda pair: f"--{pair[0]} {pair[1]}"), max_size=12)
    return flags.map(lambda words: " ".join([name, "Qwen/Qwen3-8B", *words]))


PROGRAMS = {
    "vllm": "vllm serve",
    "sglang": "sglang serve",
    "llama-server": "llama-server",
    "tensorrt-llm": "trtllm-serve",
}
COMMANDS = st.one_of(
    *(commands(PROGRAMS[engine], program.table) for engine, program in SERVERS.items()),
    commands("vllm bench serve", BENCHMARKS["vllm"].table),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
KEYS = st.sampled_from([
    "benchmarks", "metrics", "successful", "mean", "median", "percentiles", "p99", "completed", "duration", "avg",
    "request_rate", "request_throughput", "mean_ttft_ms", "percentiles_ttft_ms", "request_latency", "unit", "args",
    "performance", "data", "model", "model_id", "backend", "config", "strategy", "type_", "rate", "input_config",
    "total_input_tokens", "total_output_tokens", "max_concurrency", "random_input_len", "random_range_ratio",
    "request_totals", "num_prompts",
])  # fmt: skip
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=6)),
    max_leaves=20,
)
FEW = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(TEXTS)
def test_any_text_is_read_or_refused(text: str):
    assert_sound(text)


@FEW
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes):
    assert_sound(data)


@FEW
@given(COMMANDS)
def test_any_command_leads_to_a_scenario(text: str):
    assert_sound(text)


@FEW
@given(st.dictionaries(KEYS, DOCUMENTS, max_size=8))
def test_any_json_is_read_or_refused(document: dict[str, Any]):
    assert_sound(json.dumps(document))


@pytest.mark.parametrize(
    "text",
    [
        " " * 900_000 + "x",
        "vllm serve " + "a--b" * 200_000,
        "vllm serve " + "'" * 900_000,
        "[" * 900_000,
        '{"a":' * 100_000,
        "vllm serve a\n" * 50_000,
        "Memory profiling results:" * 30_000,
        "Decode batch" * 50_000,
        "|a" * 400_000,
    ],
    ids=range(9),
)
def test_long_and_repetitive_text_does_not_hang(text: str):
    assert_sound(text)


def test_log_that_is_too_long_is_refused_with_the_limit():
    with pytest.raises(ScenarioError, match="at most 1,000,000"):
        read_paste("Running: 1 reqs\n" * 100_000)
