"""Bytes and FLOP of a model, from its shapes: what memory and cost both need. All per GPU under tensor parallelism."""

from __future__ import annotations

from dataclasses import dataclass

from sim.catalog import Model

# MODEL: 4-bit formats carry their scales: int4 one 16-bit scale for 128 weights, fp4 one 8-bit scale for 16.
WEIGHT_BYTES = {"bf16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5 + 2 / 128, "fp4": 0.5 + 1 / 16}
KV_BYTES = {"auto": 2.0, "fp8": 1.0}
ACTIVATION_BYTES = 2.0


@dataclass(frozen=True, slots=True)
class Parts:
    """Parameters of a model by how they are read [count, all GPUs].

    Notes
    -----
    Routed experts follow from the totals: total - active = experts x (1 - k/E). `embedding` is looked up, not
    multiplied; with tied embeddings it is the head's matrix and counted there.
    """

    dense: float
    experts: float
    head: float
    embedding: float


def parts_of(model: Model) -> Parts:
    """Split of a model's parameters.

    Examples
    --------
    >>> from sim.catalog import find_model
    >>> round(parts_of(find_model("mixtral-8x7b")).experts / 1e9, 2)
    45.1
    """
    idle = 1 - model.experts_per_token / model.experts if model.experts else 1.0
    experts = (model.params - model.active_params) / idle
    head = float(model.vocab * model.hidden)
    embedding = 0.0 if model.tied_embeddings else head
    return Parts(model.params - experts - head - embedding, experts, head, embedding)


def weights_bytes(model: Model, weights: str, tensor_parallel_size: int) -> float:
    """Bytes of the weights on each GPU.

    Notes
    -----
    MODEL: embedding and head stay 16 bit under every number format, as in published quantised checkpoints; norms are
    split like the rest.
    """
    parts = parts_of(model)
    wide = (parts.head + parts.embedding) * WEIGHT_BYTES["bf16"]
    return (wide + (parts.dense + parts.experts) * WEIGHT_BYTES[weights]) / tensor_parallel_size


def kv_layer_bytes(model: Model, kv_cache_dtype: str, tensor_parallel_size: int) -> float:
    """KV bytes of one token in one layer on each GPU: at least one KV head each; a latent (MLA) is on every GPU."""
    if model.kv_lora_rank:
        return (model.kv_lora_rank + model.rope_dim) * KV_BYTES[kv_cache_dtype]
    heads = max(model.kv_heads / tensor_parallel_size, 1.0)
    return 2 * heads * model.head_dim * KV_BYTES[kv_cache_dtype]


def kv_bytes_per_token(model: Model, kv_cache_dtype: str, tensor_parallel_size: int) -> int:
    """KV bytes of one token in all layers on each GPU.

    Notes
    -----
    MODEL: layers with a sliding window keep the whole context, as with vLLM's hybrid KV manager off.
    """
    return int(model.layers * kv_layer_bytes(model, kv_cache_dtype, tensor_parallel_size))
