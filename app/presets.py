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
    )


@cache
def canonical(query: str) -> str:
    """Query of a preset as the page would write it, to tell whether the page shows it."""
    return write_query(read_query(parse_query(query)).scenarios)
