"""Each textbook axis does what its row of the policy table says, on runs that can be counted by hand."""

import numpy as np
import pytest

from sim.engine.record import Kind, Why
from sim.run import simulate
from sim.scenario import scenario_from
from tests.invariants.checks import events_of


def run_burst(prompts, outputs, **settings):
    """Run of requests that are all there at the start, a second a step."""
    lists = {"prompt_list": ",".join(map(str, prompts)), "output_list": ",".join(map(str, outputs))}
    return simulate(scenario_from({"load": "burst", "cost": "unit", **lists, **settings}))


def run_arrivals(arrivals, outputs, **settings):
    load = {"load": "open", "arrival_list": ",".join(map(str, arrivals))}
    return run_burst([1] * len(arrivals), outputs, **load, **settings)


def column(run, name):
    return run.steps[name].tolist()


# -- batching ----------------------------------------------------------------------------------------------------


def test_continuous_batch_takes_the_next_request_at_once():
    run = run_burst([1] * 3, [1, 3, 2], max_num_seqs=2)

    assert run.results["scheduled_s"].tolist() == [0, 0, 1]
    assert column(run, "held") == [0, 0, 0]


def test_static_batch_is_held_until_its_longest_ends():
    run = run_burst([1] * 3, [1, 3, 2], max_num_seqs=2, batching="static")

    assert run.results["scheduled_s"].tolist() == [0, 0, 3]
    assert column(run, "held") == [0, 1, 1, 0, 0]
    assert column(run, "why") == [Why.SLOT, Why.BATCH_RUNNING, Why.BATCH_RUNNING, 0, 0]


def test_static_padding_is_prompts_up_to_the_longest_and_finished_rows():
    run = run_burst([3, 10], [1, 3], batching="static")

    assert column(run, "padding") == [7, 1, 1]
    assert column(run, "prefill") == [13, 0, 0]


def test_static_server_that_drops_finished_rows_pads_prompts_only():
    run = run_burst([3, 10], [1, 3], batching="static", static_rows="dropped")

    assert column(run, "padding") == [7, 0, 0]


def test_dropped_rows_give_their_blocks_back_and_padded_ones_keep_them():
    padded, dropped = (
        run_burst([33, 10], [1, 3], batching="static", static_rows=rows, num_gpu_blocks=11, prefix_cache="off")
        for rows in ("padded", "dropped")
    )

    assert column(padded, "free_end") == [6, 6, 10]
    assert column(dropped, "free_end") == [9, 9, 10]


def test_static_rows_of_more_than_the_budget_run_in_one_step():
    run = run_burst([300, 300], [2, 2], batching="static", max_num_batched_tokens=100, max_num_seqs=2)

    assert column(run, "prefill") == [600, 0]


@pytest.mark.parametrize(
    ("arrivals", "start_s"),
    [((0, 1, 2, 9), 2.5), ((0, 0.5, 0.75, 1), 1), ((0, 9, 9, 9), 2.5)],
    ids=["time is up", "full", "alone when time is up"],
)
def test_static_server_waits_for_a_full_batch_but_not_longer_than_it_may(arrivals, start_s):
    run = run_arrivals(arrivals, [1] * 4, max_num_seqs=4, batching="static", static_wait_s=2.5)

    assert run.steps["start_s"][0] == start_s


def test_static_server_does_not_wait_when_nobody_else_can_come():
    run = run_arrivals([3], [1], max_num_seqs=4, batching="static", static_wait_s=2.5)

    assert column(run, "start_s") == [3]


def test_static_batch_of_contiguous_kv_is_full_when_the_pool_is():
    """Two regions fit, so two requests are a full batch, though there are four slots."""
    regions = {"kv": "contiguous", "max_model_len": 32, "num_gpu_blocks": 5}

    run = run_arrivals([0, 1, 9], [1] * 3, max_num_seqs=4, batching="static", static_wait_s=5, **regions)

    assert run.steps["start_s"][0] == 1


def test_static_server_does_not_wait_when_its_line_is_full():
    run = run_arrivals([0, 1, 2, 9], [1] * 4, max_num_seqs=4, batching="static", static_wait_s=5, max_waiting=2)

    assert run.steps["start_s"][0] == 1


def test_static_batch_under_memory_pressure_preempts_its_newest_row_for_the_next_batch():
    run = run_burst([16, 16], [20, 20], batching="static", num_gpu_blocks=4, prefix_cache="off", max_num_seqs=2)

    assert run.results["preemptions"].tolist() == [0, 1]
    assert [kind for _, kind, *_ in events_of(run, Kind.BATCH, Kind.PREEMPT, Kind.RELEASE)] == [
        Kind.BATCH, Kind.PREEMPT, Kind.RELEASE, Kind.BATCH, Kind.RELEASE,
    ]  # fmt: skip
    assert run.results["outputs"].tolist() == [20, 20]


# -- KV memory ---------------------------------------------------------------------------------------------------


def test_contiguous_request_reserves_a_longest_request_at_admission():
    run = run_burst([1, 1, 1], [2, 2, 2], kv="contiguous", max_model_len=32, num_gpu_blocks=6)

    assert run.setting.config.region_blocks == 2
    assert column(run, "free") == [1, 1, 3, 3]
    assert column(run, "why") == [Why.BLOCKS, Why.BLOCKS, 0, 0]


def test_contiguous_request_has_the_region_of_its_slot():
    run = run_burst([1, 1, 1], [1, 3, 1], kv="contiguous", max_model_len=32, num_gpu_blocks=6)

    assert [row.blocks for row in run.frame(0).running] == [[1, 2], [3, 4]]
    assert [(row.request, row.blocks) for row in run.frame(1).running] == [(2, [1, 2]), (1, [3, 4])]


def test_paged_request_takes_a_block_when_a_token_crosses_into_it():
    run = run_burst([15], [4], num_gpu_blocks=5)

    assert [len(run.frame(step).running[0].blocks) for step in range(4)] == [1, 1, 2, 2]


# -- prefix cache ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cache", "hits"), [("off", [0, 0]), ("shared", [0, 32]), ("per_slot", [0, 0])])
def test_shared_cache_alone_is_hit_by_a_request_of_the_same_step(cache, hits):
    run = run_burst([5, 5], [2, 2], shared_prefix_tokens=40, prefix_cache=cache)

    assert run.results["hit_tokens"].tolist() == hits


def test_slot_keeps_its_sequence_and_is_hit_token_by_token():
    run = run_burst([5, 5], [2, 2], shared_prefix_tokens=40, prefix_cache="per_slot", max_num_seqs=1)

    assert run.results["hit_tokens"].tolist() == [0, 40]


def test_chat_hits_all_of_its_slot_but_the_last_token():
    chat = {"session": "chat", "turns": 3, "turn_gap_s": 1, "num_requests": 3, "max_num_seqs": 1}
    fixed = {"prompt_tokens": 7, "prompt_dist": "fixed", "output_tokens": 5, "output_dist": "fixed"}

    run = simulate(scenario_from({"load": "burst", "cost": "unit", "prefix_cache": "per_slot"} | chat | fixed))

    assert run.requests.prompt_tokens.tolist() == [7, 19, 31]
    assert run.results["hit_tokens"].tolist() == [0, 11, 23]


def test_request_takes_the_free_slot_with_the_longest_match():
    """Two chats leave their turns in two slots; each next turn comes back to its own."""
    chat = {"session": "chat", "turns": 2, "turn_gap_s": 3, "num_requests": 4, "max_num_seqs": 3}

    run = simulate(scenario_from({"load": "burst", "cost": "unit", "prefix_cache": "per_slot"} | chat))

    slots = {request: slot for _, _, request, _, slot in events_of(run, Kind.ADMIT)}
    assert (slots[0], slots[2]) == (0, 1)
    assert (slots[1], slots[3]) == (0, 1)
    assert (run.results["hit_tokens"][[1, 3]] > 0).all()


def test_request_without_a_match_takes_the_slot_used_longest_ago():
    run = run_arrivals([0, 0, 4, 9], [3, 1, 1, 1], prefix_cache="per_slot", max_num_seqs=2)

    assert [slot for *_, slot in events_of(run, Kind.ADMIT)] == [0, 1, 1, 0]


def test_kept_sequence_gives_way_to_a_request_that_needs_its_blocks():
    run = run_burst([40, 40], [8, 8], num_gpu_blocks=5, prefix_cache="per_slot", max_num_seqs=1)

    assert [request for _, _, request, *_ in events_of(run, Kind.EVICT)] == [0]
    assert run.results["outputs"].tolist() == [8, 8]


def test_contiguous_slot_keeps_its_sequence_in_its_region():
    settings = {"kv": "contiguous", "max_model_len": 64, "num_gpu_blocks": 5, "prefix_cache": "per_slot"}

    run = run_burst([5, 5], [2, 2], shared_prefix_tokens=40, **settings)

    assert run.results["hit_tokens"].tolist() == [0, 40]
    assert column(run, "cached") == [0] * 4


def test_shared_cache_is_off_where_kv_is_contiguous_and_the_facts_say_so():
    run = run_burst([5, 5], [2, 2], shared_prefix_tokens=40, kv="contiguous", max_model_len=64)

    assert run.results["hit_tokens"].tolist() == [0, 0]
    assert "prefix_cache=shared needs kv=paged, so nothing is shared here" in run.facts["notes"]


# -- prefill, speculation, admission, async -----------------------------------------------------------------------


def test_chunked_prompt_takes_what_the_budget_leaves():
    run = run_burst([30, 30], [2, 2], max_num_batched_tokens=40, max_num_seqs=4)

    assert column(run, "prefill") == [40, 20, 0]


def test_whole_prompt_waits_for_a_step_that_takes_it_all():
    run = run_burst([30, 30], [2, 2], max_num_batched_tokens=40, max_num_seqs=4, prefill="whole")

    assert column(run, "prefill") == [30, 30, 0]
    assert column(run, "why") == [Why.WHOLE_PROMPT, 0, 0]


@pytest.mark.parametrize(("acceptance", "steps"), [(1, 4), (0, 10)])
def test_pass_brings_one_token_and_those_accepted(acceptance, steps):
    """Ten outputs: the prompt's step brings one, then three drafts and one at a time, or one."""
    run = run_burst([4], [10], num_speculative_tokens=3, acceptance=acceptance, prefix_cache="off")

    assert len(run.steps) == steps
    assert run.results["outputs"].tolist() == [10]


def test_accepted_drafts_are_as_many_as_the_rate_says():
    """Expected tokens of a pass with k drafts: 1 + a + a^2 + ... + a^k."""
    settings = {"num_speculative_tokens": 4, "acceptance": 0.7, "output_dist": "fixed", "output_tokens": 400}

    run = simulate(scenario_from(settings | {"num_requests": 50}))

    accepted = np.array([a for _, _, _, a, _ in events_of(run, Kind.ACCEPT)])
    assert 1 + accepted.mean() == pytest.approx(sum(0.7**k for k in range(5)), rel=0.03)


def test_step_with_drafts_takes_longer_by_their_cost():
    plain, drafting = (
        run_burst([4], [9], cost="simple", num_speculative_tokens=k, acceptance=0, draft_cost=0.5) for k in (0, 2)
    )

    ratio = drafting.steps["duration_s"][3] / plain.steps["duration_s"][3]
    assert ratio == pytest.approx(2, rel=0.01)


def test_async_slot_is_held_one_step_longer():
    """The end of step 2 is seen when step 3 has begun, so the next request joins at step 4."""
    sync, late = (run_burst([1, 1], [3, 1], max_num_seqs=1, async_scheduling=a) for a in ("false", "true"))

    assert [step for step, *_ in events_of(sync, Kind.ADMIT)] == [0, 3]
    assert [step for step, *_ in events_of(late, Kind.ADMIT)] == [0, 4]
    assert late.results["finish_s"][0] == sync.results["finish_s"][0] == 3


def test_async_has_no_meaning_for_static_batches_and_the_facts_say_so():
    run = run_burst([1], [2], batching="static", async_scheduling="true")

    assert run.setting.config.is_async == 0
    assert any("async_scheduling has no meaning" in note for note in run.facts["notes"])


def test_request_that_finds_a_full_line_is_turned_away():
    run = run_arrivals([0, 1, 2, 3], [9] * 4, max_num_seqs=1, max_waiting=2)

    assert [request for _, _, request, *_ in events_of(run, Kind.REJECT)] == [3]
    assert run.metrics()["rejected"] == 1


def test_threshold_caps_a_prompt_while_others_are_there():
    run = run_burst([30, 1], [1, 4], long_prefill_token_threshold=10)

    assert [tokens for _, _, request, tokens, _ in events_of(run, Kind.CHUNK) if request == 0] == [10, 10, 10]
