"""What a step's time comes from, and ways to make it shorter."""

from app.presets import FREE, PENALTY, SPECULATIVE
from app.terms.term import Subject, Term, Words, lab

LIMITS = Subject(
    "What limits a step",
    (
        Term(
            "memory-bound",
            "Memory bound",
            "A step is memory bound if it takes as long as reading weights and KV cache from GPU memory does, while "
            "the arithmetic units wait for them.",
            live=lab(PENALTY, "step", 6.8),
            other="bandwidth bound",
        ),
        Term(
            "compute-bound",
            "Compute bound",
            "A step is compute bound if it takes as long as its arithmetic does, while the memory waits.",
            live=lab(PENALTY, "step", 1),
        ),
        Term(
            "arithmetic-intensity",
            "Arithmetic intensity",
            "How many operations a step does for each byte it reads; a larger batch does more with the same weights.",
            live=lab(FREE, "roofline", 0.7),
        ),
        Term(
            "roofline",
            "Roofline",
            "A chart of how fast a GPU can be at each arithmetic intensity: it rises where steps are memory bound, "
            "and is flat where they are compute bound.",
            live=lab(FREE, "roofline", 0.7),
        ),
        Term(
            "ridge-point",
            "Ridge point",
            "The arithmetic intensity at which the roofline turns from rising to flat.",
            live=lab(FREE, "roofline", 0.7),
        ),
        Term(
            "tensor-parallel",
            "Tensor parallel",
            "Dividing every layer of a model among several GPUs, which work on the same step and exchange their "
            "results.",
            Words(
                "`--tensor-parallel-size`",
                "`--tp-size`",
                "`--tp_size`",
                "`--num-shard`",
                "`--split-mode tensor`, experimental",
            ),
            lab("model=llama-3.1-70b&tensor_parallel_size=4&num_requests=20", "memory", 1),
            other="TP",
        ),
        Term(
            "replica",
            "Replica",
            "A whole copy of the server with GPUs, weights and KV cache of its own, among which requests are shared "
            "out.",
            Words("`--data-parallel-size`", "`--dp-size`"),
            other="data parallel",
        ),
    ),
)

SPECULATION = Subject(
    "Speculative decoding",
    (
        Term(
            "speculative-decoding",
            "Speculative decoding",
            "Guessing several tokens ahead at little cost and letting the model check them all in one step, so that "
            "each right guess saves one.",
            Words(
                "`--speculative-config`",
                "`--speculative-algorithm`",
                "`speculative_config`",
                "`--speculate`",
                "`--spec-draft-n-max`, formerly `--draft-max`",
            ),
            lab(SPECULATIVE, "speculation", 1),
        ),
        Term(
            "draft-model",
            "Draft model",
            "A small, fast model that makes the guesses of speculative decoding.",
            Words(
                "`model` in `--speculative-config`",
                "`--speculative-draft-model-path`",
                "`DraftTargetDecodingConfig`",
                "none: Medusa heads or n-grams",
                "`--spec-draft-model`, `--model-draft`",
            ),
            lab(SPECULATIVE, "speculation", 1),
        ),
        Term(
            "acceptance-rate",
            "Acceptance rate",
            "The share of guessed tokens that the model itself would have written, and that are kept.",
            Words(
                "`vllm:spec_decode_num_accepted_tokens_total` of `…_num_draft_tokens_total`",
                "`sglang:spec_accept_rate`",
                "`trtllm_spec_decode_acceptance_length`",
                "`tgi_request_skipped_tokens`",
                "`draft acceptance rate` in the log",
            ),
            lab(SPECULATIVE, "speculation", 1),
        ),
    ),
)
