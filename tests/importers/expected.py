"""What each field input has to give: the values that the notes beside the files say."""

from typing import Any

# fmt: off
EXPECTED: dict[str, dict[str, Any]] = {
    "serve_messy_flags.txt": {
        "kind": "serve_command", "engine": "vllm",
        "params": {
            "tensor_parallel_size": 2, "gpu_memory_utilization": 0.95, "max_model_len": 120_000, "weights": "int4",
            "max_num_batched_tokens": 64_000, "max_num_seqs": 8, "prefix_cache": "shared", "async_scheduling": True,
        },
        "figures": {"port": 8111, "visible_gpus": 2},
        "said": ["8111 --gpu-memory-utilization", "--tensor-parallel-size", "hybrid", "not in the catalogue"],
    },
    "serve_docker_llama70b_tp8.txt": {
        "kind": "serve_command", "engine": "vllm",
        "params": {
            "model": "llama-3.3-70b", "tensor_parallel_size": 8, "max_num_seqs": 256, "prefill": "whole",
            "load": "closed", "concurrency": 32, "num_requests": 1024, "prompt_tokens": 3100, "output_tokens": 1,
            "prompt_dist": "fixed", "output_dist": "fixed",
        },
        "figures": {"port": 8002, "stream_interval": 10},
        "said": ["-p 8002:8002", "an option of docker", "bursts of that many tokens"],
    },
    "k8s_args_qwen72b_awq.txt": {
        "kind": "serve_command", "engine": "vllm",
        "params": {
            "model": "qwen2.5-72b", "weights": "int4", "tensor_parallel_size": 4, "gpu_memory_utilization": 0.8,
            "max_model_len": 32_768, "max_num_seqs": 64, "max_num_batched_tokens": 4096, "prefill": "chunked",
            "prefix_cache": "shared",
        },
        "figures": {"port": 9066},
        "said": ["weights that are quantised stay so"],
    },
    "llama_server_np6.txt": {
        "kind": "serve_command", "engine": "llama-server",
        "params": {"ctx_size": 163_840, "parallel": 6, "max_num_seqs": 6, "max_model_len": 27_392,
                   "kv_unified": False, "cache_type_k": "q5_0", "model": "deepseek-v3"},
        "figures": {"slots": 6, "ctx_per_slot": 27_392, "port": 55_055},
        "said": ["27,306", "27,392", "V cache f16", "MLA", "CPU", "q2_k_xs"],
    },
    "llama_server_auto_slots.txt": {
        "kind": "serve_command", "engine": "llama-server",
        "params": {"ctx_size": 1024, "parallel": 4, "kv_unified": True, "max_model_len": 1024},
        "figures": {"slots": 4, "kv_tokens": 1024, "ctx_per_slot": 1024},
        "said": ["4 slots that share one pool"],
    },
    "startup_log_3090_v0.txt": {
        "kind": "server_log", "engine": "vllm",
        "params": {"gpu_memory_utilization": 0.9, "max_model_len": 29_000},
        "figures": {"gpu_memory_gib": 23.58, "weights_gib": 14.9888, "peak_torch_gib": 17.98, "kv_gib": 2.89,
                    "num_gpu_blocks": 1478, "kv_tokens": 23_648, "max_concurrency": 0.82, "activation_gib": 2.9912},
        "said": ["0.9 x 23.58 - 17.98 - 0.35 = 2.89", "does not start"],
    },
    "startup_log_cudagraph_memory.txt": {
        "kind": "server_log", "engine": "vllm",
        "params": {"gpu_memory_utilization": 0.62},
        "figures": {"kv_gib": 5.16, "cuda_graph_gib": 6.24, "equivalent_utilization": 0.5413,
                    "padding_waste_percent": 60},
        "said": ["inside the budget", "60 %"],
    },
    "runtime_log_v1.txt": {
        "kind": "server_log", "engine": "vllm", "params": {},
        "figures": {"running": [10, 16, 22], "waiting": [90, 84, 78], "kv_usage": [0.193, 0.309, 0.425],
                    "prompt_tokens_per_s": [23_998.2, 23_999.9, 23_999.8],
                    "output_tokens_per_s": [18.1, 35.4, 52.6], "hit_rate": [0, 0, 0]},
        "said": ["+6 running every 10 s", "about 40,000 tokens", "1.93% each", "2.07 million", "2.9 steps a second"],
    },
    "bench_vllm_console.txt": {
        "kind": "bench_result", "params": {"num_requests": 1000},
        "figures": {
            "requests": 1000, "duration_s": 30.85, "requests_per_s": 32.42, "output_tokens_per_s": 6582.87,
            "total_tokens_per_s": 14_029.44, "ttft_ms": {"mean": 9626.13, "p50": 9459.70, "p99": 12_666.73},
            "tpot_ms": {"mean": 77.86, "p50": 48.84, "p99": 211.21},
            "itl_ms": {"mean": 38.13, "p50": 25.44, "p99": 214.35},
        },
        "said": ["That is right, not an error"],
    },
    "bench_sglang_infinity.json": {
        "kind": "bench_result", "engine": "sglang",
        "params": {"load": "burst", "concurrency": 16, "prompt_tokens": 8192, "output_tokens": 1024,
                   "prompt_dist": "fixed", "num_requests": 64},
        "figures": {
            "requests": 64, "duration_s": 90.69424906396307, "requests_per_s": 0.7056676764020983,
            "output_tokens_per_s": 722.6037006357486,
            "ttft_ms": {"mean": 6088.042177812895, "p50": 6147.928810445592, "p99": 10_474.469358159695},
            "tpot_ms": {"mean": 16.202962314975743, "p50": 16.1094704726192},
        },
        "said": ["a burst, capped at 16", "16.20 ms a token, which agrees", "16,448"],
    },
    "aiperf_profile_export.json": {
        "kind": "bench_result", "params": {},
        "figures": {"requests": 80, "requests_per_s": 0.14968841618235815},
        "said": ["0.996 in flight", "one request at a time", "both arrive in one chunk"],
    },
    "trace_azure_like.csv": {
        "kind": "trace", "params": {"load": "trace"},
        "figures": {"rows": 4, "span_s": 1.0200401, "total_prompt_tokens": 8113, "total_output_tokens": 1944,
                    "rejected_rows": 0},
        "said": [],
    },
    "trace_mooncake_like.jsonl": {
        "kind": "trace", "params": {"load": "trace"},
        "figures": {"rows": 3, "span_s": 3, "prefix_blocks": 18, "ideal_hit_blocks": 3, "rejected_rows": 0},
        "said": ["3 of 18 blocks"],
    },
    "trace_nasty_synthetic.csv": {
        "kind": "trace", "params": {"load": "trace"},
        "figures": {"rows": 5, "rejected_rows": 6, "total_prompt_tokens": 2816},
        "said": ["512", "NaN is not a number"],
    },
}
# fmt: on


def assert_expected(answer: dict[str, Any], name: str) -> None:
    """Compare an answer with what its file has to give; what is not named is not compared."""
    expected = EXPECTED[name]
    assert answer["kind"] == expected["kind"]
    assert answer.get("engine") == expected.get("engine")
    for part in ("params", "figures"):
        assert {key: answer[part].get(key) for key in expected[part]} == expected[part]
    said = str([answer[part] for part in ("understood", "ignored", "unknown", "repaired", "warnings")])
    assert [words for words in expected["said"] if words not in said] == []
