"""The way back: importing the command of a scenario gives the scenario again, as far as vLLM has flags."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sim.catalog import load_models
from sim.errors import ScenarioError
from sim.importers import read_paste
from sim.importers.command_text import command_text
from sim.importers.playable import playable
from sim.scenario import Scenario, scenario_from, settings_of

CHOICES: dict[str, st.SearchStrategy[Any]] = {
    "model": st.sampled_from(sorted(load_models())),
    "tensor_parallel_size": st.sampled_from([1, 2, 4, 8]),
    "gpu_memory_utilization": st.floats(0.1, 1).map(lambda share: round(share, 3)),
    "max_num_seqs": st.integers(1, 4096),
    "max_num_batched_tokens": st.one_of(st.none(), st.integers(1, 65_536)),
    "max_model_len": st.one_of(st.none(), st.integers(2, 200_000)),
    "num_gpu_blocks": st.one_of(st.none(), st.integers(2, 10**7)),
    "block_size": st.sampled_from([1, 8, 16, 32, 128]),
    "weights": st.sampled_from(["bf16", "fp8", "int8", "int4", "fp4"]),
    "kv_cache_dtype": st.sampled_from(["auto", "fp8"]),
    "prefix_cache": st.sampled_from(["off", "shared", "per_slot"]),
    "prefill": st.sampled_from(["chunked", "whole"]),
    "async_scheduling": st.booleans(),
    "scheduler_reserve_full_isl": st.booleans(),
    "num_speculative_tokens": st.sampled_from([0, 0, 1, 5]),
    "long_prefill_token_threshold": st.sampled_from([0, 64]),
    "watermark": st.sampled_from([0, 0.01]),
    "load": st.sampled_from(["open", "closed", "burst"]),
    "rate": st.floats(0.01, 1000).map(lambda rate: round(rate, 4)),
    "burstiness": st.sampled_from([1, 0.5, "inf"]),
    "rescale_arrivals": st.booleans(),
    "concurrency": st.integers(1, 500),
    "num_requests": st.integers(1, 10_000),
    "prompt_tokens": st.integers(1, 20_000),
    "output_tokens": st.integers(1, 5000),
    "prompt_dist": st.sampled_from(["fixed", "uniform", "lognormal"]),
    "output_dist": st.sampled_from(["fixed", "uniform", "lognormal"]),
    "shared_prefix_tokens": st.sampled_from([0, 256]),
    "seed": st.integers(0, 2**31),
    "slo_ttft_ms": st.floats(1, 10_000).map(lambda limit: round(limit, 2)),
    "batching": st.sampled_from(["continuous", "static"]),
}


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    names = draw(st.sets(st.sampled_from(sorted(CHOICES)), max_size=12))
    values = {name: draw(CHOICES[name]) for name in sorted(names)}
    try:
        return scenario_from({name: value for name, value in values.items() if value is not None})
    except ScenarioError:
        assume(condition=False)
        raise


def read_back(scenario: Scenario) -> dict[str, Any]:
    text = command_text(scenario)
    return settings_of(playable(read_paste(f"{text.serve}\n\n{text.bench}\n")).scenario)


@settings(max_examples=100)
@given(scenarios())
def test_importing_the_command_gives_the_scenario(scenario: Scenario):
    text, back = command_text(scenario), read_back(scenario)
    expected = {name: value for name, value in settings_of(scenario).items() if name in text.says}
    assert {name: back[name] for name in expected} == expected


@settings(max_examples=100)
@given(scenarios())
def test_what_no_flag_says_is_said_in_words(scenario: Scenario):
    text = command_text(scenario)
    notes = " ".join(text.notes)
    differing = settings_of(scenario, defaults=False)
    words = {"prompt_dist": "Lengths are", "output_dist": "Lengths are", "weights": "weights"}
    for name in differing.keys() - text.says:
        assert words.get(name, name) in notes


@pytest.mark.parametrize("model", load_models())
def test_every_model_is_named_so_that_it_is_found_again(model: str):
    assert read_back(scenario_from({"model": model}))["model"] == model


def test_a_command_is_one_that_a_shell_can_read():
    text = command_text(scenario_from({"num_speculative_tokens": 2, "num_gpu_blocks": 500, "load": "closed"}))
    assert """--speculative-config '{"method": "ngram", "num_speculative_tokens": 2}\'""" in text.serve
    assert "--num-gpu-blocks-override 500 \\\n" in text.serve
    assert "--max-concurrency 16" in text.bench
    assert "the benchmark's random dataset is fixed" in " ".join(text.notes)
