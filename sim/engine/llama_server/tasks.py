"""Tasks: taken from the queue, launched in a slot or deferred; a slot that is released takes one of the deferred."""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.llama_server.choice import get_available_slot
from sim.engine.llama_server.layout import SlotState, State, Status
from sim.engine.llama_server.ram import prompt_clear, prompt_save
from sim.engine.llama_server.record import SlotKind, has_room
from sim.engine.llama_server.sequences import set_beginning
from sim.engine.llama_server.shared import (
    emit,
    forget_waiting,
    next_arrival_s,
    pop_next,
    push_back,
    release_followers,
    remove_waiting,
    waiting_at,
)
from sim.engine.record import Kind

_IDLE = int(SlotState.IDLE)
_STARTED = int(SlotState.STARTED)
_DEFERRED = int(Status.DEFERRED)
_PROCESSING = int(Status.PROCESSING)
_FINISHED = int(Status.FINISHED)
_CANCELLED = int(Status.CANCELLED)
_FINISH = int(Kind.FINISH)
_LAUNCH = int(SlotKind.LAUNCH)
_DEFER = int(SlotKind.DEFER)
_CLEAR = int(SlotKind.CLEAR)
_STOP = int(SlotKind.STOP)


@leaf
def _defer(state: State, index: int) -> None:
    request = state.requests[index]
    push_back(state, index)
    request.status = _DEFERRED
    if request.id_slot >= 0:
        state.count.pinned += 1
    emit(state, _DEFER, index, 0, request.id_slot)


@part
def _save_idle(state: State) -> None:
    """Save every idle slot to host RAM, and clear it if the pool is shared (``--cache-idle-slots``)."""
    config = state.config
    if not config.cache_idle_slots or config.cache_ram_bytes == 0:
        return
    for slot in range(config.n_slots):
        if state.slots[slot].state == _IDLE and state.sequences[slot].length > 0:
            prompt_save(state, slot)
            if config.kv_unified:
                prompt_clear(state, slot, _CLEAR)


@leaf
def _launch(state: State, index: int, slot: int) -> None:
    count = state.count
    request = state.requests[index]
    row = state.slots[slot]
    row.state = _STARTED
    row.request = index
    row.i_batch = -1
    request.slot = slot
    request.status = _PROCESSING
    request.launched_s = count.now_s
    request.last_step = -2
    count.busy += 1
    count.admitted += 1
    emit(state, _LAUNCH, index, 0, slot)


@part
def _handle(state: State, index: int) -> None:
    """Launch a task in the slot chosen for it, or defer it."""
    request = state.requests[index]
    set_beginning(state, state.config.n_slots, request.text, request.prompt)
    slot = get_available_slot(state, index)
    if slot < 0 or state.slots[slot].state != _IDLE:
        _defer(state, index)
        return
    _launch(state, index, slot)
    _save_idle(state)


@part
def _pop_deferred(state: State, slot: int) -> None:
    """Put one deferred task in front of the task queue: the first that is pinned to the slot, else the head."""
    count = state.count
    if count.waiting == 0:
        return
    chosen = 0
    if count.pinned > 0:
        for position in range(count.waiting):
            if state.requests[waiting_at(state, position)].id_slot == slot:
                chosen = position
                break
    index = waiting_at(state, chosen)
    remove_waiting(state, chosen)
    if state.requests[index].id_slot >= 0:
        count.pinned -= 1
    state.lines[count.returned].returned = index
    count.returned += 1


@part
def release(state: State, slot: int, status: int, time_s: float) -> None:
    """End the request of a slot; what the slot holds stays."""
    count = state.count
    row = state.slots[slot]
    index = row.request
    request = state.requests[index]
    if status == _FINISHED:
        emit(state, _FINISH, index, state.sequences[slot].length, request.generated)
    else:
        emit(state, _STOP, index, status, slot)
    request.status = status
    request.finish_s = time_s
    count.releases += 1
    row.released = count.releases
    row.state = _IDLE
    row.request = -1
    row.i_batch = -1
    count.busy -= 1
    _pop_deferred(state, slot)
    release_followers(state, index, time_s)


@part
def _cancel(state: State, index: int) -> None:
    """Let go of a request whose client has gone away."""
    count = state.count
    request = state.requests[index]
    if request.status == _PROCESSING:
        release(state, request.slot, _CANCELLED, count.now_s)
    elif request.status == _DEFERRED:
        forget_waiting(state, index)
        if request.id_slot >= 0:
            count.pinned -= 1
        request.status = _CANCELLED
        request.finish_s = count.now_s
        emit(state, _STOP, index, _CANCELLED, -1)
        release_followers(state, index, count.now_s)


@leaf
def next_cancel_s(state: State) -> float:
    """Time at which the next client goes away [s], infinity if none will."""
    config = state.config
    count = state.count
    if count.next_cancel >= config.num_cancels:
        return 1e300
    return state.requests[state.lines[count.next_cancel].cancel].cancel_s


@part
def _next_task(state: State) -> int:
    """Take the next request from the task queue, those that releases returned first; -1 if it is empty."""
    count = state.count
    if count.returned > 0:
        count.returned -= 1
        return state.lines[count.returned].returned
    time_s = next_arrival_s(state)
    if time_s <= count.now_s:
        return pop_next(state, time_s)
    return -1


@part
def take_tasks(state: State) -> bool:
    """Handle everything in the task queue, then the clients that have gone away; False if the logs are full."""
    count = state.count
    while has_room(state):
        index = _next_task(state)
        if index >= 0:
            _handle(state, index)
        elif next_cancel_s(state) <= count.now_s:
            count.next_cancel += 1
            _cancel(state, state.lines[count.next_cancel - 1].cancel)
        else:
            return True
    return False
