"""The model catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from sim.catalog.tables import names_of, read_table, unknown


@dataclass(frozen=True, slots=True)
class Model:
    """One model: its shapes.

    Notes
    -----
    `params` and `active_params` are counts. Dense models have no `experts`. `sliding_window` [tokens] (0 is none) holds
    on `sliding_layers` of the layers. `kv_lora_rank` is 0 unless `attention` is MLA.
    """

    id: str
    name: str
    aliases: tuple[str, ...]
    params: float
    active_params: float
    layers: int
    hidden: int
    intermediate: int
    moe_intermediate: int
    experts: int
    experts_per_token: int
    shared_experts: int
    heads: int
    kv_heads: int
    head_dim: int
    value_head_dim: int
    vocab: int
    max_context: int
    tied_embeddings: bool
    attention: str
    sliding_window: int
    sliding_layers: int
    kv_lora_rank: int
    rope_dim: int
    sources: tuple[str, ...]
    note: str


@cache
def load_models() -> Mapping[str, Model]:
    """All models by id, in the order of models.toml."""
    return MappingProxyType({key: _model(key, row) for key, row in read_table("models.toml").items()})


def find_model(name: str) -> Model:
    """Model of that id, name or alias, in any case.

    Raises
    ------
    ScenarioError
        If there is none.
    """
    key = _names().get(name.strip().lower())
    if key is None:
        raise unknown("model", name, load_models())
    return load_models()[key]


@cache
def _names() -> dict[str, str]:
    return names_of(load_models())


_COUNTS = (
    "layers",
    "hidden",
    "intermediate",
    "moe_intermediate",
    "experts",
    "experts_per_token",
    "shared_experts",
    "heads",
    "kv_heads",
    "head_dim",
    "vocab",
    "max_context",
    "sliding_window",
    "sliding_layers",
    "kv_lora_rank",
    "rope_dim",
)


def _model(key: str, row: dict[str, Any]) -> Model:
    return Model(
        id=key,
        name=row["name"],
        aliases=tuple(row.get("aliases", ())),
        params=row["params_b"] * 1e9,
        active_params=row["active_b"] * 1e9,
        value_head_dim=row.get("value_head_dim", row["head_dim"]),
        tied_embeddings=row["tied_embeddings"],
        attention=row["attention"],
        sources=tuple(row["sources"]),
        note=row.get("note", ""),
        **{name: row.get(name, 0) for name in _COUNTS},
    )
