"""A request and its tokens."""

from app.presets import PENALTY
from app.terms.term import Subject, Term, Words, lab

REQUESTS = Subject(
    "A request and its tokens",
    (
        Term(
            "request",
            "Request",
            "One question that somebody sends to the server, with all that the server does to answer it.",
            Words(
                "`Request`, `vllm:num_requests_running`",
                "`Req`, `sglang:num_running_reqs`",
                "`LlmRequest`, `trtllm_num_requests_running`",
                "`GenerateRequest`, `tgi_request_count`",
                "`server_task`, `llamacpp:requests_processing`",
            ),
            lab(PENALTY, "timeline", 6.8),
        ),
        Term(
            "token",
            "Token",
            "A piece of text, often a short word or a part of one, that a language model reads or writes as one "
            "number.",
            Words("`prompt_token_ids`", "`origin_input_ids`", "", "`input_ids`", "`llama_token`"),
        ),
        Term(
            "prompt",
            "Prompt",
            "The tokens a request comes with: instructions, the conversation so far, and the question.",
            Words(
                "`vllm:prompt_tokens_total`",
                "`sglang:prompt_tokens_total`",
                "input or context: `trtllm_prompt_tokens_total`",
                "input: `tgi_request_input_length`",
                "`llamacpp:prompt_tokens_total`",
            ),
            lab(PENALTY, "timeline", 1),
            other="input",
        ),
        Term(
            "output",
            "Output",
            "The tokens the model writes in answer to a prompt, one after the other.",
            Words(
                "`vllm:generation_tokens_total`; at most `max_tokens`",
                "`sglang:generation_tokens_total`; at most `max_new_tokens`",
                "`trtllm_generation_tokens_total`; at most `max_tokens`",
                "`tgi_request_generated_tokens`; at most `max_new_tokens`",
                "`llamacpp:tokens_predicted_total`; at most `n_predict`",
            ),
            lab(PENALTY, "streams", 6.8),
            other="answer, completion",
        ),
        Term(
            "step",
            "Step",
            "One pass through the whole model, for all tokens that were chosen to take part in it.",
            Words(
                "`EngineCore.step()`, `vllm:iteration_tokens_total`",
                "a turn of `event_loop_overlap`",
                "iteration: `trtllm_iteration_latency_seconds`",
                "forward: `tgi_batch_forward_duration`",
                "`llama_decode()`, `llamacpp:n_decode_total`",
            ),
            lab(PENALTY, "step", 6.8),
            other="iteration, forward pass",
        ),
        Term(
            "prefill",
            "Prefill",
            "Reading a prompt: its tokens go through the model side by side, and at their end the first token of the "
            "output comes out.",
            Words(
                "`vllm:request_prefill_time_seconds`",
                "extend: `ForwardMode.EXTEND`",
                "context phase: `trtllm_num_context_requests`",
                "`Prefill`",
                "prompt processing: `llamacpp:prompt_tokens_seconds`",
            ),
            lab(PENALTY, "step", 1),
        ),
        Term(
            "decode",
            "Decode",
            "Writing the rest of an output: each further token needs a step of its own, because it depends on the one "
            "before.",
            Words(
                "`vllm:request_decode_time_seconds`",
                "`ForwardMode.DECODE`",
                "generation phase: `trtllm_num_generation_requests`",
                "`Decode`",
                "generation: `llamacpp:predicted_tokens_seconds`",
            ),
            lab(PENALTY, "step", 6.8),
        ),
    ),
)
