"""Bars of a run: every stay in a slot, once, within the slots, never two in one."""

import numpy as np
import pytest

from app.bars import bars_of
from app.moment import boundaries, moment_of
from sim.run import simulate
from sim.scenario import scenario_from

SMALL = {"rate": 6, "num_requests": 30, "max_num_seqs": 5}
CASES = (
    SMALL,
    SMALL | {"batching": "static"},
    SMALL | {"num_gpu_blocks": 160, "max_model_len": 2048},
    SMALL | {"num_speculative_tokens": 3},
)


@pytest.mark.parametrize("settings", CASES, ids=str)
def test_bars_agree_with_results(settings: dict[str, object]) -> None:
    run = simulate(scenario_from(settings))
    bars = bars_of(run)
    served = run.results["status"] == 1
    assert len(bars) == served.sum() + run.results["preemptions"].sum()
    last = bars[~bars["preempted"]]
    np.testing.assert_allclose(last["end_s"], run.results["finish_s"][last["request"]], atol=1e-9)
    first = bars[np.unique(bars["request"], return_index=True)[1]]
    np.testing.assert_allclose(first["start_s"], run.results["scheduled_s"][first["request"]], atol=1e-9)
    assert (bars["start_s"] <= bars["decode_s"]).all()
    assert (bars["end_s"] <= bars["free_s"]).all()
    for slot in range(5):
        own = bars[bars["slot"] == slot]
        assert (own["start_s"][1:] >= own["free_s"][:-1] - 1e-9).all()


def test_steps_forward_and_back_lead_to_boundaries() -> None:
    run = simulate(scenario_from(SMALL))
    middle = moment_of(run, float(run.steps["start_s"][40] + run.steps["duration_s"][40] / 2))
    assert middle.step == 40
    links = boundaries(run, middle)
    assert links["back"] is not None
    assert links["forward"] is not None
    assert moment_of(run, links["back"]).step == 40
    assert moment_of(run, links["forward"]).step == 41
    assert boundaries(run, moment_of(run, 0.0))["start"] is None
