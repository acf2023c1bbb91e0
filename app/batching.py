"""What a batch size does, by formula: a step that decodes B requests of equal context, and where each limit sets in.

Twin of static/js/batch.js: the same names, the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from types import SimpleNamespace

from app.costs import memory_of
from sim.catalog import find_gpu, find_model
from sim.cost import Cost, make_cost, price
from sim.scenario import Scenario
from sim.work import Rates, Work, rates_of, work_of

MOST = 65_536


@dataclass(frozen=True, slots=True)
class Limits:
    """Batch size at which each limit sets in; None: not below MOST.

    Attributes
    ----------
    kv : int or None
        Reading the KV cache takes as long as reading the weights.
    compute : int or None
        Computing takes as long as reading.
    memory : int
        The last that fits.
    slo : int or None
        A token takes slo_tpot_ms.
    slots : int
        max_num_seqs.
    """

    kv: int | None
    compute: int | None
    memory: int
    slo: int | None
    slots: int


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the time of a step goes [s]: what is read, and what else the engine counts.

    Notes
    -----
    `arithmetic_s` is what matrix products take beyond reading the weights, activations included. `compute_s`, what
    computing alone would take, is no part of the sum.
    """

    weights_s: float
    kv_s: float
    arithmetic_s: float
    links_s: float
    host_s: float
    compute_s: float
    step_s: float

    @property
    def read_s(self) -> float:
        """(W + B KV) / (eta BW): what the formula alone gives."""
        return self.weights_s + self.kv_s


@dataclass(frozen=True, slots=True)
class Batching:
    """The formulas of one scenario; made by `batching_of`. Bytes and times are those of each GPU."""

    scenario: Scenario
    cost: Cost
    work: Work
    rates: Rates
    usable_blocks: int
    max_model_len: int
    all_weights_bytes: int

    def step_s(self, batch: int, context: int) -> float:
        """Time of a step that decodes `batch` requests of `context` tokens [s]."""
        return self.parts(batch, context).step_s

    def tokens_s(self, batch: int, context: int) -> float:
        """Output tokens a second of all together."""
        return batch * self.tokens_per_pass / self.step_s(batch, context)

    @property
    def tokens_per_pass(self) -> float:
        """Tokens that a step brings a request on average: one, or what is accepted of k drafts and one more."""
        a, drafts = self.scenario.server.acceptance, self.scenario.server.num_speculative_tokens
        return float((1 - a ** (drafts + 1)) / (1 - a) if a < 1 else drafts + 1)

    @property
    def passes(self) -> float:
        """How many times as long a step is for the draft model's sake."""
        return 1 + self.scenario.server.num_speculative_tokens * self.cost.draft_cost

    @property
    def typical_context(self) -> int:
        """Tokens in the KV cache of a request that is half done, by the medians of the scenario."""
        load = self.scenario.workload
        return max(1, int(load.shared_prefix_tokens + load.prompt_tokens + load.output_tokens / 2 + 0.5))

    def weights_bytes(self, batch: int) -> float:
        """Bytes of the weights that a step reads; of experts those that are hit."""
        if self.scenario.server.cost == "simple":
            return self.all_weights_bytes
        work = self.work
        return work.dense_bytes + work.head_bytes + work.experts_bytes * self._hit(batch)

    def kv_bytes(self, context: int) -> float:
        """Bytes of the KV cache that a step reads for each request; a sliding window reads no more than it holds."""
        work, simple = self.work, self.scenario.server.cost == "simple"
        seen = context if simple else min(context, work.window)
        return work.kv_layer_bytes * (work.full_layers * context + work.sliding_layers * seen)

    def parts(self, batch: int, context: int) -> Parts:
        """Where the time of a step goes."""
        drafts, out = self.scenario.server.num_speculative_tokens, SimpleNamespace()
        tokens = batch * (1 + drafts)
        step_s = price(self.cost, tokens, batch, batch * context, 0, 0, batch, 0, drafts, out)
        weights_s, compute_s = (self.passes * part for part in self._matmul(batch))
        return Parts(
            weights_s=weights_s,
            kv_s=out.attention_s,
            arithmetic_s=out.matmul_s - weights_s,
            links_s=out.comm_s,
            host_s=out.host_s,
            compute_s=compute_s,
            step_s=step_s,
        )

    def limits(self, context: int) -> Limits:
        """Where each limit sets in."""
        server, slo_s = self.scenario.server, self.scenario.slo.slo_tpot_ms / 1000
        limits = {"memory": self.usable_blocks // self._blocks(context), "slots": server.max_num_seqs}
        if server.cost == "unit":
            return Limits(kv=None, compute=None, slo=None, **limits)

        def at(holds: Callable[[Parts], bool]) -> int | None:
            return _first_where(lambda batch: holds(self.parts(batch, context)))

        return Limits(
            kv=at(lambda parts: parts.kv_s >= parts.weights_s),
            compute=at(lambda parts: parts.compute_s > (parts.read_s if server.cost == "simple" else parts.weights_s)),
            slo=at(lambda parts: parts.step_s / self.tokens_per_pass >= slo_s),
            **limits,
        )

    def _matmul(self, batch: int) -> tuple[float, float]:
        """Time to read the weights, and to multiply with them [s]."""
        cost, server = self.cost, self.scenario.server
        if server.cost == "unit":
            return 0.0, 0.0
        tokens = batch * (1 + server.num_speculative_tokens)
        reads_s = cost.dense_s + cost.head_s + cost.experts_s * self._hit(batch)
        return reads_s, (cost.dense_token_s + cost.experts_token_s) * tokens + cost.head_sampled_s * batch

    def _hit(self, batch: int) -> float:
        return 1 - float(self.work.expert_miss ** (batch * (1 + self.scenario.server.num_speculative_tokens)))

    def _blocks(self, context: int) -> int:
        server = self.scenario.server
        return ceil((self.max_model_len if server.kv == "contiguous" else context) / server.block_size)


def batching_of(scenario: Scenario) -> Batching:
    """The formulas of a scenario, also of one whose model does not fit."""
    server = scenario.server
    model, gpu, memory = find_model(server.model), find_gpu(server.gpu), memory_of(server)
    return Batching(
        scenario=scenario,
        cost=make_cost(server),
        work=work_of(server, model),
        rates=rates_of(server, gpu),
        usable_blocks=memory["usable_blocks"],
        max_model_len=memory["max_model_len"],
        all_weights_bytes=memory["weights_bytes"],
    )


def _first_where(holds: Callable[[int], bool]) -> int | None:
    """Smallest batch size from which on something holds."""
    if not holds(MOST):
        return None
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def step_s(scenario: Scenario, batch: int, context: int) -> float:
    """Time of a step that decodes `batch` requests of `context` tokens [s]."""
    return batching_of(scenario).step_s(batch, context)


def tokens_s(scenario: Scenario, batch: int, context: int) -> float:
    """Output tokens a second of a batch, all together."""
    return batching_of(scenario).tokens_s(batch, context)


def limits(scenario: Scenario, context: int) -> Limits:
    """Batch sizes at which the limits set in."""
    return batching_of(scenario).limits(context)
