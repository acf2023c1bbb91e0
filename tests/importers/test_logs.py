"""Start-up and runtime logs of four engines, old and new."""

from typing import Any

import pytest

from sim.importers import read_paste

STARTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "vLLM V1": (
        (
            "INFO [gpu_model_runner.py:1] Model loading took 14.9889 GiB and 3.2 seconds\n"
            "INFO [gpu_worker.py:276] Available KV cache memory: 20.93 GiB\n"
            "INFO [kv_cache_utils.py:716] GPU KV cache size: 171,440 tokens\n"
            "INFO [kv_cache_utils.py:720] Maximum concurrency for 8,192 tokens per request: 20.93x\n"
            "INFO [gpu_model_runner.py:2] Graph capturing finished in 21 secs, took 0.62 GiB\n"
        ),
        {"max_model_len": 8192, "num_gpu_blocks": 10_715, "async_scheduling": True},
        {
            "weights_gib": 14.9889,
            "kv_gib": 20.93,
            "kv_tokens": 171_440,
            "max_concurrency": 20.93,
            "cuda_graph_gib": 0.62,
        },
    ),
    "vLLM since 0.29, one line": (
        "GPU KV cache size: 112,347 tokens, Maximum concurrency for 98,304 tokens per request: 1.14x",
        {"max_model_len": 98_304},
        {"kv_tokens": 112_347, "max_concurrency": 1.14},
    ),
    "vLLM V0": (
        (
            "INFO model_runner.py:1116] Loading model weights took 14.9888 GB\n"
            "INFO worker.py:266] the current vLLM instance can use total_gpu_memory (22.07GiB) x "
            "gpu_memory_utilization "
            "(0.90) = 19.86GiB\n"
            "INFO worker.py:266] model weights take 14.99GiB; non_torch_memory takes 0.05GiB; PyTorch activation peak "
            "memory "
            "takes 0.22GiB; the rest of the memory reserved for KV Cache is 4.60GiB.\n"
            "INFO executor_base.py:108] # CUDA blocks: 2356, # CPU blocks: 2048\n"
        ),
        {"gpu_memory_utilization": 0.9, "num_gpu_blocks": 2357},
        {"gpu_memory_gib": 22.07, "activation_gib": 0.22, "kv_gib": 4.6, "num_gpu_blocks": 2356, "kv_tokens": 37_696},
    ),
    "SGLang": (
        (
            "[2025-03-08 12:29:21 TP0] Load weight end. type=Qwen2ForCausalLM, avail mem=6.09 GB, mem usage=15.54 GB.\n"
            "[2025-03-08 12:29:21 TP0] KV Cache is allocated. #tokens: 46611, K size: 1.42 GB, V size: 1.42 GB\n"
            "[2025-03-08 12:29:31] max_total_num_tokens=46611, chunked_prefill_size=2048, max_prefill_tokens=16384, "
            "max_running_requests=1024, context_len=32768\n"
        ),
        {"max_num_seqs": 1024, "max_model_len": 32_768, "chunked_prefill_size": 2048, "block_size": 1},
        {"weights_gib": 15.54, "kv_tokens": 46_611, "kv_gib": 2.84},
    ),
    "TensorRT-LLM": (
        (
            "[TensorRT-LLM][INFO] Number of tokens per block: 64.\n"
            "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 26.91 GiB for max tokens in paged KV cache (220480).\n"
            "[02/14/2025] [TRT-LLM] [I] max_seq_len=131072, max_num_requests=2048, max_num_tokens=8192\n"
        ),
        {"block_size": 64, "max_model_len": 131_072, "max_num_seqs": 2048, "max_num_batched_tokens": 8192},
        {"kv_gib": 26.91, "kv_tokens": 220_480},
    ),
    "llama-server": (
        (
            "srv    load_model: initializing slots, n_slots = 4\n"
            "slot   load_model: id  3 | task -1 | new slot, n_ctx = 8192\n"
            "llama_context: n_ctx         = 32768\nllama_context: n_ctx_seq     = 8192\n"
            "llama_kv_cache: size = 4608.00 MiB ( 32768 cells,  36 layers), K (f16): 2304.00 MiB, V (f16): 2304.00 "
            "MiB\n"
        ),
        {"ctx_size": 32_768, "parallel": 4, "kv_unified": False, "max_model_len": 8192},
        {"slots": 4, "ctx_per_slot": 8192, "kv_gib": 4.5, "kv_tokens": 32_768},
    ),
}


@pytest.mark.parametrize(("text", "params", "figures"), STARTS.values(), ids=STARTS)
def test_start_up_is_read(text: str, params: dict[str, Any], figures: dict[str, Any]):
    reading = read_paste(text)
    assert reading.kind == "server_log"
    assert {name: reading.params.get(name) for name in params} == params
    assert {name: reading.figures.get(name) for name in figures} == pytest.approx(figures)


@pytest.mark.parametrize("prefix", ["vllm-1  | ", "\x1b[36m(EngineCore pid=7)\x1b[0m ", "2026-01-02T03:04:05.678Z "])
def test_prefixes_and_colours_do_not_matter(prefix: str):
    lines = ["Available KV cache memory: 20.93 GiB", "GPU KV cache size: 171,440 tokens"]
    figures = read_paste("\r\n".join(prefix + line for line in lines)).figures
    assert (figures["kv_gib"], figures["kv_tokens"]) == (20.93, 171_440)


def test_pool_is_that_of_the_smallest_worker():
    reading = read_paste("Available KV cache memory: 8.69 GiB\nAvailable KV cache memory: 7.46 GiB\n")
    assert reading.figures["kv_gib"] == 7.46
    assert "the smallest" in " ".join(reading.warnings)


def test_arguments_in_a_log_are_read():
    text = (
        "INFO [utils.py:233] non-default args: {'model_tag': 'Qwen/Qwen3-8B', 'model': 'Qwen/Qwen3-8B', 'port': 8005, "
        "'max_model_len': 4096, 'enable_prefix_caching': False, 'served_model_name': ['Q']}"
    )
    params = read_paste(text).params
    assert (params["model"], params["max_model_len"], params["prefix_cache"]) == ("qwen3-8b", 4096, "off")


def test_arguments_that_are_cut_off_are_read_as_far_as_they_go():
    params = read_paste(
        "non-default args: {'model': 'Qwen/Qwen3-8B', 'max_num_seqs': 32, 'lora_modules': [LoRA("
    ).params
    assert (params["model"], params["max_num_seqs"]) == ("qwen3-8b", 32)


def test_engine_configuration_in_a_log_is_read():
    text = (
        "INFO Initializing a V1 LLM engine (v0.10.1) with config: model='Qwen/Qwen3-8B', max_seq_len=8192, "
        "tensor_parallel_size=2, quantization=None, kv_cache_dtype=auto, enable_prefix_caching=True"
    )
    reading = read_paste(text)
    assert (reading.params["tensor_parallel_size"], reading.params["max_model_len"]) == (2, 8192)
    assert reading.figures["version"] == "0.10.1"


def test_bytes_a_token_are_compared_with_the_model():
    log = "Available KV cache memory: 20.93 GiB\nGPU KV cache size: 171,440 tokens"
    text = f"vllm serve meta-llama/Llama-3.1-8B-Instruct\n{log}"
    assert "as 131,072 of llama-3.1-8b" in " ".join(read_paste(text).warnings)


def test_samples_of_vllm_before_v1():
    text = (
        "INFO 03-17 15:38:10 metrics.py:455] Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 28.2 "
        "tokens/s, "
        "Running: 1 reqs, Swapped: 0 reqs, Pending: 3 reqs, GPU KV cache usage: 0.2%, CPU KV cache usage: 0.0%.\n"
    )
    figures = read_paste(text).figures
    assert (figures["running"], figures["waiting"], figures["kv_usage"]) == ([1], [3], [0.002])


def test_samples_of_sglang():
    line = (
        "[2025-07-18 15:32:5{s} TP0] Decode batch. #running-req: {run}, #token: {tokens}, token usage: {usage}, cuda "
        "graph: "
        "True, gen throughput (token/s): 4594.01, #queue-req: 317\n"
    )
    text = line.format(s=4, run=233, tokens=370_959, usage=0.82) + line.format(s=6, run=240, tokens=380_959, usage=0.84)
    reading = read_paste(text)
    assert reading.engine == "sglang"
    assert reading.figures["running"] == [233, 240]
    assert reading.figures["kv_usage"] == [0.82, 0.84]
    assert reading.figures["sample_interval_s"] == 2
    assert "a pool of about 453,523 tokens" in " ".join(reading.warnings)


def test_timings_of_llama_server():
    text = (
        "prompt eval time =     100.00 ms /    50 tokens (    2.00 ms per token,   500.00 tokens per second)\n"
        "       eval time =    1000.00 ms /   100 tokens (   10.00 ms per token,   100.00 tokens per second)\n"
    )
    figures = read_paste(text).figures
    assert (figures["prompt_tokens_per_s"], figures["tpot_ms"]) == (500, {"mean": 10})


@pytest.mark.parametrize("text", ["Available KV cache memory: -1.05 GiB", "# GPU blocks: 0, # CPU blocks: 2048"])
def test_no_memory_for_kv_is_said(text: str):
    assert "the server does not start" in " ".join(read_paste(text).warnings)
