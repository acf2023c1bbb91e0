"""Static batching, the textbook axis: a batch is formed when the server is idle and ends when its longest ends.

As padded generate loops do it: all prompts of the batch run in one step, padded to the longest; a finished
row keeps its slot and, when padded, is computed on until the batch ends.

MODEL: a static batch's prompts run in one step whatever the token budget, and padding costs compute but no KV.
MODEL: a finished row that is computed on attends to the context it ended with.
"""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.layout import State, Status
from sim.engine.queues import next_arrival_s, waiting_at

_FINISHED = int(Status.FINISHED)


@part
def opens_at(state: State) -> float:
    """Time at which the idle server may form a batch [s]: at once when full, else after the wait for one."""
    config = state.config
    count = state.count
    full = config.num_seats
    if 0 < config.max_waiting < full:
        full = config.max_waiting
    if count.waiting >= full or config.static_wait_s == 0.0:
        return float(count.now_s)
    if next_arrival_s(state) >= 1e300:
        return float(count.now_s)
    return float(state.requests[waiting_at(state, 0)].arrival_s + config.static_wait_s)


@part
def hold(state: State) -> None:
    """Count what computing the batch's finished rows on costs."""
    count = state.count
    if state.config.drops_finished_rows:
        return
    for i in range(count.running):
        request = state.requests[state.seats[i].running]
        if request.status == _FINISHED:
            count.padding += 1
            count.decode_context += request.known


@leaf
def pad_prompts(state: State, longest: int, longest_pairs: float) -> None:
    """Count the tokens by which the new batch's prompts are padded to the longest."""
    count = state.count
    count.padding += longest * count.admitted - count.tokens
    count.prefill_pairs = longest_pairs * count.admitted


@leaf
def last_active(state: State) -> int:
    """Position of the newest row that still works: what memory pressure preempts."""
    count = state.count
    position = count.running - 1
    while state.requests[state.seats[position].running].status == _FINISHED:
        position -= 1
    return int(position)
