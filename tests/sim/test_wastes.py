"""Five wastes of a run: each falls with the technique that is said to remove it, and agrees with what else is known."""

import pytest

from sim.engine.record import Kind
from sim.run import FINISHED, simulate
from sim.scenario import scenario_from
from sim.wastes import wastes_of

SHARED = {"num_requests": 40, "rate": 6, "seed": 31, "shared_prefix_tokens": 1500, "prefix_share": 0.9,
          "prompt_tokens": 150, "prompt_sigma": 1.7, "output_tokens": 120, "output_sigma": 0.8, "max_num_seqs": 8,
          "max_model_len": 16384}  # fmt: skip
WITHOUT = {"batching": "static", "kv": "contiguous", "prefix_cache": "off", "prefill": "whole",
           "max_num_batched_tokens": 16384}  # fmt: skip
ALL = {"max_num_batched_tokens": 512, "num_speculative_tokens": 3}


def make_wastes(settings):
    return wastes_of(simulate(scenario_from(settings)))


def test_each_technique_removes_its_waste():
    all_on, none_on = make_wastes(SHARED | ALL), make_wastes(SHARED | WITHOUT)
    assert (all_on.held_slot_share, none_on.held_slot_share > 0.3) == (0, True)
    assert (all_on.kv_unused_share < 0.01, none_on.kv_unused_share > 0.8) == (True, True)
    assert none_on.repeated_tokens == 37 * 1500  # 38 of 40 requests share, the first computes for all
    assert all_on.repeated_tokens == 37 * (1500 % 16)  # only whole blocks are found
    assert make_wastes(SHARED | ALL | {"prefill": "whole", "max_num_batched_tokens": 16384}).frozen_s > 1.5
    assert all_on.frozen_s == 0
    assert all_on.reads_per_token < 0.6 * make_wastes(SHARED | ALL | {"num_speculative_tokens": 0}).reads_per_token


def test_kv_unused_share_is_that_of_the_frames():
    run = simulate(scenario_from({"num_requests": 12, "rate": 8, "max_num_seqs": 4, "kv": "contiguous",
                                  "max_model_len": 4096}))  # fmt: skip
    reserved = unused = 0.0
    for step, duration_s in enumerate(run.steps["duration_s"].tolist()):
        for row in run.frame(step).running:
            reserved += duration_s * 16 * len(row.blocks)
            unused += duration_s * (16 * len(row.blocks) - row.computed - row.scheduled)
    assert wastes_of(run).kv_unused_share == pytest.approx(unused / reserved)


def test_what_a_preemption_loses_is_repeated_but_for_the_token_it_was_at():
    run = simulate(scenario_from({"rate": 8, "num_requests": 40, "prompt_tokens": 400, "output_tokens": 300,
                                  "max_num_seqs": 12, "num_gpu_blocks": 385, "max_model_len": 2048,
                                  "prefix_cache": "off"}))  # fmt: skip
    computed = int(run.events["a"][run.events["kind"] == Kind.CHUNK].sum())
    prompts = int(run.requests.prompt_tokens[run.results["status"] == FINISHED].sum())
    preemptions = int(run.results["preemptions"].sum())
    assert preemptions > 3
    assert wastes_of(run).repeated_tokens == computed - prompts - preemptions


def test_a_chat_repeats_what_was_said_before_when_there_is_no_cache():
    chat = {"session": "chat", "turns": 3, "num_requests": 12, "rate": 2, "shared_prefix_tokens": 320}
    with_cache, without = make_wastes(chat), make_wastes(chat | {"prefix_cache": "off"})
    assert without.repeated_tokens > 10 * with_cache.repeated_tokens
    run = simulate(scenario_from(chat))
    hits = int(run.results["hit_tokens"].sum())
    assert with_cache.repeated_tokens + hits == pytest.approx(without.repeated_tokens, abs=len(run.requests))


def test_a_run_in_which_nothing_happens_has_no_wastes():
    wastes = make_wastes({"prompt_list": "60000", "output_list": "5", "max_model_len": 1024})
    assert (wastes.kv_unused_share, wastes.reads_per_token) == (None, None)
    assert (wastes.repeated_tokens, wastes.frozen_s) == (0, 0)
