"""What users and operators measure."""

from app.presets import LONG_PROMPT, PENALTY
from app.terms.term import Live, Subject, Term, Words, figures_of, lab

_CURVE = Live(
    "lab/?num_requests=24&max_num_seqs=4&b.batching=static&views=timeline,load-curve&x=rate:2:20:4&seeds=1#fig-load-curve",
    "Load curve",
)

MEASURES = Subject(
    "Measures",
    (
        Term(
            "ttft",
            "TTFT",
            "Time to first token: from the arrival of a request, over its wait and its prefill, to the first token of "
            "its output.",
            Words(
                "`vllm:time_to_first_token_seconds`",
                "`sglang:time_to_first_token_seconds`",
                "`trtllm_time_to_first_token_seconds`",
                "",
                "`prompt_ms` in the answer's `timings`, without the wait",
            ),
            lab(PENALTY, "latency"),
            other="time to first token",
        ),
        Term(
            "itl",
            "ITL",
            "Inter-token latency: the gap between one token of an output and the next.",
            Words("`vllm:inter_token_latency_seconds`", "`sglang:inter_token_latency_seconds`"),
            lab(LONG_PROMPT, "streams", 1.6),
            other="inter-token latency",
        ),
        Term(
            "tpot",
            "TPOT",
            "Time per output token: the mean gap of one request, from its first token to its last.",
            Words(
                "`vllm:request_time_per_output_token_seconds`",
                "Mean TPOT of `bench_serving`",
                "`trtllm_time_per_output_token_seconds`",
                "`tgi_request_mean_time_per_token_duration`",
                "`predicted_per_token_ms` in the answer's `timings`",
            ),
            lab(PENALTY, "latency"),
            other="time per output token",
        ),
        Term(
            "e2e",
            "E2E latency",
            "End-to-end latency: from the arrival of a request to its last token.",
            Words(
                "`vllm:e2e_request_latency_seconds`",
                "`sglang:e2e_request_latency_seconds`",
                "`trtllm_e2e_request_latency_seconds`",
                "`tgi_request_duration`",
            ),
            figures_of(PENALTY),
            other="end-to-end latency",
        ),
        Term(
            "throughput",
            "Throughput",
            "How many tokens, or requests, the server gets done in a second, for all users together.",
            Words(
                "Output token throughput of `vllm bench serve`",
                "`sglang:gen_throughput`",
                "`trtllm-bench throughput`",
                "",
                "`llamacpp:predicted_tokens_seconds`",
            ),
            lab(PENALTY, "batch-curve", 6.8),
        ),
        Term(
            "slo",
            "SLO",
            "Service level objective: what a request must keep to in order to count as good, such as a TTFT of at most "
            "one second and a TPOT of at most 50 milliseconds.",
            Words(
                "`vllm bench serve --goodput ttft:MS tpot:MS`",
                "",
                "`benchmark_serving --goodput ttft:MS tpot:MS`",
            ),
            lab(PENALTY, "latency"),
            other="service level objective",
        ),
        Term(
            "goodput",
            "Goodput",
            "Throughput that counts: requests a second that keep every SLO.",
            Words(
                "`vllm bench serve --goodput`",
                "",
                "`benchmark_serving --goodput`",
            ),
            _CURVE,
        ),
        Term(
            "saturation",
            "Saturation",
            "The load above which throughput rises no further, and only the waiting line grows.",
            Words(
                "`vllm:num_requests_waiting` keeps growing",
                "`sglang:num_queue_reqs` keeps growing",
                "`trtllm_num_requests_waiting` keeps growing",
                "`tgi_queue_size` keeps growing",
                "`llamacpp:requests_deferred` keeps growing",
            ),
            _CURVE,
        ),
    ),
)
