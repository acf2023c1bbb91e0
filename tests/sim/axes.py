"""Scenarios that between them use every textbook axis and every way of load, small pools so that all of it binds."""

TIGHT = {"num_gpu_blocks": 41, "block_size": 4, "max_num_seqs": 4, "max_num_batched_tokens": 24}
LENGTHS = {"prompt_tokens": 20, "output_tokens": 15, "num_requests": 40, "rate": 60}
BASE = TIGHT | LENGTHS
SHARED = {"shared_prefix_tokens": 18, "prefix_groups": 2}
CHAT = {"session": "chat", "turns": 3, "turn_gap_s": 0.1, "prompt_tokens": 8, "output_tokens": 6}
# Sixteen prompts in chunks of 20 tokens outgrow the pool in one step: half of them are preempted for the others.
COLLIDING = {
    "load": "burst", "num_requests": 32, "prompt_tokens": 41, "prompt_dist": "fixed", "output_tokens": 5,
    "output_dist": "fixed", "block_size": 1, "num_gpu_blocks": 322, "max_num_seqs": 16, "max_num_batched_tokens": 1000,
    "long_prefill_token_threshold": 20, "scheduler_reserve_full_isl": "false",
}  # fmt: skip

AXES = {
    "defaults": {},
    "preemption": BASE,
    "cache_off": BASE | {"prefix_cache": "off"},
    "shared_prefix": BASE | SHARED,
    "per_slot": BASE | SHARED | {"prefix_cache": "per_slot"},
    "per_slot_chat": BASE | CHAT | {"prefix_cache": "per_slot", "turn_gap_s": 0, "rate": 20},
    "chat": BASE | CHAT | {"turn_gap_s": 0},
    "agent": BASE | CHAT | SHARED | {"session": "agent", "tool_output_tokens": 9, "shared_prefix_tokens": 6},
    "static_padded": BASE | {"batching": "static"},
    "static_dropped": BASE | SHARED | {"batching": "static", "static_rows": "dropped"},
    "static_waits": BASE | {"batching": "static", "static_wait_s": 0.05, "rate": 20},
    "static_per_slot": BASE | SHARED | {"batching": "static", "prefix_cache": "per_slot"},
    "static_drafts": BASE | {"batching": "static", "num_speculative_tokens": 2},
    "contiguous": BASE | {"kv": "contiguous", "max_model_len": 70, "max_num_seqs": 3},
    "contiguous_per_slot": BASE | SHARED | {"kv": "contiguous", "max_model_len": 70, "prefix_cache": "per_slot"},
    "contiguous_static": BASE | {"kv": "contiguous", "max_model_len": 70, "batching": "static"},
    "whole": BASE | {"prefill": "whole", "max_num_batched_tokens": 60, "max_model_len": 60},
    "threshold": BASE | {"long_prefill_token_threshold": 5},
    "tiny_budget": BASE | {"max_num_batched_tokens": 4},
    "chunks_collide": COLLIDING,
    "gate_off_watermark": BASE | {"scheduler_reserve_full_isl": "false", "watermark": 0.1},
    "drafts": BASE | SHARED | {"num_speculative_tokens": 3, "acceptance": 0.6},
    "drafts_stall": BASE | {"num_speculative_tokens": 3, "max_num_batched_tokens": 6},
    "async": BASE | SHARED | {"async_scheduling": "true"},
    "async_closed": BASE | {"async_scheduling": "true", "load": "closed", "concurrency": 6},
    "max_waiting": BASE | {"max_waiting": 2, "load": "burst"},
    "closed": BASE | {"load": "closed", "concurrency": 6, "think_time_s": 0.01},
    "constant_arrivals": BASE | {"burstiness": "inf", "cost": "unit", "rate": 0.25},
    "simple_cost": BASE | {"cost": "simple", "burstiness": 0.4, "prompt_dist": "uniform", "output_dist": "fixed"},
    "experts_tensor_parallel": BASE | {"model": "mixtral-8x7b", "tensor_parallel_size": 4},
    "refusals": BASE | {"max_model_len": 40},
    "fork_more_slots": BASE | {"max_num_seqs": 2, "fork": 0.1, "fork.max_num_seqs": 6},
    "fork_fewer_slots": BASE | SHARED | {"fork": 0.3, "fork.max_num_seqs": 1, "fork.max_waiting": 3},
    "fork_fewer_slots_async": BASE | {"async_scheduling": "true", "fork": 0.3, "fork.max_num_seqs": 1},
    "fork_fewer_slots_per_slot": BASE | SHARED | {"prefix_cache": "per_slot", "fork": 0.3, "fork.max_num_seqs": 2},
    "fork_to_static": BASE | {"fork": 0.2, "fork.batching": "static"},
    "fork_to_continuous": BASE | SHARED | {"batching": "static", "fork": 0.2, "fork.batching": "continuous"},
    "fork_cache_off": BASE | SHARED | {"fork": 0.2, "fork.prefix_cache": "off"},
    "fork_cache_on": BASE | SHARED | {"prefix_cache": "off", "fork": 0.2, "fork.prefix_cache": "shared"},
    "fork_to_drafts": BASE | {"fork": 0.2, "fork.num_speculative_tokens": 3, "fork.acceptance": 0.6},
    "fork_from_drafts": BASE | SHARED | {"num_speculative_tokens": 3, "fork": 0.2, "fork.num_speculative_tokens": 0},
    "fork_rate_budget": BASE | {"fork": 0.3, "fork.rate": 5, "fork.max_num_batched_tokens": 8},
    "fork_late": BASE | {"fork": 1000, "fork.max_num_seqs": 1},
}
