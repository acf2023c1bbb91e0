"""The set-up under a picture: without it a figure cannot be quoted."""

from __future__ import annotations

import sim
from sim.catalog import find_gpu, find_model
from sim.catalog.efficiencies import CALIBRATED
from sim.scenario import Scenario, Server, Workload


def setup_parts(scenario: Scenario) -> list[str]:
    """Model, hardware, policy, load, seed, version."""
    return [*server_parts(scenario.server), *_workload_parts(scenario.workload), *_origin(scenario)]


def server_parts(server: Server) -> list[str]:
    """Model and hardware."""
    gpu = find_gpu(server.gpu).name
    return [f"{find_model(server.model).name}, {server.weights}", f"{server.tensor_parallel_size} × {gpu}"]


def _workload_parts(workload: Workload) -> list[str]:
    loads = {
        "open": f"{workload.rate:g} requests/s",
        "closed": f"{workload.concurrency} users",
        "burst": "all at once",
        "trace": f"trace {workload.trace[:8]}",
    }
    count = len(workload.prompt_list) or workload.num_requests
    requests = [] if workload.load == "trace" else [f"{count:,} requests"]
    return [loads[workload.load], *requests, f"seed {workload.seed}"]


def _origin(scenario: Scenario) -> list[str]:
    server = scenario.server
    times = "every step one second" if server.cost == "unit" else "times calibrated" if CALIBRATED else "uncalibrated"
    return [f"{server.engine} rules", times, f"Batchscope {sim.__version__}"]
