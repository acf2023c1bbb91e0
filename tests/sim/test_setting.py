"""From a user's settings to the engine's: what each becomes, and what is refused or left out with a remark."""

import numpy as np
import pytest

from sim.engine.layout import Cache, Config
from sim.memory import kv_plan
from sim.scenario import scenario_from
from sim.setting import ACCEPT_DRAWS, setting_of
from sim.workload import make_requests


def make_setting(**settings):
    scenario = scenario_from(settings)
    return setting_of(scenario, kv_plan(scenario.server), make_requests(scenario.workload))


def make_config(**settings):
    return make_setting(**settings).config


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        ({"max_num_seqs": 7}, "max_num_seqs", 7),
        ({"max_num_seqs": 7}, "num_seats", 7),
        ({"max_num_batched_tokens": 999}, "max_num_batched_tokens", 999),
        ({"gpu": "h100-sxm"}, "max_num_batched_tokens", 8192),
        ({"block_size": 32}, "block_size", 32),
        ({"num_gpu_blocks": 101}, "usable_blocks", 100),
        ({"num_gpu_blocks": 101}, "max_model_len", 1600),
        ({"max_model_len": 640}, "max_model_len", 640),
        ({"long_prefill_token_threshold": 64}, "long_prefill_token_threshold", 64),
        ({"prefill": "whole"}, "is_chunked", 0),
        ({"prefill": "chunked"}, "is_chunked", 1),
        ({"scheduler_reserve_full_isl": "false"}, "reserves_full_isl", 0),
        ({"watermark": 0.1, "num_gpu_blocks": 99}, "watermark_blocks", 9),
        ({"num_speculative_tokens": 3}, "num_speculative_tokens", 3),
        ({"async_scheduling": "true"}, "is_async", 1),
        ({"async_scheduling": "true", "batching": "static"}, "is_async", 0),
        ({"batching": "static"}, "is_static", 1),
        ({"static_rows": "dropped"}, "drops_finished_rows", 1),
        ({"static_wait_s": 1.5}, "static_wait_s", 1.5),
        ({"prefix_cache": "off"}, "cache", Cache.OFF),
        ({"prefix_cache": "shared"}, "cache", Cache.SHARED),
        ({"prefix_cache": "per_slot"}, "cache", Cache.PER_SLOT),
        ({"kv": "contiguous", "max_model_len": 640}, "cache", Cache.OFF),
        ({"kv": "contiguous", "max_model_len": 640, "prefix_cache": "per_slot"}, "cache", Cache.PER_SLOT),
        ({"kv": "contiguous", "max_model_len": 650}, "region_blocks", 41),
        ({"kv": "contiguous", "max_model_len": 640, "num_gpu_blocks": 101}, "num_seats", 2),
        ({"max_waiting": 5}, "max_waiting", 5),
        ({}, "max_waiting", 0),
        ({}, "emits_idle_steps", 0),
    ],
)
def test_engine_setting_follows_from_the_user_setting(settings, field, value):
    assert getattr(make_config(**settings), field) == value


def test_every_engine_setting_is_a_plain_number_so_that_it_compiles_once():
    types = {name: type(value) for name, value in make_config(watermark=0.1, static_wait_s=1)._asdict().items()}

    assert types == {name: float if name == "static_wait_s" else int for name in Config._fields}


@pytest.mark.parametrize("block_size", [1, 16, 48])
def test_block_table_holds_the_longest_request_with_its_drafts(block_size):
    config = make_config(
        prompt_list="5,90", output_list="5,11", load="burst", num_speculative_tokens=4, block_size=block_size
    )

    assert config.table_width * block_size >= 90 + 11 + 4


def test_request_longer_than_max_model_len_is_refused_with_its_lengths():
    setting = make_setting(prompt_list="5,90", output_list="5,11", load="burst", max_model_len=100)

    assert setting.refusals == ((1, "a prompt of 90 and an output of 11 tokens are over max_model_len = 100"),)


def test_request_of_exactly_max_model_len_is_served():
    assert make_setting(prompt_list="89", output_list="11", load="burst", max_model_len=100).refusals == ()


@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.7, 1.0])
def test_accepted_drafts_end_at_the_first_rejection(acceptance):
    accepts = make_setting(num_speculative_tokens=3, acceptance=acceptance).accepts

    shares = [np.mean(accepts >= k) for k in (1, 2, 3)]
    assert len(accepts) == ACCEPT_DRAWS
    np.testing.assert_allclose(shares, [acceptance**k for k in (1, 2, 3)], atol=0.01)


def test_higher_acceptance_accepts_wherever_a_lower_one_did():
    low, high = (make_setting(num_speculative_tokens=3, acceptance=a).accepts for a in (0.4, 0.6))

    assert (high >= low).all()


def test_settings_without_meaning_are_remarked():
    assert make_setting().notes == ()
    assert len(make_setting(batching="static", async_scheduling="true").notes) == 2
    assert "needs kv=paged" in make_setting(kv="contiguous", max_model_len=640).notes[0]
