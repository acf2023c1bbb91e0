"""What people met on real servers and asked about, replayed: each case with the relation or number that answers it.

Times are not those of their machines, so that the relation is asserted wherever a figure depends on speed.
"""

import re

import numpy as np
import pytest

from sim.conformance.vllm import record_scenario
from sim.engine.record import Kind
from sim.run import REFUSED, simulate
from sim.scenario import ScenarioError, scenario_from


def run_of(**settings):
    return simulate(scenario_from(settings))


def fixed(prompt, output):
    return {"prompt_tokens": prompt, "prompt_dist": "fixed", "output_tokens": output, "output_dist": "fixed"}


def repeated(value, times):
    return ",".join([str(value)] * times)


# -- memory ------------------------------------------------------------------------------------------------------


def test_kv03_kv_of_a_70b_is_that_of_its_8_kv_heads_not_of_its_64_query_heads():
    run = run_of(model="llama-3-70b", gpu="mi300x", num_requests=1)
    per_token = run.facts["kv_bytes_per_token"]
    of_all_heads = 2 * 80 * 64 * 128 * 2

    assert per_token == 2 * 80 * 8 * 128 * 2 == 327_680
    assert of_all_heads == 8 * per_token == 2_621_440
    assert 17e9 / per_token == pytest.approx(51_880, abs=1)


def test_kv11_more_users_than_the_pool_holds_only_build_a_queue():
    pool = {"model": "qwen2.5-7b", "gpu": "a10g", "num_gpu_blocks": 77_088 // 16 + 1, "max_model_len": 8192}
    load = {"load": "closed", "num_requests": 1500, "prefix_cache": "off", **fixed(1000, 70)}

    fitting, flooded = (run_of(concurrency=users, **pool, **load) for users in (72, 256))

    few, many = fitting.metrics(), flooded.metrics()
    assert np.median(flooded.steps["running"]) == pytest.approx(72, rel=0.1)
    assert many["output_tokens_per_s"] <= 1.05 * few["output_tokens_per_s"]
    assert many["ttft_s"]["p50"] >= 10 * few["ttft_s"]["p50"]
    assert many["preemptions"] > few["preemptions"]


# -- preemption --------------------------------------------------------------------------------------------------


def run_five_long_prompts(is_whole_prompt_needed):
    """Pool of 440,000 tokens; four prompts of 100,000 hold nine tenths of it when the fifth comes."""
    return run_of(
        model="llama-3.1-70b",
        gpu="h200-sxm",
        tensor_parallel_size=8,
        num_gpu_blocks=440_000 // 16 + 1,
        arrival_list="0,1,2,3,40",
        prompt_list=repeated(100_000, 5),
        output_list=repeated(1000, 5),
        max_num_batched_tokens=4096,
        prefix_cache="off",
        scheduler_reserve_full_isl=is_whole_prompt_needed,
    )


def prefilled_tokens(run):
    chunks = run.events[run.events["kind"] == Kind.CHUNK]
    return np.bincount(chunks["request"], chunks["a"])


def test_pre01_admission_on_the_first_chunk_computes_the_fifth_prompt_again_and_again():
    run = run_five_long_prompts("false")

    assert run.results["preemptions"].tolist()[:4] == [0] * 4
    assert run.results["preemptions"][4] >= 2
    assert prefilled_tokens(run)[4] - 100_000 >= 40_000


def test_pre01_admission_on_the_full_prompt_wastes_nothing_and_decodes_five_times_as_fast():
    chunk, full = run_five_long_prompts("false"), run_five_long_prompts("true")

    assert full.metrics()["preemptions"] == 0
    assert prefilled_tokens(full).tolist() == [100_000] * 5
    # Outputs a second of the four that hold the pool, while the fifth wants in.
    slow, fast = (decode_rate(run, 40, run.results["finish_s"][:4].min()) for run in (chunk, full))
    assert fast >= 5 * slow


def decode_rate(run, from_s, to_s):
    """Decode tokens a second between two times, one of them for each row of a step."""
    ends = run.ends_s()
    is_inside = (ends > from_s) & (ends <= to_s)
    return run.steps["decode"][is_inside].sum() / (to_s - from_s)


NEVER_FITS = {"block_size": 16, "num_gpu_blocks": 64, "max_num_batched_tokens": 256}
"""Usable: 63 blocks, 1,008 tokens."""


def test_pre05_request_that_can_never_fit_is_refused_with_the_reason():
    run = run_of(load="burst", prompt_list="1000,100", output_list="24,24", **NEVER_FITS)

    assert run.results["status"][0] == REFUSED
    assert run.rejected[0]["request"] == 1
    assert "1,000" in run.rejected[0]["reason"]
    assert "1,008" in run.rejected[0]["reason"]
    assert run.results["outputs"].tolist() == [0, 24]
    assert run.metrics()["preemptions"] == 0


def test_pre05_limit_that_the_pool_cannot_hold_is_refused_as_a_whole():
    with pytest.raises(ScenarioError, match="at most 1008, what one request can have in the pool"):
        run_of(load="burst", prompt_list="1000", output_list="24", max_model_len=1024, **NEVER_FITS)


def test_pre05_engine_below_validation_gives_such_a_request_up_after_one_preemption():
    config = {**NEVER_FITS, "usable_blocks": 63, "max_num_seqs": 64, "max_model_len": 1024, "policy": "fcfs"}
    config |= {"enable_chunked_prefill": True, "enable_prefix_caching": False, "long_prefill_token_threshold": 0}
    request = {"id": "r0", "arrival_step": 0, "prompt_len": 1000, "output_len": 24}

    recorder = record_scenario({"config": config, "requests": [request]}, steps=500)

    assert recorder.requests()["preemptions"].tolist() == [1]
    assert (recorder.requests()["known"] - recorder.requests()["prompt"]).tolist() == [9]


# -- chunked prefill ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("budget", "tolerance"), [(8192, 0.15), (1024, 0.2)])
def test_chk03_decoder_gets_one_token_per_budget_of_prompt_while_long_prompts_run(budget, tolerance):
    run = run_of(
        model="qwen2.5-7b",
        gpu="dgx-spark",
        arrival_list="0,10,10",
        prompt_list="100,72000,72000",
        output_list="2000,1,1",
        max_num_batched_tokens=budget,
        prefix_cache="off",
    )
    end_s = run.results["first_s"][1:].max()
    prefill_rate = 144_000 / (end_s - 10)

    assert decode_rate(run, 10, end_s) == pytest.approx(prefill_rate / budget, rel=tolerance)
    assert decode_rate(run, 0, 10) > 5 * decode_rate(run, 10, end_s)


BUDGETS = {"512": ("chunked", 512), "2048": ("chunked", 2048), "8192": ("chunked", 8192), "off": ("whole", 40_000)}


def run_with_budget(budget, **load):
    prefill, tokens = BUDGETS[budget]
    server = {"model": "llama-3.1-70b", "gpu": "h100-sxm", "tensor_parallel_size": 8, "max_model_len": 16_384}
    server |= {"prefill": prefill, "max_num_batched_tokens": tokens, "prefix_cache": "off"}
    return run_of(**server, **load)


def test_chk05_offline_chunking_costs_throughput_but_less_than_a_quarter():
    load = {"load": "burst", "num_requests": 50, **fixed(4000, 256)}
    rates = {budget: run_with_budget(budget, **load).metrics()["output_tokens_per_s"] for budget in BUDGETS}

    assert rates["off"] >= rates["2048"] >= rates["512"] > 0.75 * rates["off"]


def test_chk05_online_a_smaller_budget_gives_shorter_gaps():
    load = {"rate": 1, "num_requests": 100, **fixed(8192, 200)}
    gaps_s = [run_with_budget(budget, **load).metrics()["itl_s"]["p99"] for budget in BUDGETS]

    assert gaps_s == sorted(gaps_s)
    assert gaps_s[-1] >= 5 * gaps_s[0]


# -- prefix cache ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("block_size", "share"), [(784, 0.0), (16, 240 / 487)])
def test_pfx01_only_full_blocks_of_a_shared_prompt_are_hit(block_size, share):
    run = run_of(rate=2, shared_prefix_tokens=240, block_size=block_size, **fixed(247, 20))
    after_the_first = run.results["hit_tokens"][1:].sum() / run.requests.prompt_tokens[1:].sum()

    assert after_the_first == pytest.approx(share, abs=0.005)
    assert (block_size != 784) or after_the_first == 0


@pytest.mark.parametrize(
    ("changed_at", "low", "high"), [(0, 0, 0), (40_324, 0.567, 0.569), (70_990, 0.95, 1)], ids=["top", "inside", "end"]
)
def test_pfx03_prefix_match_ends_at_the_first_changed_token(changed_at, low, high):
    load = {"load": "closed", "concurrency": 1, "num_requests": 4, "shared_prefix_tokens": changed_at}
    run = run_of(**load, **fixed(71_000 - changed_at, 20))
    hits = run.results["hit_tokens"].tolist()

    assert hits == [0] + [changed_at // 16 * 16] * 3
    assert low <= hits[1] / 71_000 <= high


# -- batching and saturation -------------------------------------------------------------------------------------


def test_sb01_twelve_requests_in_four_places_take_150_steps_static_and_83_continuous():
    twelve = {"load": "burst", "prompt_list": repeated(1, 12), "output_list": "40,3,25,5,60,4,18,6,33,2,50,8"}
    static, continuous = (
        run_of(**twelve, max_num_seqs=4, cost="unit", batching=batching) for batching in ("static", "continuous")
    )

    assert (len(static.steps), len(continuous.steps)) == (150, 83)
    assert static.metrics()["idle_slot_share"] == pytest.approx(0.577, abs=0.001)
    assert continuous.metrics()["idle_slot_share"] == pytest.approx(0.235, abs=0.001)
    rates = [run.metrics()["output_tokens_per_s"] for run in (continuous, static)]
    assert rates[0] / rates[1] == pytest.approx(1.807, abs=0.001)


def run_at_rate(rate):
    """A server of exactly 2.3 requests a second: 23 slots, ten steps of a second each."""
    server = {"cost": "unit", "max_num_seqs": 23, "prefix_cache": "off"}
    return run_of(rate=rate, num_requests=1000, **server, **fixed(1, 10))


def test_sat01_requests_far_above_capacity_wait_for_all_before_them():
    run = run_at_rate(200)
    ttft_s = run.results["first_s"] - run.results["arrival_s"]

    assert run.metrics()["duration_s"] == pytest.approx(1000 / 2.3, rel=0.03)
    assert ttft_s[-1] == pytest.approx(1000 / 2.3 - 1000 / 200, rel=0.03)
    assert np.median(ttft_s) == pytest.approx(ttft_s[-1] / 2, rel=0.03)


@pytest.mark.parametrize("rate", [2.5, 5, 200])
def test_sat01_throughput_does_not_grow_with_the_rate(rate):
    assert run_at_rate(rate).metrics()["requests_per_s"] == pytest.approx(2.3, rel=0.03)


def test_sat01_below_capacity_ttft_stays_bounded():
    assert run_at_rate(2).metrics()["ttft_s"]["p99"] < 10


def test_sat03_ttft_of_a_closed_loop_falls_as_outputs_get_longer():
    """Lengths are drawn: users whose outputs are equally long would move in lock step and meet in prefill."""
    server = {"model": "llama-3.3-70b", "gpu": "h200-sxm", "tensor_parallel_size": 8, "max_model_len": 16_384}
    server |= {"prefill": "whole", "max_num_batched_tokens": 16_384, "prefix_cache": "off"}
    load = {"load": "closed", "concurrency": 32, "num_requests": 960, **fixed(3100, 1), "output_dist": "uniform"}
    metrics = [run_of(**server, **load | {"output_tokens": tokens}).metrics() for tokens in (1, 16, 128, 1024)]
    ttft_s = [each["ttft_s"]["mean"] for each in metrics]

    assert ttft_s == sorted(set(ttft_s), reverse=True)
    assert ttft_s[0] == pytest.approx(32 / metrics[0]["requests_per_s"], rel=0.1)
    assert ttft_s[0] >= 3 * ttft_s[-1]


# -- bad values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "prompt", "output"), [(4096, 11_680, 50), (2048, 8, 2045)])
def test_bad01_refusal_names_prompt_output_and_limit_and_nothing_derived(limit, prompt, output):
    run = run_of(load="burst", max_model_len=limit, prompt_list=f"100,{prompt},200", output_list=f"50,{output},60")
    numbers = re.findall(r"-?\d+", run.rejected[0]["reason"].replace(",", ""))

    assert numbers == [str(prompt), str(output), str(limit)]
    assert run.metrics()["rejected"] == 1
    assert run.results["outputs"].tolist() == [50, 0, 60]
