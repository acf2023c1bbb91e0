"""From a Workload to its Requests: arrivals, lengths, what they share, who waits for whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sim.errors import ScenarioError
from sim.scenario import Workload
from sim.workload.draws import (
    LONGEST_TOKENS,
    Floats,
    Ints,
    draw_gaps,
    draw_groups,
    draw_outputs,
    draw_pairs,
    draw_prompts,
)
from sim.workload.requests import Requests
from sim.workload.trace import Trace


def make_requests(workload: Workload, trace: Trace | None = None) -> Requests:
    """Requests of a workload: the same for the same workload and trace, whatever the server.

    Parameters
    ----------
    workload : Workload
        Checked settings.
    trace : Trace, optional
        Sent as recorded with load=trace; with another load, lengths are drawn from its pairs.

    Raises
    ------
    ScenarioError
        If the workload names a trace that was not given, or the window of the trace is empty.

    Notes
    -----
    Sessions are numbered one after the other, so that request k + 1 is the turn after request k.
    """
    if workload.trace and trace is None:
        raise ScenarioError("trace", workload.trace, "a trace that was uploaded before")
    if trace is not None:
        trace = _window(workload, trace)
    if workload.load == "trace" and trace is not None:
        return _recorded(workload, trace)
    prompts, outputs = _lengths(workload, trace)
    if workload.session != "none":
        return _sessions(workload, prompts, outputs)
    return _single(workload, _arrivals(workload), prompts, outputs)


def with_rate_from(requests: Requests, time_s: float, factor: float) -> Requests:
    """Requests whose gaps between arrivals after a time [s] are divided by `factor`: the same draws at another rate.

    Notes
    -----
    Order and what a request asks for stay; requests that follow the end of another are not moved.
    """
    if factor == 1:
        return requests
    arrivals = requests.arrival_s
    moved = np.where(arrivals > time_s, time_s + (arrivals - time_s) / factor, arrivals)
    return replace(requests, arrival_s=moved)


def _window(workload: Workload, trace: Trace) -> Trace:
    end = np.inf if workload.trace_to_s is None else workload.trace_to_s
    part = trace.between(workload.trace_from_s, end)
    if part.rows == 0:
        last_s = float(trace.arrival_s[-1])
        raise ScenarioError(
            "trace_from_s", workload.trace_from_s, f"a window with requests; the last is at {last_s:g} s"
        )
    return part


def _recorded(workload: Workload, trace: Trace) -> Requests:
    """The trace's own requests; equal leading blocks of a trace with hashes are text of the first that had them."""
    arrivals = (trace.arrival_s - workload.trace_from_s) / workload.trace_scale
    prompts, outputs = trace.prompt_tokens.astype(np.int64), trace.output_tokens.astype(np.int64)
    if trace.hash_ids is None:
        return _single(workload, arrivals, prompts, outputs)
    if workload.shared_prefix_tokens:
        raise ScenarioError("shared_prefix_tokens", workload.shared_prefix_tokens, "0: this trace says what is shared")
    parent, common = trace.hash_ids.sharing(prompts)
    return _columns(workload, arrivals, prompts, outputs, parent=parent, common=common)


def _lengths(workload: Workload, trace: Trace | None) -> tuple[Ints, Ints]:
    """Prompts (before what is shared) and outputs: listed, else drawn from a trace's pairs, else from distributions."""
    count, seed = workload.num_requests, workload.seed
    if trace is not None:
        pairs = draw_pairs(seed, count, trace.rows)
        prompts, outputs = (a[pairs].astype(np.int64) for a in (trace.prompt_tokens, trace.output_tokens))
    else:
        prompts, outputs = draw_prompts(workload, count), draw_outputs(workload, count)
    order = np.argsort(workload.arrival_list, kind="stable") if workload.arrival_list else slice(None)
    if workload.prompt_list:
        prompts = np.array(workload.prompt_list, np.int64)[order]
    if workload.output_list:
        outputs = np.array(workload.output_list, np.int64)[order]
    return prompts, outputs


def _arrivals(workload: Workload) -> Floats:
    """Arrival of each request [s], in order; nan where a user's own request has to end first (closed loop)."""
    count = workload.num_requests
    if workload.arrival_list:
        return np.sort(np.array(workload.arrival_list, np.float64))
    if workload.load == "open":
        return _open_arrivals(workload, count, 1 / workload.rate)
    arrivals = np.zeros(count)
    if workload.load == "closed":
        arrivals[workload.concurrency :] = np.nan
    return arrivals


def _open_arrivals(workload: Workload, count: int, mean_gap_s: float) -> Floats:
    arrivals: Floats = np.cumsum(draw_gaps(workload, count)) * mean_gap_s
    if workload.rescale_arrivals and arrivals[-1] > 0:
        arrivals *= count * mean_gap_s / arrivals[-1]
    return arrivals


def _single(workload: Workload, arrivals: Floats, prompts: Ints, outputs: Ints) -> Requests:
    """Requests on their own: a shared text in front of some; in a closed loop the user's last has to end first."""
    groups = draw_groups(workload, len(arrivals))
    common = np.where(groups >= 0, workload.shared_prefix_tokens, 0)
    after = np.where(np.isnan(arrivals), np.arange(len(arrivals)) - workload.concurrency, -1)
    gap_s = np.where(after >= 0, workload.think_time_s, 0.0)
    roots = _root_count(workload)
    return _columns(
        workload,
        arrivals,
        common + prompts,
        outputs,
        parent=groups,
        common=common,
        after=after,
        gap_s=gap_s,
        roots=roots,
    )


def _sessions(workload: Workload, added: Ints, outputs: Ints) -> Requests:
    """Chats and agents: each turn's prompt is the turn before, its outputs and something new."""
    index = np.arange(workload.num_requests)
    session, turn = np.divmod(index, workload.turns)
    groups = draw_groups(workload, int(session[-1]) + 1)
    is_first = turn == 0
    shared = np.where(is_first & (groups[session] >= 0), workload.shared_prefix_tokens, 0)
    if workload.session == "agent":
        added = np.where(is_first, added, workload.tool_output_tokens)
    text = np.cumsum(added + shared + outputs)
    text -= np.where(session > 0, text[np.maximum(session * workload.turns - 1, 0)], 0)
    roots = _root_count(workload)
    parent = np.where(is_first, groups[session], roots + index - 1)
    common = np.where(is_first, shared, np.roll(text, 1))
    arrivals, after, gap_s = _session_times(workload, session, is_first)
    return _columns(
        workload, arrivals, text - outputs, outputs, parent=parent, common=common, after=after, gap_s=gap_s, roots=roots
    )


def _session_times(workload: Workload, session: Ints, is_first: NDArray[np.bool_]) -> tuple[Floats, Ints, Floats]:
    """Sessions start at rate / turns (open), all at once (burst), or when their user's last one ended (closed)."""
    index, count = np.arange(len(session)), int(session[-1]) + 1
    starts = np.zeros(count)
    if workload.load == "open":
        starts = _open_arrivals(workload, count, workload.turns / workload.rate)
    is_user_back = is_first & (workload.load == "closed") & (session >= workload.concurrency)
    last_turn = (session - workload.concurrency + 1) * workload.turns - 1
    after = np.where(is_first, np.where(is_user_back, last_turn, -1), index - 1)
    gap_s = np.where(is_first, np.where(is_user_back, workload.think_time_s, 0.0), workload.turn_gap_s)
    return np.where(after >= 0, np.nan, starts[session]), after, gap_s


def _root_count(workload: Workload) -> int:
    return workload.prefix_groups if workload.shared_prefix_tokens else 0


def _int32(lengths: NDArray[np.int64 | np.float64]) -> NDArray[np.int32]:
    return np.minimum(lengths, LONGEST_TOKENS).astype(np.int32)


def _columns(
    workload: Workload,
    arrivals: Floats,
    prompts: Ints,
    outputs: Ints,
    *,
    parent: Ints,
    common: Ints,
    after: Ints | None = None,
    gap_s: Floats | None = None,
    roots: int = 0,
) -> Requests:
    return Requests(
        arrival_s=arrivals,
        prompt_tokens=_int32(prompts),
        output_tokens=_int32(outputs),
        max_new_tokens=_int32(np.ceil(outputs * workload.max_new_factor)),
        parent=parent.astype(np.int32),
        common_tokens=_int32(common),
        root_tokens=np.full(roots, workload.shared_prefix_tokens, np.int32),
        after=(np.full(len(arrivals), -1) if after is None else after).astype(np.int32),
        gap_s=np.zeros(len(arrivals)) if gap_s is None else gap_s,
    )
