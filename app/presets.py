"""Scenarios the lab offers to start from. A preset is a query string; the first is what the lab opens on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from app import remarks
from app.params import parse_query, read_query, write_query
from sim.run import Run
from sim.workload import sample_trace


@dataclass(frozen=True, slots=True)
class Preset:
    """A named scenario, with three sentences on what to see in it.

    Attributes
    ----------
    t : float
        The moment at which it opens [s].
    views : str
        Figures that are open, if not the usual ones, and what else of the view it sets.
    remark : callable or None
        What its runs come to, in a sentence with their figures.
    """

    title: str
    see: str
    query: str
    t: float = 0
    views: str = ""
    remark: Callable[[Mapping[str, Run]], str] | None = None

    @property
    def link(self) -> str:
        """Query of the page it opens."""
        return f"{self.query}&t={self.t:g}" + (f"&{self.views}" if self.views else "")


PENALTY = "rate=3.9&num_requests=36&shared_prefix_tokens=256&max_num_seqs=8&num_gpu_blocks=2049&b.batching=static"
FREE = (
    "load=burst&num_requests=10&prompt_tokens=128&prompt_dist=fixed&output_tokens=200&output_dist=fixed&max_num_seqs=10"
    "&prefix_cache=off&b.max_num_seqs=1"
)
TWELVE = (
    "load=burst&prompt_list=1,1,1,1,1,1,1,1,1,1,1,1&output_list=40,3,25,5,60,4,18,6,33,2,50,8"
    "&max_num_seqs=4&cost=unit&b.batching=static"
)
KV_LIMIT = (
    "rate=8&num_requests=60&prompt_tokens=400&output_tokens=300&max_num_seqs=12&num_gpu_blocks=385&max_model_len=2048"
    "&b.kv=contiguous"
)
LONG_PROMPT = (
    "arrival_list=0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,1.5&prompt_list=200,200,200,200,200,200,200,200,30000"
    "&output_list=500,500,500,500,500,500,500,500,60&max_num_seqs=9&max_model_len=32768&max_num_batched_tokens=1024"
    "&prefix_cache=off&b.prefill=whole&b.max_num_batched_tokens=32768"
)
SHARED = (
    "rate=5&num_requests=40&prompt_tokens=100&output_tokens=120&shared_prefix_tokens=1500&max_num_seqs=8"
    "&b.prefix_cache=per_slot&c.prefix_cache=off"
)
CLOCK = (
    "rate=4&num_requests=40&prompt_tokens=60&output_tokens=100&shared_prefix_tokens=2400&max_num_seqs=16"
    "&b.prefix_groups=100000"
)
THRASHING = (
    "load=burst&prompt_list=10000,10000,10000,10000,10000&output_list=400,400,400,400,400&num_gpu_blocks=2751"
    "&max_num_seqs=5&max_num_batched_tokens=1024&prefix_cache=off&scheduler_reserve_full_isl=false"
    "&b.scheduler_reserve_full_isl=true"
)
AGENTS = (
    "session=agent&num_requests=48&turns=6&turn_gap_s=1&rate=3&prompt_tokens=400&output_tokens=80"
    "&tool_output_tokens=1200&shared_prefix_tokens=2000&max_num_seqs=4&b.prefix_cache=per_slot"
)
SPECULATIVE = (
    "load=closed&concurrency=2&num_requests=12&prompt_tokens=200&output_tokens=300&max_num_seqs=64"
    "&num_speculative_tokens=3&b.num_speculative_tokens=0"
)
EXERCISE = "rate={}&num_requests={}&max_num_seqs={}&b.batching=static"
SAMPLE = "load=trace&trace={sha256}&max_num_seqs=16&b.batching=static"
AZURE_CHAT = (
    "rate=5.53&burstiness=0.862&num_requests=300&prompt_dist=azure-conv&output_dist=azure-conv&max_num_seqs=32"
    "&b.batching=static"
)
AZURE_CODE = (
    "rate=2.566&burstiness=0.229&num_requests=300&prompt_dist=azure-code&output_dist=azure-code&max_num_seqs=32"
    "&b.burstiness=1"
)
MOONCAKE = (
    "rate=3.4&num_requests=300&prompt_dist=mooncake-conv&output_dist=mooncake-conv&shared_prefix_tokens=512&session=chat"
    "&turns=2&turn_gap_s=5&tensor_parallel_size=4&max_num_seqs=64&b.prefix_cache=off"
)


@cache
def presets() -> tuple[Preset, ...]:
    """All presets, in the order of the page."""
    return (
        Preset(
            "Static penalty",
            "Static holds every slot until the longest answer of its batch ends: dashed bars are slots that nobody "
            "may use. Continuous hands a slot on at the next step, so the same requests are done far sooner. The "
            "median TTFT of static is many times as long, and no token comes faster for it.",
            PENALTY,
            6.8,
            remark=remarks.median_ttft,
        ),
        Preset(
            "Batching is nearly free",
            "Ten requests at once: below in one batch, above one after the other. A step of ten takes hardly longer "
            "than a step of one, because the weights are read once for all of them. So ten users are served in about "
            "a tenth of the time.",
            FREE,
            0.7,
            "views=timeline,step,batch-curve",
            remarks.step_times,
        ),
        Preset(
            "Twelve requests",
            "All twelve are there at the start, for four slots, and every step takes one second. Static takes 150 "
            "steps: batches of 40, 60 and 50, each as long as its longest; continuous takes 83. Of static's slot time "
            "57.7 % is idle, of continuous's 23.5 %.",
            TWELVE,
            20.5,
        ),
        Preset(
            "KV limit",
            "Twelve slots, but only 384 KV blocks of 16 tokens. Paged memory admits until they run out and then "
            "preempts the newest: what a red mark ends is computed again. Contiguous memory reserves 2,048 tokens for "
            "each request, so three run at most and the others wait beside memory that is reserved and empty.",
            KV_LIMIT,
            5,
            remark=remarks.concurrency,
        ),
        Preset(
            "A long prompt freezes the others",
            "Eight streams write their answers when a prompt of 30,000 tokens arrives at 1.5 s. Whole (above), it is "
            "one step, and all eight stand still until that step ends. In chunks (below), a step has at most 1,024 "
            "tokens and every stream gets its token in each.",
            LONG_PROMPT,
            2.1,
            "views=timeline,step,streams,course",
            remarks.longest_gaps,
        ),
        Preset(
            "Shared system prompt",
            "Forty requests start with the same 1,500 tokens, as with a system prompt and tool schemas. A shared "
            "cache (bottom) computes them once, a cache per slot (middle) once for each of the eight slots, and "
            "without a cache (top) every request pays for them. The hatched part of the bars is what that takes.",
            SHARED,
            3,
            remark=remarks.prefilled,
        ),
        Preset(
            "A clock in the system prompt",
            "Every request brings a system prompt of 2,400 tokens. Below it is the same text and is found in the "
            "cache; above it begins with the time of day, so that no two start alike and nothing is ever found. A "
            "match ends at the first token that differs: what changes belongs at the end.",
            CLOCK,
            4,
            remark=remarks.prefilled,
        ),
        Preset(
            "Thrashing",
            "Five prompts of 10,000 tokens, and memory for little more than four of them. Below, the fifth is "
            "admitted as soon as its first chunk fits, finds no more blocks, is preempted and starts over, again and "
            "again. Above, it waits until all of it fits: nobody is preempted, and everything is done sooner.",
            THRASHING,
            5,
            remark=remarks.wasted,
        ),
        Preset(
            "Agents that call tools",
            "Eight agents take six turns each, and every turn repeats all that was before it. A cache that all slots "
            "share (below) has the whole history, whichever slot the turn lands in. A cache per slot (above) has it "
            "only if no other agent came in between, and eight agents share four slots.",
            AGENTS,
            12,
            remark=remarks.prefilled,
        ),
        Preset(
            "Speculative decoding",
            "A small draft model proposes three tokens, and the target model checks them in one pass (below). A step "
            "takes longer than without drafts (above), but it brings more than two tokens, so each of the two users "
            "gets tokens nearly twice as fast. With many users the gain shrinks: set Users and Slots to 256.",
            SPECULATIVE,
            2,
            "views=timeline,step,speculation,course",
            remarks.token_times,
        ),
        Preset(
            "Exercise: 8 slots",
            "At which arrival rate does the median TTFT reach two seconds? The load curve tells it for both policies, "
            "with the range of its seeds. Static comes to it at less than half the rate of continuous.",
            EXERCISE.format(5, 80, 8),
            6,
            "views=timeline,load-curve&x=rate:0.5:8:11&cross_s=2",
        ),
        Preset(
            "Exercise: 32 slots",
            "The same question with four times the slots and requests. Continuous takes three to four times the "
            "rate before its median TTFT reaches two seconds. Static gains little: the more slots, the longer "
            "the longest answer that all of them wait for.",
            EXERCISE.format(20, 320, 32),
            6,
            "views=timeline,load-curve&x=rate:1:26:11&cross_s=2",
        ),
        Preset(
            "Sample trace",
            "Recorded arrivals and lengths instead of drawn ones, made to look like a chat service's traffic. The "
            "same requests come to both policies, at the times the file says. Drop your own file here; a long one "
            "gets a window that moves.",
            SAMPLE.format(sha256=sample_trace().sha256),
            20,
        ),
        Preset(
            "Like the Azure chat hour",
            "Lengths, rate and burstiness are those computed from an hour of a chat service in 2023 (19,366 "
            "requests). Outputs run from 7 to 1,000 tokens with two humps, so static batches, held until their "
            "longest answer ends, keep a third of the slot time from those who wait. What prompts share is not in the "
            "file, so no prompt shares anything here.",
            AZURE_CHAT,
            20,
        ),
        Preset(
            "Like the Azure code hour",
            "Code completion: prompts of 1,469 tokens in the middle, answers of 13, so nearly all time is prefill. "
            "Requests come in clusters (gamma shape 0.229), which doubles the median TTFT against Poisson arrivals at "
            "the same rate, shown above. The file's own gaps are more clustered still: their variation is 13, that of "
            "the fitted distribution 2.",
            AZURE_CODE,
            40.4,
        ),
        Preset(
            "Like the Mooncake hour",
            "Chats with prompts of 12,000 tokens on average, as Kimi had them: without a prefix cache (above) the "
            "median TTFT is three times as long. Two turns per chat and 512 tokens that all share give a hit share of "
            "34 %; a cache without end finds 36.6 % in the file. Arrivals are Poisson, because the file's clock ticks "
            "every three seconds.",
            MOONCAKE,
            60,
        ),
    )


@cache
def canonical(query: str) -> str:
    """Query of a preset as the page would write it, to tell whether the page shows it."""
    return write_query(read_query(parse_query(query)).scenarios)
