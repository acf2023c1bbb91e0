"""Who takes part in a step."""

from app.presets import FREE, LONG_PROMPT, PENALTY, THRASHING
from app.terms.term import Subject, Term, Words, figures_of, lab

_REFUSING = "rate=12&num_requests=60&max_num_seqs=4&max_waiting=6"

BATCHING = Subject(
    "Batches and the waiting line",
    (
        Term(
            "batch",
            "Batch",
            "The requests that take part in the same step, so that the model's weights are read once for all of them.",
            Words(
                "`SchedulerOutput`",
                "`ScheduleBatch`",
                "`ScheduledRequests`, `trtllm_scheduled_batch_size`",
                "`tgi_batch_current_size`",
                "`llama_batch`",
            ),
            lab(FREE, "batch-curve", 0.7),
        ),
        Term(
            "scheduler",
            "Scheduler",
            "The part of the server that decides before each step which requests take part, and with how many tokens.",
            Words(
                "`Scheduler`, `--scheduling-policy`",
                "`Scheduler`, `--schedule-policy`",
                "`CapacityScheduler`, then `MicroBatchScheduler`",
                "`batching_task` of the router",
                "`update_slots()`",
            ),
            lab(PENALTY, "step", 6.8),
        ),
        Term(
            "slot",
            "Slot",
            "One seat in the batch, which a request holds from the time it gets in until it leaves.",
            Words(
                "a place in `running`",
                "a row of `ReqToTokenPool`",
                "`SeqSlotManager`",
                "none: a `slot` is the place of one token in memory",
                "`server_slot`, `GET /slots`",
            ),
            lab(PENALTY, "timeline", 6.8),
        ),
        Term(
            "waiting-line",
            "Waiting line",
            "The requests that have come and have no slot yet, usually served in the order in which they came.",
            Words(
                "`waiting`, `vllm:num_requests_waiting`",
                "`waiting_queue`, `sglang:num_queue_reqs`",
                "`trtllm_num_requests_waiting`",
                "`Queue`, `tgi_queue_size`",
                "`llamacpp:requests_deferred`",
            ),
            lab(PENALTY, "queue", 6.8),
            other="queue",
        ),
        Term(
            "admit",
            "Admit",
            "To let a request out of the waiting line into the batch, for which there must be a slot, and memory for "
            "its tokens.",
            Words(
                "`schedule()`: from `WAITING` to `RUNNING`",
                "`PrefillAdder.add_one_req()`",
                "`CapacityScheduler`: it fits",
                "`next_batch()` of the `Queue`",
                "`launch_slot_with_task()`",
            ),
            lab(PENALTY, "events", 6.8),
            other="join",
        ),
        Term(
            "max-num-seqs",
            "max_num_seqs",
            "The setting that says how many slots there are, and so how large a batch can become.",
            Words(
                "`--max-num-seqs`",
                "`--max-running-requests`",
                "`--max_batch_size`",
                "`--max-batch-size`, only for hardware that needs padding",
                "`--parallel`",
            ),
            lab(PENALTY, "course", 6.8),
        ),
        Term(
            "static-batching",
            "Static batching",
            "Filling the slots, then letting nobody in until the last request of the batch has its whole output.",
            Words("", "", "`capacity_scheduler_policy`: STATIC_BATCH", "", "`--no-cont-batching` comes near"),
            lab(PENALTY, "timeline", 6.8),
        ),
        Term(
            "continuous-batching",
            "Continuous batching",
            "Choosing anew before every step who is in the batch, so that requests join and leave at any step.",
            Words("always", "always", "in-flight batching (IFB)", "always", "`--cont-batching`, on by default"),
            lab(PENALTY, "timeline", 6.8),
            other="in-flight batching",
        ),
        Term(
            "padding-waste",
            "Padding waste",
            "Work on tokens that nobody asked for, because every row of a batch is computed for as long as its "
            "longest.",
            Words(
                "up to the next `cudagraph_capture_sizes` only",
                "up to the next `--cuda-graph-bs` only",
                "`cuda_graph_config.enable_padding`",
                "`requires_padding` of a model without flash attention",
            ),
            lab(PENALTY, "step", 6.8),
        ),
        Term(
            "head-of-line-blocking",
            "Head-of-line blocking",
            "When the first of the waiting line does not fit, and others behind it who would fit have to wait as well.",
            Words(
                "yes: admission stops at the first that does not fit",
                "yes, in the order of `--schedule-policy`",
                "yes, by memory and by tokens",
                "yes: it goes back to the front of the `Queue`",
                "only behind a request pinned by `id_slot`",
            ),
            lab(THRASHING, "queue", 2),
        ),
        Term(
            "token-budget",
            "Token budget",
            "The most tokens that a step may hold, those of prompts and those of outputs together.",
            Words(
                "`token_budget`, prompts and outputs",
                "`rem_chunk_tokens`, prompts alone",
                "`max_num_tokens`, prompts and outputs",
                "`--max-batch-prefill-tokens`, prompts alone",
                "`n_batch`, prompts and outputs",
            ),
            lab(LONG_PROMPT, "step", 1.6),
        ),
        Term(
            "max-num-batched-tokens",
            "max_num_batched_tokens",
            "The setting of the token budget in vLLM.",
            Words(
                "`--max-num-batched-tokens`",
                "`--chunked-prefill-size`",
                "`--max_num_tokens`",
                "`--max-batch-prefill-tokens`",
                "`--batch-size`",
            ),
            lab(LONG_PROMPT, "step", 1.6),
        ),
        Term(
            "chunked-prefill",
            "Chunked prefill",
            "Reading a long prompt in pieces over several steps, so that the others get their next tokens in between.",
            Words(
                "`--enable-chunked-prefill`, on by default",
                "`--chunked-prefill-size`; others decode between chunks only in a mixed batch",
                "`--enable_chunked_prefill`, off by default",
                "by itself, since TGI 3",
                "always, in pieces of `--batch-size`",
            ),
            lab(LONG_PROMPT, "streams", 1.6),
        ),
        Term(
            "mixed-batch",
            "Mixed batch",
            "A batch in which some requests prefill while others decode.",
            Words(
                "any step may be one",
                "`--enable-mixed-chunk`, off by default",
                "any iteration may be one",
                "",
                "any batch may be one",
            ),
            lab(LONG_PROMPT, "step", 1.6),
        ),
        Term(
            "admission-limit",
            "Admission limit",
            "A limit on how many requests may be in the server, beyond which a new one is refused at once instead of "
            "being kept waiting.",
            Words("", "`--max-queued-requests`", "", "`--max-concurrent-requests`", ""),
            figures_of(_REFUSING),
            other="max_waiting",
        ),
    ),
)
