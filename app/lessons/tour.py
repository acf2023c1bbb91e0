"""The tour: six steps, each with one figure that the reader moves. Words are in `templates/lessons/tour/`."""

from __future__ import annotations

from urllib.parse import urlencode

from app.lessons.sources import ORCA, PAGED
from app.presets import TWELVE
from app.sections import Lesson, Section, Slider, Switch

ONE_USER = Section(
    "one-user",
    "One user",
    "load=burst&num_requests=1&prompt_tokens=512&prompt_dist=fixed&output_tokens=24&output_dist=fixed&max_num_seqs=16"
    "&prefix_cache=off&t=0",
    ("step-time",),
    (Slider("prompt_tokens", "Length of the prompt", ("128", "256", "512", "1024", "2048", "4096", "8192"), "tokens"),),
    speed="0.03",
    labels=(("a", "One user"),),
)
FREE_BATCHING = Section(
    "free-batching",
    "Free batching",
    "load=burst&num_requests=10&prompt_tokens=2048&prompt_dist=fixed&output_tokens=32&output_dist=fixed"
    "&max_num_seqs=256&prefix_cache=off&t=0",
    ("batch-curve",),
    batch=(1, 2048),
    is_still=True,
)
STATIC_PENALTY = Section(
    "static-penalty",
    "The static penalty",
    f"{TWELVE}&t=20.5",
    ("timeline",),
    (
        Slider(
            "longest",
            "Answer of request 5",
            ("6", "20", "40", "60", "80", "100", "120"),
            "tokens",
            (("output_list", "40,3,25,5,{},4,18,6,33,2,50,8"),),
        ),
    ),
    speed="10",
)

PAGED_KV = Section(
    "paged-kv",
    "Paged KV",
    "arrival_list=0,0.03,0.06&prompt_list=52,41,69&output_list=20,30,10&num_gpu_blocks=24&max_model_len=128"
    "&shared_prefix_tokens=0&b.kv=contiguous&t=0.05",
    ("block-table",),
    (
        Switch(
            "common",
            "All three prompts begin with the same 32 tokens",
            "shared_prefix_tokens=32&prompt_list=20,9,37",
            "shared_prefix_tokens=0&prompt_list=52,41,69",
        ),
    ),
    speed="0.03",
)

MEMORY_LIMIT = Section(
    "memory-limit",
    "The KV memory limit",
    "load=closed&concurrency=8&num_requests=160&prompt_tokens=8192&prompt_dist=fixed&output_tokens=400"
    "&output_dist=uniform&prefix_cache=off&max_num_seqs=64&max_model_len=32768&kv=contiguous&kv_cache_dtype=auto"
    "&tensor_parallel_size=1&t=12",
    ("memory", "timeline"),
    (
        Slider("concurrency", "Users", ("8", "12", "16", "24", "32", "48", "64")),
        Slider("prompt_tokens", "Prompt of each", ("1024", "2048", "4096", "8192", "16384", "30000"), "tokens"),
        Switch("paged", "Pages instead of reservations", "kv=paged", "kv=contiguous"),
        Switch("fp8", "KV cache in FP8", "kv_cache_dtype=fp8", "kv_cache_dtype=auto"),
        Switch("second", "A second GPU (tensor parallel)", "tensor_parallel_size=2", "tensor_parallel_size=1"),
        Switch("limit", "Admit at most 12 at once", "max_num_seqs=12", "max_num_seqs=64"),
    ),
    speed="3",
    labels=(("a", "Your server"),),
)

WORK = (
    "num_requests=40&rate=6&seed=31&shared_prefix_tokens=1500&prefix_share=0.9&prompt_tokens=150&prompt_sigma=1.7"
    "&output_tokens=120&output_sigma=0.8&max_num_seqs=8&max_model_len=16384"
)
NOTHING_ON = {
    "batching": "static",
    "kv": "contiguous",
    "prefix_cache": "off",
    "prefill": "whole",
    "max_num_batched_tokens": "16384",
    "num_speculative_tokens": "0",
    "static_rows": "dropped",
}
FIVE_TECHNIQUES = Section(
    "five-techniques",
    "Five techniques, five wastes",
    f"{WORK}&{urlencode(NOTHING_ON)}&{urlencode({f'b.{name}': value for name, value in NOTHING_ON.items()})}&t=4",
    ("wastes", "timeline"),
    (
        Switch("continuous", "Continuous batching", "batching=continuous", "batching=static"),
        Switch("paged", "Paged KV cache", "kv=paged", "kv=contiguous"),
        Switch("prefix", "Prefix caching", "prefix_cache=shared", "prefix_cache=off"),
        Switch(
            "chunked",
            "Chunked prefill",
            "prefill=chunked&max_num_batched_tokens=512",
            "prefill=whole&max_num_batched_tokens=16384",
        ),
        Switch("drafts", "Speculative decoding", "num_speculative_tokens=3", "num_speculative_tokens=0"),
    ),
    labels=(("a", "Yours"), ("b", "Nothing on")),
)

TOUR = Lesson(
    slug="tour",
    title="How an LLM server batches requests",
    aim="Cause each effect with your own hand: free batching, the static penalty, paging and the memory limit.",
    minutes=10,
    sections=(ONE_USER, FREE_BATCHING, STATIC_PENALTY, PAGED_KV, MEMORY_LIMIT, FIVE_TECHNIQUES),
    sources=(ORCA, PAGED),
    teacher=(
        (
            "Time: 10 to 15 minutes alone, 30 in class. Let the room guess by show of hands before each figure is"
            " touched; two minutes a step, five for the memory limit and for the five techniques."
        ),
        ("Before it: what attention is, and that keys and values of earlier tokens are kept. Nothing about servers."),
        (
            "Usual belief: ten users are ten times slower. Step 2 answers it. Ask what would make it true: a "
            "context so long that each user’s KV weighs as much as the weights."
        ),
        (
            "Usual belief: the GPU computes all the time. Let somebody look for the batch at which it does; the "
            "context has to be shortened first, or memory ends before."
        ),
        (
            "After step 5, ask which remedy costs money (the second GPU), which a little quality (FP8), which "
            "nothing (pages), and which only changes who waits (the limit)."
        ),
        (
            "Idealised on purpose: step 3 counts steps of equal length; step 4 has a memory of a few blocks; step"
            " 5 has users who ask again as soon as they are answered; step 6 has eight slots. Reserving memory "
            "for the longest request is what servers did before vLLM, no choice of today’s."
        ),
        (
            "Change the GPU at the top and do step 2 again: what moved, and why? On small GPUs some questions "
            "disappear, because there is nothing left to compare."
        ),
        "GB are 10⁹ bytes, GiB 2³⁰: memory is told in GiB, as vLLM’s log does, reads in GB, as bandwidth is.",
    ),
)
