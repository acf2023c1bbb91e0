"""Which slot a task gets: llama.cpp's get_available_slot."""

from __future__ import annotations

import numpy as np

from sim.engine.compiled import part
from sim.engine.llama_server.layout import SlotState, State
from sim.engine.llama_server.ram import prompt_load, prompt_save
from sim.engine.llama_server.sequences import common_prefix

_IDLE = int(SlotState.IDLE)


@part
def _least_recent(state: State) -> int:
    """Idle slot that was released first, of those never used the highest; -1 if none is idle."""
    found = -1
    released = -1
    for slot in range(state.config.n_slots):
        row = state.slots[slot]
        if row.state == _IDLE and (found < 0 or row.released <= released):
            released = row.released
            found = slot
    return found


@part
def _renew(state: State, slot: int) -> None:
    """Save what a slot holds to host RAM and load the best copy for the task in hand.

    The real server does so even when the slot is busy, with a pinned task: a defect, imitated for comparison only.
    """
    config = state.config
    if config.cache_ram_bytes == 0:
        return
    if state.slots[slot].state == _IDLE or config.imitates_defect:
        prompt_save(state, slot)
        prompt_load(state, slot)


@part
def get_available_slot(state: State, index: int) -> int:
    """Choose the pinned slot, else the idle one most like the prompt, else the least recent; -1 if none is idle.

    A pinned slot may be busy. Shares are computed in single precision, as the real server does.
    """
    config = state.config
    pinned = state.requests[index].id_slot
    found = pinned % config.n_slots if pinned >= 0 else -1
    renews = False
    if config.slot_prompt_similarity > 0:
        length = np.float32(state.sequences[config.n_slots].length)
        best = np.float32(0.0)
        for slot in range(config.n_slots):
            is_open = (pinned < 0 or slot == pinned) and state.slots[slot].state == _IDLE
            if is_open and state.sequences[slot].length > 0:
                share = np.float32(common_prefix(state, slot, config.n_slots)) / length
                if share > best and share > config.slot_prompt_similarity:
                    best = share
                    found = slot
        if found >= 0 and state.sequences[found].length > 0:
            kept = best * length / np.float32(state.sequences[found].length)
            renews = bool(kept < np.float32(0.5))
    if found < 0:
        found = _least_recent(state)
        renews = found >= 0
    if renews:
        _renew(state, found)
    return found
