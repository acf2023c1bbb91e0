"""What a page can tell of a scenario before it has run: the price of a step, its work, memory, limits."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sim.catalog import find_gpu, find_model
from sim.cost import cost_parts
from sim.memory import memory_terms
from sim.parameters import PARAMETERS
from sim.scenario import Scenario, Server, settings_of
from sim.values import write_value
from sim.work import rates_of, work_of

DEFAULTS = {
    row.name: write_value(row, row.default)
    for row in PARAMETERS
    if row.section == "workload" or row.name == "max_num_seqs"
}
"""What a page needs to read from its own address what is asked of the server, while an answer is on its way."""


def costs_of(scenario: Scenario) -> dict[str, Any]:
    """Coefficients of a step's time and what else follows from a formula, also if the model does not fit; JSON-able.

    Notes
    -----
    `work` and `rates` are those of each GPU; `static/js/cost.js` prices steps by the coefficients as `sim.cost` does.

    Raises
    ------
    ScenarioError
        If the token budget is too small.
    """
    server = scenario.server
    model, gpu = find_model(server.model), find_gpu(server.gpu)
    return {
        **cost_parts(server),
        "work": work_of(server, model)._asdict(),
        "rates": rates_of(server, gpu)._asdict(),
        "memory": memory_of(server),
        "names": {"model": model.name, "gpu": gpu.name},
        "scenario": settings_of(scenario),
        "defaults": DEFAULTS,
    }


def memory_of(server: Server) -> dict[str, int]:
    """Terms of one GPU's memory [bytes], the blocks that can be used and the longest request [tokens]."""
    terms = memory_terms(server)
    usable_blocks = max(terms.kv_bytes // terms.block_bytes - 1, 0)
    longest = server.max_model_len or min(find_model(server.model).max_context, usable_blocks * server.block_size)
    return asdict(terms) | {"usable_blocks": usable_blocks, "max_model_len": longest}
