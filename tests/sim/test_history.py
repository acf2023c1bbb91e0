"""The event list has every event of the record once, in order and in words; lives agree with the results."""

import numpy as np
import pytest

from sim.engine.record import Kind
from sim.history import EVENT_KINDS, KIND_NAMES, NO_REQUEST, duration_text, history_of, life_of
from sim.run import FINISHED, simulate
from sim.scenario import scenario_from

TIGHT = {"rate": 8, "num_requests": 40, "prompt_tokens": 400, "output_tokens": 300, "max_num_seqs": 12,
         "num_gpu_blocks": 385, "max_model_len": 2048}  # fmt: skip
STATIC = {"rate": 8, "num_requests": 40, "max_num_seqs": 4, "batching": "static", "max_waiting": 6,
          "prefix_cache": "per_slot", "num_gpu_blocks": 400}  # fmt: skip
CHUNKED = {"rate": 8, "num_requests": 40, "max_num_batched_tokens": 128, "max_num_seqs": 8}
DRAFTS = {"rate": 8, "num_requests": 40, "max_num_seqs": 8, "num_speculative_tokens": 3}
FORKED = {"rate": 8, "num_requests": 40, "max_num_seqs": 8, "fork": 2, "fork.max_num_seqs": 4}
SCENARIOS = {"tight": TIGHT, "static": STATIC, "chunked": CHUNKED, "drafts": DRAFTS, "forked": FORKED}


def make_history(settings):
    return history_of(simulate(scenario_from(settings)))


def names(history, positions=slice(None)):
    return [KIND_NAMES[kind] for kind in history.kind[positions]]


@pytest.mark.parametrize("settings", SCENARIOS.values(), ids=SCENARIOS)
def test_history_is_in_the_order_of_time(settings):
    history = make_history(settings)
    assert (np.diff(history.time_s) >= 0).all()
    assert ((history.step >= 0) & (history.step < len(history.run.steps))).all()


@pytest.mark.parametrize("settings", SCENARIOS.values(), ids=SCENARIOS)
def test_history_counts_what_the_run_counts(settings):
    history = make_history(settings)
    run, told = history.run, names(history)
    assert told.count("arrived") == len(run.results)
    assert told.count("finished") == run.metrics()["finished"]
    assert told.count("refused") == run.metrics()["rejected"]
    assert told.count("preempted") == told.count("resumed") == run.metrics()["preemptions"]
    assert told.count("batch") == int((run.events["kind"] == Kind.BATCH).sum())


@pytest.mark.parametrize("settings", SCENARIOS.values(), ids=SCENARIOS)
def test_every_entry_has_a_sentence_that_names_its_request(settings):
    history = make_history(settings)
    for position in range(len(history)):
        sentence = history.sentence(position)
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
        request = int(history.request[position])
        assert request == NO_REQUEST or f"equest {request + 1}" in sentence


def test_scenarios_have_every_kind_of_entry():
    told = set().union(*(names(make_history(settings)) for settings in SCENARIOS.values()))
    assert told == {kind.name for kind in EVENT_KINDS}


def test_prompt_chunks_after_the_first_are_told_and_drafts_are_not():
    history = make_history(CHUNKED)
    chunks = history.chosen(["chunk"])
    prompts = np.bincount(history.request[chunks], minlength=40)
    assert (prompts <= np.ceil(history.run.requests.prompt_tokens / 1)).all()
    assert len(chunks) > 40
    assert not len(make_history(DRAFTS | {"max_num_batched_tokens": 8192}).chosen(["chunk"]))


def test_chosen_filters_by_kind_and_request():
    history = make_history(TIGHT)
    both = history.chosen(["arrived", "finished"], 5)
    assert names(history, both) == ["arrived", "finished"]
    assert set(history.request[history.chosen(request=5)].tolist()) == {5}
    assert len(history.chosen()) == len(history)


def test_sentences_have_the_figures_of_the_run():
    history = make_history(TIGHT)
    first = history.chosen(["finished"])[0]
    life = life_of(history.run, int(history.request[first]))
    each = f"{1000 * life.tpot_s:.1f} ms each after the first"
    assert history.sentence(first) == f"Request {life.request + 1} is finished: {life.outputs} tokens, {each}."


def test_fork_says_what_changes():
    history = make_history(FORKED)
    assert history.sentence(history.chosen(["fork"])[0]) == "From here on max_num_seqs = 4."


@pytest.mark.parametrize("settings", SCENARIOS.values(), ids=SCENARIOS)
def test_life_agrees_with_the_results(settings):
    run = simulate(scenario_from(settings))
    finished = np.flatnonzero((run.results["status"] == FINISHED) & (run.results["outputs"] > 1))
    lives = [life_of(run, int(request)) for request in finished]
    assert np.median([life.ttft_s for life in lives]) == pytest.approx(
        np.median((run.results["first_s"] - run.results["arrival_s"])[finished])
    )
    assert [len(life.preempted_s) for life in lives] == run.results["preemptions"][finished].tolist()
    assert np.median([life.tpot_s for life in lives]) == pytest.approx(run.metrics()["tpot_s"]["p50"])


def test_life_of_a_refused_request_ends_before_it_begins():
    run = simulate(scenario_from({"load": "burst", "prompt_list": "30", "output_list": "9", "max_model_len": 16}))
    life = life_of(run, 0)
    assert (life.arrival_s, life.admitted_s, life.ttft_s, life.outputs) == (0.0, None, None, 0)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0042, "4.2 ms"), (0.0421, "42 ms"), (1.234, "1.23 s"), (12.34, "12.3 s")]
)
def test_duration_is_written_in_the_unit_that_suits_it(seconds, text):
    assert duration_text(seconds) == text
