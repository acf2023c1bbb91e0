"""Copies of whole sequences in host RAM: llama.cpp's server_prompt_cache."""

from __future__ import annotations

import numpy as np

from sim.engine.compiled import leaf, part
from sim.engine.llama_server.layout import SlotState, State
from sim.engine.llama_server.record import SlotKind
from sim.engine.llama_server.sequences import begins_with, common_prefix, copy_sequence, token_at, write_out
from sim.engine.llama_server.shared import emit

_IDLE = int(SlotState.IDLE)
_SAVE = int(SlotKind.SAVE)
_DROP = int(SlotKind.DROP)
_LOAD = int(SlotKind.LOAD)
_CLEAR = int(SlotKind.CLEAR)


@leaf
def first_copy(state: State) -> int:
    """Row of the oldest copy; the one before it is the prompt of the task in hand."""
    return state.config.n_slots + 1


@leaf
def hold_cells(state: State, slot: int, cells: int) -> None:
    """Let a slot occupy so many cells of the pool."""
    row = state.slots[slot]
    state.count.cells += cells - row.kv
    row.kv = cells


@leaf
def prompt_clear(state: State, slot: int, kind: int) -> None:
    """Forget what a slot holds."""
    row = state.sequences[slot]
    if row.length > 0:
        emit(state, kind, -1, row.length, slot)
    row.length = 0
    row.head = 0
    hold_cells(state, slot, 0)


@part
def _remove(state: State, place: int) -> int:
    """Take one copy out of the list; return its tokens."""
    count = state.count
    tokens = state.sequences[place].length
    for row in range(place, first_copy(state) + count.copies - 1):
        copy_sequence(state, row, row + 1)
    count.copies -= 1
    count.ram_tokens -= tokens
    return tokens


@part
def prompt_save(state: State, slot: int) -> None:
    """Copy what a slot holds, unless a copy contains it; copies that it contains go, then the oldest over the limit."""
    config = state.config
    count = state.count
    first = first_copy(state)
    length = state.sequences[slot].length
    if length == 0:
        return
    for place in range(first, first + count.copies):
        if begins_with(state, place, slot):
            return
    limit = config.cache_ram_bytes
    if 0 < limit < length * config.kv_bytes_per_token:
        return
    before = count.copies
    before_tokens = count.ram_tokens
    place = first
    while place < first + count.copies:
        if begins_with(state, slot, place):
            _remove(state, place)
        else:
            place += 1
    while count.copies > 0 and 0 < limit < (count.ram_tokens + length) * config.kv_bytes_per_token:
        _remove(state, first)
    while first + count.copies >= len(state.sequences):
        _remove(state, first)
    if count.copies < before:
        emit(state, _DROP, -1, before - count.copies, before_tokens - count.ram_tokens)
    copy_sequence(state, first + count.copies, slot)
    count.copies += 1
    count.ram_tokens += length
    emit(state, _SAVE, -1, length, slot)


@leaf
def _can_beat(state: State, place: int, common: int) -> bool:
    """Say, from two tokens, whether a copy may keep a quarter and have more in common with the prompt than `common`."""
    prompt = state.config.n_slots
    last = max(common, state.sequences[place].length // 4 - 2)
    if last >= state.sequences[prompt].length or common >= state.sequences[place].length:
        return False
    return token_at(state, place, last) == token_at(state, prompt, last)


@part
def _best_copy(state: State, slot: int) -> int:
    """Copy with both a larger share kept and a larger share of the prompt than the slot has, -1 if there is none."""
    config = state.config
    count = state.count
    held = state.sequences[slot].length
    wanted = np.float32(state.sequences[config.n_slots].length)
    most = common_prefix(state, slot, config.n_slots)
    kept = np.float32(most) / np.float32(held) if held > 0 else np.float32(-1.0)
    similar = np.float32(most) / wanted
    best = -1
    first = first_copy(state)
    for place in range(first, first + count.copies):
        if not _can_beat(state, place, most):
            continue
        common = common_prefix(state, place, config.n_slots)
        share = np.float32(common) / np.float32(state.sequences[place].length)
        match = np.float32(common) / wanted
        if share >= np.float32(0.25) and share > kept and match > similar:
            most = common
            kept = share
            similar = match
            best = place
    return best


@part
def prompt_load(state: State, slot: int) -> None:
    """Move the best copy for the task in hand into a slot; if the pool has no room for it, clear the slot instead."""
    config = state.config
    count = state.count
    place = _best_copy(state, slot)
    if place < 0:
        return
    length = state.sequences[place].length
    if config.kv_unified and count.cells - state.slots[slot].kv + length > config.n_ctx:
        prompt_clear(state, slot, _CLEAR)
        return
    copy_sequence(state, slot, place)
    _remove(state, place)
    hold_cells(state, slot, length)
    emit(state, _LOAD, -1, length, slot)
    if state.slots[slot].state != _IDLE:
        write_out(state, slot, 0, 0)
