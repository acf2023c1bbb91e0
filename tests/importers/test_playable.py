"""From a reading to a scenario of today: what is imitated, what is left out, and the line that says so."""

import pytest

from sim.importers import read_paste
from sim.importers.playable import playable
from sim.importers.reading import ENGINE_NAMES
from sim.importers.verdict import verdict_of
from sim.scenario import scenario_from


def notes_of(text: str) -> str:
    return " ".join(playable(read_paste(text)).notes)


def verdict(text: str) -> str:
    reading = read_paste(text)
    return verdict_of(reading, playable(reading))


def test_parameters_of_vllm_are_settings_as_they_are():
    reading = read_paste("vllm serve Qwen/Qwen3-8B --max-num-seqs 8 --block-size 32")
    played = playable(reading)
    assert played.notes == ()
    assert played.settings == {**reading.params, "engine": "vllm"}
    assert scenario_from(reading.params) == played.scenario


@pytest.mark.parametrize(
    ("text", "engine"),
    [("sglang serve --model Qwen/Qwen3-8B", "sglang"), ("trtllm-serve Qwen/Qwen3-8B", "tensorrt-llm")],
)
def test_engine_without_a_scheduler_of_its_own_is_imitated_and_said(text: str, engine: str):
    assert f"{ENGINE_NAMES[engine]} is imitated by vLLM's scheduler until" in notes_of(text)
    assert "Exact" not in verdict(text)


def test_split_slots_are_reservations():
    server = playable(read_paste("llama-server -m Qwen3-8B.gguf -np 4 -c 4096")).scenario.server
    assert (server.kv, server.max_num_seqs, server.max_model_len) == ("contiguous", 4, 1024)
    assert (server.num_gpu_blocks, server.max_num_batched_tokens) == (257, 2048)


def test_unified_slots_share_a_pool():
    server = playable(read_paste("llama-server -m Qwen3-8B.gguf -c 4096")).scenario.server
    assert (server.kv, server.max_num_seqs, server.num_gpu_blocks) == ("paged", 4, 257)


def test_value_that_another_excludes_is_left_out_and_said():
    text = "vllm serve Qwen/Qwen3-8B --max-num-batched-tokens 100 --max-num-seqs 200"
    assert "max_num_batched_tokens = 100 is left out" in notes_of(text)
    assert "what is left out" in verdict(text)


def test_verdict_names_the_model_that_is_simulated_instead():
    assert "those of llama-3.1-8b, not of the model named" in verdict("vllm serve someone/unheard-of-7b")


def test_verdict_of_a_hybrid_distrusts_memory_first():
    assert "distrust KV use" in verdict("vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct")


def test_verdict_of_a_log_with_a_pool_counts_it_as_exact():
    assert "the size of the KV pool, as logged" in verdict("GPU KV cache size: 171,440 tokens")
