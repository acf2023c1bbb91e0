"""What fits: the terms add up, `auto` is resolved as vLLM does, what does not fit is refused by how much."""

import csv
import re
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.catalog import GIB
from sim.memory import kv_plan, memory_terms
from sim.scenario import ScenarioError, scenario_from


def make_plan(**settings):
    return kv_plan(scenario_from(settings).server)


def test_terms_add_up_to_what_the_server_may_use():
    plan = make_plan()

    assert plan.weights_bytes + plan.activation_bytes + plan.other_bytes + plan.kv_bytes == pytest.approx(
        plan.gpu_bytes
    )
    assert plan.gpu_bytes == pytest.approx(0.92 * 79.2 * GIB)


def test_blocks_fill_the_memory_that_is_left():
    plan = make_plan(block_size=32)

    assert plan.num_gpu_blocks == plan.kv_bytes // (32 * 131_072)
    assert plan.usable_blocks == plan.num_gpu_blocks - 1


@pytest.mark.parametrize(
    ("blocks", "max_model_len", "concurrency", "tokens"),
    [(1001, 2048, 7.8203, 16_016), (1001, 1000, 15.889, 15_888), (2201, 32_768, 1.0747, 35_216)],
)
def test_log_figures_are_vllms(blocks, max_model_len, concurrency, tokens):
    """Recorded from vLLM 0.33.0 at start-up with blocks of 16."""
    plan = make_plan(num_gpu_blocks=blocks, max_model_len=max_model_len)

    assert plan.max_concurrency == pytest.approx(concurrency, abs=5e-4)
    assert plan.kv_tokens == tokens


@pytest.mark.parametrize(
    ("gpu", "budget"), [("b200", 16_384), ("h100-sxm", 8192), ("a100-sxm-80gb", 2048), ("rtx-4090", 2048)]
)
def test_token_budget_is_vllms_default_for_the_gpu(gpu, budget):
    assert make_plan(gpu=gpu).max_num_batched_tokens == budget


def test_longest_request_is_the_models_limit_when_it_fits():
    assert make_plan().max_model_len == 131_072


def test_longest_request_is_what_the_pool_holds_when_that_is_less():
    assert make_plan(num_gpu_blocks=101).max_model_len == 1600


def test_whole_prompts_keep_the_longest_request_within_the_budget():
    assert make_plan(prefill="whole").max_model_len == 8192
    assert make_plan(prefill="whole", max_model_len=20_000).max_num_batched_tokens == 20_000


@given(
    st.sampled_from([0.9, 0.92]), st.sampled_from(["llama-3.1-8b", "gemma-2-9b", "qwen3-4b"]), st.integers(2, 200),
    st.none() | st.integers(2, 5000), st.sampled_from(["chunked", "whole"]),
)  # fmt: skip
def test_every_plan_can_serve_its_longest_request(utilisation, model, block_size, blocks, prefill):
    settings = {"num_gpu_blocks": blocks} if blocks else {}

    plan = make_plan(
        gpu_memory_utilization=utilisation, model=model, block_size=block_size, prefill=prefill, **settings
    )

    assert 2 <= plan.max_model_len <= plan.usable_blocks * block_size
    assert prefill == "chunked" or plan.max_model_len <= plan.max_num_batched_tokens
    assert plan.max_concurrency >= 1


@pytest.mark.parametrize(
    ("settings", "field", "says"),
    [
        ({"model": "llama-3.1-70b"}, "model", "GiB too much"),
        ({"gpu_memory_utilization": 0.1}, "model", "GiB too much"),
        ({"model": "llama-3.1-70b", "num_gpu_blocks": 100}, "model", "GiB too much"),
        ({"num_gpu_blocks": 101, "max_model_len": 1601}, "max_model_len", "at most 1600"),
        ({"num_gpu_blocks": 2, "block_size": 1}, "num_gpu_blocks", "an output token"),
        ({"gpu": "rtx-4090", "max_num_seqs": 3000}, "max_num_seqs", "2048"),
        (
            {"prefill": "whole", "max_model_len": 4000, "max_num_batched_tokens": 512},
            "max_num_batched_tokens",
            "at least max_model_len, 4000",
        ),
    ],
)
def test_what_cannot_work_is_refused(settings, field, says):
    with pytest.raises(ScenarioError) as caught:
        make_plan(**settings)

    assert caught.value.field == field
    assert says in caught.value.allowed


def test_refusal_says_by_how_much_it_does_not_fit():
    """70.552e9 parameters of two bytes are 131.4 GiB; 72.9 GiB may be used."""
    with pytest.raises(ScenarioError, match=r"weights 131\.4.*61\.18 GiB too much"):
        make_plan(model="llama-3.1-70b")


def test_more_blocks_than_fit_are_allowed_and_said():
    plan = make_plan(num_gpu_blocks=1_000_000)

    assert plan.num_gpu_blocks == 1_000_000
    assert "more than" in plan.notes[0]


def test_fp8_kv_doubles_the_blocks_and_splitting_frees_memory():
    plain, narrow, split = make_plan(), make_plan(kv_cache_dtype="fp8"), make_plan(tensor_parallel_size=2)

    assert narrow.num_gpu_blocks == pytest.approx(2 * plain.num_gpu_blocks, abs=1)
    assert split.num_gpu_blocks > 2 * plain.num_gpu_blocks


def test_kv_tokens_are_near_what_real_servers_logged(shared):
    """Rows that give only GPU, model and flags; H100 servers of these versions had 1,024 slots, the others 256."""
    with (shared / "reference" / "kv_capacity_logs.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["check_from_flags"] == "1" and row["kv_tokens"]]
    errors = [abs(_planned(row).kv_tokens / float(row["kv_tokens"]) - 1) for row in rows]

    assert len(errors) >= 15
    assert median(errors) < 0.05


def _planned(row):
    gpu = row["gpu"].partition(" (")[0]
    settings = {"max_model_len": row["max_model_len"]} if row["max_model_len"] else {}
    return make_plan(
        model=row["model"],
        gpu=gpu,
        weights={"fp8": "fp8", "gptq 4 bit": "int4"}.get(row["weights_dtype"], "bf16"),
        tensor_parallel_size=row["tp"],
        gpu_memory_utilization=re.search(r"0\.\d+", row["gpu_memory_utilization"])[0],
        max_num_seqs=1024 if "H100" in gpu else 256,
        **settings,
    )


def test_terms_are_those_of_the_plan_when_the_model_fits():
    server = scenario_from({"num_gpu_blocks": 2000}).server
    plan, terms = kv_plan(server), memory_terms(server)

    for name in ("gpu_bytes", "weights_bytes", "activation_bytes", "other_bytes", "kv_bytes"):
        assert getattr(terms, name) == getattr(plan, name), name
    assert terms.block_bytes == 16 * plan.kv_bytes_per_token
    assert terms.is_fitting


def test_terms_say_by_how_much_a_model_does_not_fit():
    terms = memory_terms(scenario_from({"model": "llama-3.1-405b", "gpu": "h100-sxm"}).server)

    assert not terms.is_fitting
    assert terms.missing_bytes == (
        terms.weights_bytes + terms.activation_bytes + terms.other_bytes + 2 * terms.block_bytes - terms.gpu_bytes
    )
