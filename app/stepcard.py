"""The card of a step: who gets how much of the token budget; where the time goes, with both limits of each part.

`static/js/stepcard.js` says the same while the playhead moves.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

from app.blocks import shares
from app.view import Part, Slice, series
from sim.cost import Cost, make_cost, price
from sim.frame import Frame
from sim.run import Run

LEAST_PERCENT = 0.7
BOUNDS = ("the weights", "the KV cache", "compute", "communication", "overhead")
BOUND_SENTENCES = (
    "Reading the weights takes longer than computing {tokens}: one more request costs next to nothing.",
    "Reading the KV cache of {context} tokens of context takes longest: every request in the batch costs its share.",
    "Computing {tokens} takes longer than reading the weights: more tokens in a step now cost time.",
    "The GPUs wait for each other's results longest.",
    "Starting kernels and preparing the batch takes longest.",
)
_READS = ("dense_s", "head_s", "experts_s", "kv_s", "kv_window_s")
_FLOP = ("dense_token_s", "head_sampled_s", "experts_token_s", "pair_s", "pair_window_s")


class Limits(NamedTuple):
    """What a part would take if only reading counted, and if only computing did [s]."""

    reading_s: float
    computing_s: float


def budget_slices(run: Run, frame: Frame) -> tuple[Slice, ...]:
    """Tokens by request, decodes first; what is left of the bar is left over."""
    rows = sorted((row for row in frame.running if row.scheduled), key=lambda row: row.phase == "prefill")
    whole = max(run.config_at(frame.step).max_num_batched_tokens, sum(row.scheduled for row in rows))
    widths = shares([row.scheduled for row in rows], whole, LEAST_PERCENT)
    return tuple(
        Slice(
            round(width, 3),
            series(row.request),
            row.phase if row.phase == "prefill" else "",
            f"request {row.request + 1}: {row.scheduled}",
        )
        for row, width in zip(rows, widths, strict=True)
    )


def budget_title(run: Run, step: int) -> str:
    """Tokens of the step, and of the budget."""
    if run.config_at(step).is_static:
        return f"{_tokens(run, step):,} tokens"
    return f"{_tokens(run, step):,} of {run.config_at(step).max_num_batched_tokens:,} tokens"


def budget_caption(run: Run, frame: Frame) -> str:
    """Decodes, prompt chunks and what is left over, in numbers."""
    chunks = [row.scheduled for row in frame.running if row.phase == "prefill" and row.scheduled]
    decodes = sum(row.scheduled for row in frame.running if row.phase == "decode")
    config = run.config_at(frame.step)
    left = config.max_num_batched_tokens - decodes - sum(chunks)
    parts = [
        f"{decodes:,} decode token{'s' if decodes != 1 else ''}",
        f"{len(chunks)} prompt chunk{'s' if len(chunks) != 1 else ''} of {sum(chunks):,} tokens"
        if chunks
        else "no prefill",
    ]
    padding = int(run.steps["padding"][frame.step])
    if config.is_static:
        return " · ".join([*parts, *([f"{padding:,} of padding"] if padding else [])])
    return " · ".join([*parts, f"{left:,} left over"])


def time_parts(run: Run, step: int) -> tuple[Part, ...]:
    """Parts of the step's time, with what the other limit of each would need."""
    if run.scenario.server.cost == "unit":
        return ()
    row = run.steps[step]
    matmul, attention = limits_of(run, step)
    bound, duration_s = int(row["bound"]), max(float(row["duration_s"]), 1e-12)
    is_matmul_computing = matmul.computing_s > matmul.reading_s
    binding = ("matmuls", "attention", "matmuls" if is_matmul_computing else "attention", "communication", "host")[
        bound
    ]

    def part(label: str, seconds: float, other_s: float = 0.0, note: str = "") -> Part:
        percent, other = (round(min(100 * each / duration_s, 100), 2) for each in (seconds, other_s))
        return Part(label, f"{1000 * seconds:.2f} ms", percent, other, note, label == binding)

    comm_s = float(row["comm_s"])
    return (
        part("matmuls", float(row["matmul_s"]), min(matmul), _note(matmul, "reading the weights")),
        part("attention", float(row["attention_s"]), min(attention), _note(attention, "reading the KV cache")),
        *([part("communication", comm_s)] if comm_s else []),
        part("host", float(row["host_s"]), note="starting kernels, preparing the batch"),
    )


def limits_of(run: Run, step: int) -> tuple[Limits, Limits]:
    """Both limits of the matrix products and of attention: the step priced with one kind of work left out."""
    cost = make_cost(run.scenario_at(step).server)
    reading = _priced(cost._replace(activation_token_s=0.0, **dict.fromkeys(_FLOP, 0.0)), run, step)
    computing = _priced(cost._replace(activation_token_s=0.0, **dict.fromkeys(_READS, 0.0)), run, step)
    return (
        Limits(reading.matmul_s, computing.matmul_s),
        Limits(reading.attention_s, computing.attention_s),
    )


def time_title(run: Run, step: int) -> str:
    """Duration of the step and what bound it."""
    row = run.steps[step]
    duration = duration_text(float(row["duration_s"]))
    return duration if run.scenario.server.cost == "unit" else f"{duration}, bound by {BOUNDS[int(row['bound'])]}"


def bound_sentence(run: Run, step: int) -> str:
    """What it means that this bound the step."""
    if run.scenario.server.cost == "unit":
        return "Every step takes one second here, so that steps can be counted."
    context, tokens = int(run.steps["decode_context"][step]), _tokens(run, step)
    return BOUND_SENTENCES[int(run.steps["bound"][step])].format(
        tokens=f"{tokens:,} token{'s' if tokens != 1 else ''}", context=f"{context:,}"
    )


def duration_text(seconds: float) -> str:
    """Three digits or so, with the unit that suits."""
    if seconds >= 1:
        return f"{seconds:.{1 if seconds >= 10 else 2}f} s"
    return f"{1000 * seconds:.{1 if seconds < 0.01 else 0}f} ms"


def _tokens(run: Run, step: int) -> int:
    return int(run.steps["prefill"][step]) + int(run.steps["decode"][step])


def _note(limits: Limits, reading: str) -> str:
    if not limits.computing_s:
        return reading if limits.reading_s else ""
    if limits.computing_s > limits.reading_s:
        return f"computing; {reading} would need {1000 * limits.reading_s:.2f} ms"
    return f"{reading}; computing would need {1000 * limits.computing_s:.2f} ms"


def _priced(cost: Cost, run: Run, step: int) -> SimpleNamespace:
    row, out = run.steps[step], SimpleNamespace()
    price(
        cost,
        float(row["prefill"] + row["decode"] + row["padding"]),
        float(row["sampled"]),
        float(row["decode_context"]),
        float(row["prefill_context"]),
        float(row["prefill_pairs"]),
        float(row["running"] + row["held"]),
        float(row["admitted"]),
        float(row["drafts"]),
        out,
    )
    return out
