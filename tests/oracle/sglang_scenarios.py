"""Random scenarios in the form of SGLang's recorded traces, small enough that every rule of the scheduler is met often.

Left out, for it is outside the rules: a prompt that does not fit the pool alone (the real server refuses it), a chunk
of less than a page, and a mixed chunk that running requests alone use up.
"""

from enum import StrEnum

from hypothesis import strategies as st


class Focus(StrEnum):
    """What the scenarios of a test have in common."""

    PLAIN = "plain"
    PRESSURE = "pressure"
    PREFIX = "prefix"
    NO_CACHE = "no cache"
    MIXED = "mixed"


PAGES = st.sampled_from([1, 1, 1, 2, 3, 4, 16])
GAPS = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 7, 30])  # steps; a run of zeros is a burst
SOURCES = {focus: ["own", "own", "group"] for focus in Focus} | {Focus.PREFIX: ["own", "group", "group", "continues"]}
IGNORES = {focus: [False, False, True] for focus in Focus} | {
    Focus.PRESSURE: [False],
    Focus.NO_CACHE: [False, True, True],
}
MOST_OUTPUT = 40


@st.composite
def scenarios(draw, focus):
    config = draw(configs(focus))
    count = draw(st.integers(1, 14))
    requests, arrival = [], 0
    for i in range(count):
        arrival += draw(GAPS) if i else 0
        requests.append({"id": f"r{i}", "arrival_step": arrival, **draw(bodies(config, focus, requests))})
    return {"config": config, "requests": requests}


@st.composite
def configs(draw, focus):
    is_tight = focus == Focus.PRESSURE
    page = draw(PAGES)
    seats = draw(st.integers(4, 10) if is_tight else st.integers(1, 10))
    is_mixed = focus == Focus.MIXED or draw(st.sampled_from([False, False, True]))
    tokens = draw(st.integers(60, 200) if is_tight else st.integers(40, 400))
    pages = max(6, tokens // page)
    least = -(-(seats + 1) // page) * page if is_mixed else page
    chunk = least + page * draw(st.integers(0, max(1, 60 // page)))
    is_chunked = is_mixed or draw(st.sampled_from([False, True, True]))
    return {
        "max_total_tokens": pages * page,
        "page_size": page,
        "max_running_requests": seats,
        "chunked_prefill_size": chunk if is_chunked else -1,
        "max_prefill_tokens": draw(st.sampled_from([16, 64, 200, 16384])) + (seats if is_mixed else 0),
        "schedule_policy": draw(st.sampled_from(["fcfs", "lpm"])),
        "schedule_conservativeness": draw(st.sampled_from([0.001, 0.05] if is_tight else [0.05, 0.3, 1.0, 1.4])),
        "enable_mixed_chunk": is_mixed,
        "disable_radix_cache": focus == Focus.NO_CACHE,
        "disable_overlap_schedule": draw(st.booleans()),
        "radix_eviction_policy": "lru",
        "context_len": draw(st.sampled_from([40000, 40000, pages * page - page])),
        "prefill_max_requests": draw(st.sampled_from([None, None, None, 1, 2])),
        "prefill_decode_interval": draw(st.sampled_from([None, None, None, 1, 3])),
    }


@st.composite
def bodies(draw, config, focus, before):
    """Lengths of a request, what the scheduler is told of them, and whose text it repeats."""
    page = config["page_size"]
    fits = max(1, min(config["max_total_tokens"] - 3 * page, config["context_len"]) - 2)
    longest = max(1, fits // 4) if focus == Focus.PRESSURE else fits
    prompt = draw(st.one_of(st.integers(1, longest), page_edges(page, longest)))
    output = draw(
        st.integers(10, 60) if focus == Focus.PRESSURE else st.one_of(st.integers(1, MOST_OUTPUT), st.just(1))
    )
    ignores = draw(st.sampled_from(IGNORES[focus]))
    told = (
        output
        if ignores
        else draw(st.sampled_from([output, output, output + 1, 2 * output + 5, max(1, output // 2), 300]))
    )
    body = {"prompt_len": prompt, "output_len": output, "max_new_tokens": told, "ignore_eos": ignores}
    source = draw(st.sampled_from(SOURCES[focus]))
    if source == "group":
        body["prefix_group"] = draw(st.sampled_from(["a", "b"]))
        body["shared_prefix_len"] = draw(st.one_of(st.just(longest), st.integers(0, longest)))
    elif source == "continues" and before:
        parent = draw(st.sampled_from(before))
        body["continues"] = parent["id"]
        if draw(st.booleans()):  # the prompt is the whole text of another request and a bit, or nearly
            whole = parent["prompt_len"] + parent["output_len"]
            body["prompt_len"] = max(1, min(longest, whole + draw(st.integers(-2, 9))))
    return body


@st.composite
def page_edges(draw, page, longest):
    """A length of whole pages, or one token less or more: then a hit leaves one token to compute."""
    pages = draw(st.integers(1, max(1, longest // page)))
    return min(max(1, pages * page + draw(st.integers(-1, 1))), longest)
