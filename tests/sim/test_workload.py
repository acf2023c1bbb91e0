"""Requests of a workload: when, how long, what is shared, who waits for whom; and that sliders do not reshuffle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import ScenarioError
from sim.parameters import BY_NAME
from sim.scenario import scenario_from
from sim.workload import make_requests, read_trace

COLUMNS = ("arrival_s", "prompt_tokens", "output_tokens", "max_new_tokens", "parent", "common_tokens", "after", "gap_s")


def make(**settings):
    return make_requests(scenario_from(settings).workload)


def text_of(requests, request, length):
    """The first tokens of a request's text as (owner, position) pairs, following what it shares."""
    groups = len(requests.root_tokens)
    own = [(("request", request), p) for p in range(length)]
    parent, common = int(requests.parent[request]), int(requests.common_tokens[request])
    if parent < 0:
        return own
    if parent < groups:
        return [(("root", parent), p) for p in range(min(common, length))] + own[common:]
    return text_of(requests, parent - groups, min(common, length)) + own[common:]


workloads = st.fixed_dictionaries(
    {
        "load": st.sampled_from(["open", "closed", "burst"]),
        "session": st.sampled_from(["none", "chat", "agent"]),
        "num_requests": st.integers(1, 40),
        "seed": st.integers(0, 9),
    },
    optional={
        "turns": st.integers(1, 6),
        "concurrency": st.integers(1, 9),
        "shared_prefix_tokens": st.sampled_from([0, 1500]),
        "prefix_groups": st.integers(1, 3),
        "prefix_share": st.sampled_from([0, 0.5, 1]),
        "prompt_dist": st.sampled_from(["fixed", "uniform", "lognormal"]),
        "burstiness": st.sampled_from([0.01, 0.5, 1, "inf"]),
        "max_new_factor": st.sampled_from([1, 1.5]),
        "rescale_arrivals": st.booleans(),
    },
)


@given(workloads)
def test_every_workload_is_consistent(settings):
    r = make(**settings)
    index, groups = np.arange(len(r)), len(r.root_tokens)

    assert len(r) == settings["num_requests"]
    assert [getattr(r, c).dtype.str[1:] for c in COLUMNS] == ["f8", "i4", "i4", "i4", "i4", "i4", "i4", "f8"]
    assert (r.prompt_tokens >= 1).all()
    assert (r.output_tokens >= 1).all()
    assert (r.max_new_tokens >= r.output_tokens).all()
    assert (r.common_tokens <= r.prompt_tokens).all()
    assert ((r.after < index) & (r.parent < groups + index)).all()
    assert (np.isnan(r.arrival_s) == (r.after >= 0)).all()
    assert (np.diff(r.arrival_s[r.after < 0]) >= 0).all()
    assert ((r.common_tokens > 0) == (r.parent >= 0)).all()
    lengths = np.concatenate((r.root_tokens, r.prompt_tokens + r.output_tokens))
    assert (r.common_tokens <= np.where(r.parent >= 0, lengths[r.parent], 0)).all()


@given(workloads, st.integers(1, 40))
def test_first_requests_do_not_depend_on_how_many_follow(settings, more):
    few = make(**settings | {"rescale_arrivals": False})
    many = make(**settings | {"rescale_arrivals": False, "num_requests": settings["num_requests"] + more})

    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(many, column)[: len(few)], getattr(few, column))


def test_same_seed_same_requests_other_seed_others():
    assert make(seed=7).arrival_s.tobytes() == make(seed=7).arrival_s.tobytes()
    assert make(seed=7).prompt_tokens.tobytes() != make(seed=8).prompt_tokens.tobytes()


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"rate": 60}, {"arrival_s"}),
        ({"burstiness": 0.3}, {"arrival_s"}),
        ({"prompt_tokens": 5000}, {"prompt_tokens"}),
        ({"prompt_dist": "uniform"}, {"prompt_tokens"}),
        ({"output_sigma": 0.1}, {"output_tokens", "max_new_tokens"}),
        ({"max_new_factor": 2}, {"max_new_tokens"}),
        ({"shared_prefix_tokens": 100}, {"prompt_tokens", "parent", "common_tokens"}),
    ],
)
def test_one_parameter_changes_its_columns_only(change, changed):
    before, after = make(), make(**change)

    assert {c for c in COLUMNS if getattr(before, c).tobytes() != getattr(after, c).tobytes()} == changed


def test_rate_stretches_arrivals():
    np.testing.assert_allclose(make(rate=3).arrival_s, 2 * make(rate=6).arrival_s)


def test_longer_median_makes_each_prompt_longer():
    assert (make(prompt_tokens=600).prompt_tokens >= make(prompt_tokens=500).prompt_tokens).all()


@pytest.mark.parametrize("burstiness", [0.25, 1, 4])
def test_gaps_have_the_mean_and_variation_of_a_gamma_distribution(burstiness):
    """Mean 1/r, coefficient of variation 1/sqrt(b): METRICS, arrivals."""
    gaps = np.diff(make(num_requests=40_000, rate=5, burstiness=burstiness).arrival_s)

    assert gaps.mean() == pytest.approx(0.2, rel=0.03)
    assert gaps.std() / gaps.mean() == pytest.approx(burstiness**-0.5, rel=0.03)


def test_infinite_burstiness_is_a_constant_gap():
    np.testing.assert_allclose(make(burstiness="inf", rate=4, num_requests=3).arrival_s, [0.25, 0.5, 0.75])


def test_rescaled_arrivals_end_at_n_over_rate():
    assert make(rescale_arrivals=True, rate=4, num_requests=100).arrival_s[-1] == pytest.approx(25)


@pytest.mark.parametrize(
    ("dist", "low", "high", "log_sigma"),
    [("fixed", 400, 400, 0), ("uniform", 200, 600, None), ("lognormal", 1, 1e9, 0.5)],
)
def test_lengths_follow_their_distribution(dist, low, high, log_sigma):
    prompts = make(prompt_dist=dist, prompt_tokens=400, prompt_sigma=0.5, num_requests=20_000).prompt_tokens

    assert low <= prompts.min() <= prompts.max() <= high
    assert np.median(prompts) == pytest.approx(400, rel=0.02)
    if log_sigma is not None:
        assert np.log(prompts).std() == pytest.approx(log_sigma, rel=0.03, abs=1e-12)


def test_burst_arrives_at_once():
    assert make(load="burst").arrival_s.max() == 0


def test_closed_loop_users_wait_for_their_own_request():
    requests = make(load="closed", concurrency=3, think_time_s=2, num_requests=7)

    assert requests.after.tolist() == [-1, -1, -1, 0, 1, 2, 3]
    assert requests.gap_s.tolist() == [0, 0, 0, 2, 2, 2, 2]
    assert requests.arrival_s[:3].tolist() == [0, 0, 0]


def test_lists_replace_draws_and_are_sorted_by_arrival_together():
    requests = make(arrival_list="3,1,2", prompt_list="30,10,20", output_list="3,1,2")

    assert requests.arrival_s.tolist() == [1, 2, 3]
    assert requests.prompt_tokens.tolist() == [10, 20, 30]
    assert requests.output_tokens.tolist() == [1, 2, 3]


def test_lists_that_are_missing_are_drawn():
    requests = make(prompt_list="30,10,20")

    assert requests.prompt_tokens.tolist() == [30, 10, 20]
    assert requests.arrival_s.tolist() == make(num_requests=3).arrival_s.tolist()


def test_shared_text_lies_in_front_of_the_drawn_prompt():
    plain, shared = make(), make(shared_prefix_tokens=1500)

    np.testing.assert_array_equal(shared.prompt_tokens, plain.prompt_tokens + 1500)
    assert set(shared.parent) == {0}
    assert shared.root_tokens.tolist() == [1500]


def test_groups_and_share_are_drawn():
    requests = make(shared_prefix_tokens=10, prefix_groups=4, prefix_share=0.5, num_requests=4000)

    assert requests.root_tokens.tolist() == [10] * 4
    assert (requests.parent >= 0).mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(np.bincount(requests.parent + 1, minlength=5)[1:] / 2000, 0.25, atol=0.03)


def test_chat_turn_repeats_all_before_and_adds_a_prompt():
    requests = make(session="chat", turns=3, num_requests=5, prompt_list="", prompt_dist="fixed", prompt_tokens=100,
                    output_dist="fixed", output_tokens=10, shared_prefix_tokens=50)  # fmt: skip

    assert requests.prompt_tokens.tolist() == [150, 260, 370, 150, 260]
    assert requests.common_tokens.tolist() == [50, 160, 270, 50, 160]
    assert requests.parent.tolist() == [0, 1, 2, 0, 4]
    assert requests.after.tolist() == [-1, 0, 1, -1, 3]
    assert requests.gap_s.tolist() == [0, 10, 10, 0, 10]


def test_agent_turn_adds_a_tool_output():
    requests = make(session="agent", turns=3, num_requests=3, prompt_dist="fixed", prompt_tokens=100,
                    output_dist="fixed", output_tokens=10, tool_output_tokens=600)  # fmt: skip

    assert requests.prompt_tokens.tolist() == [100, 710, 1320]


def test_session_text_begins_with_the_text_of_the_turn_before():
    requests = make(session="chat", turns=4, num_requests=4, prompt_tokens=5, output_tokens=4, shared_prefix_tokens=7)

    for turn in range(1, 4):
        length = int(requests.prompt_tokens[turn - 1] + requests.output_tokens[turn - 1])
        assert text_of(requests, turn, length) == text_of(requests, turn - 1, length)
    assert text_of(requests, 3, 7) == [(("root", 0), p) for p in range(7)]


def test_session_rate_counts_requests_over_all_turns():
    requests = make(session="chat", turns=5, rate=10, num_requests=50_000)
    starts = requests.arrival_s[requests.after < 0]

    assert len(starts) == 10_000
    assert starts[-1] == pytest.approx(5000, rel=0.03)


def test_closed_loop_user_begins_a_new_session_when_the_last_ends():
    requests = make(session="chat", load="closed", turns=2, concurrency=2, num_requests=8, think_time_s=3, turn_gap_s=1)

    assert requests.after.tolist() == [-1, 0, -1, 2, 1, 4, 3, 6]
    assert requests.gap_s.tolist() == [0, 1, 0, 1, 3, 1, 3, 1]


def test_longest_sessions_stay_within_their_dtype():
    longest = {name: int(BY_NAME[name].high) for name in ("prompt_tokens", "output_tokens", "tool_output_tokens")}

    requests = make(session="chat", turns=1000, num_requests=1000, prompt_sigma=5, max_new_factor=1000, **longest)

    assert requests.prompt_tokens.min() > 0
    assert requests.max_new_tokens.min() > 0
    assert (requests.common_tokens <= requests.prompt_tokens).all()


def test_lengths_are_drawn_in_pairs_from_a_trace_when_arrivals_are_not():
    trace = read_trace(b"arrival_s,prompt_tokens,output_tokens\n0,10,1\n1,20,2\n2,30,3\n")

    requests = make_requests(scenario_from({"trace": "0" * 64, "num_requests": 300, "rate": 2}).workload, trace)

    assert set(zip(requests.prompt_tokens.tolist(), requests.output_tokens.tolist(), strict=True)) == {
        (10, 1), (20, 2), (30, 3),
    }  # fmt: skip
    np.testing.assert_array_equal(requests.arrival_s, make(num_requests=300, rate=2).arrival_s)


def test_trace_that_was_not_given_is_refused():
    with pytest.raises(ScenarioError, match="trace"):
        make_requests(scenario_from({"trace": "0" * 64}).workload)
