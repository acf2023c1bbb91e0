"""Command lines of four engines and of benchmarks, as people paste them."""

from typing import Any

import pytest

from sim.importers import Reading, read_paste
from sim.importers.models import read_model_name
from sim.importers.quantities import read_count, read_number, read_object
from sim.importers.words import commands_of, split_words


def params_of(text: str) -> dict[str, Any]:
    return read_paste(text).params


def repairs_of(reading: Reading) -> dict[str, str]:
    return dict(reading.repaired)


@pytest.mark.parametrize(
    ("text", "value"), [("8192", 8192), ("1k", 1000), ("1K", 1024), ("25.6k", 25_600), ("2M", 2 * 2**20), ("-1", -1)]
)
def test_count_is_read_as_vllm_reads_it(text: str, value: int):
    assert read_count(text) == value


@pytest.mark.parametrize("text", ["", "k", "1.5K", "1,024", "two", "1e3", "9" * 30])
def test_count_refuses_what_vllm_refuses(text: str):
    with pytest.raises(ValueError, match="whole number"):
        read_count(text)


def test_number_may_be_endless():
    assert read_number("inf") == float("inf")


@pytest.mark.parametrize("text", ['{"a": 1}', "'{\"a\": 1}'", '{\\"a\\": 1}', "{'a': 1}"])
def test_object_forgives_one_level_of_quotes(text: str):
    assert read_object(text) == {"a": 1}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a  b 'c d' \"e f\"", ["a", "b", "c d", "e f"]),
        ("a --x='y z' # gone", ["a", "--x=y z"]),
        ('a {"b": [1, 2]} c', ["a", '{"b": [1, 2]}', "c"]),
        ("a 'never closed", ["a", "'never", "closed"]),
        (r"a\ b", ["a b"]),
    ],
)
def test_words_are_split_as_a_shell_does_and_goes_on(line: str, words: list[str]):
    assert split_words(line) == words


@pytest.mark.parametrize("join", [" \\\n", " \\  \n  ", " ^\r\n", " `\n", "\n  "])
def test_lines_that_go_on_are_one_command(join: str):
    reading = read_paste(f"vllm serve Qwen/Qwen3-8B{join}--max-num-seqs 9{join}--block-size 32")
    assert (reading.params["max_num_seqs"], reading.params["block_size"]) == (9, 32)


def test_a_missing_backslash_is_said():
    assert "a flag at the start of a line" in repairs_of(read_paste("vllm serve Qwen/Qwen3-8B\n  --max-num-seqs 9"))


def test_prompts_of_shells_are_no_words():
    assert commands_of("user@box:~$ vllm serve a\n$ vllm serve b").commands == [
        ["vllm", "serve", "a"],
        ["vllm", "serve", "b"],
    ]


@pytest.mark.parametrize(
    ("flag", "name", "value"),
    [
        ("--tensor-parallel-size 2", "tensor_parallel_size", 2),
        ("-tp 2", "tensor_parallel_size", 2),
        ("-tp=2", "tensor_parallel_size", 2),
        ("--max-model-len 8k", "max_model_len", 8000),
        ("--kv-cache-dtype fp8_e4m3", "kv_cache_dtype", "fp8"),
        ("--quantization awq_marlin", "weights", "int4"),
        ("--quantization=fp8", "weights", "fp8"),
        ("--no-enable-prefix-caching", "prefix_cache", "off"),
        ("--no-enable-chunked-prefill --max-num-batched-tokens 9000", "prefill", "whole"),
        ("--enable-prefix-caching False", "prefix_cache", "off"),
        ("--num-gpu-blocks-override 500", "num_gpu_blocks", 500),
        ("--no-async-scheduling", "async_scheduling", False),
        ("--no-scheduler-reserve-full-isl", "scheduler_reserve_full_isl", False),
        ('--speculative-config \'{"method": "eagle", "num_speculative_tokens": 3}\'', "num_speculative_tokens", 3),
        ('--speculative-config {"method":"ngram","num_speculative_tokens":3}', "num_speculative_tokens", 3),
        ("--speculative-config.num_speculative_tokens 3", "num_speculative_tokens", 3),
    ],
)
def test_flag_of_vllm_sets_its_parameter(flag: str, name: str, value: Any):
    reading = read_paste(f"vllm serve Qwen/Qwen3-8B {flag}")
    assert reading.params[name] == value
    assert (reading.unknown, reading.params["model"]) == ((), "qwen3-8b")


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("--max_num_seqs 8", "--max-num-seqs"),
        ("--max-num-se 8", "--max-num-seqs"),
        ("-max-num-seqs 8", "--max-num-seqs"),
        ("—max-num-seqs 8", "--max-num-seqs"),
        ("–-max‑num‑seqs 8", "--max-num-seqs"),
    ],
)
def test_repair_is_said(written: str, read_as: str):
    reading = read_paste(f"vllm serve Qwen/Qwen3-8B {written}")
    assert reading.params["max_num_seqs"] == 8
    assert repairs_of(reading)[written.split(maxsplit=1)[0]] == read_as


def test_curly_quotes_are_straightened():
    text = "vllm serve Qwen/Qwen3-8B --speculative-config ‘{“method”:“ngram”,“num_speculative_tokens”:2}’"
    assert params_of(text)["num_speculative_tokens"] == 2


def test_invisible_characters_are_taken_out():
    reading = read_paste("vllm serve Qwen/Qwen3-8B\u00a0--max-num\u200b-seqs\u00a08")
    assert reading.params["max_num_seqs"] == 8
    assert "characters that cannot be seen" in repairs_of(reading)


def test_unknown_flag_is_unknown_and_never_guessed():
    reading = read_paste("vllm serve Qwen/Qwen3-8B --frobnicate 7 --max-num-seqs 8")
    assert reading.unknown == ("--frobnicate 7",)
    assert reading.params["max_num_seqs"] == 8


def test_ambiguous_beginning_is_unknown():
    reading = read_paste("vllm serve Qwen/Qwen3-8B --enable 1")
    assert reading.unknown == ("--enable 1",)
    assert "could mean" in " ".join(reading.warnings)


def test_flag_without_effect_says_why():
    reading = read_paste("vllm serve Qwen/Qwen3-8B --swap-space 4")
    assert reading.ignored == (("--swap-space 4", "memory outside the GPU's block pool is not modelled"),)


@pytest.mark.parametrize("flag", ["--max-num-seqs 0", "--max-num-seqs 9999999", "--block-size x", "--max-num-seqs"])
def test_value_that_is_out_of_range_is_reported_and_not_set(flag: str):
    reading = read_paste(f"vllm serve Qwen/Qwen3-8B {flag} --port 80")
    assert [what for what, _ in reading.ignored] == [flag]
    assert not {"max_num_seqs", "block_size"} & set(reading.params)


def test_drafts_leave_async_scheduling_off_and_say_so():
    reading = read_paste("vllm serve Qwen/Qwen3-8B --speculative-config.num_speculative_tokens=4")
    assert "async_scheduling" not in reading.params
    assert "async_scheduling is off with drafts" in " ".join(reading.warnings)


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("CUDA_VISIBLE_DEVICES=0 ", "2 GPUs are asked for and 1 are visible"),
        ("CUDA_VISIBLE_DEVICES=0,1,2,3 ", "4 GPUs are visible and 2 used"),
    ],
)
def test_visible_gpus_are_compared_with_those_asked_for(prefix: str, words: str):
    reading = read_paste(f"{prefix}vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2")
    assert words in " ".join(reading.warnings)


def test_secrets_are_not_repeated():
    reading = read_paste("docker run -e HF_TOKEN=hf_abcdef vllm/vllm-openai --model Qwen/Qwen3-8B")
    assert "hf_abcdef" not in str(reading.as_json())


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("python -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-8B", "vllm"),
        ("docker run --gpus all --rm -it vllm/vllm-openai:latest Qwen/Qwen3-8B", "vllm"),
        ('bash -c "vllm serve Qwen/Qwen3-8B --port 1"', "vllm"),
        ("nohup /opt/venv/bin/vllm serve Qwen/Qwen3-8B > log 2>&1 &", "vllm"),
        ("python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B", "sglang"),
        ("sglang serve --model-path Qwen/Qwen3-8B", "sglang"),
        ("./build/bin/llama-server -m Qwen3-8B-Q4_K_M.gguf", "llama-server"),
        (r"C:\llama\llama-server.exe -m Qwen3-8B-Q8_0.gguf", "llama-server"),
        ("trtllm-serve Qwen/Qwen3-8B --tp_size 1", "tensorrt-llm"),
        ("--model Qwen/Qwen3-8B --gpu-memory-utilization 0.9", "vllm"),
    ],
)
def test_program_is_found(text: str, engine: str):
    reading = read_paste(text)
    assert (reading.engine, reading.params["model"]) == (engine, "qwen3-8b")


def test_flags_of_sglang():
    params = params_of(
        "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --mem-fraction-static 0.9 "
        "--max-running-requests 128 --chunked-prefill-size 4096 --disable-radix-cache --page-size 16"
    )
    assert params["model"] == "deepseek-v3"
    assert (params["max_num_seqs"], params["max_num_batched_tokens"], params["block_size"]) == (128, 4096, 16)
    assert (params["prefix_cache"], params["mem_fraction_static"]) == ("off", 0.9)


def test_share_of_free_memory_is_not_a_share_of_all():
    reading = read_paste("trtllm-serve Qwen/Qwen3-8B --kv_cache_free_gpu_memory_fraction 0.85 --max_batch_size 64")
    assert "gpu_memory_utilization" not in reading.params
    assert reading.params["kv_cache_free_gpu_memory_fraction"] == 0.85
    assert reading.params["max_num_seqs"] == 64


@pytest.mark.parametrize(
    ("flags", "slots", "per_slot", "pool"),
    [
        ("-np 4 -c 4096", 4, 1024, 4096),
        ("-np 3 -c 1000", 3, 512, 1536),
        ("-np 4 -c 600", 4, 256, 1024),
        ("-np 4 -c 4096 --kv-unified", 4, 4096, 4096),
        ("-c 1000", 4, 1024, 1024),
    ],
)
def test_context_of_a_slot_follows_recorded_start_ups(flags: str, slots: int, per_slot: int, pool: int):
    figures = read_paste(f"llama-server -m a.gguf {flags}").figures
    assert (figures["slots"], figures["ctx_per_slot"], figures["kv_tokens"]) == (slots, per_slot, pool)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--request-rate 4", {"load": "open", "rate": 4, "rescale_arrivals": True}),
        ("--request-rate inf", {"load": "burst"}),
        ("", {"load": "burst"}),
        ("--max-concurrency 8", {"load": "closed", "concurrency": 8}),
        ("--request-rate 4 --burstiness 0.5", {"load": "open", "burstiness": 0.5}),
        ("--random-range-ratio 0.5 --random-input-len 100", {"prompt_dist": "uniform", "prompt_tokens": 100}),
        ("--random-prefix-len 256", {"shared_prefix_tokens": 256}),
        ("--goodput ttft:500 tpot:50", {"slo_ttft_ms": 500, "slo_tpot_ms": 50}),
        ("--num-prompts 33 --seed 7", {"num_requests": 33, "seed": 7}),
    ],
)
def test_benchmark_sets_the_load(flags: str, expected: dict[str, Any]):
    params = params_of(f"vllm bench serve --model Qwen/Qwen3-8B --dataset-name random {flags}")
    assert {name: params.get(name) for name in expected} == expected


def test_sglang_draws_lengths_below_the_named_one():
    text = "python -m sglang.bench_serving --dataset-name random --random-input-len 1000 --random-range-ratio {}"
    assert params_of(text.format(1))["prompt_dist"] == "fixed"
    assert params_of(text.format(0.5))["prompt_tokens"] == 750


@pytest.mark.parametrize(
    ("name", "model", "weights"),
    [
        ("Qwen/Qwen3-32B-FP8", "qwen3-32b", "fp8"),
        ("TheBloke/Llama-2-7B-Chat-AWQ", "llama-2-7b", "int4"),
        ("neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "llama-3.1-8b", "int8"),
        ("/root/.cache/huggingface/hub/models--Qwen--Qwen2.5-7B-Instruct", "qwen2.5-7b", ""),
        ("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "llama-3.1-70b", "int4"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3", ""),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "qwen2.5-14b", ""),
        ("unsloth/Qwen3-8B-GGUF:Q4_K_M", "qwen3-8b", "int4"),
        ("nvidia/Llama-3.3-70B-Instruct-FP4", "llama-3.3-70b", "fp4"),
        ("someone/llama-finetune-v2", "", ""),
        ("Qwen/Qwen3-9B", "", ""),
        ("", "", ""),
    ],
)
def test_model_name_is_read_only_where_it_is_certain(name: str, model: str, weights: str):
    named = read_model_name(name)
    assert (named.id, named.weights) == (model, weights)


def test_llama_server_without_a_context_takes_the_model_s():
    reading = read_paste("llama-server -m Llama-3.1-8B-Instruct-Q8_0.gguf -c 0 -np 8 -ngl 99")
    assert (reading.figures["ctx_per_slot"], reading.figures["kv_tokens"]) == (16_384, 131_072)
    assert "training context, 131,072" in " ".join(reading.warnings)
