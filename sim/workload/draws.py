"""Random draws: one generator per use, spawned from the seed, so that one parameter does not reshuffle the others.

A draw is a unit draw scaled by its parameter (rate, median, sigma), and the first N draws do not depend on how many
are taken: a slider moves the requests instead of replacing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sim.catalog import LengthTable, load_lengths
from sim.parameters import RECORDED
from sim.scenario import Workload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LONGEST_TOKENS = 2**30
"""Where lengths are cut so that they fit their dtype; no server takes nearly as much."""


class Use(IntEnum):
    """What a generator is for; the order is part of what a seed means."""

    ARRIVAL = 0
    PROMPT = 1
    OUTPUT = 2
    SHARE = 3
    GROUP = 4
    PAIR = 5
    ACCEPTANCE = 6


def generator(seed: int, use: Use) -> np.random.Generator:
    """Generator of that use."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(use,)))


def draw_gaps(workload: Workload, count: int) -> Floats:
    """Gaps between arrivals in units of their mean: Gamma(shape b, scale 1/b), or ones if b is infinite."""
    if np.isinf(workload.burstiness):
        return np.ones(count)
    return generator(workload.seed, Use.ARRIVAL).standard_gamma(workload.burstiness, count) / workload.burstiness


def draw_prompts(workload: Workload, count: int) -> Ints:
    """Prompts, or what a user adds each turn [tokens], before what is shared."""
    w = workload
    if w.prompt_dist not in RECORDED:
        return draw_lengths(w.seed, Use.PROMPT, count, w.prompt_dist, w.prompt_tokens, w.prompt_sigma)
    table = load_lengths()[w.prompt_dist]
    return _at(generator(w.seed, Use.PROMPT).random(count), table.added if w.session == "chat" else table.prompt, table)


def draw_outputs(workload: Workload, count: int) -> Ints:
    """Outputs [tokens]."""
    w = workload
    if w.output_dist not in RECORDED:
        return draw_lengths(w.seed, Use.OUTPUT, count, w.output_dist, w.output_tokens, w.output_sigma)
    table, units = load_lengths()[w.output_dist], generator(w.seed, Use.OUTPUT).random(count)
    if w.prompt_dist != w.output_dist:
        return _at(units, table.output, table)
    # MODEL: of how a recorded output depends on its prompt only the third of the requests is kept that the prompt is in
    # (shortest, middle, longest), and nothing if prompts are not drawn from the same table.
    thirds = (generator(w.seed, Use.PROMPT).random(count) * len(table.output_by_prompt)).astype(np.int64)
    return np.choose(thirds, [_at(units, lengths, table) for lengths in table.output_by_prompt])


def _at(units: Floats, lengths: Sequence[int], table: LengthTable) -> Ints:
    """Inverse of the distribution function, straight between the levels of the table."""
    return np.rint(np.interp(units, table.levels, lengths)).astype(np.int64)


def draw_lengths(seed: int, use: Use, count: int, dist: str, median: int, sigma: float) -> Ints:
    """Lengths [tokens] of a distribution: fixed, uniform (0.5 to 1.5 x) or lognormal; rounded, at least 1."""
    if dist == "fixed":
        return np.full(count, median, np.int64)
    rng = generator(seed, use)
    factors = 0.5 + rng.random(count) if dist == "uniform" else np.exp(sigma * rng.standard_normal(count))
    return np.clip(np.rint(median * factors), 1, LONGEST_TOKENS).astype(np.int64)


def draw_groups(workload: Workload, count: int) -> Ints:
    """Prefix group of each request or session; -1 is none."""
    if workload.shared_prefix_tokens == 0:
        return np.full(count, -1, np.int64)
    is_member = generator(workload.seed, Use.SHARE).random(count) < workload.prefix_share
    group = generator(workload.seed, Use.GROUP).random(count) * workload.prefix_groups
    return np.where(is_member, group.astype(np.int64), -1)


def draw_pairs(seed: int, count: int, rows: int) -> Ints:
    """Row of a trace for each request, with replacement."""
    return (generator(seed, Use.PAIR).random(count) * rows).astype(np.int64)
