"""What the batch curve says of one batch size, written: the formula with its values, for pages without scripts.

Twin of `readingOf` in static/js/batch.js and of static/js/batchwords.js: the same names, the same texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

from app.batching import Batching, Limits, batching_of
from sim.scenario import Scenario

Reading = dict[str, float | None]
OTHERS = (("launches and host", "host_ms"), ("links between GPUs", "links_ms"), ("arithmetic", "arithmetic_ms"))
LEAST_MS = 0.05


@dataclass(frozen=True, slots=True)
class BatchView:
    """A batch size as the figure tells it.

    Attributes
    ----------
    users, context : int or None
        What the figure begins with; None: what follows from the scenario.
    reading : dict
        Numbers by name, as `readings()` of the figure.
    text : dict
        What the template writes, by `data-value`.
    """

    users: int | None
    context: int | None
    reading: Reading
    text: dict[str, str]
    limits: dict[str, str]
    is_timed: bool
    has_drafts: bool


def batch_view(scenario: Scenario, users: int | None = None, context: int | None = None) -> BatchView:
    """The figure's words for a scenario, at the batch size and context that it begins with."""
    batching = batching_of(scenario)
    limits = batching.limits(context or batching.typical_context)
    reading = reading_of(batching, users, context, limits)
    return BatchView(
        users=users,
        context=context,
        reading=reading,
        text=texts_of(reading, scenario),
        limits={name: _limit(getattr(limits, name)) for name in Limits.__slots__},
        is_timed=scenario.server.cost != "unit",
        has_drafts=scenario.server.num_speculative_tokens > 0,
    )


def reading_of(
    batching: Batching, users: int | None = None, context: int | None = None, limits: Limits | None = None
) -> Reading:
    """All that the figure tells of a batch size, by name.

    Notes
    -----
    Those for whom there is no memory wait: they are users, but not in the batch. Without a number there are as many
    users as there are slots, or as fit.
    """
    context = context or batching.typical_context
    limits = limits or batching.limits(context)
    users = users or max(1, min(limits.slots, limits.memory))
    batch = max(1, min(users, limits.memory))
    parts, tokens_s = batching.parts(batch, context), batching.tokens_s(batch, context)
    one_s, one_tokens_s = batching.step_s(1, context), batching.tokens_s(1, context)
    weights_bytes, kv_user_bytes = batching.weights_bytes(batch), batching.kv_bytes(context)
    moved_s = batching.passes * (weights_bytes + batch * kv_user_bytes) / batching.rates.bandwidth_bytes_per_s
    return {
        "users": users,
        "batch": batch,
        "context": context,
        "step_ms": 1000 * parts.step_s,
        "one_step_ms": 1000 * one_s,
        "slower": parts.step_s / one_s,
        "tokens_s": tokens_s,
        "one_tokens_s": one_tokens_s,
        "each_tokens_s": tokens_s / batch,
        "speedup": tokens_s / one_tokens_s,
        "formula_ms": 1000 * parts.read_s,
        "host_ms": 1000 * parts.host_s,
        "links_ms": 1000 * parts.links_s,
        "arithmetic_ms": 1000 * parts.arithmetic_s,
        "weights_bytes": weights_bytes,
        "kv_user_bytes": kv_user_bytes,
        "kv_bytes": batch * kv_user_bytes,
        "kv_share": parts.kv_s / parts.read_s if parts.read_s else None,
        "bandwidth_bytes_per_s": batching.rates.bandwidth_bytes_per_s,
        "eta": moved_s / parts.read_s if parts.read_s else None,
        "passes": batching.passes,
        "tokens_per_pass": batching.tokens_per_pass,
        "at_kv": limits.kv,
        "at_compute": limits.compute,
        "at_slo": limits.slo,
        "at_memory": limits.memory,
        "past_kv": _has_reached(batch, limits.kv),
        "past_compute": _has_reached(batch, limits.compute),
        "past_slo": _has_reached(batch, limits.slo),
        "past_memory": int(users > limits.memory),
    }


def texts_of(reading: Reading, scenario: Scenario) -> dict[str, str]:
    """What is written, by `data-value`."""
    r = {name: value or 0.0 for name, value in reading.items()}
    text = {
        "users": f"{r['batch']:,.0f}",
        "weights": _three(r["weights_bytes"] / 1e9),
        "kv": _three(r["kv_user_bytes"] / 1e9),
        "eta": f"{r['eta']:.2f}",
        "bandwidth": _three(r["bandwidth_bytes_per_s"] / 1e12),
        "passes": f"{r['passes']:.2f}",
        "per_pass": f"{r['tokens_per_pass']:.2f}",
        "formula": _ms(r["formula_ms"]),
        "step": _ms(r["step_ms"]),
        "one_step": _ms(r["one_step_ms"]),
        "tokens": _rate(r["tokens_s"]),
        "each": _rate(r["each_tokens_s"]),
        "one_tokens": _rate(r["one_tokens_s"]),
        "speedup": _rate(r["speedup"]),
        "slower": f"{r['slower']:.2f}",
        "slo": f"{scenario.slo.slo_tpot_ms:g}",
    }
    return text | {"engine": _engine(r, text["step"], scenario.server.tensor_parallel_size)}


def _engine(r: dict[str, float], step: str, gpus: int) -> str:
    """What the engine counts beside the formula."""
    others = [f"{name} {_ms(r[key])} ms" for name, key in OTHERS if r[key] >= LEAST_MS]
    where = f"These are the bytes of each of the {gpus} GPUs. " if gpus > 1 else ""
    counts = f"it also counts {', '.join(others)}" if others else "nothing else takes time"
    return f"{where}The engine's own step: {step} ms; {counts}."


def _three(value: float) -> str:
    """Three significant digits."""
    return f"{value:.{max(0, 2 - floor(log10(value)))}f}" if value > 0 else "0"


def _ms(value: float) -> str:
    return f"{value:.{0 if value >= 100 else 1 if value >= 1 else 2}f}"


def _rate(value: float) -> str:
    return f"{value:,.{0 if value >= 100 else 1}f}"


def _limit(batch: int | None) -> str:
    return "never" if batch is None else f"{batch:,}"


def _has_reached(batch: int, limit: int | None) -> int:
    return int(limit is not None and batch >= limit)
