"""Random settings over every axis that a user can choose: small pools and short requests, so that all of them bind."""

from hypothesis import strategies as st

STEP_S = {"unit": 1.0, "simple": 0.007, "roofline": 0.008}


@st.composite
def run_settings(draw, **fixed):
    """Settings of a scenario that is valid; `fixed` ones are taken as they are."""
    settings = draw(servers(fixed.get("num_speculative_tokens")))
    settings |= draw(workloads(settings, fixed.get("cost", settings["cost"])))
    return settings | fixed


@st.composite
def servers(draw, drafts=None):
    size = draw(st.sampled_from([1, 2, 4, 16]))
    blocks = draw(st.integers(2, 60))
    seats = draw(st.integers(1, 6))
    length = draw(st.none() | st.integers(2, blocks * size))
    is_whole = draw(st.booleans())
    drafts = draw(st.sampled_from([0, 0, 1, 3])) if drafts is None else drafts
    row = 1 + drafts
    least = max(seats, row, max(2, length or 0) if is_whole else 0)
    return {
        "block_size": size,
        "num_gpu_blocks": blocks + 1,
        "max_model_len": length or "auto",
        "max_num_seqs": seats,
        "max_num_batched_tokens": draw(st.sampled_from(["auto", least, least + 3, least + 40])),
        "prefill": "whole" if is_whole else "chunked",
        "long_prefill_token_threshold": draw(st.sampled_from([0, 0, row, 5, 30])),
        "scheduler_reserve_full_isl": draw(st.booleans()),
        "watermark": draw(st.sampled_from([0, 0, 0.1, 0.5])),
        "num_speculative_tokens": drafts,
        "acceptance": draw(st.sampled_from([0, 0.5, 0.9, 1])),
        "async_scheduling": drafts == 0 and draw(st.booleans()),
        "batching": draw(st.sampled_from(["continuous", "static"])),
        "static_rows": draw(st.sampled_from(["padded", "dropped"])),
        "static_wait_s": draw(st.sampled_from([0, 0.02, 3])),
        "kv": draw(st.sampled_from(["paged", "paged", "contiguous"])),
        "prefix_cache": draw(st.sampled_from(["off", "shared", "per_slot"])),
        "max_waiting": draw(st.sampled_from(["none", "none", 1, 3])),
        "cost": draw(st.sampled_from(["unit", "simple", "roofline"])),
    }


@st.composite
def workloads(draw, server, cost):
    pool = (server["num_gpu_blocks"] - 1) * server["block_size"]
    longest = pool if server["max_model_len"] == "auto" else server["max_model_len"]
    gap_s = STEP_S[cost] * draw(st.sampled_from([0.1, 0.5, 1, 4, 20]))
    session = draw(st.sampled_from(["none", "none", "chat", "agent"]))
    share = 3 if session == "none" else 6
    lengths = st.integers(1, max(1, longest // share))
    return {
        "load": draw(st.sampled_from(["open", "closed", "burst"])),
        "rate": 1 / gap_s,
        "burstiness": draw(st.sampled_from([0.3, 1, "inf"])),
        "rescale_arrivals": draw(st.booleans()),
        "concurrency": draw(st.integers(1, 9)),
        "think_time_s": draw(st.sampled_from([0, 0, gap_s])),
        "num_requests": draw(st.integers(1, 24)),
        "seed": draw(st.integers(0, 99)),
        "prompt_tokens": draw(lengths),
        "prompt_dist": draw(st.sampled_from(["fixed", "uniform", "lognormal"])),
        "output_tokens": draw(lengths),
        "output_dist": draw(st.sampled_from(["fixed", "uniform", "lognormal"])),
        "shared_prefix_tokens": draw(st.just(0) | lengths),
        "prefix_groups": draw(st.integers(1, 3)),
        "prefix_share": draw(st.sampled_from([0.5, 1])),
        "session": session,
        "turns": draw(st.integers(1, 4)),
        "turn_gap_s": draw(st.sampled_from([0, 0, gap_s])),
        "tool_output_tokens": draw(lengths),
    }
