"""From what a text says to a scenario that can be run today, with every step away from the text said in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.errors import ScenarioError
from sim.importers.flags_llama import AUTO_SLOTS
from sim.importers.reading import ENGINE_NAMES, PasteKind, Reading
from sim.parameters import BY_NAME
from sim.scenario import Scenario, scenario_from

BLOCK_TOKENS = 16
LLAMA_BATCH = 2048
"""llama-server's n_batch where the command does not say it."""

ASSUMED = "The text does not say how requests were sent; assumed here"
IMITATED = {
    "sglang": "prefill goes before decode there, admission reserves output, and a full pool retracts other requests",
    "llama-server": "slots are filled by their number there, and a full pool fails requests instead of preempting",
    "tensorrt-llm": "requests are admitted there only if their whole output fits, so none is preempted",
}
"""What differs of an engine whose scheduler is imitated by vLLM's."""


@dataclass(frozen=True, slots=True)
class Playable:
    """Settings that `scenario_from` accepts, and in words what of the text they leave out or imitate."""

    settings: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return scenario_from(self.settings)


def playable(reading: Reading) -> Playable:
    """Settings for a scenario from a reading.

    Notes
    -----
    An engine that is not simulated yet is imitated by vLLM's scheduler; a value that another one excludes is left out.
    Both are said, never silent.
    """
    settings = {name: value for name, value in reading.params.items() if name in BY_NAME}
    notes: list[str] = []
    engine = reading.engine
    if engine and engine in BY_NAME["engine"].choices:
        settings["engine"] = engine
    elif engine:
        notes.append(
            f"{ENGINE_NAMES[engine]} is imitated by vLLM's scheduler until it has its own here: {IMITATED[engine]}."
        )
        if engine == "llama-server":
            settings = _as_slots(settings, reading, notes)
    if reading.kind is PasteKind.BENCH_RESULT and "load" not in settings:
        settings |= _assumed_load(reading, notes)
    if settings.get("load") == "burst" and "concurrency" in settings:
        settings["load"] = "closed"
        notes.append(
            f"A burst of which {settings['concurrency']} are in flight at a time is a closed loop of as many users."
        )
    while True:
        try:
            scenario_from(settings)
        except ScenarioError as error:
            if error.field not in settings:
                settings.pop(next(iter(settings)))
                continue
            notes.append(f"{error.field} = {settings.pop(error.field)} is left out: allowed is {error.allowed}.")
        else:
            return Playable(settings, tuple(notes))


def _assumed_load(reading: Reading, notes: list[str]) -> dict[str, Any]:
    """Load that fits the figures of a result that does not say how its requests were sent."""
    rate, count, in_flight = (reading.figures.get(name) for name in ("requests_per_s", "requests", "in_flight"))
    if in_flight and count and in_flight > count / 2:
        notes.append(f"{ASSUMED}: all at once, as {in_flight:,.0f} of {count:,} requests are in flight on average.")
        return {"load": "burst"}
    if in_flight and 0.9 <= in_flight <= 1.1:
        notes.append(f"{ASSUMED}: one user, as {in_flight:g} requests are in flight on average.")
        return {"load": "closed", "concurrency": 1}
    if isinstance(rate, int | float) and rate > 0:
        notes.append(f"{ASSUMED}: an open loop at the measured rate, {rate:g} requests/s.")
        return {"load": "open", "rate": rate}
    return {}


def _as_slots(settings: dict[str, Any], reading: Reading, notes: list[str]) -> dict[str, Any]:
    """Slots of a llama-server as vLLM's scheduler can have them: a reservation a slot, or one pool."""
    is_unified = bool(reading.params.get("kv_unified"))
    slots = reading.params.get("parallel", AUTO_SLOTS)
    budget = max(reading.params.get("n_batch", LLAMA_BATCH), slots)
    changed: dict[str, Any] = {
        "prefix_cache": "per_slot",
        "scheduler_reserve_full_isl": False,
        "max_num_batched_tokens": budget,
    }
    tokens = reading.figures.get("kv_tokens")
    if not is_unified and tokens:
        changed["kv"] = "contiguous"
    if isinstance(tokens, int) and tokens >= BLOCK_TOKENS:
        changed["num_gpu_blocks"] = tokens // BLOCK_TOKENS + 1
    places = f"{slots} {'slots' if slots > 1 else 'slot'}"
    memory = "from one pool" if "kv" not in changed else "with a reserved context each (kv = contiguous)"
    notes.append(f"{places} {memory}, each with the prefix of its last request; steps of at most {budget:,} tokens.")
    return {**settings, **changed}
