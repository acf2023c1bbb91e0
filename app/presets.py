"""Scenarios the lab offers to start from. A preset is a query string; the first is what the lab opens on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from app.params import parse_query, read_query, write_query
from sim.workload import sample_trace


@dataclass(frozen=True, slots=True)
class Preset:
    """A named scenario, with what to see in it. `t` is the moment at which it opens [s]."""

    title: str
    see: str
    query: str
    t: float = 0


PENALTY = "rate=3.9&num_requests=36&shared_prefix_tokens=256&max_num_seqs=8&num_gpu_blocks=2049&b.batching=static"
TWELVE = (
    "load=burst&prompt_list=1,1,1,1,1,1,1,1,1,1,1,1&output_list=40,3,25,5,60,4,18,6,33,2,50,8"
    "&max_num_seqs=4&cost=unit&b.batching=static"
)
KV_LIMIT = (
    "rate=8&num_requests=60&prompt_tokens=400&output_tokens=300&max_num_seqs=12&num_gpu_blocks=385&max_model_len=2048"
    "&b.kv=contiguous"
)
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
CROSSING = "num_requests=400&max_num_seqs={slots}&b.batching=static&views=timeline,load-curve&seeds=4&x=rate:{rates}"


@cache
def presets() -> tuple[Preset, ...]:
    """All presets, in the order of the page."""
    return (
        Preset(
            "Static penalty",
            "Static holds every slot until the longest answer of its batch ends; continuous hands it on at once.",
            PENALTY,
            6.8,
        ),
        Preset(
            "Twelve requests",
            "All present at the start, four slots, every step one second: static takes 150 steps, continuous 83.",
            TWELVE,
            20.5,
        ),
        Preset(
            "KV limit",
            "Twelve slots but only 384 blocks. Paged memory admits until they run out, then preempts; contiguous "
            "reserves the longest context for each request and admits few.",
            KV_LIMIT,
            5,
        ),
        Preset(
            "Sample trace",
            "Made to look like a chat service's traffic. Drop your own file here; a long one gets a window that moves.",
            SAMPLE.format(sha256=sample_trace().sha256),
            20,
        ),
        Preset(
            "Like the Azure chat hour",
            "Lengths, rate and burstiness are those computed from an hour of a chat service in 2023 (19,366 requests). "
            "Outputs run from 7 to 1,000 tokens with two humps, so static batches, held until their longest answer "
            "ends, keep a third of the slot time from those who wait. What prompts share is not in the file, so no "
            "prompt shares anything here.",
            AZURE_CHAT,
            20,
        ),
        Preset(
            "Like the Azure code hour",
            "Code completion: prompts of 1,469 tokens in the middle, answers of 13, so nearly all time is prefill. "
            "Requests come in clusters (gamma shape 0.229), which doubles the median TTFT against Poisson arrivals at "
            "the same rate, shown below. The file's own gaps are more clustered still: their variation is 13, that of "
            "the fitted distribution 2.",
            AZURE_CODE,
            40.4,
        ),
        Preset(
            "Like the Mooncake hour",
            "Chats with prompts of 12,000 tokens on average, as Kimi had them: without a prefix cache (below) the "
            "median TTFT is three times as long. Two turns per chat and 512 tokens that all share give a hit share of "
            "34 %; a cache without end finds 36.6 % in the file. Arrivals are Poisson, because the file's clock ticks "
            "every three seconds.",
            MOONCAKE,
            60,
        ),
        Preset(
            "TTFT of 2 s, 8 slots",
            "At which rate does the median TTFT reach two seconds? The load curve below the timeline says it for both "
            "policies: what a slot can do before the line grows, and how little of it static batching uses. Move the "
            "model, the lengths or the slots and watch where the curves bend.",
            CROSSING.format(slots=8, rates="0.5,1,1.5,2,3,4,5,6,7,8"),
        ),
        Preset(
            "TTFT of 2 s, 32 slots",
            "The same question with four times the slots. Continuous batching takes nearly four times the rate, since "
            "a decode step costs little more for 32 than for 8. Static batching gains less: a larger batch has a "
            "longer longest answer, for which all its slots wait.",
            CROSSING.format(slots=32, rates="0.5,1,1.5,2,2.5,3,6,10,14,18,22,26"),
        ),
    )


@cache
def canonical(query: str) -> str:
    """Query of a preset as the page would write it, to tell whether the page shows it."""
    return write_query(read_query(parse_query(query)).scenarios)
