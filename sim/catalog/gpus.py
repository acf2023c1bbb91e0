"""The accelerator catalogue in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from sim.catalog.tables import names_of, read_table, unknown

GIB = 2**30
SUSTAINED_SHARE = 0.8
"""Best matmul rate / datasheet rate where nobody has measured it."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One accelerator.

    Notes
    -----
    `visible_bytes` is what software sees, less than the label. Rates are dense; None where the part has no such format.
    `link_bytes_per_s` is one direction; None where the part cannot be joined to others.
    """

    id: str
    name: str
    aliases: tuple[str, ...]
    vendor: str
    visible_bytes: float
    bandwidth_bytes_per_s: float
    bf16_flops: float
    fp8_flops: float | None
    int8_flops: float | None
    fp4_flops: float | None
    link_bytes_per_s: float | None
    link_kind: str
    sustained_bf16_flops: float
    sustained_fp8_flops: float | None
    confidence: str
    sources: tuple[str, ...]
    note: str


@cache
def load_gpus() -> Mapping[str, Gpu]:
    """All accelerators by id, in the order of gpus.toml."""
    return MappingProxyType({key: _gpu(key, row) for key, row in read_table("gpus.toml").items()})


def find_gpu(name: str) -> Gpu:
    """Accelerator of that id, name or alias, in any case.

    Raises
    ------
    ScenarioError
        If there is none.
    """
    key = _names().get(name.strip().lower())
    if key is None:
        raise unknown("gpu", name, load_gpus())
    return load_gpus()[key]


@cache
def _names() -> dict[str, str]:
    return names_of(load_gpus())


def _gpu(key: str, row: dict[str, Any]) -> Gpu:
    bf16 = row["bf16_tflops"] * 1e12
    fp8 = _scaled(row, "fp8_tflops", 1e12)
    return Gpu(
        id=key,
        name=row["name"],
        aliases=tuple(row.get("aliases", ())),
        vendor=row["vendor"],
        visible_bytes=row["visible_gib"] * GIB,
        bandwidth_bytes_per_s=row["bandwidth_gbs"] * 1e9,
        bf16_flops=bf16,
        fp8_flops=fp8,
        int8_flops=_scaled(row, "int8_tops", 1e12),
        fp4_flops=_scaled(row, "fp4_tflops", 1e12),
        link_bytes_per_s=_scaled(row, "link_gbs", 1e9),
        link_kind=row["link_kind"],
        sustained_bf16_flops=_scaled(row, "measured_bf16_tflops", 1e12) or bf16 * SUSTAINED_SHARE,
        sustained_fp8_flops=_scaled(row, "measured_fp8_tflops", 1e12) or (fp8 * SUSTAINED_SHARE if fp8 else None),
        confidence=row["confidence"],
        sources=tuple(row["sources"]),
        note=row.get("note", ""),
    )


def _scaled(row: dict[str, Any], key: str, factor: float) -> float | None:
    return row[key] * factor if key in row else None
