"""The command line: names that checks rely on, exit codes, one line for bad input."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sim.__main__ import app
from sim.errors import ScenarioError
from sim.parameters import PARAMETERS

ROOT = Path(__file__).parents[2]
SMALL = ["--set", "num_requests=5", "--set", "seed=3"]


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def command(*words):
    words = [sys.executable, "-m", "sim", *words]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def test_run_prints_the_summary_as_json():
    result = json.loads(call("run", *SMALL, "--json").stdout)

    assert set(result) == {"scenario", "version", "facts", "metrics", "rejected"}
    assert set(result["scenario"]) == {parameter.name for parameter in PARAMETERS}
    assert result["metrics"]["finished"] == 5
    assert result["facts"]["calibrated"] is False


def test_run_prints_a_table_that_says_the_times_are_uncalibrated():
    printed = call("run", *SMALL).stdout

    assert "ttft_s" in printed
    assert "uncalibrated" in printed


def test_run_writes_a_row_per_request(tmp_path):
    path = tmp_path / "requests.csv"

    call("run", *SMALL, "--csv", path, "--json")

    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["request"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert all(row["status"] == "finished" for row in rows)


def test_run_sends_a_trace_as_recorded(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("arrival_s,prompt_tokens,output_tokens\n0,100,3\n2.5,200,4\n")

    result = json.loads(call("run", "--trace", path, "--json").stdout)

    assert result["scenario"]["load"] == "trace"
    assert result["metrics"]["finished"] == 2


def test_run_lists_what_can_never_fit():
    words = ["--set", "prompt_list=10,5000", "--set", "output_list=5,5", "--set", "max_model_len=1024"]

    rejected = json.loads(call("run", *words, "--json").stdout)["rejected"]

    assert [row["request"] for row in rejected] == [2]
    assert "max_model_len = 1,024" in rejected[0]["reason"]


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--set", "rate=nan"], "rate"),
        (["--set", "no_such=1"], "no_such"),
        (["--set", "rate=1", "--set", "rate=2"], "rate"),
        (["--set", "rate"], "--set"),
        (["--set", "model=llama-3.1-405b"], "model"),
        (["--set", "async_scheduling=true", "--set", "num_speculative_tokens=2"], "async_scheduling"),
        (["--trace", "no/such/file.csv"], "trace"),
        (["--csv", "no/such/folder/file.csv", *SMALL], "--csv"),
    ],
    ids=["nan", "unknown", "twice", "no value", "does not fit", "pair", "no trace", "no folder"],
)
def test_bad_input_is_refused_with_its_field(words, field):
    error = call("run", *words).exception

    assert isinstance(error, ScenarioError)
    assert error.field == field


def test_bad_input_ends_with_code_2_and_one_line():
    done = command("run", "--set", "max_num_seqs=0", "--json")

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip() == "max_num_seqs: 0 is not accepted; allowed: a whole number from 1 to 4096"


def test_conformance_ends_with_code_1_when_a_trace_differs(tmp_path):
    request = {"id": "r0", "arrival_step": 0, "prompt_len": 4, "output_len": 2}
    config = {
        "block_size": 4,
        "num_gpu_blocks": 9,
        "max_num_seqs": 2,
        "max_num_batched_tokens": 16,
        "enable_chunked_prefill": True,
        "enable_prefix_caching": False,
        "max_model_len": 32,
    }
    step = {"s": 0, "sched": [[0, "N", 0, 3]], "tok": 3, "run_s": [0], "wait_s": [], "out": [0]}
    path = tmp_path / "trace.json"
    path.write_text(
        json.dumps({"vllm_version": "0.33.0", "scenario": {"config": config, "requests": [request]}, "steps": [step]})
    )

    result = call("conformance", path)

    assert result.exit_code == 1
    assert "step 0, newb: recorded {}" in result.stdout
    assert result.stdout.strip().endswith("0 of 1 traces equal")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"steps": []}', '{"vllm_version": "0", "steps": [], "scenario": {}}'],
    ids=["empty", "cut", "list", "other", "hollow"],
)
def test_conformance_refuses_what_is_no_trace(content, tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(content)

    assert isinstance(call("conformance", path).exception, ScenarioError)


def test_bench_refuses_a_file_that_is_not_there():
    assert isinstance(call("bench", "--trace", "no/such.csv").exception, ScenarioError)
