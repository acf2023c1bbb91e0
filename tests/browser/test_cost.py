"""The price of a step in the page equals the engine's to the bit."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from sim.cost import make_cost, price
from sim.scenario import scenario_from
from tests.browser.helpers import LAB

pytestmark = pytest.mark.browser

NAMES = ("tokens", "sampled", "decode_context", "prefill_context", "prefill_pairs", "running", "admitted", "drafts")
MOST = (20_000, 4096, 40_000_000, 1_000_000, 400_000_000, 4096, 64, 9)
SERVERS = (
    {"cost": "unit"},
    {"cost": "simple", "model": "gemma-3-12b", "weights": "fp8"},
    {"cost": "roofline", "draft_cost": "0.3"},
    {"cost": "roofline", "model": "deepseek-v3", "gpu": "b200", "tensor_parallel_size": "8", "weights": "fp8"},
    {"cost": "roofline", "model": "gemma-3-12b", "gpu": "rtx-4090", "weights": "int4", "kv_cache_dtype": "fp8"},
)
PRICE = """async ([coefficients, steps]) => {
  const { price } = await import(new URL("../static/js/cost.js", location.href));
  return steps.map((step) => price(coefficients, step));
}"""


def compositions(count: int) -> list[dict[str, float]]:
    """Steps of all sizes, with halves of pairs as the engine counts them, and some columns empty."""
    random = np.random.default_rng(7)
    sizes = np.expm1(random.random((count, len(NAMES))) * np.log1p(MOST)).round()
    sizes[:, 4] += 0.5 * random.integers(0, 2, count)
    sizes *= random.random(sizes.shape) > 0.2
    return [dict(zip(NAMES, row, strict=True)) for row in sizes.tolist()]


@pytest.mark.parametrize("settings", SERVERS, ids=json.dumps)
def test_price_of_the_page_equals_the_engine_to_the_bit(page: Page, settings: dict[str, str]) -> None:
    cost, steps = make_cost(scenario_from(settings).server), compositions(400)
    page.goto(LAB)
    prices: list[dict[str, Any]] = page.evaluate(PRICE, [cost._asdict(), steps])
    for step, own in zip(steps, prices, strict=True):
        out = SimpleNamespace()
        assert own["duration_s"] == price(cost, *step.values(), out), step
        assert {name: own[name] for name in vars(out)} == vars(out), step
