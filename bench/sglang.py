"""Steps a second of SGLang's engine at 32 slots, all recording on, by setting: best of three; prints JSON."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from sim.bench import CASES, TRIES, _requests
from sim.cost import make_cost
from sim.engine.loop import NEVER_S, Stop
from sim.engine.sglang.layout import Config
from sim.engine.sglang.loop import advance
from sim.engine.sglang.setup import make_room, make_state, token_ratios
from sim.scenario import scenario_from

SLOTS = 32
SETTINGS: dict[str, dict[str, int]] = {
    "overlap": {},
    "normal": {"is_overlap": 0},
    "page 16": {"page_size": 16},
    "mixed": {"is_mixed": 1},
    "lpm": {"is_lpm": 1},
    "no cache": {"has_radix": 0},
    "pool 20,000": {"max_total_tokens": 20_000},
}


def config_of(**changes: int) -> Config:
    """SGLang's defaults at 32 slots, the pool of `sim bench`, and the changes."""
    settings: dict[str, Any] = {
        "max_total_tokens": CASES[SLOTS][2] * 16,
        "page_size": 1,
        "max_running_requests": SLOTS,
        "chunked_prefill_size": 2_048,
        "max_prefill_tokens": 16_384,
        "context_len": 40_000,
        "is_lpm": 0,
        "is_mixed": 0,
        "is_overlap": 1,
        "has_radix": 1,
        "prefill_decode_interval": 0,
        "prefill_max_requests": 0,
        "max_waiting": 0,
        "emits_idle_steps": 0,
    }
    return Config(**settings | changes, **token_ratios(1.0))


def steps_per_s(config: Config) -> int:
    """Run the requests of `sim bench` once and count."""
    count = CASES[SLOTS][0]
    nobody = np.zeros(count, np.bool_)
    state = make_state(config, make_cost(scenario_from({}).server), _requests(count), nobody, nobody)
    start_s = time.perf_counter()
    while advance(state, 1 << 30, NEVER_S) == Stop.LOG_FULL:
        state = make_room(state)
    return round(int(state.count.steps) / (time.perf_counter() - start_s))


if __name__ == "__main__":
    figures = {name: max(steps_per_s(config_of(**changes)) for _ in range(TRIES)) for name, changes in SETTINGS.items()}
    print(json.dumps(figures, indent=1))
