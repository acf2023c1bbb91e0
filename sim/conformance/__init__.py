"""Drive an engine as a recorded trace was driven and compare every recorded field of every step.

A file per engine: it makes the engine's settings and requests of a trace, below user validation, and compares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sim.conformance import llama_server, sglang, tensorrt_llm, vllm
from sim.conformance.verdict import Verdict
from sim.errors import ScenarioError

ENGINES: Mapping[str, tuple[frozenset[str], Callable[[dict[str, Any], str], Verdict]]] = {
    "vllm": (frozenset({"vllm_version", "scenario", "steps"}), vllm.compare),
    "sglang": (frozenset({"sglang_version", "scenario", "steps"}), sglang.compare),
    "tensorrt_llm": (frozenset({"n_pauses", "scenario", "steps"}), tensorrt_llm.compare),
    "llama_server": (frozenset({"startup", "events", "steps"}), llama_server.compare),
}
"""Engines by name: the keys that tell a trace of it, and what compares one."""


def compare(trace: dict[str, Any], path: str = "") -> Verdict:
    """Run one trace and compare; `Verdict.difference` names the first field that differs."""
    return next(run for marks, run in ENGINES.values() if marks <= set(trace))(trace, path)


def read_traces(paths: list[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Traces of files and folders, in order.

    Raises
    ------
    ScenarioError
        If a path does not exist or a file is not a recorded trace of an engine we have.
    """
    for path in paths:
        if not path.exists():
            raise ScenarioError("path", path, "an existing trace file or folder")
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            try:
                trace = json.loads(file.read_bytes())
            except ValueError:
                raise ScenarioError("path", file, "a JSON file") from None
            if not isinstance(trace, dict) or not any(marks <= set(trace) for marks, _ in ENGINES.values()):
                raise ScenarioError("path", file, f"a recorded trace of {', '.join(ENGINES)}") from None
            yield str(file), trace
