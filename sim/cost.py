"""One step's time from its composition: three models behind one `price`, which Numba compiles."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple, Protocol

from numba.extending import register_jitable

from sim.catalog import find_gpu, find_model
from sim.catalog.efficiencies import CALIBRATED
from sim.coefficients import roofline_coefficients, simple_coefficients
from sim.scenario import Server

UNIT, SIMPLE, ROOFLINE = 0.0, 1.0, 2.0
KINDS = {"unit": UNIT, "simple": SIMPLE, "roofline": ROOFLINE}
BOUNDS = ("weights", "kv", "compute", "communication", "overhead")
"""What bound a step, by its code."""


class Cost(NamedTuple):
    """Coefficients of a step's time: floats only, made by `make_cost`.

    Notes
    -----
    `x_s` is seconds; `x_token_s` per token, `x_sampled_s` per sampling row, `kv_*` per context token read, `pair_*` per
    query-key pair. `window` [tokens] belongs to the `_window_s` layers.
    """

    kind: float
    draft_cost: float
    dense_s: float
    dense_token_s: float
    head_s: float
    head_sampled_s: float
    experts_s: float
    experts_token_s: float
    expert_miss: float
    activation_token_s: float
    kv_s: float
    kv_window_s: float
    pair_s: float
    pair_window_s: float
    window: float
    comm_s: float
    comm_token_s: float
    overhead_s: float
    running_s: float
    admitted_s: float


class StepParts(Protocol):
    """Where `price` writes; a row of the step record."""

    matmul_s: float
    attention_s: float
    comm_s: float
    host_s: float
    bound: int


@register_jitable
def price(
    cost: Cost,
    tokens: float,
    sampled: float,
    decode_context: float,
    prefill_context: float,
    prefill_pairs: float,
    running: float,
    admitted: float,
    drafts: float,
    out: StepParts,
) -> float:
    """Duration of a step [s]; its parts and what bound it go to `out`.

    Parameters
    ----------
    cost : Cost
        Coefficients of the server.
    tokens, sampled : float
        Tokens computed; rows that sample.
    decode_context, prefill_context : float
        Context tokens read by decode rows, and by prompt chunks (what was computed before the chunk).
    prefill_pairs : float
        Query-key pairs of the chunks.
    running, admitted : float
        Running requests and requests admitted in this step: host time.
    drafts : float
        Largest number of draft tokens of a row.
    out : StepParts
        Gets matmul_s, attention_s, comm_s, host_s and bound (index into BOUNDS).

    Notes
    -----
    Compiled and interpreted results are bit-equal: float64 throughout, and only operations that IEEE 754 rounds exactly
    (+ - * / sqrt). A step of no tokens takes no time.
    """
    out.matmul_s, out.attention_s, out.comm_s, out.host_s, out.bound = 0.0, 0.0, 0.0, 0.0, 4
    if tokens <= 0:
        return 0.0
    if cost.kind == 0.0:
        out.host_s = 1.0
        return 1.0
    decode_s = _read_s(cost, decode_context, sampled)
    fetch_s = _read_s(cost, prefill_context, tokens)
    pairs_s = cost.pair_s * prefill_pairs + cost.pair_window_s * min(prefill_pairs, cost.window * tokens)
    if cost.kind == 1.0:
        return _simple_s(cost, tokens, decode_s + fetch_s, pairs_s, drafts, out)
    return _roofline_s(cost, tokens, sampled, decode_s, fetch_s, pairs_s, running, admitted, drafts, out)


@register_jitable
def _read_s(cost: Cost, context: float, rows: float) -> float:
    # MODEL: rows are taken to be alike where a sliding window cuts their contexts.
    return cost.kv_s * context + cost.kv_window_s * min(float(context), cost.window * rows)


@register_jitable
def _simple_s(cost: Cost, tokens: float, kv_s: float, pairs_s: float, drafts: float, out: StepParts) -> float:
    """max((W + KV read) / (eta BW), FLOP / (eta F)): the textbook formula; what prompts cost is its second limit."""
    passes = 1.0 + drafts * cost.draft_cost
    compute_s = cost.dense_token_s * tokens + pairs_s
    matmul_s = max(cost.dense_s, compute_s - kv_s)
    out.matmul_s, out.attention_s = matmul_s * passes, kv_s * passes
    out.bound = 2 if compute_s > cost.dense_s + kv_s else (1 if kv_s > cost.dense_s else 0)
    return (matmul_s + kv_s) * passes


@register_jitable
def _roofline_s(
    cost: Cost,
    tokens: float,
    sampled: float,
    decode_s: float,
    fetch_s: float,
    pairs_s: float,
    running: float,
    admitted: float,
    drafts: float,
    out: StepParts,
) -> float:
    passes = 1.0 + drafts * cost.draft_cost
    hit = 1.0 - _power(cost.expert_miss, int(tokens))
    experts_s, experts_flop_s = cost.experts_s * hit, cost.experts_token_s * tokens
    dense_flop_s, head_flop_s = cost.dense_token_s * tokens, cost.head_sampled_s * sampled
    head_s = cost.head_s if sampled > 0 else 0.0
    matmul_s = _smooth(cost.dense_s, dense_flop_s) + _smooth(head_s, head_flop_s) + _smooth(experts_s, experts_flop_s)
    matmul_s += cost.activation_token_s * tokens
    prefill_s = _smooth(fetch_s, pairs_s)
    comm_s = cost.comm_s + cost.comm_token_s * tokens
    host_s = cost.overhead_s + cost.running_s * running + cost.admitted_s * admitted

    is_compute = dense_flop_s + head_flop_s + experts_flop_s > cost.dense_s + head_s + experts_s
    compute_s = (matmul_s if is_compute else 0.0) + (prefill_s if pairs_s > fetch_s else 0.0)
    kv_s = decode_s + (prefill_s if pairs_s <= fetch_s else 0.0)
    out.bound = _largest(0.0 if is_compute else matmul_s, kv_s, compute_s, comm_s, host_s)
    out.matmul_s, out.attention_s = matmul_s * passes, (decode_s + prefill_s) * passes
    out.comm_s, out.host_s = comm_s * passes, host_s * passes
    return (matmul_s + decode_s + prefill_s + comm_s + host_s) * passes


@register_jitable
def _smooth(a: float, b: float) -> float:
    # MODEL: the smooth roofline (a^p + b^p)^(1/p) has p = 2, not 1.7, which fits best: sqrt rounds exactly, pow not.
    return sqrt(a * a + b * b)


@register_jitable
def _power(base: float, exponent: int) -> float:
    """Integer power by squaring: exactly rounded operations only."""
    result = 1.0
    while exponent > 0 and result > 0.0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@register_jitable
def _largest(weights_s: float, kv_s: float, compute_s: float, comm_s: float, host_s: float) -> int:
    top = max(weights_s, kv_s, compute_s, comm_s, host_s)
    if top == weights_s:
        return 0
    if top == kv_s:
        return 1
    if top == compute_s:
        return 2
    return 3 if top == comm_s else 4


def make_cost(server: Server) -> Cost:
    """Coefficients of a server, all floats (one type, so that the engine compiles once)."""
    model, gpu = find_model(server.model), find_gpu(server.gpu)
    coefficients = simple_coefficients if server.cost == "simple" else roofline_coefficients
    values = coefficients(server, model, gpu)
    values |= {"kind": KINDS[server.cost], "draft_cost": server.draft_cost, "window": model.sliding_window}
    return Cost(**{name: float(values.get(name, 0.0)) for name in Cost._fields})


def cost_parts(server: Server) -> dict[str, Any]:
    """What a page needs to price a step itself and to say how: coefficients by name, formula, whether calibrated."""
    return {
        "kind": server.cost,
        "coefficients": make_cost(server)._asdict(),
        "formula": FORMULAS[server.cost],
        "bounds": list(BOUNDS),
        "calibrated": CALIBRATED,
    }


FORMULAS = {
    "unit": ["1"],
    "simple": ["max(dense_s + kv, dense_token_s tokens + pairs)"],
    "roofline": [
        "P(dense_s, dense_token_s tokens)",
        "P(head_s, head_sampled_s sampled)",
        "P(experts_s (1 - expert_miss^tokens), experts_token_s tokens)",
        "activation_token_s tokens",
        "kv_s decode_context",
        "P(kv_s prefill_context, pair_s prefill_pairs)",
        "comm_s + comm_token_s tokens",
        "overhead_s + running_s running + admitted_s admitted",
    ],
}
"""Terms of a step by model; P(a, b) = sqrt(a^2 + b^2). All are multiplied by 1 + drafts x draft_cost."""
