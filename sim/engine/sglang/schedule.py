"""One scheduling pass: the last batch joins the running one, then prefill, and only without it decode.

Mirrors get_next_batch_to_run of SGLang 0.5.23 in its order of side effects, which decides what is evicted.
"""

from __future__ import annotations

from sim.engine.compiled import leaf
from sim.engine.sglang.decode import decode
from sim.engine.sglang.layout import State
from sim.engine.sglang.pool import checkpoint
from sim.engine.sglang.prefill import prefill
from sim.engine.sglang.record import Mode, tell_running

_IDLE = int(Mode.IDLE)
_EXTEND = int(Mode.EXTEND)


@leaf
def _clear_totals(state: State) -> None:
    count = state.count
    count.prefill = 0
    count.decode = 0
    count.sampled = 0
    count.admitted = 0
    count.regular = 0
    count.decode_context = 0.0
    count.prefill_context = 0.0
    count.prefill_pairs = 0.0


@leaf
def _keep_chunk(state: State, index: int) -> None:
    """Put the chunk that was computed into the tree."""
    request = state.requests[index]
    if request.end > request.prefix:
        checkpoint(state, request, index, int(request.end))
        request.prefix = request.end


@leaf
def _merge_last(state: State, chunk: int) -> None:
    """Let the last extend batch, but for finished and unfinished prompts, join the running batch at its end."""
    count = state.count
    was_empty = count.running == 0
    joined = 0
    for i in range(count.batch):
        index = state.seats[i].batch
        is_left_out = state.requests[index].is_finished != 0 or index == count.last_chunk
        if not is_left_out and index != chunk:
            state.seats[count.running].running = index
            count.running += 1
            joined += 1
    # The flag lives on the batch object: it goes when somebody leaves, and when the object is replaced.
    if joined < count.batch or (was_empty and joined > 0):
        count.is_full = 0
    if joined > 0:
        count.has_moved = 1


@leaf
def _drop_finished(state: State) -> None:
    count = state.count
    kept = 0
    for i in range(count.running):
        index = state.seats[i].running
        if state.requests[index].is_finished == 0:
            state.seats[kept].running = index
            kept += 1
    if kept < count.running:
        count.is_full = 0
        count.has_moved = 1
    count.running = kept


@leaf
def schedule(state: State) -> None:
    """Decide what this step runs; `count.mode` says it, `seats` holds it."""
    config = state.config
    count = state.count
    _clear_totals(state)
    chunk = int(count.chunk)
    if chunk >= 0:
        _keep_chunk(state, chunk)
    if count.last_mode >= _EXTEND:
        _merge_last(state, chunk)
    _drop_finished(state)
    mode = _IDLE
    if count.hold > 0:
        count.hold -= 1
    else:
        mode = prefill(state)
    if mode == _IDLE and count.running > 0:
        mode = decode(state)
    if config.prefill_decode_interval > 0 and mode >= _EXTEND:
        count.hold = config.prefill_decode_interval
    count.mode = mode
    tell_running(state)
