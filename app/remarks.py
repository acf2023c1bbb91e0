"""What the runs of a preset come to, in one sentence: figures of the runs themselves, never typed in."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.run import Run


def median_ttft(runs: Mapping[str, Run]) -> str:
    """Median time to first token of both."""
    first, second = (run.metrics()["ttft_s"]["p50"] for run in runs.values())
    return f"Here: {first:.2f} s against {second:.2f} s."


def step_times(runs: Mapping[str, Run]) -> str:
    """A step of a batch and of one request."""
    full, one = (1000 * float(np.median(run.steps["duration_s"])) for run in runs.values())
    return f"Here: {full:.2f} ms for a step of ten requests, {one:.2f} ms for a step of one."


def concurrency(runs: Mapping[str, Run]) -> str:
    """Most requests at once, and preemptions."""
    paged, contiguous = (int(run.steps["running"].max()) for run in runs.values())
    return f"Here: {paged} run at most with {runs['a'].metrics()['preemptions']} preemptions, against {contiguous}."


def longest_gap_ms(run: Run) -> float:
    """Longest gap between two tokens of a stream [ms]."""
    return 1000 * float(run.gaps()[0].max())


def longest_gaps(runs: Mapping[str, Run]) -> str:
    """Longest gap between two tokens, in chunks and whole."""
    chunked, whole = map(longest_gap_ms, runs.values())
    return f"Longest gap between two tokens of a stream: {whole:,.0f} ms whole, {chunked:,.0f} ms in chunks."


def prefilled(runs: Mapping[str, Run]) -> str:
    """Prompt tokens computed, and what of all prompts was found in the cache; from top to bottom."""
    parts = [
        f"{int(run.steps['prefill'].sum()):,} ({run.metrics()['prefix_hit_share']:.0%} found)" for run in runs.values()
    ]
    return f"Prompt tokens computed, from top to bottom: {', '.join(reversed(parts))}."


def wasted(runs: Mapping[str, Run]) -> str:
    """Preemptions and prompt tokens computed."""
    first, second = (
        f"{run.metrics()['preemptions']} preemptions and {int(run.steps['prefill'].sum()):,} prompt tokens computed"
        for run in runs.values()
    )
    return f"Here: {first}, against {second}."


def token_times(runs: Mapping[str, Run]) -> str:
    """Time per output token with drafts and without."""
    drafts, plain = (1000 * run.metrics()["tpot_s"]["p50"] for run in runs.values())
    return f"Median TPOT: {drafts:.1f} ms with drafts, {plain:.1f} ms without."
