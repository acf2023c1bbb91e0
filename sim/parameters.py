"""The table of all parameters: all that reads, writes, checks or shows one follows from its row."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from sim.catalog import load_gpus, load_lengths, load_models

MAX_TOKENS = 10_485_760
"""Largest length a parameter may name [tokens]; the longest context in the catalogue."""
MAX_REQUESTS = 2_000_000


class Kind(StrEnum):
    """How a value is read; `x_or_word` also reads the word, which is stored as None."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    CHOICE = "choice"
    TEXT = "text"
    INTS = "ints"
    FLOATS = "floats"
    INT_OR_AUTO = "int_or_auto"
    INT_OR_NONE = "int_or_none"
    FLOAT_OR_END = "float_or_end"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One row: what a parameter is, what it may be and what it does.

    Notes
    -----
    `low` and `high` hold for numbers and for each item of a list; `above_low` excludes `low` itself. `default` is the
    stored value (None for the kind's word, () for an empty list).
    """

    name: str
    kind: Kind
    default: Any
    help: str
    unit: str = ""
    _: KW_ONLY
    section: str
    group: str
    low: float = 0
    high: float = math.inf
    above_low: bool = False
    choices: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """Kind without its word: int, float, bool, choice, text, ints, floats."""
        return self.kind.partition("_or_")[0]

    @property
    def word(self) -> str:
        """The word that stands for None ('auto', 'none', 'end'), or ''."""
        return self.kind.partition("_or_")[2]

    @property
    def allowed(self) -> str:
        """What the parameter accepts, in words."""
        if self.base in ("choice", "bool"):
            return ", ".join(self.choices or ("true", "false"))
        if self.base == "text":
            return "the sha256 of an uploaded trace (64 hexadecimal digits), or empty"
        noun = {"int": "a whole number", "float": "a number", "ints": "whole numbers", "floats": "numbers"}[self.base]
        if self.low == self.high:
            return f"{self.low:g}"
        span = f"{'above' if self.above_low else 'from'} {self.low:.16g} to {self.high:.16g}"
        return (
            f"{noun} {span}{', separated by commas' if self.is_list else ''}{f', or {self.word}' if self.word else ''}"
        )

    @property
    def is_list(self) -> bool:
        """Whether the value is a comma-separated list."""
        return self.base in ("ints", "floats")


_load = partial(Parameter, section="workload", group="load")
_lengths = partial(Parameter, section="workload", group="lengths")
_sharing = partial(Parameter, section="workload", group="sharing")
_server = partial(Parameter, section="server", group="server")
_textbook = partial(Parameter, section="server", group="textbook")
_cost = partial(Parameter, section="server", group="cost")
_slo = partial(Parameter, section="slo", group="slo")

RECORDED = tuple(load_lengths())
DISTRIBUTIONS = ("fixed", "uniform", "lognormal", *RECORDED)
DAY_S = 86_400

# fmt: off
PARAMETERS: tuple[Parameter, ...] = (
    _load("load", Kind.CHOICE, "open",
          "open: at a rate, closed: users who wait for their answer, burst: all at once, trace: as recorded",
          choices=("open", "closed", "burst", "trace")),
    _load("rate", Kind.FLOAT, 6.0, "Mean arrival rate (open); with sessions over all their turns", "requests/s",
          low=0.001, high=100_000),
    _load("burstiness", Kind.FLOAT, 1.0,
          "Shape of the gamma distribution of gaps: 1 is Poisson, below 1 bursty, above 1 regular, inf constant",
          low=0.01, high=math.inf),
    _load("rescale_arrivals", Kind.BOOL, False,
          "Stretch arrivals so that the last is at N/rate, as vLLM's benchmark does (open)"),
    _load("concurrency", Kind.INT, 16, "Users, each with one request at a time (closed)", "users", low=1,
          high=100_000),
    _load("think_time_s", Kind.FLOAT, 0.0, "From an answer to the user's next request (closed)", "s", high=DAY_S),
    _load("num_requests", Kind.INT, 60,
          "Requests to send; a list sets it to its length, load=trace sends all of the trace", "requests", low=1,
          high=MAX_REQUESTS),
    _load("seed", Kind.INT, 1, "Seed of all draws: the same seed gives the same requests under every policy",
          high=2**53 - 1),
    _load("trace", Kind.TEXT, "",
          "Recorded requests; unless load=trace only their pairs of lengths are drawn from"),
    _load("trace_scale", Kind.FLOAT, 1.0, "Rate factor of the trace: 2 sends it twice as fast", low=0.001,
          high=1e6),
    _load("trace_from_s", Kind.FLOAT, 0.0, "Start of the window of the trace, in the trace's own time", "s",
          high=1e9),
    _load("trace_to_s", Kind.FLOAT_OR_END, None, "End of the window of the trace, in the trace's own time", "s",
          high=1e9),
    _load("arrival_list", Kind.FLOATS, (), "Arrival times that replace the draws, in any order (open, burst)", "s",
          high=1e9),
    _load("prompt_list", Kind.INTS, (), "Prompt lengths that replace the draws", "tokens", low=1, high=MAX_TOKENS),
    _load("output_list", Kind.INTS, (), "Output lengths that replace the draws", "tokens", low=1, high=MAX_TOKENS),
    _lengths("prompt_tokens", Kind.INT, 512,
          "Median prompt; in a session, of what the user adds each turn (chat) or at first (agent)", "tokens",
          low=1, high=MAX_TOKENS),
    _lengths("prompt_dist", Kind.CHOICE, "lognormal",
             "Distribution of prompts: uniform is 0.5 to 1.5 x the median; a trace's name draws from its quantiles, "
             "and prompt_tokens has no effect",
          choices=DISTRIBUTIONS),
    _lengths("prompt_sigma", Kind.FLOAT, 0.7, "Standard deviation of the logarithm of prompts (lognormal)", high=5),
    _lengths("output_tokens", Kind.INT, 180, "Median output", "tokens", low=1, high=MAX_TOKENS),
    _lengths("output_dist", Kind.CHOICE, "lognormal",
             "Distribution of outputs: uniform is 0.5 to 1.5 x the median; a trace's name draws from its quantiles, "
             "and output_tokens has no effect",
          choices=DISTRIBUTIONS),
    _lengths("output_sigma", Kind.FLOAT, 0.7, "Standard deviation of the logarithm of outputs (lognormal)", high=5),
    _lengths("max_new_factor", Kind.FLOAT, 1.0,
          "Output tokens a client asks for / that come (engines that reserve)", low=1, high=1000),
    _sharing("shared_prefix_tokens", Kind.INT, 0,
          "Text that requests of a group share, in front of the drawn prompt (system prompt, tool schemas)",
          "tokens", high=MAX_TOKENS),
    _sharing("prefix_groups", Kind.INT, 1, "Number of different shared texts", "groups", low=1, high=100_000),
    _sharing("prefix_share", Kind.FLOAT, 1.0, "Share of requests (or sessions) that start with a shared text",
          high=1),
    _sharing("session", Kind.CHOICE, "none",
          "Each turn repeats all before and adds a prompt (chat) or a tool output (agent)",
          choices=("none", "chat", "agent")),
    _sharing("turns", Kind.INT, 4, "Requests per session", "turns", low=1, high=1000),
    _sharing("turn_gap_s", Kind.FLOAT, 10.0, "From an answer to the session's next turn", "s", high=DAY_S),
    _sharing("tool_output_tokens", Kind.INT, 600, "Text that each turn of an agent adds", "tokens",
          high=MAX_TOKENS),
    _server("engine", Kind.CHOICE, "vllm", "Whose scheduler is followed", choices=("vllm",)),
    _server("model", Kind.CHOICE, "llama-3.1-8b", "Model of the catalogue", choices=tuple(load_models())),
    _server("gpu", Kind.CHOICE, "h100-sxm", "Accelerator of the catalogue", choices=tuple(load_gpus())),
    _server("weights", Kind.CHOICE, "bf16", "Number format of the weights",
          choices=("bf16", "fp8", "int8", "int4", "fp4")),
    _server("kv_cache_dtype", Kind.CHOICE, "auto", "Number format of the KV cache: auto is 16 bit",
          choices=("auto", "fp8")),
    _server("tensor_parallel_size", Kind.INT, 1, "GPUs that share each layer", "GPUs", low=1, high=64),
    _server("replicas", Kind.INT, 1, "Copies of the server", low=1, high=1),
    _server("router", Kind.CHOICE, "round_robin", "How requests are spread over replicas",
          choices=("round_robin",)),
    _server("gpu_memory_utilization", Kind.FLOAT, 0.92, "Share of the visible GPU memory the server may use",
          low=0.01, high=1),
    _server("num_gpu_blocks", Kind.INT_OR_AUTO, None,
          "KV blocks as vLLM counts them: one of them, the null block, holds nothing. auto: what fits", "blocks",
          low=2, high=10_000_000),
    _server("block_size", Kind.INT, 16, "Tokens of KV per block", "tokens", low=1, high=4096),
    _server("max_model_len", Kind.INT_OR_AUTO, None,
          "Longest prompt + output. auto: the model's limit, or what one request can have in the pool", "tokens",
          low=2, high=MAX_TOKENS),
    _server("max_num_seqs", Kind.INT, 256, "Slots: requests in a batch at most", "slots", low=1, high=4096),
    _server("max_num_batched_tokens", Kind.INT_OR_AUTO, None,
          "Token budget of a step. auto: vLLM's default for the GPU", "tokens", low=1, high=MAX_TOKENS),
    _server("long_prefill_token_threshold", Kind.INT, 0,
          "Most tokens of one prompt in a step while others are there; 0 is off", "tokens", high=MAX_TOKENS),
    _server("scheduler_reserve_full_isl", Kind.BOOL, True,
          "Admit a prompt only if all of it fits into the free blocks now"),
    _server("watermark", Kind.FLOAT, 0.0, "Share of blocks kept free on admission", high=0.99),
    _server("async_scheduling", Kind.BOOL, False,
          "Schedule the next step while this one runs: a finish is seen one step later"),
    _textbook("batching", Kind.CHOICE, "continuous", "static: a batch is held until its longest request ends",
          choices=("continuous", "static")),
    _textbook("static_wait_s", Kind.FLOAT, 0.0, "Longest wait for a full batch (static)", "s", high=DAY_S),
    _textbook("static_rows", Kind.CHOICE, "padded",
          "padded: finished rows are computed on; dropped: they are not (static)", choices=("padded", "dropped")),
    _textbook("kv", Kind.CHOICE, "paged", "contiguous: a request reserves max_model_len tokens",
          choices=("paged", "contiguous")),
    _textbook("prefix_cache", Kind.CHOICE, "shared",
          "Who may reuse the KV of a common prefix: shared = all, per_slot = the next request in the slot",
          choices=("off", "shared", "per_slot")),
    _textbook("prefill", Kind.CHOICE, "chunked", "whole: a prompt is computed in one step",
          choices=("chunked", "whole")),
    _textbook("num_speculative_tokens", Kind.INT, 0, "Draft tokens per pass; 0 is off", "tokens", high=64),
    _textbook("acceptance", Kind.FLOAT, 0.7,
          "Probability that a draft token is accepted; the first rejection ends the pass", high=1),
    _textbook("draft_cost", Kind.FLOAT, 0.1, "Time of a draft step / time of a target step", high=10),
    _textbook("max_waiting", Kind.INT_OR_NONE, None, "Length of the waiting line from which a request is refused",
          "requests", low=1, high=MAX_REQUESTS),
    _cost("cost", Kind.CHOICE, "roofline",
          "Time of a step: roofline, simple = the textbook formula, unit = 1 s",
          choices=("roofline", "simple", "unit")),
    _slo("slo_ttft_ms", Kind.FLOAT, 1000.0, "A good request has its first token within this", "ms", high=1e9,
         above_low=True),
    _slo("slo_tpot_ms", Kind.FLOAT, 50.0, "A good request has its further tokens this far apart on average at most",
         "ms", high=1e9, above_low=True),
)
# fmt: on

BY_NAME: dict[str, Parameter] = {parameter.name: parameter for parameter in PARAMETERS}
