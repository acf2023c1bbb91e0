"""Random scenarios of llama-server, small enough that every rule is met often; texts of few tokens match by chance."""

import random
from enum import StrEnum

import numpy as np


class Focus(StrEnum):
    """What the scenarios of a test have in common."""

    SPLIT = "split"
    UNIFIED = "unified"
    RAM = "ram"
    SHIFT = "shift"
    PINNED = "pinned"
    DEFECT = "defect"


def scenario(focus, seed):
    draw = random.Random(f"{focus} {seed}")
    config = make_config(focus, draw)
    roots = [[draw.randrange(3) for _ in range(60)] for _ in range(2)]
    requests, texts, arrival = [], [], 0
    for _ in range(draw.randint(1, 14)):
        arrival += draw.choice([0, 0, 0, 1, 2, 5, 20, 60])
        requests.append(make_request(focus, draw, config, roots, texts, arrival))
        texts.append(requests[-1]["prompt"] + requests[-1]["outputs"])
    return {"config": config, "requests": requests, "imitates_defect": focus == Focus.DEFECT}


def make_config(focus, draw):
    """Settings under the names that the oracle gives them."""
    slots = draw.randint(1, 6 if focus != Focus.DEFECT else 3)
    share = draw.randint(12, 70)
    is_unified = focus == Focus.UNIFIED or draw.random() < 0.3
    total = draw.randint(share, share * min(slots, 3)) if is_unified else share * slots
    batch = slots + draw.choice([0, 0, 1, 3, 10, 30, 100])
    ram = draw.choice([0, 60, 200, 1 << 20, -1])
    if focus in {Focus.RAM, Focus.DEFECT}:
        ram = draw.choice([40, 80, 120, 300, -1])
    return {
        "np": slots,
        "n_ctx": total,
        "n_ctx_slot": min(share, total),
        "nb": batch,
        "ub": draw.choice([1, 2, 5, 16, batch]),
        "unified": is_unified,
        "sim": np.float32(draw.choice([0, 0.1, 0.1, 0.1, 0.5])),
        "ram": ram,
        "bpt": draw.choice([1, 1, 3]),
        "cache_idle": draw.random() < 0.7,
        "cont": draw.random() < 0.85,
        "shift": focus == Focus.SHIFT or draw.random() < 0.2,
        "reuse": draw.choice([0, 0, 0, 1, 3]),
    }


def make_request(focus, draw, config, roots, texts, arrival):
    context = config["n_ctx_slot"]
    length = draw.randint(1, context + 1 if draw.random() < 0.1 else max(1, context - 2))
    prompt = [draw.randrange(3) for _ in range(length)]
    source = draw.random()
    if source < 0.4:
        start = draw.choice(roots)[: draw.randint(0, 60)]
        prompt = (start + prompt)[:length]
    elif source < 0.7 and texts:
        text = draw.choice(texts)
        cut = draw.randint(0, 12) if draw.random() < 0.3 else 0
        prompt = (text[: draw.randint(0, len(text))][cut:] + prompt)[:length]
    predicted = draw.randint(1, 90 if focus == Focus.SHIFT else 25)
    request = {
        "arrival": arrival,
        "prompt": prompt,
        "outputs": [draw.randrange(3) for _ in range(predicted)],
        "n_predict": predicted,
        "n_keep": draw.choice([0, 0, 3, 10, 100, -1]),
        "cache_prompt": draw.random() < 0.9,
    }
    if focus in {Focus.PINNED, Focus.DEFECT} and draw.random() < 0.5:
        request["id_slot"] = draw.randint(0, config["np"])
    if draw.random() < 0.08:
        request["cancel"] = arrival + draw.randint(0, 30)
    return request
