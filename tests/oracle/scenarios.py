"""Random scenarios in the form of the recorded traces, small enough that every rule of the scheduler is met often.

Left out, for it is outside the rules: a pool that cannot hold one request of max_model_len (the real engine refuses to
start so), and what no recorded trace has: drafts with async scheduling, and a budget or a threshold below a token and
its drafts (under such a budget a near-full prefix hit, padded with drafts, is never admitted).
"""

from enum import StrEnum

from hypothesis import strategies as st


class Focus(StrEnum):
    """What the scenarios of a test have in common."""

    PLAIN = "plain"
    PRESSURE = "pressure"
    PREFIX = "prefix"
    SPECULATIVE = "speculative"
    ASYNC = "async"


BLOCK_SIZES = st.sampled_from([1, 2, 3, 4, 8, 16, 32])
GAPS = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 7, 30])  # steps; a run of zeros is a burst
MOST_LEN = 240
SOURCES = {focus: ["own", "own", "group"] for focus in Focus} | {
    Focus.PREFIX: ["own", "group", "continues"],
    Focus.SPECULATIVE: ["own", "group", "group", "continues"],
}


@st.composite
def scenarios(draw, focus):
    config = draw(configs(focus))
    count = draw(st.integers(1, 12))
    requests, arrival = [], 0
    for i in range(count):
        arrival += draw(GAPS) if i else 0
        requests.append({"id": f"r{i}", "arrival_step": arrival, **draw(bodies(config, focus, i))})
    return {"config": config, "requests": requests}


@st.composite
def configs(draw, focus):
    size = draw(BLOCK_SIZES)
    usable = draw(st.integers(2, 24 if focus == Focus.PRESSURE else 60))
    longest = min(usable * size, MOST_LEN)
    length = draw(st.integers(max(2, longest // 2), longest))
    seats = draw(st.integers(1, 10))
    is_chunked = draw(st.booleans())
    spec = draw(speculation()) if focus == Focus.SPECULATIVE else {"num_speculative_tokens": 0}
    row = 1 + spec["num_speculative_tokens"]
    least = max(seats, row, 0 if is_chunked else length)
    config = {
        "block_size": size,
        "num_gpu_blocks": usable + 1,
        "max_model_len": length,
        "max_num_seqs": seats,
        "max_num_batched_tokens": least + draw(st.sampled_from([0, 0, 1, 5, 30, 120, 500])),
        "enable_chunked_prefill": is_chunked,
        "enable_prefix_caching": focus == Focus.PREFIX or draw(st.sampled_from([False, True, True])),
        "long_prefill_token_threshold": draw(st.sampled_from([0, 0, row, row + 1, 7, 16, 40])),
        "scheduler_reserve_full_isl": draw(st.booleans()),
        "watermark": draw(st.sampled_from([0.0, 0.0, 0.05, 0.2, 0.5])),
        "async_scheduling": focus == Focus.ASYNC or (focus != Focus.SPECULATIVE and draw(st.booleans())),
        "record_free_queue": True,
    }
    return config | ({"spec": spec} if row > 1 else {})


@st.composite
def speculation(draw):
    drafts = draw(st.integers(1, 5))
    accepted = st.integers(0, drafts)
    return {"num_speculative_tokens": drafts, "accept_pattern": draw(st.lists(accepted, min_size=1, max_size=5))}


@st.composite
def bodies(draw, config, focus, index):
    """Lengths of a request, and whose text it repeats; an output may run into max_model_len."""
    longest = config["max_model_len"] - 1
    prompt = draw(st.one_of(st.integers(1, longest), block_edges(config["block_size"], longest)))
    output = draw(st.integers(1, min(60, config["max_model_len"] - prompt + 2)))
    body = {"prompt_len": prompt, "output_len": output}
    source = draw(st.sampled_from(SOURCES[focus]))
    if source == "group":
        body["prefix_group"] = draw(st.sampled_from(["a", "b"]))
        body["shared_prefix_len"] = draw(st.one_of(st.just(longest), st.integers(0, longest)))
    elif source == "continues" and index:
        body["continues"] = f"r{draw(st.integers(0, index - 1))}"
    return body


@st.composite
def block_edges(draw, size, longest):
    """A length of whole blocks, or one token less or more: then a hit leaves one token to compute."""
    blocks = draw(st.integers(1, max(1, longest // size)))
    return min(max(1, blocks * size + draw(st.integers(-1, 1))), longest)
