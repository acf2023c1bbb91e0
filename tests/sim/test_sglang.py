"""SGLang's engine in time: in one call or many, to its end, with memory given back, and stuck where nothing fits."""

import numpy as np
import pytest

from sim.cost import make_cost
from sim.engine.layout import Status
from sim.engine.loop import NEVER_S, Stop
from sim.engine.record import EVENT, Kind
from sim.engine.sglang.layout import SGLANG_STEP, Config
from sim.engine.sglang.loop import advance
from sim.engine.sglang.setup import make_room, make_state, token_ratios
from sim.scenario import scenario_from
from sim.workload.requests import Requests

PLAIN = {
    "max_total_tokens": 600,
    "page_size": 4,
    "max_running_requests": 6,
    "chunked_prefill_size": 64,
    "max_prefill_tokens": 256,
    "context_len": 4_000,
    "is_lpm": 0,
    "is_mixed": 0,
    "is_overlap": 0,
    "has_radix": 1,
    "prefill_decode_interval": 0,
    "prefill_max_requests": 0,
    "max_waiting": 0,
    "emits_idle_steps": 0,
}
TIMED = {
    "normal": {},
    "overlap": {"is_overlap": 1},
    "mixed": {"is_mixed": 1, "is_overlap": 1, "is_lpm": 1},
    "no cache": {"has_radix": 0, "page_size": 1, "prefill_decode_interval": 2},
}
COUNT = 24


def make_requests():
    generator = np.random.default_rng(5)
    after = np.full(COUNT, -1, np.int32)
    after[16:] = np.arange(8)
    parent, common = np.full(COUNT, -1, np.int32), np.zeros(COUNT, np.int32)
    prompts = generator.integers(40, 150, COUNT).astype(np.int32)
    parent[:12], common[:12] = 0, 37
    outputs = generator.integers(2, 40, COUNT).astype(np.int32)
    arrivals = np.sort(generator.uniform(0, 2, COUNT))
    arrivals[after >= 0] = np.nan
    return Requests(
        arrival_s=arrivals,
        prompt_tokens=prompts,
        output_tokens=outputs,
        max_new_tokens=outputs + generator.integers(0, 2, COUNT).astype(np.int32),
        parent=parent,
        common_tokens=common,
        root_tokens=np.array([37], np.int32),
        after=after,
        gap_s=np.full(COUNT, 0.01),
    )


def make_run(name, **changes):
    config = Config(**PLAIN | TIMED[name] | changes, **token_ratios(0.05))
    nobody = np.zeros(COUNT, np.bool_)
    return make_state(config, make_cost(scenario_from({}).server), make_requests(), nobody, nobody)


def drive(state, max_steps=1 << 30, slice_s=NEVER_S):
    stop, until_s = Stop.LIMIT, slice_s
    while stop in {Stop.LIMIT, Stop.LOG_FULL}:
        stop = Stop(advance(state, max_steps, until_s))
        until_s += slice_s
        if stop == Stop.LOG_FULL:
            state = make_room(state, growth=1.0)
    return state, stop


def record_of(state):
    logs = (state.steps[: state.count.steps], SGLANG_STEP), (state.events[: state.count.events], EVENT)
    return [log[name].tobytes() for log, dtype in logs for name in dtype.names] + [
        state.ids[: state.count.ids].tobytes()
    ]


@pytest.mark.parametrize("how", [{"max_steps": 1}, {"slice_s": 0.009}])
@pytest.mark.parametrize("name", TIMED)
def test_calls_of_any_length_give_the_same_record(name, how):
    assert record_of(drive(make_run(name), **how)[0]) == record_of(drive(make_run(name))[0])


@pytest.mark.parametrize("name", TIMED)
def test_everyone_is_served_and_gives_everything_back(name):
    state, stop = drive(make_run(name))

    requests, count = state.requests, state.count
    assert stop == Stop.DONE
    assert (requests["status"] == Status.FINISHED).all()
    assert (requests["outputs"] == make_requests().output_tokens).all()
    assert (requests["first_s"] > requests["scheduled_s"]).all()
    assert count.free + count.evictable == PLAIN["max_total_tokens"]
    assert (int(count.rows), int(count.running), int(count.waiting)) == (PLAIN["max_running_requests"], 0, 0)


@pytest.mark.parametrize("name", TIMED)
def test_every_token_is_a_first_one_or_comes_after_a_regular_or_a_listed_gap(name):
    state, _ = drive(make_run(name))

    events, steps = state.events[: state.count.events], state.steps[: state.count.steps]
    listed = np.isin(events["kind"], [Kind.FIRST, Kind.GAP]).sum()
    assert steps["regular"].sum() + listed == make_requests().output_tokens.sum()


def test_followers_arrive_after_the_end_of_whom_they_wait_for():
    state, _ = drive(make_run("normal"))

    requests, after = state.requests, make_requests().after
    late = np.flatnonzero(after >= 0)
    assert (requests["arrival_s"][late] == requests["finish_s"][after[late]] + 0.01).all()


def test_engine_stops_when_the_head_never_fits():
    _, stop = drive(make_run("normal", max_total_tokens=80))

    assert stop == Stop.STUCK


@pytest.mark.parametrize("name", ["normal", "overlap", "mixed"])
def test_tree_holds_the_memory_that_is_not_free_and_every_lock_is_given_back(name):
    state, _ = drive(make_run(name))

    nodes = state.nodes[1 : state.count.nodes]
    live = nodes[nodes["end"] > 0]
    assert (live["lock"] == 0).all()
    assert (live["end"] - live["start"]).sum() == state.count.evictable
    assert len(live) > 0
