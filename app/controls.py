"""The table of controls: how each parameter is set on a page. Form, docs and panels follow from it."""

from __future__ import annotations

from dataclasses import dataclass

from app.flags import FLAGS, Flags
from sim.parameters import BY_NAME, Parameter


@dataclass(frozen=True, slots=True)
class Control:
    """One control: widget and wording; what the value may be and means is in its row of PARAMETERS.

    Attributes
    ----------
    widget : str
        range, select, segments, number or text.
    low, high, step : float
        The slider's own range, inside the parameter's; a value beyond it can still be typed or linked.
    scale : str
        linear or log.
    is_basic : bool
        Shown at once in the lab; the others are behind "more".
    needs : str
        What of other parameters must hold for this one to have an effect: conditions such as `load=open|burst`,
        `prompt_list=` (empty) or `block_size<max_model_len`, joined by &; or ''.
    why : str
        Reason at the control while `needs` does not hold; without one the control is hidden then.
    hint_if, hint : str
        A remark at the control, and when it holds.
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
    why: str = ""
    hint_if: str = ""
    hint: str = ""

    @property
    def parameter(self) -> Parameter:
        """Kind, range, default, choices and help."""
        return BY_NAME[self.name]

    @property
    def flags(self) -> Flags:
        """What engines call it."""
        return FLAGS.get(self.name, Flags())


WORKLOAD, SERVER, MEMORY, TECHNIQUES, SLO = GROUPS = ("Workload", "Server", "Memory", "Techniques", "SLO")

_MEDIANS = "fixed|uniform|lognormal"
_NO_LISTS = "arrival_list=&prompt_list=&output_list="

CONTROLS: tuple[Control, ...] = (
    Control("load", "Arrivals", "select", WORKLOAD, is_basic=True),
    Control("rate", "Arrival rate", "range", WORKLOAD, 0.1, 100, 0.1, "log", "req/s", True, "load=open&arrival_list="),
    Control("concurrency", "Users", "range", WORKLOAD, 1, 512, 1, "log", "users", True, "load=closed"),
    Control("think_time_s", "Think time", "range", WORKLOAD, 0, 30, 0.1, unit="s", needs="load=closed"),
    Control("trace_scale", "Speed of the trace", "range", WORKLOAD, 0.1, 10, 0.1, "log", "×", True, "load=trace"),
    Control("num_requests", "Requests", "range", WORKLOAD, 1, 2000, 1, "log", is_basic=True,
            needs=f"load!=trace&{_NO_LISTS}", why="as many as the trace or the lists have"),
    Control("prompt_tokens", "Prompt, median", "range", WORKLOAD, 1, 32_768, 1, "log", "tok", True,
            f"trace=&prompt_list=&prompt_dist={_MEDIANS}"),
    Control("output_tokens", "Output, median", "range", WORKLOAD, 1, 4096, 1, "log", "tok", True,
            f"trace=&output_list=&output_dist={_MEDIANS}"),
    Control("shared_prefix_tokens", "Shared system prompt", "range", WORKLOAD, 0, 8192, 16, "log", "tok", True,
            hint_if="shared_prefix_tokens!=0&shared_prefix_tokens<block_size",
            hint="Shorter than a block, so it is never found in the cache: only full blocks are."),
    Control("seed", "Seed", "number", WORKLOAD, 0, 1_000_000),
    Control("burstiness", "Burstiness", "range", WORKLOAD, 0.05, 10, 0.05, "log", needs="load=open&arrival_list="),
    Control("rescale_arrivals", "Stretch to N/rate", "segments", WORKLOAD, needs="load=open&arrival_list="),
    Control("prompt_dist", "Prompts are", "select", WORKLOAD, needs="trace=&prompt_list=",
            why="lengths come from the trace or the list"),
    Control("prompt_sigma", "Spread of prompts", "range", WORKLOAD, 0, 2, 0.05,
            needs="trace=&prompt_list=&prompt_dist=lognormal"),
    Control("output_dist", "Outputs are", "select", WORKLOAD, needs="trace=&output_list=",
            why="lengths come from the trace or the list"),
    Control("output_sigma", "Spread of outputs", "range", WORKLOAD, 0, 2, 0.05,
            needs="trace=&output_list=&output_dist=lognormal"),
    Control("max_new_factor", "Asked for / comes", "range", WORKLOAD, 1, 10, 0.1, "log", "×", needs="engine!=vllm",
            why="vLLM does not look at what is asked for"),
    Control("prefix_groups", "Different system prompts", "range", WORKLOAD, 1, 100, 1, "log",
            needs="shared_prefix_tokens!=0"),
    Control("prefix_share", "Share that has one", "range", WORKLOAD, 0, 1, 0.05, needs="shared_prefix_tokens!=0"),
    Control("session", "Sessions", "segments", WORKLOAD, needs=f"load!=trace&{_NO_LISTS}",
            why="not with a trace or lists"),
    Control("turns", "Turns", "range", WORKLOAD, 1, 20, 1, needs="session!=none"),
    Control("turn_gap_s", "Pause between turns", "range", WORKLOAD, 0, 60, 0.5, unit="s", needs="session!=none"),
    Control("tool_output_tokens", "Tool output", "range", WORKLOAD, 0, 8192, 16, "log", "tok", needs="session=agent"),
    Control("arrival_list", "Arrival times", "text", WORKLOAD, unit="s", needs="load=open|burst&session=none",
            why="only with arrivals at a rate or at once, without sessions"),
    Control("prompt_list", "Prompt lengths", "text", WORKLOAD, unit="tok", needs="load!=trace&session=none",
            why="not with a trace or sessions"),
    Control("output_list", "Output lengths", "text", WORKLOAD, unit="tok", needs="load!=trace&session=none",
            why="not with a trace or sessions"),
    Control("trace", "Trace (sha256)", "text", WORKLOAD),
    Control("trace_from_s", "From", "number", WORKLOAD, 0, 86_400, 1, unit="s", needs="trace!="),
    Control("trace_to_s", "To", "number", WORKLOAD, 0, 86_400, 1, unit="s", needs="trace!="),
    Control("model", "Model", "select", SERVER, is_basic=True),
    Control("gpu", "GPU", "select", SERVER, is_basic=True),
    Control("max_num_seqs", "Slots", "range", SERVER, 1, 256, 1, "log", "slots", True),
    Control("max_num_batched_tokens", "Token budget per step", "range", SERVER, 64, 16_384, 64, "log", "tok", True,
            "batching=continuous", "a static batch knows no budget"),
    Control("engine", "Engine", "select", SERVER),
    Control("weights", "Weights", "select", SERVER),
    Control("tensor_parallel_size", "GPUs (tensor parallel)", "range", SERVER, 1, 8, 1, unit="GPUs"),
    Control("replicas", "Replicas", "number", SERVER, 1, 1),
    Control("router", "Router", "select", SERVER),
    Control("long_prefill_token_threshold", "Prompt tokens per step", "range", SERVER, 0, 8192, 64, "log", "tok",
            needs="batching=continuous&prefill=chunked", why="only where prompts are cut"),
    Control("scheduler_reserve_full_isl", "Admit whole prompts only", "segments", SERVER, needs="kv=paged",
            why="contiguous memory reserves more than the prompt"),
    Control("watermark", "Kept free on admission", "range", SERVER, 0, 0.2, 0.01, needs="kv=paged",
            why="only with paged memory"),
    Control("async_scheduling", "Async scheduling", "segments", SERVER,
            needs="batching=continuous&num_speculative_tokens=0",
            why="not with static batches or drafts"),
    Control("max_waiting", "Waiting line at most", "number", SERVER, 1, 1000, 1),
    Control("cost", "Step time by", "segments", SERVER),
    Control("num_gpu_blocks", "KV blocks", "range", MEMORY, 16, 65_536, 16, "log", "blocks", True),
    Control("block_size", "Block size", "range", MEMORY, 1, 128, 1, "log", "tok", True),
    Control("max_model_len", "Longest context", "number", MEMORY, 128, 131_072, 128, unit="tok"),
    Control("gpu_memory_utilization", "Memory the server may use", "range", MEMORY, 0.3, 1, 0.01,
            needs="num_gpu_blocks=auto", why="the number of KV blocks is set"),
    Control("kv_cache_dtype", "KV format", "segments", MEMORY),
    Control("batching", "Batching", "segments", TECHNIQUES, is_basic=True),
    Control("static_wait_s", "Wait for full batch", "range", TECHNIQUES, 0, 10, 0.1, unit="s", needs="batching=static"),
    Control("static_rows", "Finished rows", "segments", TECHNIQUES, needs="batching=static"),
    Control("kv", "KV memory", "segments", TECHNIQUES, is_basic=True),
    Control("prefix_cache", "Prefix cache", "segments", TECHNIQUES, is_basic=True,
            hint_if="prefix_cache=shared&kv=contiguous", hint="Contiguous memory shares nothing, so it is off here."),
    Control("prefill", "Prefill", "segments", TECHNIQUES, is_basic=True),
    Control("num_speculative_tokens", "Draft tokens", "range", TECHNIQUES, 0, 16, 1, unit="tok", is_basic=True),
    Control("acceptance", "Drafts accepted", "range", TECHNIQUES, 0, 1, 0.01, needs="num_speculative_tokens!=0"),
    Control("draft_cost", "Draft step / target step", "range", TECHNIQUES, 0, 1, 0.01,
            needs="num_speculative_tokens!=0"),
    Control("slo_ttft_ms", "TTFT under", "range", SLO, 50, 30_000, 50, "log", "ms", True),
    Control("slo_tpot_ms", "TPOT under", "range", SLO, 1, 500, 1, "log", "ms", True),
)  # fmt: skip

CONTROL_BY_NAME: dict[str, Control] = {control.name: control for control in CONTROLS}
