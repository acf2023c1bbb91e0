"""Random scenarios in the form of TensorRT-LLM's traces, small enough that every rule of its schedulers is met often.

A request may be too large for the pool or for the token budget: then it blocks the line for ever, in both.
"""

from enum import StrEnum

from hypothesis import strategies as st

MOST_LEN = 120


class Focus(StrEnum):
    """What the scenarios of a test have in common."""

    NO_EVICT = "no evict"
    UTILIZATION = "utilization"
    CHUNKED = "chunked"
    REUSE = "reuse"


POLICIES = {focus: ["GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH"] for focus in Focus} | {
    Focus.NO_EVICT: ["GUARANTEED_NO_EVICT", "STATIC_BATCH"],
    Focus.UTILIZATION: ["MAX_UTILIZATION"],
    Focus.REUSE: ["GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "MAX_UTILIZATION", "STATIC_BATCH"],
}
CHUNKS = ["FIRST_COME_FIRST_SERVED", "EQUAL_PROGRESS"]


@st.composite
def scenarios(draw, focus):
    config = draw(configs(focus))
    requests, arrival = [], 0
    for i in range(draw(st.integers(1, 10))):
        arrival += draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7, 30])) if i else 0
        requests.append({"arrival_step": arrival, **draw(bodies(config))})
    return {"config": config, "requests": requests}


@st.composite
def configs(draw, focus):
    size = draw(st.sampled_from([1, 2, 4, 8, 16]))
    batch = draw(st.integers(4 if focus == Focus.UTILIZATION else 1, 8))
    config = {
        "max_batch_size": batch,
        "max_num_tokens": draw(st.sampled_from([1, 5, 16, 31, 32, 50, 64, 100, 128, 512])),
        "tokens_per_block": size,
        "num_blocks": draw(st.integers(2, 20 if focus == Focus.UTILIZATION else 40)),
        "policy": draw(st.sampled_from(POLICIES[focus])),
        "block_reuse": focus == Focus.REUSE or draw(st.sampled_from([False, False, True])),
        "prefix_aware": draw(st.sampled_from([True, True, False])),
        "two_step_lookahead": draw(st.booleans()),
    }
    policy = draw(st.sampled_from(CHUNKS if focus == Focus.CHUNKED else [None, *CHUNKS]))
    if policy:
        config |= {"chunk_policy": policy, "chunk_unit": draw(st.sampled_from([size, size, 1, 3, 2 * size, 32]))}
    more = draw(st.sampled_from([0, 0, 0, 1, 4]))
    return config | ({"max_num_requests": batch + more} if more else {})


@st.composite
def bodies(draw, config):
    """Lengths of a request, the length it asks for, and how much of its group's text it begins with."""
    size = config["tokens_per_block"]
    longest = min(MOST_LEN, size * config["num_blocks"])
    blocks = draw(st.integers(1, max(1, longest // size)))
    edge = min(max(1, blocks * size + draw(st.integers(-1, 1))), longest)
    prompt = draw(st.sampled_from([edge, draw(st.integers(1, longest))]))
    output = draw(st.integers(1, min(30, max(1, longest - prompt + 1))))
    body = {"prompt_len": prompt, "output_len": output, "shared_prefix": 0}
    more = draw(st.sampled_from([0, 0, 0, 5, 60]))
    if more:
        body["max_new"] = output + more
    if draw(st.booleans()):
        shared = draw(st.sampled_from([longest, prompt, draw(st.integers(0, longest))]))
        body |= {"group": draw(st.integers(0, 1)), "shared_prefix": shared}
    return body
