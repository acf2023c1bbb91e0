"""Lesson: what batching costs, and what ends it. Words are in `templates/lessons/batching-is-cheap/`."""

from __future__ import annotations

from app.lessons.sources import PAGED
from app.sections import Lesson, Section, Slider, Source, Switch

CHAT = (
    "load=closed&concurrency=16&num_requests=160&prompt_tokens=8192&prompt_dist=fixed&output_tokens=400"
    "&output_dist=uniform&prefix_cache=off&max_num_seqs=64"
)
"""Users who ask again as soon as they are answered."""

SERVER = (("a", "Your server"),)

FORMULA = Section(
    "formula",
    "The formula, checked",
    "load=burst&num_requests=64&prompt_tokens=2048&prompt_dist=fixed&output_tokens=32&output_dist=fixed"
    "&max_num_seqs=256&prefix_cache=off&t=0",
    ("batch-curve",),
    batch=(1, 2048),
    labels=SERVER,
    is_still=True,
)

KV_MEMORY = Section(
    "kv-memory",
    "Limit 1: KV memory",
    f"{CHAT}&t=40",
    ("memory", "timeline"),
    (
        Slider("concurrency", "Users", ("16", "24", "32", "48", "64")),
        Slider("prompt_tokens", "Prompt of each", ("1024", "2048", "4096", "8192", "16384", "30000"), "tokens"),
    ),
    speed="3",
    labels=SERVER,
)

KV_BANDWIDTH = Section(
    "kv-bandwidth",
    "Limit 2: KV bandwidth",
    "load=burst&num_requests=8&prompt_tokens=2048&prompt_dist=fixed&output_tokens=32&output_dist=fixed"
    "&max_num_seqs=256&prefix_cache=off&t=0",
    ("batch-curve",),
    batch=(8, 2048),
    labels=SERVER,
    is_still=True,
)

COMPUTE = Section(
    "compute",
    "Limit 3: compute",
    "load=burst&num_requests=8&prompt_tokens=8&prompt_dist=fixed&output_tokens=400&output_dist=fixed"
    "&max_num_seqs=1024&prefix_cache=off&t=0.9",
    ("roofline",),
    (Slider("num_requests", "Users", ("1", "8", "32", "64", "128", "256", "512", "1024")),),
    labels=SERVER,
)

ROOFLINE = Section(
    "roofline",
    "Why batching moves decode to the right",
    "load=burst&num_requests=1&prompt_tokens=1024&prompt_dist=fixed&output_tokens=48&output_dist=fixed"
    "&max_num_seqs=64&prefix_cache=off&t=0",
    ("roofline",),
    (Slider("num_requests", "Users", ("1", "2", "4", "8", "16", "32", "64")),),
    speed="0.03",
    labels=SERVER,
)

LEVERS = Section(
    "levers",
    "Which lever moves which limit",
    "load=burst&num_requests=16&prompt_tokens=3400&prompt_dist=fixed&output_tokens=400&output_dist=fixed"
    "&max_num_seqs=256&prefix_cache=off&model=llama-3.1-8b&b.model=llama-2-7b&t=0",
    ("batch-curve",),
    (Switch("fp8", "KV cache in FP8", "kv_cache_dtype=fp8", ""),),
    batch=(8, 4096),
    is_still=True,
)

BATCHING_IS_CHEAP = Lesson(
    slug="batching-is-cheap",
    cover="memory",
    title="Batching is cheap until memory fills",
    aim="Estimate a decode step by hand, say which of three limits ends cheap batching, and what moves it.",
    minutes=6,
    before=("tour",),
    sections=(FORMULA, KV_MEMORY, KV_BANDWIDTH, COMPUTE, ROOFLINE, LEVERS),
    sources=(
        Source(
            "S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model for Multicore "
            "Architectures, Communications of the ACM 52(4), 2009",
            "https://doi.org/10.1145/1498765.1498785",
        ),
        Source(
            "R. Pope et al., Efficiently Scaling Transformer Inference, 2022: weights, KV cache and arithmetic as the "
            "three costs of a decode step",
            "https://arxiv.org/abs/2211.05102",
        ),
        Source(
            "J. Ainslie et al., GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints, "
            "EMNLP 2023",
            "https://arxiv.org/abs/2305.13245",
        ),
        PAGED,
    ),
    teacher=(
        (
            "Time: 6 minutes to read alone; 35 in class. Let everybody do two divisions on paper before a slider "
            "moves: KV memory over what a user takes, and the weights over what a token takes."
        ),
        (
            "“The GPU slows down because it has more to compute.” Not in most decode steps: it has more to read. Ask "
            "which slider would show the difference. (Context: it adds reading and hardly any arithmetic.)"
        ),
        (
            "“Memory is full, so a faster GPU helps.” Capacity and speed are two things: the wall is a number of "
            "tokens, and only bytes move it. Compare two GPUs with equally much memory, at the top of the page."
        ),
        (
            "“FP8 halves the step.” It halves the KV reads here and leaves the weight reads as they are: at a short "
            "context the step hardly changes, and twice as many users fit all the same."
        ),
        (
            "Ask: Your server has room for three times the users, and each user’s tokens come too slowly. Which limit "
            "is that, and which lever moves it? (KV bandwidth or compute; more memory does not. Look at what fills it.)"
        ),
    ),
)
