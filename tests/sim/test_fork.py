"""Forks: what can change in mid-run, what is refused and how, and what each change does."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sim.__main__ import app
from sim.engine.record import Kind
from sim.errors import ScenarioError
from sim.explain import explain
from sim.fork import FORKABLE, Fork
from sim.metrics import METRICS
from sim.parameters import BY_NAME
from sim.report import summary_of
from sim.run import Session, simulate
from sim.scenario import scenario_from, settings_of
from tests.invariants.checks import events_of
from tests.sim.records import assert_equal_bytes, columns_of

BUSY = {"rate": 20, "num_requests": 40, "max_num_seqs": 4, "shared_prefix_tokens": 200, "seed": 3}


def run_with(fork=1.0, base=BUSY, **changes):
    named = {f"fork.{name}": value for name, value in changes.items()}
    return simulate(scenario_from(base | {"fork": fork} | named))


def refusal_of(settings):
    with pytest.raises(ScenarioError) as raised:
        Session(scenario_from(settings))
    return raised.value


@pytest.mark.parametrize(
    ("settings", "field", "words"),
    [
        ({"fork": 3}, "fork", "something that changes"),
        ({"fork.rate": 3}, "fork", "the time from which fork.rate holds"),
        ({"fork": "soon", "fork.rate": 3}, "fork", "a number from 0"),
        ({"fork": -1, "fork.rate": 3}, "fork", "a number from 0"),
        ({"fork": "inf", "fork.rate": 3}, "fork", "a number from 0"),
        ({"fork": 3, "fork.gpu": "h100-sxm"}, "fork.gpu", "what can change in mid-run: rate, max_num_seqs"),
        ({"fork": 3, "fork.speed": 3}, "fork.speed", "what can change in mid-run"),
        ({"fork": 3, "fork.max_num_seqs": 0}, "fork.max_num_seqs", "from 1 to 4096"),
        ({"fork": 3, "fork.max_num_batched_tokens": 16}, "fork.max_num_batched_tokens", "at least max_num_seqs, 256"),
        ({"fork": 3, "fork.rate": 3, "load": "closed"}, "fork.rate", "load=open"),
        ({"fork": 3, "fork.rate": 3, "arrival_list": "1,2"}, "fork.rate", "drawn arrivals"),
        ({"fork": 3, "fork.prefix_cache": "per_slot"}, "fork.prefix_cache", "off or shared"),
        ({"fork": 3, "fork.prefix_cache": "off", "prefix_cache": "per_slot"}, "fork.prefix_cache", "off or shared"),
        ({"fork": 3, "fork.batching": "static", "async_scheduling": "true"}, "fork.batching", "a step in flight"),
        (
            {"fork": 3, "fork.num_speculative_tokens": 2, "async_scheduling": "true"},
            "fork.num_speculative_tokens",
            "async_scheduling=true",
        ),
        (
            {"fork": 3, "fork.max_num_batched_tokens": 512, "prefill": "whole", "max_model_len": 1024},
            "fork.max_num_batched_tokens",
            "at least max_model_len, 1024",
        ),
        ({"fork": 3, "fork.max_num_batched_tokens": 10_000_000}, "fork.max_num_batched_tokens", "GiB too much"),
    ],
    ids=str,
)
def test_what_cannot_change_is_refused_by_its_name(settings, field, words):
    error = refusal_of(settings)

    assert error.field == field
    assert words in error.allowed


@pytest.mark.parametrize("name", FORKABLE)
def test_value_that_stays_changes_nothing(name):
    base = BUSY | {"cost": "unit", "num_requests": 8}
    value = settings_of(scenario_from(base))[name]
    run = run_with(fork=2, base=base, **{name: value})

    np.testing.assert_array_equal(run.steps["start_s"], simulate(scenario_from(base)).steps["start_s"])
    assert "nothing is different" in explain(run, run.fork_step)


def test_fork_is_part_of_the_scenario_and_not_of_its_settings():
    plain, forked = scenario_from(BUSY), scenario_from(BUSY | {"fork": 1, "fork.max_num_seqs": 8})

    assert forked != plain
    assert forked.fork == Fork(1.0, (("max_num_seqs", 8),))
    assert settings_of(forked) == settings_of(plain)
    assert forked.forked == scenario_from(BUSY | {"max_num_seqs": 8})


def test_facts_and_summary_tell_of_the_fork():
    summary = summary_of(run_with(max_num_seqs=8))

    step = summary["facts"]["fork"]["step"]
    assert summary["facts"]["fork"] == {"time_s": 1.0, "step": step, "changes": {"max_num_seqs": 8}}
    assert (summary["scenario"]["max_num_seqs"], summary["scenario"]["fork.max_num_seqs"]) == (4, 8)
    assert summary["scenario"]["fork"] == 1


def test_fork_after_the_last_step_changes_nothing_and_says_so():
    run = run_with(fork=500, max_num_seqs=8)

    assert run.fork_step is None
    assert run.facts["fork"]["step"] is None
    assert "after the last step" in run.facts["notes"][-1]
    assert run.metrics() == simulate(scenario_from(BUSY)).metrics()


def test_parts_of_any_length_make_the_same_run():
    scenario = scenario_from(BUSY | {"fork": 1, "fork.max_num_seqs": 8, "fork.rate": 5})
    session = Session(scenario)
    while not session.advance(max_steps=7):
        session.advance(until_s=float(session.log().steps["start_s"][-1]) + 0.01)

    assert_equal_bytes(columns_of(session.log()), columns_of(simulate(scenario).log))


def test_slots_change_at_the_fork():
    run = run_with(max_num_seqs=9)

    seated = run.steps["running"]
    assert seated[: run.fork_step].max() == 4
    assert seated[run.fork_step :].max() == 9
    assert run.slots == 9


def test_slots_taken_away_are_left_by_those_who_finish():
    run = run_with(base=BUSY | {"max_num_seqs": 9}, max_num_seqs=2)
    after = run.steps[run.fork_step :]

    assert after["running"][0] == 9
    assert (np.diff(after["running"])[after["running"][:-1] >= 2] <= 0).all()
    assert after["running"][-1] <= 2
    assert run.slots == 9


def test_rate_stretches_the_gaps_after_the_fork():
    plain, run = simulate(scenario_from(BUSY)), run_with(rate=5)

    before, after = plain.results["arrival_s"], run.results["arrival_s"]
    is_late = before > 1.0
    np.testing.assert_array_equal(after[~is_late], before[~is_late])
    np.testing.assert_allclose(after[is_late] - 1.0, 4 * (before[is_late] - 1.0))


def test_those_who_run_are_the_first_static_batch():
    run = run_with(batching="static")
    after = slice(run.fork_step, None)

    first = np.flatnonzero(run.steps["admitted"][after])[0]
    assert run.steps["held"][after][:first].max() > 0
    assert (run.steps["held"][: run.fork_step] == 0).all()
    assert run.steps["running"][after][first] == run.steps["admitted"][after][first]


def test_held_slots_are_free_at_once_when_batching_becomes_continuous():
    static = BUSY | {"batching": "static"}
    held = simulate(scenario_from(static)).steps
    fork = float(held["start_s"][np.flatnonzero(held["held"] >= 2)[0]])
    run = run_with(fork=fork, base=static, batching="continuous")

    vacated = events_of(run, Kind.VACATE)
    assert {step for step, *_ in vacated} == {run.fork_step}
    assert len(vacated) == run.steps["held"][run.fork_step - 1] + len(events_of_step(run, Kind.FINISH, -1))
    assert (run.steps["held"][run.fork_step :] == 0).all()
    assert "finished requests leave at once" in explain(run, run.fork_step)


def events_of_step(run, kind, offset):
    return [event for event in events_of(run, kind) if event[0] == run.fork_step + offset]


def test_nothing_is_found_in_a_cache_that_was_switched_off():
    run = run_with(prefix_cache="off")

    hits = [(step, hit) for step, _, _, hit, _ in events_of(run, Kind.ADMIT)]
    assert any(hit for step, hit in hits if step < run.fork_step)
    assert not any(hit for step, hit in hits if step >= run.fork_step)
    assert (run.steps["cached"][run.fork_step :] == 0).all()


def test_cache_that_is_switched_on_has_only_what_was_there_or_came_since():
    base = BUSY | {"prefix_cache": "off", "max_num_seqs": 1}
    run = run_with(base=base, prefix_cache="shared")

    hits = [(step, hit) for step, _, _, hit, _ in events_of(run, Kind.ADMIT)]
    assert not any(hit for step, hit in hits if step < run.fork_step)
    assert sum(hit > 0 for step, hit in hits if step >= run.fork_step) > 10


def test_drafts_begin_and_end_at_the_fork():
    begins = run_with(num_speculative_tokens=3)
    ends = run_with(base=BUSY | {"num_speculative_tokens": 3}, num_speculative_tokens=0)

    assert begins.steps["drafts"][: begins.fork_step].max() == 0
    assert begins.steps["drafts"][begins.fork_step :].max() == 3
    assert ends.steps["drafts"][: ends.fork_step].max() == 3
    assert ends.steps["drafts"][ends.fork_step :].max() == 0


def test_acceptance_changes_from_the_fork_on():
    run = run_with(base=BUSY | {"num_speculative_tokens": 3, "acceptance": 1}, acceptance=0)

    accepted = [(step, a) for step, _, _, a, _ in events_of(run, Kind.ACCEPT)]
    assert all(a == 0 for step, a in accepted if step >= run.fork_step)
    assert any(a == 3 for step, a in accepted if step < run.fork_step)


def test_refusals_name_the_limit_of_their_time():
    run = run_with(base=BUSY | {"max_waiting": 12}, max_waiting=2)

    assert {reason["reason"] for reason in run.rejected} >= {"the waiting line was full (max_waiting = 2)"}
    full = simulate(scenario_from(BUSY | {"max_waiting": 12})).rejected
    early = [r for r in run.rejected if "= 12" in r["reason"]]
    assert early == [r for r in full if run.results["arrival_s"][r["request"] - 1] < 1.0]


def test_slo_judges_who_arrives_after_the_fork():
    run = run_with(base=BUSY | {"slo_ttft_ms": 1e6, "slo_tpot_ms": 1e6}, slo_ttft_ms=0.001)

    early = (run.results["arrival_s"] < 1.0).sum()
    assert run.metrics()["slo_attainment"] == pytest.approx(early / 40)


def test_share_of_slots_counts_the_slots_of_each_phase():
    run = run_with(max_num_seqs=9)

    steps, switched = run.steps, run.steps["start_s"][run.fork_step - 1] + run.steps["duration_s"][run.fork_step - 1]
    start, end = run.results["arrival_s"].min(), run.results["finish_s"].max()
    slot_seconds = 4 * (switched - start) + 9 * (end - switched)
    busy = steps["running"] @ steps["duration_s"]
    assert run.metrics()["idle_slot_share"] == pytest.approx(1 - busy / slot_seconds)


def test_sentence_of_the_first_step_says_what_changes():
    run = run_with(max_num_seqs=9)

    assert "From this step on max_num_seqs is 9, not 4." in explain(run, run.fork_step)


def test_command_line_takes_a_fork():
    settings = [f"--set={name}={value}" for name, value in (BUSY | {"fork": 1, "fork.max_num_seqs": 8}).items()]
    answer = CliRunner().invoke(app, ["run", "--json", *settings])

    assert json.loads(answer.output)["facts"]["fork"]["changes"] == {"max_num_seqs": 8}


def test_what_can_change_are_parameters_and_drive_a_metric():
    driving = {name for metric in METRICS for name in metric.driven_by}
    assert set(FORKABLE) <= set(BY_NAME)
    assert {"rate", "max_num_seqs", "batching", "prefix_cache"} <= driving & set(FORKABLE)
