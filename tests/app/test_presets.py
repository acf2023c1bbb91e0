"""Every preset shows what its sentences say: relations, counts and figures in them hold for its own runs."""

import re
from functools import cache

import numpy as np
import pytest

from app.moment import end_of
from app.params import parse_query, read_query
from app.presets import PENALTY, SPECULATIVE, Preset, canonical, presets
from app.remarks import longest_gap_ms
from sim.engine.record import Kind
from sim.run import Run, simulate
from sim.scenario import scenario_from
from sim.workload import sample_trace

PRESETS = {preset.title: preset for preset in presets()}
MOST_STEPS, MOST_REQUESTS = 12_000, 600


@cache
def runs_of(query: str) -> dict[str, Run]:
    scenarios = read_query(parse_query(query)).scenarios
    return {name: simulate(each, sample_trace() if each.workload.trace else None) for name, each in scenarios.items()}


def runs_named(title: str) -> list[Run]:
    return list(runs_of(PRESETS[title].query).values())


def ttft_s(run: Run) -> float:
    return float(run.metrics()["ttft_s"]["p50"])


def prefilled(run: Run) -> int:
    return int(run.steps["prefill"].sum())


def median_step_s(run: Run) -> float:
    return float(np.median(run.steps["duration_s"]))


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.title)
def test_preset_is_a_link_with_three_sentences_and_a_moment_inside_its_run(preset: Preset) -> None:
    views = read_query(parse_query(preset.link))
    runs = runs_of(preset.query)

    assert canonical(preset.query) == canonical(preset.link.replace(f"&t={preset.t:g}", "").replace(preset.views, ""))
    assert 2 <= len(views.scenarios) <= 3
    assert len(re.findall(r"[.?](?= |$)", preset.see)) >= 3
    assert 0 < preset.t < max(map(end_of, runs.values()))


LONG = ("Sample trace", "Like the Mooncake hour")


@pytest.mark.parametrize("preset", [p for p in presets() if p.title not in LONG], ids=lambda preset: preset.title)
def test_preset_is_drawn_whole(preset: Preset) -> None:
    for run in runs_of(preset.query).values():
        assert len(run.steps) <= MOST_STEPS
        assert len(run.results) <= MOST_REQUESTS


@pytest.mark.parametrize("preset", [p for p in presets() if p.remark], ids=lambda preset: preset.title)
def test_remark_has_figures(preset: Preset) -> None:
    assert preset.remark
    assert re.search(r"\d", preset.remark(runs_of(preset.query)))


def test_first_preset_is_what_the_lab_opens_on() -> None:
    assert presets()[0].query == PENALTY


def test_static_penalty() -> None:
    continuous, static = runs_named("Static penalty")
    assert static.steps["held"].max() > 0
    assert end_of(static) > 1.5 * end_of(continuous)
    assert ttft_s(static) > 5 * ttft_s(continuous)
    assert static.metrics()["tpot_s"]["p50"] > 0.9 * continuous.metrics()["tpot_s"]["p50"]


def test_batching_is_nearly_free() -> None:
    ten, one = runs_named("Batching is nearly free")
    assert (ten.steps["running"].max(), one.steps["running"].max()) == (10, 1)
    assert median_step_s(ten) < 1.1 * median_step_s(one)
    assert end_of(one) / end_of(ten) == pytest.approx(10, rel=0.1)


def test_twelve_requests() -> None:
    continuous, static = runs_named("Twelve requests")
    see = PRESETS["Twelve requests"].see
    assert f"takes {len(static.steps)} steps" in see
    assert f"takes {len(continuous.steps)}." in see
    ends = np.flatnonzero(static.events["kind"] == Kind.BATCH).size
    assert ends == 3
    for run in (static, continuous):
        assert f"{run.metrics()['idle_slot_share']:.1%}".replace("%", " %") in see


def test_kv_limit() -> None:
    paged, contiguous = runs_named("KV limit")
    assert paged.plan.usable_blocks == 384
    assert paged.metrics()["preemptions"] > 0
    assert contiguous.steps["running"].max() == 3
    assert contiguous.metrics()["preemptions"] == 0
    assert contiguous.plan.max_model_len == 2048


def test_a_long_prompt_freezes_the_others() -> None:
    chunked, whole = runs_named("A long prompt freezes the others")
    prompt = whole.steps[whole.steps["prefill"] == 30_000]
    assert len(prompt) == 1
    assert prompt["decode"][0] == 8
    assert longest_gap_ms(whole) == pytest.approx(1000 * prompt["duration_s"][0], rel=0.05)
    assert longest_gap_ms(whole) > 10 * longest_gap_ms(chunked)
    assert (chunked.steps["prefill"] + chunked.steps["decode"]).max() <= 1024
    during = chunked.steps[(chunked.steps["prefill"] > 500) & (chunked.steps["start_s"] > 1.5)]
    assert set(during["decode"].tolist()) == {8}


def hits(run: Run) -> int:
    return int((run.results["hit_tokens"] >= 1488).sum())


def test_shared_system_prompt() -> None:
    shared, per_slot, off = runs_named("Shared system prompt")
    assert [hits(run) for run in (shared, per_slot, off)] == [39, 32, 0]
    assert ttft_s(shared) < ttft_s(per_slot) < ttft_s(off)


def test_a_clock_in_the_system_prompt() -> None:
    same, clock = runs_named("A clock in the system prompt")
    assert clock.metrics()["prefix_hit_share"] == 0
    assert same.metrics()["prefix_hit_share"] > 0.9
    assert same.requests.prompt_tokens.tolist() == clock.requests.prompt_tokens.tolist()
    assert ttft_s(clock) > ttft_s(same)


def test_thrashing() -> None:
    chunk, whole = runs_named("Thrashing")
    assert 4 * 10_000 < chunk.plan.usable_blocks * 16 < 5 * 10_000
    assert chunk.results["preemptions"].tolist()[:4] == [0] * 4
    assert chunk.results["preemptions"][4] > 10
    assert whole.metrics()["preemptions"] == 0
    assert end_of(whole) < 0.8 * end_of(chunk)


def test_agents_that_call_tools() -> None:
    shared, per_slot = runs_named("Agents that call tools")
    assert shared.scenario.workload.num_requests == 8 * 6
    assert shared.metrics()["prefix_hit_share"] > 1.5 * per_slot.metrics()["prefix_hit_share"]
    assert prefilled(per_slot) > 2 * prefilled(shared)


def gain(query: str) -> float:
    drafts, plain = runs_of(query).values()
    return float(plain.metrics()["tpot_s"]["p50"] / drafts.metrics()["tpot_s"]["p50"])


def test_speculative_decoding() -> None:
    drafts, plain = runs_named("Speculative decoding")
    assert median_step_s(drafts) > median_step_s(plain)
    accepted = drafts.events["a"][drafts.events["kind"] == Kind.ACCEPT]
    assert 1 + accepted.mean() > 2
    assert 1.7 < gain(SPECULATIVE) < 2
    many = SPECULATIVE.replace("concurrency=2&num_requests=12", "concurrency=256&num_requests=512")
    assert gain(many.replace("max_num_seqs=64", "max_num_seqs=256")) < 0.8 * gain(SPECULATIVE)


def crossing(title: str, batching: str, rates: list[float]) -> float:
    """First of the rates at which the median TTFT is over two seconds."""
    settings = dict(parse_query(PRESETS[title].query.partition("&b.")[0])) | {"batching": batching}
    runs = (simulate(scenario_from(settings | {"rate": rate})) for rate in rates)
    return next(rate for rate, run in zip(rates, runs, strict=True) if ttft_s(run) > 2)


def test_exercises() -> None:
    few_static, few = (crossing("Exercise: 8 slots", "static", [1, 1.5, 2]),
                       crossing("Exercise: 8 slots", "continuous", [5, 6, 6.5]))  # fmt: skip
    many_static, many = (crossing("Exercise: 32 slots", "static", [1.5, 2, 2.5]),
                         crossing("Exercise: 32 slots", "continuous", [18, 20, 22, 24, 26]))  # fmt: skip

    assert few_static < few / 2
    assert 3 < many / few < 4
    assert many_static < 1.5 * few_static


def test_sample_trace() -> None:
    continuous, static = runs_named("Sample trace")
    assert continuous.results["arrival_s"].tolist() == static.results["arrival_s"].tolist()
