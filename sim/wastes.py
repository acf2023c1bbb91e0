"""Five wastes of a run, each what one technique of serving removes; `static/js/wastes.js` counts them in the page."""

from __future__ import annotations

from dataclasses import dataclass

from sim.metrics import ratio
from sim.replay import Replay
from sim.run import Run

LONGEST_TOKENS = 1 << 62


@dataclass(frozen=True, slots=True)
class Wastes:
    """What a run wasted; None where there is nothing to be a part of.

    Notes
    -----
    | waste | unit | removed by |
    |---|---|---|
    | held_slot_share | share of slot-time; the metric of that name | continuous batching |
    | kv_unused_share | share of the KV memory that requests had reserved, over time | paging |
    | repeated_tokens, of prefill_tokens | tokens that were computed before | prefix caching |
    | frozen_s | s of all streams together in pauses that other prompts made too long | chunked prefill |
    | reads_per_token | passes over the weights for each output token | speculative decoding, larger batches |
    """

    held_slot_share: float | None
    kv_unused_share: float | None
    prefill_tokens: int
    repeated_tokens: int
    frozen_s: float
    reads_per_token: float | None


def wastes_of(run: Run) -> Wastes:
    """Wastes of a run.

    Notes
    -----
    kv_unused_share = sum of d (R - T) / sum of d R over the steps: d duration, R tokens that the blocks of all requests
    in slots can hold, T tokens that they hold once the step is done. A block that several share counts for each.

    repeated_tokens: tokens of prompt chunks whose text, from its first token on, an earlier chunk or step had computed
    already, for this request (before a preemption) or for another (a shared beginning).

    frozen_s = sum of the gaps between two tokens of a request that are longer than the SLO for a token and in which
    prompt tokens of others were computed; gaps in which it was preempted do not count.

    reads_per_token = steps / output tokens. A draft model's own passes do not count, for they read other weights.

    Examples
    --------
    Two prompts of 40 tokens that begin with the same 32, one after the other, and no cache between them.

    >>> from sim.run import simulate
    >>> from sim.scenario import scenario_from
    >>> alike = {"load": "burst", "cost": "unit", "max_num_seqs": 1, "prompt_list": "40,40", "output_list": "2,2"}
    >>> run = simulate(scenario_from({**alike, "shared_prefix_tokens": 32, "prefix_cache": "off"}))
    >>> wastes = wastes_of(run)
    >>> wastes.repeated_tokens, wastes.frozen_s, wastes.reads_per_token
    (32, 0.0, 1.0)
    """
    replay, texts, pauses = run.new_replay(), Texts(run), Pauses(run)
    reserved = unused = 0.0
    repeated = 0
    for duration_s in run.steps["duration_s"].tolist():
        replay.forward()
        room, filled = _kv_tokens(replay)
        reserved, unused = reserved + duration_s * room, unused + duration_s * (room - filled)
        for row in replay.planned.rows:
            repeated += texts.compute(row.request, row.before, row.tokens - abs(row.drafts))
        pauses.pass_step(replay)
    return Wastes(
        held_slot_share=run.metrics()["held_slot_share"],
        kv_unused_share=ratio(unused, reserved),
        prefill_tokens=int(run.steps["prefill"].sum()),
        repeated_tokens=repeated,
        frozen_s=pauses.frozen_s,
        reads_per_token=ratio(len(run.steps), float(run.results["outputs"].sum())),
    )


def _kv_tokens(replay: Replay) -> tuple[int, int]:
    """Tokens that the blocks of requests in slots can hold, and those that they hold."""
    lives = [replay.lives[index] for index in replay.running]
    size = replay.config.block_size
    return size * sum(len(life.table) for life in lives), sum(life.computed for life in lives if life.table)


class Texts:
    """How far the text of each request, and each beginning that several share, has been computed.

    Parameters
    ----------
    run : Run
        Texts are numbered as in its `Requests`: shared ones, then the requests'.
    """

    def __init__(self, run: Run) -> None:
        requests = run.requests
        self._roots = len(requests.root_tokens)
        self._parent, self._common = requests.parent.tolist(), requests.common_tokens.tolist()
        self._reach = [0] * (self._roots + len(requests))

    def compute(self, request: int, first: int, count: int) -> int:
        """Compute `count` tokens of a request from its token `first` on; say how many had been computed before."""
        text, end = self._roots + request, first + count
        repeated = max(min(end, self._known(text)) - first, 0)
        while text >= 0:
            self._reach[text] = max(self._reach[text], end)
            text, end = self._above(text, end)
        return repeated

    def _known(self, text: int) -> int:
        """Tokens at the beginning of a text that have been computed, for whichever request."""
        known, most = 0, LONGEST_TOKENS
        while text >= 0:
            known = max(known, min(self._reach[text], most))
            text, most = self._above(text, most)
        return known

    def _above(self, text: int, tokens: int) -> tuple[int, int]:
        """Text that this one begins with, or -1, and how much of its first `tokens` are in that."""
        if text < self._roots:
            return -1, 0
        request = text - self._roots
        return self._parent[request], min(tokens, self._common[request])


class Pauses:
    """Time of streams in gaps that the prompts of others made longer than the SLO for a token.

    Parameters
    ----------
    run : Run
        Its clock, prompt tokens and SLO.
    """

    def __init__(self, run: Run) -> None:
        self.frozen_s = 0.0
        self._limit_s = [run.scenario_at(step).slo.slo_tpot_ms / 1000 for step in range(len(run.steps))]
        self._ends_s = run.ends_s().tolist()
        self._prompts = run.steps["prefill"].cumsum().tolist()
        self._last: dict[int, int] = {}  # request -> step that brought its last token

    def pass_step(self, replay: Replay) -> None:
        """Take the tokens of the step that a replay is at."""
        step = replay.step
        for request in replay.planned.preempted:
            self._last.pop(request, None)
        for row in replay.planned.rows:
            if row.samples:
                self._take(self._last.get(row.request, step), step)
                self._last[row.request] = step

    def _take(self, before: int, step: int) -> None:
        gap_s = self._ends_s[step] - self._ends_s[before]
        if gap_s > self._limit_s[step] and self._prompts[step] > self._prompts[before]:
            self.frozen_s += gap_s
