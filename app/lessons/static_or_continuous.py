"""Lesson: static or continuous batching. Words are in `templates/lessons/static-or-continuous/`."""

from __future__ import annotations

from app.lessons.sources import ORCA
from app.sections import Lesson, Section, Slider, Source, Switch

ANSWERS = "80,60,100,40,90,70,50,100,60,80,40"
"""Answers of requests 2 to 12 of the second section."""

FORMATION = Section(
    "formation",
    "How a batch is formed",
    "arrival_list=0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1&prompt_list=200,200,200,200,200,200,200,200,200,200,200,200"
    "&output_list=120,80,100,60,140,90,110,70,120,80,100,60&max_num_seqs=4&prefix_cache=off&b.batching=static"
    "&b.static_wait_s=0&t=0.55",
    ("timeline",),
    (Slider("b.static_wait_s", "Static waits for a full batch at most", ("0", "0.1", "0.2", "0.3", "0.4"), "s"),),
)

HEAD_OF_LINE = Section(
    "head-of-line",
    "The longest answer holds the door",
    "load=burst&prompt_list=200,200,200,200,200,200,200,200,200,200,200,200"
    f"&output_list=400,{ANSWERS}&max_num_seqs=4&prefix_cache=off&b.batching=static&t=1",
    ("timeline",),
    (
        Slider(
            "longest",
            "Answer of request 1",
            ("60", "80", "100", "150", "200", "400", "800"),
            "tokens",
            (("output_list", "{}," + ANSWERS),),
        ),
    ),
)

PADDING = Section(
    "padding",
    "Padding",
    "load=burst&prompt_list=200,200,200,200,200,200,200,200&output_list=60,300,60,60,60,60,60,300&max_num_seqs=4"
    "&prefix_cache=off&batching=static&b.static_rows=dropped&t=1",
    ("timeline",),
    (
        Slider(
            "prompt",
            "Prompt of request 1",
            ("200", "500", "1000", "2000", "4000"),
            "tokens",
            (("prompt_list", "{},200,200,200,200,200,200,200"),),
        ),
    ),
)

PRICE = Section(
    "price",
    "What continuous costs",
    "rate=24&num_requests=60&max_num_seqs=8&prefix_cache=off&b.batching=static",
    ("latency",),
    (Slider("rate", "Requests a second", ("0.02", "0.05", "0.1", "0.25", "0.5", "1", "2", "4", "8", "24")),),
)

SATURATION = Section(
    "saturation",
    "Past saturation both queue",
    "rate=16&num_requests=90&max_num_seqs=32&num_gpu_blocks=601&prefix_cache=off&b.batching=static"
    "&x=rate:0.5,1,2,3,4,5,6,8,10,13,16&cross_s=1",
    ("load-curve",),
    (
        Switch("memory", "Twice the KV memory", "num_gpu_blocks=1201", "num_gpu_blocks=601"),
        Switch("gpus", "A second GPU (TP 2)", "tensor_parallel_size=2", ""),
        Switch("limit", "At most 8 may wait, the rest is refused", "max_waiting=8", ""),
    ),
)

ENGINES = Section("engines", "Who does it, and what is still static")

STATIC_OR_CONTINUOUS = Lesson(
    slug="static-or-continuous",
    title="Static or continuous",
    aim="Say what a static batch wastes and when, what continuous batching costs, and what helps when both are full.",
    minutes=6,
    before=("tour",),
    sections=(FORMATION, HEAD_OF_LINE, PADDING, PRICE, SATURATION, ENGINES),
    sources=(
        ORCA,
        Source(
            "NVIDIA, TensorRT-LLM: in-flight batching, packed inputs, request scheduling",
            "https://nvidia.github.io/TensorRT-LLM/features/paged-attention-ifb-scheduler.html",
        ),
        Source(
            "NVIDIA, TensorRT-LLM, useful runtime options: STATIC_BATCH is a legacy mode",
            "https://nvidia.github.io/TensorRT-LLM/performance/performance-tuning-guide/useful-runtime-flags.html",
        ),
        Source(
            "NVIDIA, Triton Inference Server: dynamic batcher, delayed batching",
            "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/batcher.html",
        ),
        Source(
            "Hugging Face, Transformers: continuous batching, generate_batch",
            "https://huggingface.co/docs/transformers/main/continuous_batching",
        ),
        Source("vLLM 0.33 and llama-server b11434: schedulers recorded step by step, as the engine here follows them"),
    ),
    teacher=(
        (
            "Time: 6 minutes to read alone; 30 in class, 5 for each of the sections with a figure. Guess first, "
            "with hands up, then move the slider: the guess is what makes the answer stay."
        ),
        (
            "“Continuous batching makes each user faster.” No: it makes nobody’s tokens come faster. It shortens "
            "the wait before the first one, and serves more users at a time."
        ),
        (
            "“A larger batch cures static batching.” No: the more requests a batch has, the longer its longest "
            "answer. Let the class try it: open the second section in the lab and raise the slots."
        ),
        (
            "“Padding is what makes static batching slow.” Mostly not: computing rows that are done costs hardly "
            "any time, because decoding waits for memory. What costs is the slot, which nobody else gets. Long "
            "prompts are the exception, and mixtures of experts, where each row calls for weights of its own."
        ),
        (
            "Ask: For which work is static batching as good as continuous? (All requests there at once and all "
            "answers equally long, such as one label for each of a thousand texts.) Which number would you watch to "
            "know that a server is past saturation? (The waiting line, which keeps growing.)"
        ),
        (
            "In class: twelve students are requests, four chairs are slots, each draws an answer length from a hat. "
            "Play it static, then continuous, one clap a step, and count claps. Then open the second section."
        ),
    ),
)
