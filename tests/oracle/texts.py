"""What requests say, written out token by token, and random workloads that share much of it."""

from hypothesis import strategies as st


def texts_of(requests):
    """Prompt and outputs of every request as tokens; a token is the text that it first appeared in and its place."""
    roots = [[(root, p) for p in range(tokens)] for root, tokens in enumerate(requests.root_tokens.tolist())]
    texts = list(roots)
    columns = (requests.parent, requests.common_tokens, requests.prompt_tokens + requests.output_tokens)
    for node, (parent, common, length) in enumerate(zip(*map(list, columns), strict=True), start=len(roots)):
        shared = texts[parent][:common] if parent >= 0 else []
        texts.append(shared + [(node, p) for p in range(len(shared), length)])
    return texts[len(roots) :]


@st.composite
def shared_texts(draw):
    session = draw(st.sampled_from(["none", "chat", "agent"]))
    return {
        "cost": "unit",
        "kv": draw(st.sampled_from(["paged", "contiguous"])),
        "max_model_len": 2000,
        "num_gpu_blocks": 20_000,
        "block_size": draw(st.sampled_from([1, 16])),
        "max_num_seqs": draw(st.integers(1, 5)),
        "load": draw(st.sampled_from(["open", "closed"])),
        "rate": draw(st.sampled_from([0.02, 0.1, 0.5])),
        "concurrency": draw(st.integers(1, 7)),
        "num_requests": draw(st.integers(2, 30)),
        "seed": draw(st.integers(0, 99)),
        "prompt_tokens": draw(st.integers(1, 30)),
        "output_tokens": draw(st.integers(1, 15)),
        "shared_prefix_tokens": draw(st.integers(0, 40)),
        "prefix_groups": draw(st.integers(1, 3)),
        "prefix_share": draw(st.sampled_from([0.7, 1])),
        "session": session,
        "turns": draw(st.integers(1, 5)),
        "turn_gap_s": draw(st.sampled_from([0, 1, 20])),
        "tool_output_tokens": draw(st.integers(0, 20)),
    }
