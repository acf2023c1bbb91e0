"""The table of controls: how each parameter is set on a page. Form, docs and panels follow from it."""

from __future__ import annotations

from dataclasses import dataclass

from sim.parameters import BY_NAME, Parameter


@dataclass(frozen=True, slots=True)
class Control:
    """One control: widget and wording; what the value may be and means is in its row of PARAMETERS.

    Attributes
    ----------
    widget : str
        range, select, switch, number or text.
    low, high, step : float
        The slider's own range, inside the parameter's; a value beyond it can still be typed or linked.
    scale : str
        linear or log.
    is_basic : bool
        Shown at once in the lab; the others are behind "more".
    needs : str
        `name=value` of another parameter without which this one has no effect, or ''.
    """

    name: str
    label: str
    widget: str
    group: str
    low: float = 0
    high: float = 0
    step: float = 1
    scale: str = "linear"
    unit: str = ""
    is_basic: bool = False
    needs: str = ""

    @property
    def parameter(self) -> Parameter:
        """Kind, range, default, choices and help."""
        return BY_NAME[self.name]

    @property
    def flags(self) -> tuple[str, ...]:
        """What engines call it."""
        return FLAGS.get(self.name, ())


WORKLOAD, SERVER, MEMORY, TECHNIQUES, SLO = GROUPS = ("Workload", "Server", "Memory", "Techniques", "SLO")

FLAGS: dict[str, tuple[str, ...]] = {
    "rate": ("bench --request-rate",),
    "concurrency": ("bench --max-concurrency",),
    "burstiness": ("bench --burstiness",),
    "num_requests": ("bench --num-prompts",),
    "seed": ("bench --seed",),
    "prompt_tokens": ("bench --random-input-len",),
    "output_tokens": ("bench --random-output-len",),
    "max_new_factor": ("max_tokens of the request",),
    "model": ("vllm serve MODEL", "llama-server --model"),
    "weights": ("--quantization",),
    "tensor_parallel_size": ("--tensor-parallel-size", "SGLang --tp-size"),
    "max_num_seqs": (
        "--max-num-seqs",
        "SGLang --max-running-requests",
        "TensorRT-LLM max_batch_size",
        "llama-server --parallel",
    ),
    "max_num_batched_tokens": (
        "--max-num-batched-tokens",
        "SGLang --chunked-prefill-size",
        "TensorRT-LLM max_num_tokens",
        "llama-server --batch-size",
    ),
    "long_prefill_token_threshold": ("--long-prefill-token-threshold",),
    "scheduler_reserve_full_isl": ("--scheduler-reserve-full-isl",),
    "async_scheduling": ("--async-scheduling",),
    "num_gpu_blocks": ("--num-gpu-blocks-override",),
    "block_size": ("--block-size", "SGLang --page-size", "TensorRT-LLM tokens_per_block"),
    "max_model_len": ("--max-model-len", "SGLang --context-length", "llama-server --ctx-size"),
    "gpu_memory_utilization": ("--gpu-memory-utilization", "SGLang --mem-fraction-static"),
    "kv_cache_dtype": ("--kv-cache-dtype",),
    "prefix_cache": ("--enable-prefix-caching", "SGLang --disable-radix-cache", "llama-server cache_prompt"),
    "prefill": ("--enable-chunked-prefill",),
    "num_speculative_tokens": ("--speculative-config num_speculative_tokens",),
    "slo_ttft_ms": ("bench --goodput ttft:",),
    "slo_tpot_ms": ("bench --goodput tpot:",),
}
"""What engines and benchmarks call a parameter; vLLM's flags stand without its name."""

CONTROLS: tuple[Control, ...] = (
    Control("load", "Arrivals", "select", WORKLOAD, is_basic=True),
    Control("rate", "Arrival rate", "range", WORKLOAD, 0.1, 100, 0.1, "log", "req/s", True, "load=open"),
    Control("burstiness", "Burstiness", "number", WORKLOAD, 0.05, 10, 0.05, "log", needs="load=open"),
    Control("rescale_arrivals", "Stretch to N/rate", "switch", WORKLOAD, needs="load=open"),
    Control("concurrency", "Users", "range", WORKLOAD, 1, 512, 1, "log", "users", True, "load=closed"),
    Control("think_time_s", "Think time", "range", WORKLOAD, 0, 30, 0.1, unit="s", needs="load=closed"),
    Control("num_requests", "Requests", "range", WORKLOAD, 1, 2000, 1, "log"),
    Control("seed", "Seed", "number", WORKLOAD, 0, 1_000_000),
    Control("trace", "Trace (sha256)", "text", WORKLOAD),
    Control("trace_scale", "Speed of the trace", "range", WORKLOAD, 0.1, 10, 0.1, "log", "×", needs="load=trace"),
    Control("trace_from_s", "From", "number", WORKLOAD, 0, 86_400, 1, unit="s", needs="load=trace"),
    Control("trace_to_s", "To", "number", WORKLOAD, 0, 86_400, 1, unit="s", needs="load=trace"),
    Control("arrival_list", "Arrival times", "text", WORKLOAD, unit="s"),
    Control("prompt_list", "Prompt lengths", "text", WORKLOAD, unit="tok"),
    Control("output_list", "Output lengths", "text", WORKLOAD, unit="tok"),
    Control("prompt_tokens", "Prompt, median", "range", WORKLOAD, 1, 32_768, 1, "log", "tok", True),
    Control("prompt_dist", "Prompts are", "select", WORKLOAD),
    Control("prompt_sigma", "Spread of prompts", "range", WORKLOAD, 0, 2, 0.05, needs="prompt_dist=lognormal"),
    Control("output_tokens", "Output, median", "range", WORKLOAD, 1, 4096, 1, "log", "tok", True),
    Control("output_dist", "Outputs are", "select", WORKLOAD),
    Control("output_sigma", "Spread of outputs", "range", WORKLOAD, 0, 2, 0.05, needs="output_dist=lognormal"),
    Control("max_new_factor", "Asked for / comes", "range", WORKLOAD, 1, 10, 0.1, "log", "×"),
    Control("shared_prefix_tokens", "Shared system prompt", "range", WORKLOAD, 0, 8192, 16, "log", "tok", True),
    Control("prefix_groups", "Different system prompts", "range", WORKLOAD, 1, 100, 1, "log"),
    Control("prefix_share", "Share that has one", "range", WORKLOAD, 0, 1, 0.05),
    Control("session", "Sessions", "select", WORKLOAD),
    Control("turns", "Turns", "range", WORKLOAD, 1, 20, 1),
    Control("turn_gap_s", "Pause between turns", "range", WORKLOAD, 0, 60, 0.5, unit="s"),
    Control("tool_output_tokens", "Tool output", "range", WORKLOAD, 0, 8192, 16, "log", "tok", needs="session=agent"),
    Control("engine", "Engine", "select", SERVER),
    Control("model", "Model", "select", SERVER, is_basic=True),
    Control("gpu", "GPU", "select", SERVER, is_basic=True),
    Control("weights", "Weights", "select", SERVER),
    Control("tensor_parallel_size", "GPUs (tensor parallel)", "range", SERVER, 1, 8, 1, unit="GPUs"),
    Control("replicas", "Replicas", "number", SERVER, 1, 1),
    Control("router", "Router", "select", SERVER),
    Control("max_num_seqs", "Slots (max_num_seqs)", "range", SERVER, 1, 256, 1, "log", "slots", True),
    Control("max_num_batched_tokens", "Token budget per step", "range", SERVER, 64, 16_384, 64, "log", "tok", True),
    Control("long_prefill_token_threshold", "Most of one prompt per step", "range", SERVER, 0, 8192, 64, "log", "tok"),
    Control("scheduler_reserve_full_isl", "Admit whole prompts only", "switch", SERVER),
    Control("watermark", "Kept free on admission", "range", SERVER, 0, 0.2, 0.01),
    Control("async_scheduling", "Async scheduling", "switch", SERVER),
    Control("max_waiting", "Waiting line at most", "number", SERVER, 1, 1000, 1),
    Control("cost", "Step time by", "select", SERVER),
    Control("num_gpu_blocks", "KV blocks", "range", MEMORY, 16, 65_536, 16, "log", "blocks", True),
    Control("block_size", "Block size", "range", MEMORY, 1, 128, 1, "log", "tok", True),
    Control("max_model_len", "Longest context", "number", MEMORY, 128, 131_072, 128, unit="tok"),
    Control("gpu_memory_utilization", "Memory the server may use", "range", MEMORY, 0.3, 1, 0.01),
    Control("kv_cache_dtype", "KV format", "select", MEMORY),
    Control("batching", "Batching", "select", TECHNIQUES, is_basic=True),
    Control("static_wait_s", "Wait for full batch", "range", TECHNIQUES, 0, 10, 0.1, unit="s", needs="batching=static"),
    Control("static_rows", "Finished rows", "select", TECHNIQUES, needs="batching=static"),
    Control("kv", "KV memory", "select", TECHNIQUES, is_basic=True),
    Control("prefix_cache", "Prefix cache", "select", TECHNIQUES, is_basic=True),
    Control("prefill", "Prefill", "select", TECHNIQUES, is_basic=True),
    Control("num_speculative_tokens", "Draft tokens", "range", TECHNIQUES, 0, 16, 1, unit="tok"),
    Control("acceptance", "Drafts accepted", "range", TECHNIQUES, 0, 1, 0.01),
    Control("draft_cost", "Draft step / target step", "range", TECHNIQUES, 0, 1, 0.01),
    Control("slo_ttft_ms", "TTFT under", "range", SLO, 50, 30_000, 50, "log", "ms", True),
    Control("slo_tpot_ms", "TPOT under", "range", SLO, 1, 500, 1, "log", "ms", True),
)  # fmt: skip

CONTROL_BY_NAME: dict[str, Control] = {control.name: control for control in CONTROLS}
