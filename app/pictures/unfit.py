"""Where the picture is that shows by how much a model does not fit."""

from __future__ import annotations

from fastapi import Request

from app.lab import read_opening
from sim.memory import memory_terms
from sim.scenario import ScenarioError


def memory_address(request: Request, up: str) -> str:
    """Address of the memory picture for the scenarios of the address, from a page `up` from the root; '' if all fit."""
    try:
        views, _ = read_opening(request.scope["query_string"])
        is_fitting = all(memory_terms(scenario.server).is_fitting for scenario in views.scenarios.values())
    except ScenarioError:
        return ""
    return "" if is_fitting else f"{up}embed/memory.svg?{request.url.query}&width=640"
