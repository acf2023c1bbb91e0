"""The flags of `vllm serve`: what each sets here, or why it has no effect."""

from __future__ import annotations

from sim.importers.flags import (
    Arity,
    FlagTable,
    does,
    notes,
    sets,
    switches,
    without_effect,
)
from sim.importers.models import set_dtype, set_kv_format, set_model, set_quantisation
from sim.importers.quantities import read_count, read_number, read_object, read_switch
from sim.importers.reading import Draft

SWITCH, ONE, MANY = Arity.SWITCH, Arity.ONE, Arity.MANY


def _model(draft: Draft, text: str, said: str) -> None:
    if "model" in draft.figures and draft.figures["model"] != text:
        draft.warn(f"Two models are named: {draft.figures['model']} and {text}; the later one is taken.")
        draft.params.pop("model", None)
    set_model(draft, text, said)


def _max_model_len(draft: Draft, text: str, said: str) -> None:
    if text.strip().lower() in ("auto", "-1"):
        draft.understand(f"{said}: the largest that fits, as max_model_len = auto here")
    else:
        draft.set("max_model_len", read_count(text), said)


def _async_scheduling(draft: Draft, text: str, said: str) -> None:
    draft.set("async_scheduling", read_switch(text), said)


def _drafts(draft: Draft, text: str, said: str) -> None:
    config = read_object(text)
    method = str(config.get("method", "")) or ("draft_model" if "model" in config else "")
    if method:
        draft.figure("speculative_method", method)
    if "num_speculative_tokens" in config:
        draft.set("num_speculative_tokens", config["num_speculative_tokens"], said)
        draft.warn(
            "The share of drafts that is accepted is not in a command, and the drafts of one method cost more than "
            "another's: acceptance and draft_cost are this page's. vLLM logs the acceptance rate while it runs."
        )
    elif method:
        draft.understand(said)


def _pipeline(draft: Draft, text: str, said: str) -> None:
    if read_count(text) > 1:
        draft.ignore(said, "pipeline parallelism is not modelled: all layers are on each GPU of the group here")
        draft.figure("pipeline_parallel_size", read_count(text))
        draft.warn(
            "Pipeline parallelism is not modelled: memory and times are those of one stage that holds all layers."
        )
    else:
        draft.understand(said)


def _replicas(draft: Draft, text: str, said: str) -> None:
    if read_count(text) > 1:
        draft.set("replicas", read_count(text), said)
        draft.figure("data_parallel_size", read_count(text))
    else:
        draft.understand(said)


def _policy(draft: Draft, text: str, said: str) -> None:
    if text == "fcfs":
        draft.understand(said)
    else:
        draft.ignore(said, f"first come, first served is what is simulated, not {text}")


def _scheduler_steps(draft: Draft, text: str, said: str) -> None:
    draft.figure("stream_interval", read_count(text))
    draft.ignore(
        said,
        f"multi-step scheduling of vLLM before V1: the scheduler is asked every {read_count(text)} steps, so outputs "
        "come in "
        "bursts of that many tokens; here it is asked every step",
    )


def _stream_interval(draft: Draft, text: str, said: str) -> None:
    draft.figure("stream_interval", read_count(text))
    draft.ignore(said, "only how often tokens are sent to the client: gaps between tokens look longer there")


def _kv_cache_memory(draft: Draft, text: str, said: str) -> None:
    draft.figure("kv_gib", read_count(text) / 2**30)
    draft.ignore(said, "the size of the KV cache follows from gpu_memory_utilization here, or is set as num_gpu_blocks")


VLLM = FlagTable(
    "vllm serve",
    positional=_model,
    rows=(
        does("model", _model),
        does("model-tag", _model),
        sets("tensor-parallel-size", "tensor_parallel_size", read_count, "tp"),
        does("pipeline-parallel-size", _pipeline, "pp"),
        does("data-parallel-size", _replicas, "dp"),
        sets("gpu-memory-utilization", "gpu_memory_utilization", read_number),
        sets("num-gpu-blocks-override", "num_gpu_blocks"),
        sets("block-size", "block_size"),
        does("max-model-len", _max_model_len),
        sets("max-num-seqs", "max_num_seqs"),
        sets("max-num-batched-tokens", "max_num_batched_tokens"),
        sets("long-prefill-token-threshold", "long_prefill_token_threshold"),
        switches("scheduler-reserve-full-isl", "scheduler_reserve_full_isl", on=True, off=False),
        switches("enable-prefix-caching", "prefix_cache", "shared", "off"),
        switches("enable-chunked-prefill", "prefill", "chunked", "whole"),
        does("async-scheduling", _async_scheduling, arity=SWITCH),
        does("quantization", set_quantisation, "q"),
        does("dtype", set_dtype),
        does("kv-cache-dtype", set_kv_format),
        does("speculative-config", _drafts, "sc"),
        sets("num-speculative-tokens", "num_speculative_tokens"),
        does("scheduling-policy", _policy),
        does("num-scheduler-steps", _scheduler_steps),
        does("stream-interval", _stream_interval),
        does("kv-cache-memory-bytes", _kv_cache_memory, "kv-cache-memory"),
        notes("port", "port", read_count, "p"),
        *without_effect("where and how the server answers; nothing of it is simulated", ONE,
            "host uds root-path uvicorn-log-level api-server-count|asc ssl-keyfile ssl-certfile ssl-ca-certs "
            "ssl-cert-reqs "
            "h11-max-incomplete-event-size h11-max-header-count data-parallel-address|dpa data-parallel-rpc-port|dpp"),
        *without_effect("where and how the server answers; nothing of it is simulated", MANY,
            "served-model-name api-key allowed-origins allowed-methods allowed-headers middleware"),
        *without_effect("where and how the server answers; nothing of it is simulated", SWITCH,
            "headless allow-credentials enable-ssl-refresh disable-fastapi-docs disable-uvicorn-access-log "
            "enable-request-id-headers enable-server-load-tracking disable-frontend-multiprocessing h"),
        *without_effect("it shapes the text of requests and answers, not how they are scheduled", ONE,
            "chat-template chat-template-content-format response-role tool-call-parser tool-parser-plugin tool-server "
            "reasoning-parser reasoning-parser-plugin reasoning-config guided-decoding-backend generation-config "
            "override-generation-config default-chat-template-kwargs max-logprobs logprobs-mode logits-processors "
            "logits-processor-pattern structured-outputs-config max-log-len"),
        *without_effect("it shapes the text of requests and answers, not how they are scheduled", SWITCH,
            "enable-auto-tool-choice enable-reasoning trust-request-chat-template return-tokens-as-token-ids "
            "enable-prompt-tokens-details enable-force-include-usage exclude-tools-when-tool-choice-none "
            "enable-response-messages enable-tokenizer-info-endpoint log-error-stack"),
        *without_effect("how the model is found and loaded; it changes the start, not the run", ONE,
            "tokenizer tokenizer-mode tokenizer-revision revision code-revision hf-config-path hf-token load-format "
            "download-dir model-loader-extra-config ignore-patterns config-format model-impl runner convert task "
            "config rope-scaling rope-theta hf-overrides allowed-local-media-path allowed-media-domains seed device "
            "safetensors-load-strategy pt-load-map-location"),
        *without_effect("how the model is found and loaded; it changes the start, not the run", SWITCH,
            "trust-remote-code skip-tokenizer-init use-tqdm-on-load enable-sleep-mode allow-deprecated-quantization"),
        *without_effect("kernels and compilation: times are those of the cost model, whatever runs them", ONE,
            "attention-backend attention-config compilation-config|O cuda-graph-sizes cudagraph-capture-sizes "
            "cudagraph-num-of-warmups max-cudagraph-capture-size max-seq-len-to-capture block-allocator "
            "kernel-config moe-backend mamba-backend "
            "mamba-cache-dtype mamba-ssm-cache-dtype mamba-block-size mamba-cache-mode quantization-param-path "
            "all2all-backend additional-config linear-backend optimization-level"),
        *without_effect("kernels and compilation: times are those of the cost model, whatever runs them", SWITCH,
            "enforce-eager use-v2-block-manager disable-custom-all-reduce enable-dbo calculate-kv-scales "
            "async-engine-args disable-cascade-attn enable-flashinfer-autotune enable-layerwise-nvtx-tracing"),
        *without_effect("how processes and nodes are arranged is not modelled", ONE,
            "distributed-executor-backend nnodes node-rank|r master-addr master-port data-parallel-rank|dpn "
            "data-parallel-start-rank|dpr data-parallel-size-local|dpl data-parallel-backend|dpb worker-cls "
            "worker-extension-cls "
            "max-parallel-loading-workers ray-workers-use-nsight eplb-config expert-placement-strategy numa-bind-nodes "
            "decode-context-parallel-size|dcp prefill-context-parallel-size|pcp dcp-kv-cache-interleave-size "
            "ec-transfer-config weight-transfer-config device-ids"),
        *without_effect("how processes and nodes are arranged is not modelled", SWITCH,
            "enable-expert-parallel|ep enable-eplb data-parallel-hybrid-lb|dph data-parallel-external-lb|dpe "
            "enable-elastic-ep numa-bind worker-use-ray engine-use-ray"),
        *without_effect("memory outside the GPU's block pool is not modelled", ONE,
            "swap-space cpu-offload-gb cpu-offload-params kv-transfer-config kv-events-config kv-offloading-size "
            "kv-offloading-backend prefix-caching-hash-algo kv-sharing-fast-prefill kv-cache-metrics-sample"),
        *without_effect("images, sound and video in prompts are not modelled", ONE,
            "limit-mm-per-prompt media-io-kwargs mm-processor-kwargs mm-processor-cache-gb mm-processor-cache-type "
            "mm-encoder-tp-mode mm-encoder-attn-backend mm-shm-cache-max-object-size-mb video-pruning-rate"),
        *without_effect("images, sound and video in prompts are not modelled", SWITCH,
            "disable-mm-preprocessor-cache skip-mm-profiling interleave-mm-strings enable-mm-embeds "
            "language-model-only "
            "enable-prompt-embeds mm-tensor-ipc"),
        *without_effect("adapters (LoRA) are not modelled: neither their memory nor their time", MANY, "lora-modules"),
        *without_effect("adapters (LoRA) are not modelled: neither their memory nor their time", ONE,
            "max-loras max-lora-rank max-cpu-loras lora-dtype lora-extra-vocab-size default-mm-loras prompt-adapters"),
        *without_effect("adapters (LoRA) are not modelled: neither their memory nor their time", SWITCH,
            "enable-lora fully-sharded-loras lora-bias enable-lora-bias enable-prompt-adapter"),
        *without_effect("logs and traces cost nothing here", ONE,
            "otlp-traces-endpoint collect-detailed-traces show-hidden-metrics-for-version log-config-file "
            "profiler-config"),
        *without_effect("logs and traces cost nothing here", SWITCH,
            "disable-log-stats disable-log-requests enable-log-requests enable-log-outputs enable-log-deltas "
            "kv-cache-metrics cudagraph-metrics enable-mfu-metrics disable-log-stats-per-engine "
            "aggregate-engine-logging"),
        *without_effect("an older or finer rule of the scheduler that the simulated version does not have", ONE,
            "max-num-partial-prefills max-long-partial-prefills scheduler-delay-factor preemption-mode scheduler-cls "
            "num-lookahead-slots guided-decoding-disable-fallback speculative-model "
            "speculative-draft-tensor-parallel-size "
            "ngram-prompt-lookup-max ngram-prompt-lookup-min speculative-disable-by-batch-size"),
        *without_effect("an older or finer rule of the scheduler that the simulated version does not have", SWITCH,
            "disable-chunked-mm-input disable-async-output-proc multi-step-stream-outputs "
            "disable-hybrid-kv-cache-manager disable-sliding-window"),
    ),
)  # fmt: skip
