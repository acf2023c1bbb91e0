"""How much of the datasheet a step gets, by class of accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from sim.catalog.gpus import Gpu
from sim.catalog.tables import read_table

CALIBRATED = False
"""Whether the constants were fitted to measurements; shown beside every time."""


@dataclass(frozen=True, slots=True)
class Efficiencies:
    """Constants of the step cost; meaning and source in efficiencies.toml."""

    weights: float
    kv: float
    experts: float
    matmul: float
    attention: float
    activations: float
    layer_us: float
    quantised_layer_us: float
    step_us: float
    row_us: float
    prompt_us: float
    link: float
    link_latency_us: float


@cache
def load_efficiencies() -> Mapping[str, Efficiencies]:
    """Constants by class."""
    return MappingProxyType({key: Efficiencies(**row) for key, row in read_table("efficiencies.toml").items()})


def efficiencies_of(gpu: Gpu) -> Efficiencies:
    """Constants of the class that the accelerator belongs to."""
    if gpu.link_kind == "unified":
        return load_efficiencies()["unified"]
    return load_efficiencies()["consumer" if gpu.id.startswith("rtx-") else "datacentre"]
