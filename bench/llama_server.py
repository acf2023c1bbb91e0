"""Steps a second of llama-server's engine at 32 slots, all recording on: best of three; prints JSON."""

from __future__ import annotations

import json
import time

import numpy as np

from sim.bench import CASES, TRIES, _requests
from sim.cost import make_cost
from sim.engine.llama_server.layout import Config
from sim.engine.llama_server.recorder import Recorder
from sim.engine.llama_server.setup import Tasks, make_state
from sim.scenario import scenario_from

SLOTS = 32
SHARED_TOKENS = 50  # every prompt begins with them
RAM_BYTES = 8192 << 20
TOKEN_BYTES = 128 << 10


def tasks() -> Tasks:
    """Requests of `sim bench`, each with a text of its own after a common beginning."""
    requests = _requests(CASES[SLOTS][0])
    count = len(requests)
    ends = np.cumsum(requests.prompt_tokens.astype(np.int64) + requests.output_tokens)
    starts = np.concatenate([[0], ends[:-1]])
    texts = np.arange(SHARED_TOKENS, ends[-1] + SHARED_TOKENS, dtype=np.int32)
    for start, prompt in zip(starts, requests.prompt_tokens, strict=True):
        shared = min(int(prompt), SHARED_TOKENS)
        texts[start : start + shared] = np.arange(shared)
    return Tasks(
        arrival_s=requests.arrival_s,
        cancel_s=np.full(count, np.nan),
        prompt_tokens=requests.prompt_tokens,
        n_predict=requests.output_tokens,
        texts=texts,
        id_slot=np.full(count, -1, np.int32),
        n_keep=np.zeros(count, np.int32),
        n_cache_reuse=np.zeros(count, np.int32),
        cache_prompt=np.ones(count, np.bool_),
        after=requests.after,
        gap_s=requests.gap_s,
    )


def steps_per_s(kv_unified: bool, has_ram: bool) -> int:
    """Run them once and count."""
    given = tasks()
    longest = int((given.prompt_tokens + given.n_predict).max()) + 1
    config = Config(
        n_slots=SLOTS,
        n_ctx=SLOTS * longest,
        n_ctx_slot=longest,
        n_batch=2048,
        n_ubatch=512,
        kv_unified=int(kv_unified),
        cache_ram_bytes=RAM_BYTES if has_ram else 0,
        kv_bytes_per_token=TOKEN_BYTES,
        cache_idle_slots=1,
        cont_batching=1,
        context_shift=0,
        imitates_defect=0,
        has_unit_steps=0,
        slot_prompt_similarity=float(np.float32(0.1)),
    )
    recorder = Recorder(make_state(config, make_cost(scenario_from({}).server), given))
    start_s = time.perf_counter()
    recorder.advance()
    return round(int(recorder.state.count.steps) / (time.perf_counter() - start_s))


if __name__ == "__main__":
    figures = {
        f"unified={kv_unified} ram={has_ram}": max(steps_per_s(kv_unified, has_ram) for _ in range(TRIES))
        for kv_unified in (False, True)
        for has_ram in (False, True)
    }
    print(json.dumps(figures, indent=1))
