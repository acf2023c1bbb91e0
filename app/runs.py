"""Finished runs of all scenarios of an address, while its reader waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from fastapi import Request

from app.connection import while_connected
from app.service import Service
from sim.run import Run
from sim.scenario import Scenario


async def runs_of(request: Request, scenarios: Mapping[str, Scenario]) -> dict[str, Run]:
    """A run for each scenario, by name.

    Raises
    ------
    ScenarioError, Problem
        If one cannot be made.
    """
    service: Service = request.app.state.service

    async def run_of(scenario: Scenario) -> Run:
        async with service.open(scenario) as job:
            return await job.finished()

    runs = await while_connected(request, asyncio.gather(*map(run_of, scenarios.values())))
    return dict(zip(scenarios, runs, strict=True))
