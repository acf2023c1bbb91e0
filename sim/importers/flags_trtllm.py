"""The flags of trtllm-serve, which are also the keys of its YAML: what each sets here, or why it has no effect."""

from __future__ import annotations

from sim.importers.flags import Arity, FlagTable, does, notes, sets, switches, without_effect
from sim.importers.models import set_dtype, set_kv_format, set_model, set_quantisation
from sim.importers.quantities import read_count, read_number
from sim.importers.reading import Draft

SWITCH, ONE = Arity.SWITCH, Arity.ONE


def _max_num_tokens(draft: Draft, text: str, said: str) -> None:
    draft.set("max_num_tokens", read_count(text))
    draft.set("max_num_batched_tokens", read_count(text), said)


def _max_batch_size(draft: Draft, text: str, said: str) -> None:
    draft.set("max_batch_size", read_count(text))
    draft.set("max_num_seqs", read_count(text), said)


def _free_share(draft: Draft, text: str, said: str) -> None:
    share = read_number(text)
    draft.set("kv_cache_free_gpu_memory_fraction", share, said)
    draft.warn(
        f"--kv_cache_free_gpu_memory_fraction {share:g} is a share of what is free once the model is loaded, not of "
        "all "
        "memory: it is not read as gpu_memory_utilization."
    )


def _capacity_policy(draft: Draft, text: str, said: str) -> None:
    draft.set("capacity_scheduler_policy", text.strip().upper(), said)


TRTLLM = FlagTable(
    "trtllm-serve",
    positional=set_model,
    rows=(
        does("model", set_model),
        sets("tp-size", "tensor_parallel_size", read_count, "tensor-parallel-size", "tp"),
        does("max-batch-size", _max_batch_size),
        does("max-num-tokens", _max_num_tokens),
        sets("max-seq-len", "max_model_len", read_count, "max-model-len"),
        sets("tokens-per-block", "block_size"),
        does("kv-cache-free-gpu-memory-fraction", _free_share, "kv-cache-free-gpu-mem-fraction",
             "free-gpu-memory-fraction", "free-gpu-mem-fraction"),
        does("capacity-scheduler-policy", _capacity_policy),
        switches("enable-chunked-prefill", "prefill", "chunked", "whole", "enable-chunked-context"),
        switches("enable-block-reuse", "prefix_cache", "shared", "off"),
        does("quantization", set_quantisation, "quant-algo"),
        does("dtype", set_dtype),
        does("kv-cache-dtype", set_kv_format),
        notes("port", "port", read_count),
        *without_effect("where and how the server answers; nothing of it is simulated", ONE,
            "host log-level reasoning-parser tool-parser metadata-server-config-file server-role chat-template "
            "served-model-name num-postprocess-workers postprocess-tokenizer-dir"),
        *without_effect("how the model is found and loaded; it changes the start, not the run", ONE,
            "tokenizer backend extra-llm-api-options|config trust-remote-code revision gpus-per-node cluster-size "
            "custom-module-dirs"),
        *without_effect("how processes and nodes are arranged is not modelled", ONE,
            "ep-size|moe-expert-parallel-size pp-size|pipeline-parallel-size moe-tensor-parallel-size "
            "moe-cluster-parallel-size"),
        *without_effect("kernels and compilation: times are those of the cost model, whatever runs them", ONE,
            "max-beam-width attn-backend moe-backend cuda-graph-batch-sizes stream-interval host-cache-size "
            "event-buffer-max-size max-attention-window iter-stats-max-iterations max-draft-len decoding-type"),
        *without_effect("kernels and compilation: times are those of the cost model, whatever runs them", SWITCH,
            "fail-fast-on-attention-window-too-large enable-attention-dp print-iter-log disable-overlap-scheduler "
            "enable-padding use-cuda-graph"),
    ),
)  # fmt: skip
