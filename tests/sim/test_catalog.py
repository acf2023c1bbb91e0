"""The catalogue: every row complete, sourced, consistent, and found under each of its names."""

import csv

import pytest

from sim.catalog import GIB, find_gpu, find_model, load_gpus, load_models
from sim.catalog.efficiencies import efficiencies_of, load_efficiencies
from sim.errors import ScenarioError
from sim.sizes import kv_bytes_per_token, parts_of, weights_bytes


@pytest.mark.parametrize("gpu", load_gpus().values(), ids=lambda g: g.id)
def test_gpu_is_complete_and_sourced(gpu):
    assert gpu.sources
    assert 8 * GIB < gpu.visible_bytes < 300 * GIB
    assert 1e11 < gpu.bandwidth_bytes_per_s < 1e13
    assert 1e13 < gpu.sustained_bf16_flops <= gpu.bf16_flops
    assert efficiencies_of(gpu) in load_efficiencies().values()


@pytest.mark.parametrize("model", load_models().values(), ids=lambda m: m.id)
def test_model_is_complete_and_sourced(model):
    assert model.sources
    assert 0 < model.active_params <= model.params
    assert model.heads % model.kv_heads == 0
    assert model.sliding_layers <= model.layers
    assert bool(model.sliding_window) == bool(model.sliding_layers)
    assert bool(model.experts) == (model.active_params < model.params)


@pytest.mark.parametrize("model", load_models().values(), ids=lambda m: m.id)
def test_parts_of_a_model_are_positive_and_add_up(model):
    parts = parts_of(model)

    assert min(parts.dense, parts.head) > 0
    assert parts.dense + parts.experts + parts.head + parts.embedding == pytest.approx(model.params)


@pytest.mark.parametrize("table", [load_gpus(), load_models()], ids=["gpus", "models"])
def test_every_name_and_alias_finds_its_entry(table):
    find = find_gpu if table is load_gpus() else find_model
    for entry in table.values():
        for name in (entry.id, entry.id.upper(), entry.name, *entry.aliases):
            assert find(f" {name} ").id in table


@pytest.mark.parametrize("table", [load_gpus(), load_models()], ids=["gpus", "models"])
def test_no_two_entries_share_an_alias(table):
    names = [name.lower() for entry in table.values() for name in {entry.id.lower(), *map(str.lower, entry.aliases)}]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(("find", "field"), [(find_gpu, "gpu"), (find_model, "model")])
def test_unknown_name_is_refused_with_the_list(find, field):
    with pytest.raises(ScenarioError, match=f"^{field}: abacus is not accepted; allowed: one of "):
        find("abacus")


@pytest.mark.parametrize(
    ("model", "tensor_parallel_size", "gib"),
    [
        ("llama-3.1-8b", 1, 14.99),  # llm-d-planner PR#205 accuracy report, vLLM 0.19
        ("llama-3.1-8b", 4, 3.77),
        ("qwen2.5-7b", 2, 7.12),
        ("qwen3-14b", 1, 27.52),
        ("llama-2-7b", 1, 12.55),  # kubernetes-sigs/gateway-api-inference-extension#550
    ],
)
def test_16_bit_weights_are_as_logged(model, tensor_parallel_size, gib):
    assert weights_bytes(find_model(model), "bf16", tensor_parallel_size) / GIB == pytest.approx(gib, rel=0.01)


def test_fp8_weights_keep_embedding_and_head_wide_as_logged():
    """33.88 GiB a GPU at TP 2: llm-d-planner, empirical vLLM memory results, vLLM 0.11."""
    assert weights_bytes(find_model("llama-3.3-70b"), "fp8", 2) / GIB == pytest.approx(33.88, rel=0.005)


def test_kv_heads_are_split_down_to_one_and_a_latent_is_not():
    llama, deepseek = find_model("llama-3.1-8b"), find_model("deepseek-v3")

    assert [kv_bytes_per_token(llama, "auto", tp) for tp in (1, 8, 16)] == [131_072, 16_384, 16_384]
    assert kv_bytes_per_token(llama, "fp8", 1) == 65_536
    assert [kv_bytes_per_token(deepseek, "auto", tp) for tp in (1, 8)] == [70_272, 70_272]


def test_kv_bytes_per_token_are_those_of_the_reference(shared):
    with (shared / "reference" / "models.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert kv_bytes_per_token(find_model(row["id"]), "auto", 1) == int(row["kv_bytes_per_token_fp16"])
