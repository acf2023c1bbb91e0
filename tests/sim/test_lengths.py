"""Lengths drawn from tables of recorded requests: the tables' quantiles, and tables that follow from the files."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sim.catalog import load_lengths
from sim.run import simulate
from sim.scenario import scenario_from
from sim.workload import make_requests

ROOT = Path(__file__).parents[2]
TABLES = tuple(load_lengths().values())
MANY = 40_000
DEEP = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def drawn(**settings):
    return make_requests(scenario_from({"num_requests": MANY} | settings).workload)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.id)
def test_drawn_lengths_have_the_tables_quantiles(table):
    requests = drawn(prompt_dist=table.id, output_dist=table.id)

    # A quantile of 40,000 draws lies between those of the table a hundredth below and above.
    for lengths, row in ((requests.prompt_tokens, table.prompt), (requests.output_tokens, table.output)):
        near = np.quantile(lengths, DEEP)
        assert (near >= 0.97 * np.interp(np.array(DEEP) - 0.01, table.levels, row)).all()
        assert (near <= 1.03 * np.interp(np.minimum(np.array(DEEP) + 0.01, 1), table.levels, row)).all()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.id)
def test_drawn_lengths_have_the_files_means(table):
    requests = drawn(prompt_dist=table.id, output_dist=table.id)

    assert requests.prompt_tokens.mean() == pytest.approx(table.mean_prompt_tokens, rel=0.04)
    assert requests.output_tokens.mean() == pytest.approx(table.mean_output_tokens, rel=0.04)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.id)
def test_table_rises_and_its_thirds_hold_its_range(table):
    for row in (table.prompt, table.added, table.output, *table.output_by_prompt):
        assert len(row) == len(table.levels)
        assert list(row) == sorted(row)
    assert min(row[0] for row in table.output_by_prompt) == table.output[0]
    assert max(row[-1] for row in table.output_by_prompt) == table.output[-1]


def test_outputs_follow_the_third_of_their_prompt():
    """The chat hour's middle third has answers four times as long in the middle as its shortest third."""
    table = load_lengths()["azure-conv"]
    requests = drawn(prompt_dist=table.id, output_dist=table.id)

    order = np.argsort(requests.prompt_tokens, kind="stable")
    medians = [np.median(requests.output_tokens[part]) for part in np.array_split(order, 3)]

    expected = [np.interp(0.5, table.levels, row) for row in table.output_by_prompt]
    assert medians == pytest.approx(expected, rel=0.1)


def test_outputs_alone_are_drawn_from_all():
    table = load_lengths()["azure-conv"]

    requests = drawn(output_dist=table.id)

    assert np.median(requests.output_tokens) == pytest.approx(np.interp(0.5, table.levels, table.output), rel=0.05)


def test_another_parameter_does_not_reshuffle_the_draws():
    first = drawn(prompt_dist="azure-code", output_dist="azure-code", rate=2)
    second = drawn(prompt_dist="azure-code", output_dist="azure-code", rate=9, prompt_tokens=7, num_requests=50)

    assert second.prompt_tokens.tolist() == first.prompt_tokens[:50].tolist()
    assert second.output_tokens.tolist() == first.output_tokens[:50].tolist()


def test_chat_adds_what_the_file_adds_and_comes_near_its_hit_share():
    table = load_lengths()["mooncake-conv"]
    settings = {"prompt_dist": table.id, "output_dist": table.id, "session": "chat", "turns": 2, "num_requests": 300}
    server = {"shared_prefix_tokens": 512, "tensor_parallel_size": 4, "max_num_seqs": 64, "rate": 3.4, "turn_gap_s": 5}

    run = simulate(scenario_from(settings | server))

    assert run.metrics()["prefix_hit_share"] == pytest.approx(table.ideal_hit_share, abs=0.05)
    assert run.requests.prompt_tokens.mean() == pytest.approx(table.mean_prompt_tokens, rel=0.1)


def test_tables_follow_from_the_files(shared):
    command = [sys.executable, ROOT / "scripts/trace_tables", shared / "traces"]

    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert printed == (ROOT / "sim/catalog/lengths.toml").read_text()
