"""Random forks of random scenarios: what changes, and when; all that a user may change in mid-run."""

from hypothesis import strategies as st

from tests.invariants.strategies import STEP_S, run_settings


@st.composite
def forked_settings(draw, **fixed):
    """Settings of a valid scenario with a fork of one to three changes somewhere in its run."""
    settings = draw(run_settings(**fixed))
    names = draw(st.lists(st.sampled_from(sorted(_values(settings))), min_size=1, max_size=3, unique=True))
    changes = {f"fork.{name}": draw(st.sampled_from(_values(settings)[name])) for name in names}
    steps = draw(st.sampled_from([0, 0.5, 3, 10, 40, 4000]))
    return settings | changes | {"fork": steps * STEP_S[settings["cost"]]}


def _values(settings):
    """Values that each parameter may take in mid-run of the scenario; none where it cannot change."""
    budget, whole = settings["max_num_batched_tokens"], settings["prefill"] == "whole"
    most_seats = 6 if budget == "auto" else min(6, budget)
    threshold = settings["long_prefill_token_threshold"]
    most_drafts = min([3] + ([threshold - 1] if threshold else []) + ([budget - 1] if budget != "auto" else []))
    values = {
        "max_num_seqs": list(range(1, most_seats + 1)),
        "long_prefill_token_threshold": [0, 4, 30],
        "max_waiting": ["none", 1, 2],
        "acceptance": [0, 0.5, 1],
        "draft_cost": [0, 0.5],
        "slo_ttft_ms": [1, 1e6],
    }
    if budget != "auto" and not whole:
        values["max_num_batched_tokens"] = [6, 8, 50]
    if not settings["async_scheduling"]:
        values["batching"] = ["continuous", "static"]
        values["num_speculative_tokens"] = list(range(most_drafts + 1))
    if settings["prefix_cache"] != "per_slot":
        values["prefix_cache"] = ["off", "shared"]
    if settings["load"] == "open":
        values["rate"] = [settings["rate"] * factor for factor in (0.3, 1, 4)]
    return values


def changed_settings(settings):
    """Settings of the scenario as it is after the fork, from its start."""
    plain = {name: value for name, value in settings.items() if not name.startswith("fork")}
    return plain | {name.removeprefix("fork."): value for name, value in settings.items() if name.startswith("fork.")}
