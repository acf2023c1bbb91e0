"""One line on a reading: what is exact, what is approximated, what is not modelled, so which figure to distrust."""

from __future__ import annotations

from sim.catalog.efficiencies import CALIBRATED
from sim.importers.playable import ASSUMED, Playable
from sim.importers.reading import ENGINE_NAMES, PasteKind, Reading
from sim.parameters import BY_NAME


def verdict_of(reading: Reading, played: Playable) -> str:
    """The line."""
    exact, approximated, missing = _exact(reading), _approximated(reading), _missing(reading, played)
    parts = [
        f"Exact: {_listed(exact)}." if exact else "",
        f"Approximated: {_listed(approximated)}." if approximated else "",
        f"Not modelled: {_listed(missing)}." if missing else "",
        f"So distrust {_distrusted(reading, played)}.",
    ]
    return " ".join(part for part in parts if part)


def _is_simulated(reading: Reading) -> bool:
    return not reading.engine or reading.engine in BY_NAME["engine"].choices


def _exact(reading: Reading) -> list[str]:
    exact = ["the order in which vLLM schedules, step by step"] if _is_simulated(reading) else []
    if "num_gpu_blocks" in reading.params:
        exact.append("the size of the KV pool, as logged")
    if reading.kind is PasteKind.TRACE:
        exact.append("arrivals and lengths, as recorded")
    return exact


def _approximated(reading: Reading) -> list[str]:
    approximated = ["times (from a cost model" + (")" if CALIBRATED else " that is not calibrated)")]
    if not _is_simulated(reading):
        approximated.insert(0, f"scheduling ({ENGINE_NAMES[reading.engine]} imitated by vLLM's rules)")
    if "num_gpu_blocks" not in reading.params:
        approximated.append("the size of the KV pool (from sizes and utilisation)")
    if any("only the mean" in warning for warning in reading.warnings):
        approximated.append("lengths (all the mean)")
    return approximated


def _missing(reading: Reading, played: Playable) -> list[str]:
    text = " ".join([*reading.warnings, *(why for _, why in reading.ignored)])
    missing = [name for name, mark in _MARKS if mark in text]
    if any("left out" in note for note in played.notes):
        missing.append("what is left out below")
    if reading.unknown:
        missing.append("what the unknown parts do")
    return missing


_MARKS = (
    ("linear-attention layers", "hybrid model"),
    ("windows of attention in memory", "sliding window"),
    ("adapters", "adapters (LoRA)"),
    ("pipeline stages", "ipeline parallelism is not modelled"),
    ("how processes are arranged", "how processes and nodes are arranged"),
    ("KV outside the GPU", "memory outside the GPU"),
    ("images and sound", "images, sound and video"),
    ("a rate cap at the client", "an open loop with such a cap"),
)


def _distrusted(reading: Reading, played: Playable) -> str:
    if "hybrid" in " ".join(reading.warnings).lower():
        return "KV use, concurrency and preemptions first, then all times"
    server = played.scenario.server
    if "model" in reading.figures and "model" not in reading.params:
        return f"all figures of memory and time: they are those of {server.model}, not of the model named"
    doubts = [] if _is_simulated(reading) else ["TTFT and whatever happens when the pool is full"]
    unnamed = [word for word, name in (("model", "model"), ("GPU", "gpu")) if name not in reading.params]
    if unnamed:
        named = f"{server.model} on {server.gpu} is simulated"
        doubts.append(f"every absolute time, since the text names no {' and no '.join(unnamed)} ({named})")
    if any(note.startswith(ASSUMED) for note in played.notes):
        doubts.append("the load, which is assumed")
    return _listed(doubts or ["absolute times before ratios", "TTFT before TPOT"])


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
