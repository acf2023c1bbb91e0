"""What the four engines call each parameter, or how they do without it. Text in backticks is code."""

from __future__ import annotations

from typing import NamedTuple


class Flags(NamedTuple):
    """One parameter in the words of each engine; '' where it has no equivalent."""

    vllm: str = ""
    sglang: str = ""
    tensorrt_llm: str = ""
    llama_server: str = ""


ENGINE_NAMES = Flags("vLLM", "SGLang", "TensorRT-LLM", "llama-server")


def _bench(flag: str) -> Flags:
    """A flag that the load generators of three engines share."""
    return Flags(f"`vllm bench serve {flag}`", f"`bench_serving {flag}`", f"`benchmark_serving {flag}`")


FLAGS: dict[str, Flags] = {
    "rate": _bench("--request-rate"),
    "burstiness": Flags("`vllm bench serve --burstiness`", "", "`benchmark_serving --burstiness`"),
    "rescale_arrivals": Flags("`vllm bench serve` always does"),
    "concurrency": _bench("--max-concurrency"),
    "num_requests": _bench("--num-prompts"),
    "seed": _bench("--seed"),
    "prompt_tokens": _bench("--random-input-len"),
    "prompt_dist": _bench("--random-range-ratio"),
    "output_tokens": _bench("--random-output-len"),
    "output_dist": _bench("--random-range-ratio"),
    "max_new_factor": Flags(
        "`max_tokens` of the request; the scheduler does not look at it",
        "`max_new_tokens` of the request",
        "`max_tokens` of the request",
        "`n_predict` of the request",
    ),
    "shared_prefix_tokens": Flags("`vllm bench serve --random-prefix-len`", "`bench_serving --gsp-system-prompt-len`"),
    "prefix_groups": Flags("`vllm bench serve --prefix-repetition-num-prefixes`", "`bench_serving --gsp-num-groups`"),
    "model": Flags("`vllm serve MODEL`", "`--model-path`", "`trtllm-serve MODEL`", "`--model`"),
    "weights": Flags("`--quantization`", "`--quantization`", "`quant_algo`", "what the GGUF file holds"),
    "tensor_parallel_size": Flags(
        "`--tensor-parallel-size`", "`--tp-size`", "`--tp_size`", "none: `--split-mode` divides in another way"
    ),
    "replicas": Flags("`--data-parallel-size`", "`--dp-size`"),
    "router": Flags("", "`--policy` of the SGLang router"),
    "max_num_seqs": Flags("`--max-num-seqs`", "`--max-running-requests`", "`--max_batch_size`", "`--parallel`"),
    "max_num_batched_tokens": Flags(
        "`--max-num-batched-tokens`", "`--chunked-prefill-size`", "`--max_num_tokens`", "`--batch-size`"
    ),
    "long_prefill_token_threshold": Flags("`--long-prefill-token-threshold`"),
    "scheduler_reserve_full_isl": Flags(
        "`--scheduler-reserve-full-isl`",
        "always, with an estimate of the output",
        "always; GUARANTEED_NO_EVICT counts all of the output too",
        "nothing is checked on admission",
    ),
    "watermark": Flags("`watermark` of the scheduler"),
    "async_scheduling": Flags(
        "`--async-scheduling`", "off with `--disable-overlap-schedule`", "off with `--disable_overlap_scheduler`"
    ),
    "max_waiting": Flags("", "`--max-queued-requests`"),
    "num_gpu_blocks": Flags(
        "`--num-gpu-blocks-override`", "`--max-total-tokens`", "`kv_cache_config.max_tokens`", "`--ctx-size`, in tokens"
    ),
    "block_size": Flags("`--block-size`", "`--page-size`", "`--tokens_per_block`", "1: a cell is a token"),
    "max_model_len": Flags(
        "`--max-model-len`", "`--context-length`", "`--max_seq_len`", "`--ctx-size` divided by `--parallel`"
    ),
    "gpu_memory_utilization": Flags(
        "`--gpu-memory-utilization`",
        "`--mem-fraction-static`: weights and KV only",
        "`--kv_cache_free_gpu_memory_fraction`: of what is free",
    ),
    "kv_cache_dtype": Flags(
        "`--kv-cache-dtype`", "`--kv-cache-dtype`", "`--kv_cache_dtype`", "`--cache-type-k`, `--cache-type-v`"
    ),
    "batching": Flags(
        "always continuous",
        "always continuous",
        "`capacity_scheduler_policy`: STATIC_BATCH",
        "`--no-cont-batching` comes near static",
    ),
    "kv": Flags(
        "always paged", "always paged", "always paged", "a slot owns its context; one pool with `--kv-unified`"
    ),
    "prefix_cache": Flags(
        "`--enable-prefix-caching`, shared",
        "shared; off with `--disable-radix-cache`",
        "`--enable_block_reuse`, shared",
        "per slot; `cache_prompt` of the request",
    ),
    "prefill": Flags(
        "`--enable-chunked-prefill`",
        "`--chunked-prefill-size`; -1 is whole",
        "`--enable_chunked_prefill`; whole by default",
        "always in pieces of `--batch-size`",
    ),
    "num_speculative_tokens": Flags(
        "`--speculative-config`: `num_speculative_tokens`",
        "`--speculative-num-draft-tokens`",
        "`speculative_config.max_draft_len`",
        "`--draft-max`",
    ),
    "slo_ttft_ms": Flags("`vllm bench serve --goodput ttft:MS`", "", "`benchmark_serving --goodput ttft:MS`"),
    "slo_tpot_ms": Flags("`vllm bench serve --goodput tpot:MS`", "", "`benchmark_serving --goodput tpot:MS`"),
}
"""Checked against the recorded engines' notes and the flags that pasted command lines are read with."""
