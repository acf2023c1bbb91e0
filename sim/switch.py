"""A fork on the engine's state: arrays with room for both settings, and the switch from one to the other."""

from __future__ import annotations

import numpy as np

from sim.engine.layout import Cache, Rows, State
from sim.engine.loop import vacate
from sim.engine.record import Kind
from sim.engine.setup import LogSizes, make_state
from sim.setting import Setting
from sim.workload import Requests


def first_state(setting: Setting, requests: Requests, sizes: LogSizes | None = None) -> State:
    """State of a run before its first step, with room for what its fork brings.

    Parameters
    ----------
    setting : Setting
    requests : Requests
    sizes : LogSizes, optional
        How much the logs hold.
    """
    refused = np.zeros(len(requests), np.bool_)
    refused[[i for i, _ in setting.refusals]] = True
    later = setting.later or setting
    accepts = np.concatenate([setting.accepts, later.accepts]) if setting.later else setting.accepts
    shares = Cache.SHARED in (setting.config.cache, later.config.cache)
    widest = setting.config._replace(
        max_num_seqs=max(setting.config.max_num_seqs, later.config.max_num_seqs),
        cache=int(Cache.SHARED) if shares else setting.config.cache,
    )
    state = make_state(widest, setting.cost, requests, refused, accepts, sizes)
    _write_settings(state, setting)
    return state


def switch(state: State, setting: Setting, time_s: float) -> None:
    """Go on with the settings of the fork, which the record's next event says; needs room for an event per slot.

    Parameters
    ----------
    state : State
        Between two steps; changed in place.
    setting : Setting
        Of the run, with `later`.
    time_s : float
        Time of the fork [s].

    Notes
    -----
    Nothing that is under way is undone. Fewer slots: nobody joins until enough have left. Static batching: those who
    run are its first batch. Continuous batching: finished rows that are held leave at once. Prefix cache off: nothing
    cached is found any more, blocks that are shared stay so until their users leave. Prefix cache on: the blocks of
    those who run enter it when they next fill one, what had left before is not in it. Waiting line: who has arrived by
    the first step with the changes was let in or refused by the limit before.
    """
    later, count = setting.later, state.count
    assert later, "a run without a fork has nothing to switch to"
    if count.held > 0 and not later.config.is_static:
        vacate(state)
    if setting.config.cache == Cache.SHARED and later.config.cache == Cache.OFF:
        _forget_contents(state)
    _redraft(state.requests, later.config.num_speculative_tokens)
    _write_settings(state, later)
    state.config.accepts_at += len(setting.accepts)
    count.now_s = max(float(count.now_s), time_s)  # a static batch that waited to be full can begin now, not before
    _emit_fork(state)


def _write_settings(state: State, setting: Setting) -> None:
    for name, value in setting.config._asdict().items():
        setattr(state.config, name, value)
    for name, value in setting.cost._asdict().items():
        setattr(state.cost, name, value)
    state.config.num_accepts = len(setting.accepts)


def _forget_contents(state: State) -> None:
    """Take every hash from its block; users and the order of the free queue stay."""
    _fill(state.blocks, content=-1, older=0, newer=0)
    _fill(state.contents, first=0, last=0)
    _fill(state.requests, hashed=0)
    state.count.cached = 0


def _fill(rows: Rows, **values: int) -> None:
    for name, value in values.items():
        if isinstance(rows, np.ndarray):
            rows[name] = value
            continue
        for row in rows:
            setattr(row, name, value)


def _redraft(requests: Rows, drafts: int) -> None:
    """Give those who were to verify drafts in the next step so many."""
    if isinstance(requests, np.ndarray):
        requests["drafts"][requests["drafts"] > 0] = drafts
        return
    for request in requests:
        request.drafts = drafts if request.drafts > 0 else 0


def _emit_fork(state: State) -> None:
    place = int(state.count.events)
    fields = {"kind": int(Kind.FORK), "request": -1, "a": 0, "b": 0, "seconds": 0.0}
    event = state.events[place]
    for name, value in fields.items():
        if isinstance(state.events, np.ndarray):
            event[name] = value
        else:
            setattr(event, name, value)
    state.count.events += 1
