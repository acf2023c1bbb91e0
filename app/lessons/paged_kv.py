"""Lesson: KV memory in blocks. Words are in `templates/lessons/paged-kv/`."""

from __future__ import annotations

from app.lessons.sources import PAGED
from app.sections import Lesson, Section, Slider, Source, Switch

SMALL = "block_size=8&cost=unit"
"""Blocks that fill while one watches, and steps of a second each, so that all can be counted on any GPU."""

BLOCKS = Section(
    "blocks",
    "Blocks and their table",
    "arrival_list=0,2,5&prompt_list=20,9,27&output_list=26,26,14&num_gpu_blocks=31&max_model_len=96&prefix_cache=off"
    f"&{SMALL}&t=11.5",
    ("block-table",),
    (
        Slider(
            "block_size",
            "Tokens in a block",
            ("4", "8", "16", "48"),
            "tokens",
            also=(("num_gpu_blocks", ("61", "31", "16", "6")),),  # the same 240 tokens, and block 0
        ),
    ),
    speed="3",
)

RESERVATION = Section(
    "reservation",
    "What a reservation wastes",
    "load=burst&prompt_list=20,12,30,9,24,16&output_list=18,20,14,24,10,16&num_gpu_blocks=31&max_model_len=64"
    f"&max_num_seqs=8&prefix_cache=off&{SMALL}&b.kv=contiguous&t=6.5",
    ("block-table",),
    (Slider("max_model_len", "Longest text the server accepts", ("48", "64", "80", "96", "128", "240"), "tokens"),),
    speed="3",
)

SHARING = Section(
    "sharing",
    "Equal beginnings, shared blocks",
    "arrival_list=0,2,4&prompt_list=5,9,6&output_list=30,34,28&shared_prefix_tokens=20&num_gpu_blocks=25"
    f"&max_model_len=128&prefix_cache=shared&{SMALL}&t=0.5",
    ("block-table",),
    (
        Slider("shared_prefix_tokens", "Equal beginning", ("0", "8", "12", "16", "20", "24", "28", "32"), "tokens"),
        Switch("cache", "Prefix caching", "prefix_cache=shared", "prefix_cache=off"),
    ),
    speed="3",
)

PARTING = Section(
    "parting",
    "Where the texts part",
    "seed=109&arrival_list=0,2,4,6&prompt_list=5,9,6,3&output_list=12,18,22,40&shared_prefix_tokens=20&prefix_groups=2"
    f"&num_gpu_blocks=25&max_model_len=96&{SMALL}&t=10.5",
    ("block-table",),
    speed="3",
)

EVICTION = Section(
    "eviction",
    "Nobody’s blocks",
    "seed=102&arrival_list=0,8,16,24&prompt_list=4,4,4,4&output_list=8,8,8,8&shared_prefix_tokens=24&prefix_groups=4"
    f"&num_gpu_blocks=12&max_model_len=48&{SMALL}&t=15.5",
    ("block-table",),
    (Slider("num_gpu_blocks", "Blocks of VRAM, with block 0", ("10", "11", "12", "13", "15", "19")),),
    speed="3",
)

NONE_FREE = Section(
    "none-free",
    "When none is free",
    "arrival_list=0,1,2,13&prompt_list=20,12,17,20&output_list=26,26,30,12&num_gpu_blocks=15&max_model_len=64"
    f"&prefix_cache=off&{SMALL}&max_num_seqs=4&t=20.5",
    ("block-table", "timeline"),
    (Slider("num_gpu_blocks", "Blocks of VRAM, with block 0", ("13", "15", "17", "19", "21", "23")),),
    speed="3",
)

PAGED_KV = Lesson(
    slug="paged-kv",
    cover="kv-map",
    title="Paged KV: virtual memory for attention",
    aim="Read a block table, say what reservations waste, and follow a block from its first holder to its last.",
    minutes=6,
    before=("tour",),
    sections=(BLOCKS, RESERVATION, SHARING, PARTING, EVICTION, NONE_FREE),
    sources=(
        PAGED,
        Source(
            "vLLM, Automatic Prefix Caching: blocks by hash, the line of free blocks, eviction",
            "https://docs.vllm.ai/en/latest/design/prefix_caching/",
        ),
        Source("vLLM 0.33: the block pool recorded step by step, as the engine here follows it"),
    ),
    teacher=(
        (
            "Time: 6 minutes to read alone; 30 in class. The first two sections answer “What is PagedAttention?” and "
            "are enough for a short lesson; the other four are about what blocks make possible, and what they cannot "
            "do."
        ),
        (
            "The picture of virtual memory goes far: block is page, block table is page table, the pool is physical "
            "memory, a shared prefix is a shared library. It ends at the disk: vLLM has no swap file, it throws KV "
            "away and computes it again."
        ),
        (
            "“Paging makes attention faster.” No: looking blocks up costs a little. It makes room, so that more "
            "requests run at a time, and each reading of the weights serves more of them."
        ),
        (
            "“A shared block is copied when somebody writes.” Not here: only full blocks are shared, and a full block "
            "is never written again. Copying on write was needed for half-full blocks, such as those of beam search."
        ),
        (
            "Ask: Two prompts differ in their very first token, and are equal from then on. How many blocks do they "
            "share? (None: keys and values depend on all tokens before, so a block is known by its whole text so "
            "far.) And: where in a prompt should the time of day stand? (At the end.)"
        ),
        (
            "In class: sheets of paper with eight squares are blocks, numbered and in a pile; three students are "
            "requests, write a letter a second, and keep a list of their sheets. Two begin with the same sentence. "
            "Then the pile is empty: who gives sheets back?"
        ),
    ),
)
