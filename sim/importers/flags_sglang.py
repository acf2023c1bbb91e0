"""The flags of SGLang's server: what each sets here, or why it has no effect."""

from __future__ import annotations

from sim.importers.flags import Arity, Flag, FlagTable, does, notes, sets, without_effect
from sim.importers.models import set_dtype, set_kv_format, set_model, set_quantisation
from sim.importers.quantities import read_count, read_number, read_switch
from sim.importers.reading import Draft

SWITCH, ONE, MANY = Arity.SWITCH, Arity.ONE, Arity.MANY


def _memory_share(draft: Draft, text: str, said: str) -> None:
    draft.set("mem_fraction_static", read_number(text))
    draft.set("gpu_memory_utilization", read_number(text), said)
    draft.warn(
        "--mem-fraction-static is the share of the GPU for weights and KV only; gpu_memory_utilization, which it is "
        "read "
        "as, also has to hold activations. So fewer tokens fit here than in SGLang."
    )


def _chunk(draft: Draft, text: str, said: str) -> None:
    chunk = read_count(text)
    draft.set("chunked_prefill_size", chunk)
    if chunk <= 0:
        draft.set("prefill", "whole", said)
    else:
        draft.set("max_num_batched_tokens", chunk, said)


def _pool(draft: Draft, text: str, said: str) -> None:
    draft.set("max_total_tokens", read_count(text))
    draft.figure("kv_tokens", read_count(text))
    draft.understand(said)


def _no_radix_cache(draft: Draft, text: str, said: str) -> None:
    draft.set("prefix_cache", "off" if read_switch(text) else "shared", said)


def _no_overlap(draft: Draft, text: str, said: str) -> None:
    draft.set("async_scheduling", not read_switch(text), said)


def _own(name: str, read: type[int] | type[float] | type[str]) -> Flag:
    def effect(draft: Draft, text: str, said: str) -> None:
        draft.set(name, read_count(text) if read is int else read_number(text) if read is float else text, said)

    return does(name.replace("_", "-"), effect)


def _mixed(draft: Draft, text: str, said: str) -> None:
    draft.set("enable_mixed_chunk", read_switch(text), said)


SGLANG = FlagTable(
    "sglang.launch_server",
    positional=set_model,
    rows=(
        does("model-path", set_model, "model"),
        sets("tp-size", "tensor_parallel_size", read_count, "tp", "tensor-parallel-size"),
        sets("dp-size", "replicas", read_count, "dp", "data-parallel-size"),
        does("mem-fraction-static", _memory_share),
        sets("max-running-requests", "max_num_seqs"),
        does("chunked-prefill-size", _chunk),
        sets("context-length", "max_model_len"),
        sets("page-size", "block_size"),
        does("max-total-tokens", _pool),
        does("disable-radix-cache", _no_radix_cache, arity=SWITCH),
        does("disable-overlap-schedule", _no_overlap, arity=SWITCH),
        does("enable-mixed-chunk", _mixed, arity=SWITCH),
        _own("schedule_policy", str),
        _own("schedule_conservativeness", float),
        _own("max_prefill_tokens", int),
        does("quantization", set_quantisation),
        does("dtype", set_dtype),
        does("kv-cache-dtype", set_kv_format),
        sets("speculative-num-draft-tokens", "num_speculative_tokens"),
        sets("max-queued-requests", "max_waiting"),
        notes("port", "port", read_count),
        *without_effect("where and how the server answers; nothing of it is simulated", ONE,
            "host served-model-name api-key log-level log-level-http watchdog-timeout skip-server-warmup "
            "chat-template tool-call-parser reasoning-parser completion-template file-storage-path nccl-port "
            "fastapi-root-path "
            "grammar-backend warmups"),
        *without_effect("how the model is found and loaded; it changes the start, not the run", ONE,
            "tokenizer-path tokenizer-mode load-format revision download-dir json-model-override-args random-seed "
            "device weight-loader-disable-mmap model-impl model-loader-extra-config"),
        *without_effect("how the model is found and loaded; it changes the start, not the run", SWITCH,
            "trust-remote-code is-embedding skip-tokenizer-init enable-multimodal"),
        *without_effect("kernels and compilation: times are those of the cost model, whatever runs them", ONE,
            "attention-backend prefill-attention-backend decode-attention-backend sampling-backend cuda-graph-max-bs "
            "torch-compile-max-bs num-continuous-decode-steps moe-runner-backend moe-a2a-backend fp8-gemm-backend "
            "deepep-mode triton-attention-num-kv-splits mm-attention-backend mamba-ssm-dtype "
            "speculative-attention-mode"),
        *without_effect("kernels and compilation: times are those of the cost model, whatever runs them", MANY,
            "cuda-graph-bs"),
        *without_effect("kernels and compilation: times are those of the cost model, whatever runs them", SWITCH,
            "disable-cuda-graph disable-cuda-graph-padding enable-torch-compile disable-custom-all-reduce "
            "enable-p2p-check "
            "enable-flashinfer-mla enable-deepep-moe enable-flashinfer-allreduce-fusion disable-shared-experts-fusion "
            "enable-two-batch-overlap enable-cudagraph-gc enable-nccl-nvls enable-symm-mem enable-mscclpp"),
        *without_effect("how processes and nodes are arranged is not modelled", ONE,
            "ep-size|ep pp-size|pp|pipeline-parallel-size nnodes node-rank dist-init-addr dist-timeout base-gpu-id "
            "gpu-id-step "
            "disaggregation-mode disaggregation-transfer-backend disaggregation-ib-device "
            "disaggregation-bootstrap-port "
            "load-balance-method stream-interval"),
        *without_effect("how processes and nodes are arranged is not modelled", SWITCH,
            "enable-dp-attention enable-dp-lm-head enable-ep-moe enable-eplb"),
        *without_effect("drafts are counted by their number; the method and its tree are not modelled", ONE,
            "speculative-algorithm|speculative-algo speculative-draft-model-path|speculative-draft-model "
            "speculative-num-steps "
            "speculative-eagle-topk speculative-token-map speculative-accept-threshold-single "
            "speculative-accept-threshold-acc"),
        *without_effect("memory outside the GPU's pool is not modelled", ONE,
            "cpu-offload-gb hicache-ratio hicache-size hicache-write-policy hicache-io-backend "
            "hicache-storage-backend"),
        *without_effect("memory outside the GPU's pool is not modelled", SWITCH,
            "enable-hierarchical-cache enable-memory-saver enable-lmcache"),
        *without_effect("logs and traces cost nothing here", ONE, "decode-log-interval log-requests-level"),
        *without_effect("logs and traces cost nothing here", SWITCH,
            "enable-metrics log-requests show-time-cost enable-cache-report enable-request-time-stats-logging"),
        *without_effect("adapters (LoRA) are not modelled: neither their memory nor their time", MANY, "lora-paths"),
        *without_effect("adapters (LoRA) are not modelled: neither their memory nor their time", ONE,
            "max-loras-per-batch max-lora-rank lora-backend lora-target-modules"),
        *without_effect("adapters (LoRA) are not modelled: neither their memory nor their time", SWITCH, "enable-lora"),
        *without_effect("a finer rule of the scheduler that is not modelled", ONE,
            "prefill-max-requests new-token-ratio swa-full-tokens-ratio radix-eviction-policy mamba-full-memory-ratio "
            "max-mamba-cache-size"),
        *without_effect("a finer rule of the scheduler that is not modelled", SWITCH,
            "disable-chunked-prefix-cache enable-priority-scheduling disable-hybrid-swa-memory"),
    ),
)  # fmt: skip
