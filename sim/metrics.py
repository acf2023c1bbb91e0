"""Metrics of a run as vLLM's `bench serve` defines them: a row of METRICS is a name, its meaning and its formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.cost import BOUNDS
from sim.scenario import Slo

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Distribution = dict[str, float | None]
PERCENTILES = (50, 90, 95, 99)


@dataclass(frozen=True, slots=True)
class Later:
    """What a fork changed: the slots from its first step on, and the SLO of requests that arrive from its time on."""

    step: int
    time_s: float
    slots: int
    slo: Slo


@dataclass(frozen=True)
class Measured:
    """What metrics are made of: N requests, S steps, and the gaps between consecutive outputs of all requests.

    Notes
    -----
    | column | shape, unit |
    |---|---|
    | arrival_s, scheduled_s, first_s, finish_s | N, s; nan: never |
    | prompt_tokens, output_tokens, hit_tokens, preemptions | N |
    | is_finished, is_rejected | N |
    | gap_s, gap_counts | s, and how often each occurred |
    | step_start_s, step_duration_s | S, s |
    | active, held, waiting | S; slots whose request prefills or decodes, slots of finished requests, waiting line |
    | bound | S; index into sim.cost.BOUNDS |
    | computed, padding | S; tokens of requests, and tokens computed for nobody (static batches) |
    """

    arrival_s: Floats
    scheduled_s: Floats
    first_s: Floats
    finish_s: Floats
    prompt_tokens: Ints
    output_tokens: Ints
    hit_tokens: Ints
    preemptions: Ints
    is_finished: Bools
    is_rejected: Bools
    gap_s: Floats
    gap_counts: Ints
    step_start_s: Floats
    step_duration_s: Floats
    active: Ints
    held: Ints
    waiting: Ints
    bound: Ints
    computed: Ints
    padding: Ints
    slots: int
    slo: Slo
    later: Later | None = None

    @cached_property
    def duration_s(self) -> float:
        """First arrival to last output, ramp and drain included [s]; nan if nothing finished."""
        if not self.is_finished.any():
            return float("nan")
        return float(self.finish_s[self.is_finished].max() - np.nanmin(self.arrival_s))

    @cached_property
    def ttft_s(self) -> Floats:
        """Time to first token of finished requests [s]."""
        return (self.first_s - self.arrival_s)[self.is_finished]

    @cached_property
    def tpot_s(self) -> Floats:
        """Time per output token after the first, of finished requests [s]; 0 if there is but one."""
        later = np.maximum(self.output_tokens - 1, 1)[self.is_finished]
        return (self.finish_s - self.first_s)[self.is_finished] / later

    @cached_property
    def good_count(self) -> int:
        """Finished requests that meet every SLO."""
        return int(np.count_nonzero(self.is_good(self.tpot_s)))

    def is_good(self, tpot_s: Floats) -> Bools:
        """Which finished requests meet every SLO, each with the time per output token [s] that a tool gives it."""
        ttft_ms, tpot_ms = self.ttft_s * 1000, tpot_s * 1000
        is_good = (ttft_ms <= self.slo.slo_ttft_ms) & (tpot_ms <= self.slo.slo_tpot_ms)
        if self.later:
            slo, is_later = self.later.slo, self.arrival_s[self.is_finished] >= self.later.time_s
            is_good = np.where(is_later, (ttft_ms <= slo.slo_ttft_ms) & (tpot_ms <= slo.slo_tpot_ms), is_good)
        return is_good

    def total(self, column: Ints) -> float:
        """Sum over finished requests."""
        return float(column[self.is_finished].sum(dtype=np.int64))

    def slot_share(self, slot_seconds: float) -> float | None:
        """Share of all slot-seconds of the run."""
        return ratio(slot_seconds, self.slots * self.duration_s + self._slot_seconds_of_fork())

    def _slot_seconds_of_fork(self) -> float:
        """Slot-seconds that a fork adds or takes; a slot that it takes away counts while a request is still in it."""
        if not self.later:
            return 0.0
        step, slots = self.later.step, self.later.slots
        before_s = float(self.step_start_s[step - 1] + self.step_duration_s[step - 1]) if step else 0.0
        from_s = max(self.later.time_s, before_s, float(np.nanmin(self.arrival_s)))
        end_s = float(self.finish_s[self.is_finished].max(initial=from_s))
        over = np.maximum(self.active[step:] + self.held[step:] - slots, 0)
        return (slots - self.slots) * max(end_s - from_s, 0.0) + float(over @ self.step_duration_s[step:])


@dataclass(frozen=True, slots=True)
class Metric:
    """One row: what a metric is, what drives it (parameter names), and its formula."""

    name: str
    unit: str
    meaning: str
    driven_by: tuple[str, ...]
    compute: Callable[[Measured], Any]


def summary(measured: Measured) -> dict[str, Any]:
    """All metrics by name, JSON-able: numbers, distributions (mean and percentiles); None where undefined."""
    return {metric.name: metric.compute(measured) for metric in METRICS}


def ratio(part: float, whole: float) -> float | None:
    """Part of a whole; None if there is nothing to be a part of."""
    return part / whole if whole > 0 else None


def distribution_of(values: Floats) -> Distribution:
    """Mean and percentiles, by linear interpolation as NumPy does."""
    if len(values) == 0:
        return named([None] * (1 + len(PERCENTILES)))
    ordered = np.sort(values)
    position = np.array(PERCENTILES) / 100 * (len(values) - 1)
    lower = position.astype(np.int64)
    upper = np.minimum(lower + 1, len(values) - 1)
    percentiles = ordered[lower] + (ordered[upper] - ordered[lower]) * (position - lower)
    return named([values.mean(), *percentiles])


def named(values: Sequence[float | None]) -> Distribution:
    """Mean and percentiles by name."""
    names = ("mean", *(f"p{p}" for p in PERCENTILES))
    return {name: None if value is None else float(value) for name, value in zip(names, values, strict=True)}


def weighted_distribution(values: Floats, counts: Ints) -> Distribution:
    """`distribution_of` of values that occur `counts` times, without writing them out."""
    order = np.argsort(values, kind="stable")
    order = order[counts[order] > 0]
    values, ends = values[order], np.cumsum(counts[order], dtype=np.int64)
    if len(values) == 0:
        return distribution_of(values)
    last = ends[-1] - 1
    position = np.array(PERCENTILES) / 100 * last
    lower, upper = (
        values[np.searchsorted(ends, np.minimum(rank, last), side="right")]
        for rank in (np.floor(position), np.floor(position) + 1)
    )
    percentiles = lower + (upper - lower) * (position - np.floor(position))
    return named([values @ np.diff(ends, prepend=0) / ends[-1], *percentiles])


def _idle_slot_share(m: Measured) -> float | None:
    """One minus the slot-seconds in which the slot's request prefills or decodes: empty and held slots are idle."""
    busy = m.slot_share(float(m.active @ m.step_duration_s))
    return None if busy is None else 1 - busy


def _held_slot_share(m: Measured) -> float | None:
    """Slot-seconds of finished requests while somebody waits; an arrival during a step counts from then on."""
    steps = np.flatnonzero(m.held > 0)
    start_s, end_s = m.step_start_s[steps], (m.step_start_s + m.step_duration_s)[steps]
    arrivals = np.append(np.sort(m.arrival_s[~m.is_rejected & ~np.isnan(m.arrival_s)]), np.inf)
    next_arrival_s = arrivals[np.searchsorted(arrivals, start_s, side="right")]
    from_s = np.where(m.waiting[steps] > 0, start_s, np.minimum(next_arrival_s, end_s))
    return m.slot_share(float(m.held[steps] @ (end_s - from_s)))


def _hit_share(m: Measured) -> float | None:
    is_scheduled = ~np.isnan(m.scheduled_s)
    return ratio(float(m.hit_tokens[is_scheduled].sum()), float(m.prompt_tokens[is_scheduled].sum(dtype=np.int64)))


def _bound_share(m: Measured) -> dict[str, float | None]:
    seconds = np.bincount(m.bound, m.step_duration_s, minlength=len(BOUNDS))
    return {name: ratio(float(s), float(seconds.sum())) for name, s in zip(BOUNDS, seconds, strict=True)}


def _padding_share(m: Measured) -> float | None:
    padding, computed = float(m.padding.sum(dtype=np.int64)), float(m.computed.sum(dtype=np.int64))
    return ratio(padding, padding + computed)


def _later_tokens(m: Measured) -> Floats:
    return m.tpot_s[m.output_tokens[m.is_finished] > 1]


LENGTHS = ("prompt_tokens", "output_tokens")
LOAD = ("rate", "burstiness", "concurrency")
HARDWARE = ("gpu", "model", "weights", "tensor_parallel_size")
SCHEDULING = ("max_num_seqs", "max_num_batched_tokens", "batching", "prefill")

# fmt: off
METRICS: tuple[Metric, ...] = (
    Metric("ttft_s", "s", "Time to first token: from arrival, waiting and prefill",
           (*LOAD, "prompt_tokens", "prefix_cache", *SCHEDULING, *HARDWARE), lambda m: distribution_of(m.ttft_s)),
    Metric("tpot_s", "s", "Time per output token after the first, one mean per request of two tokens or more",
           ("gpu", "weights", "kv_cache_dtype", "max_num_seqs", *LENGTHS), lambda m: distribution_of(_later_tokens(m))),
    Metric("itl_s", "s", "Inter-token latency: every gap between consecutive outputs of all requests",
           ("gpu", "weights", "max_num_seqs", "max_num_batched_tokens", "prefill", "num_speculative_tokens"),
           lambda m: weighted_distribution(m.gap_s, m.gap_counts)),
    Metric("e2e_s", "s", "From arrival to last token",
           (*LOAD, "output_tokens", *SCHEDULING, *HARDWARE),
           lambda m: distribution_of((m.finish_s - m.arrival_s)[m.is_finished])),
    Metric("queue_s", "s", "From arrival until first scheduled",
           (*LOAD, "max_num_seqs", "batching", "kv", "num_gpu_blocks", "gpu_memory_utilization"),
           lambda m: distribution_of((m.scheduled_s - m.arrival_s)[m.is_finished])),
    Metric("prefill_s", "s", "From first scheduled to first token",
           ("prompt_tokens", "prefix_cache", "max_num_batched_tokens", "prefill", "gpu"),
           lambda m: distribution_of((m.first_s - m.scheduled_s)[m.is_finished])),
    Metric("output_tokens_per_s", "tokens/s", "Output tokens of finished requests / duration",
           ("rate", "max_num_seqs", "num_gpu_blocks", "kv_cache_dtype", *HARDWARE),
           lambda m: ratio(m.total(m.output_tokens), m.duration_s)),
    Metric("total_tokens_per_s", "tokens/s", "Prompt and output tokens of finished requests / duration",
           ("rate", *LENGTHS, "max_num_seqs", *HARDWARE),
           lambda m: ratio(m.total(m.prompt_tokens) + m.total(m.output_tokens), m.duration_s)),
    Metric("requests_per_s", "requests/s", "Finished requests / duration",
           ("rate", "max_num_seqs", *HARDWARE), lambda m: ratio(m.is_finished.sum(), m.duration_s)),
    Metric("goodput_rps", "requests/s", "Finished requests that meet every SLO / duration",
           ("slo_ttft_ms", "slo_tpot_ms", *LOAD, *SCHEDULING, *HARDWARE),
           lambda m: ratio(m.good_count, m.duration_s)),
    Metric("slo_attainment", "", "Requests that meet every SLO / requests finished or rejected",
           ("slo_ttft_ms", "slo_tpot_ms", "max_waiting", *LOAD, *SCHEDULING),
           lambda m: ratio(m.good_count, float(m.is_finished.sum() + m.is_rejected.sum()))),
    Metric("preemptions", "", "Times a running request lost its KV blocks to another",
           ("num_gpu_blocks", "gpu_memory_utilization", "max_num_seqs", "output_tokens", "watermark"),
           lambda m: int(m.preemptions.sum())),
    Metric("prefix_hit_share", "", "Prompt tokens found in the prefix cache / all prompt tokens scheduled",
           ("prefix_cache", "shared_prefix_tokens", "prefix_groups", "prefix_share", "session", "num_gpu_blocks"),
           _hit_share),
    Metric("idle_slot_share", "", "Slot-time in which the slot's request neither prefills nor decodes: empty or held",
           ("batching", "max_num_seqs", "output_sigma", *LOAD), _idle_slot_share),
    Metric("held_slot_share", "", "Slot-time held by a finished request while somebody waits",
           ("batching", "output_sigma", "max_num_seqs"), _held_slot_share),
    Metric("padding_share", "", "Share of computed tokens that are padding or rows that are done",
           ("batching", "static_rows", "max_num_seqs", *LENGTHS), _padding_share),
    Metric("bound_share", "", "Share of step time by what bound the step",
           ("max_num_seqs", "prompt_tokens", *HARDWARE), _bound_share),
    Metric("finished", "requests", "Requests that got all their tokens", ("num_requests",),
           lambda m: int(m.is_finished.sum())),
    Metric("rejected", "requests", "Requests refused: the waiting line was full, or they can never fit",
           ("max_waiting", "max_model_len", *LENGTHS), lambda m: int(m.is_rejected.sum())),
    Metric("steps", "steps", "Forward passes", ("num_requests", "output_tokens", "max_num_seqs"),
           lambda m: len(m.step_start_s)),
    Metric("duration_s", "s", "From the first arrival to the last token", ("num_requests", "rate"),
           lambda m: None if np.isnan(m.duration_s) else m.duration_s),
)
# fmt: on
