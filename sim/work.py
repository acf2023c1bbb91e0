"""Bytes that a step moves and FLOP that it computes, per unit of its composition; and how fast the accelerator is."""

from __future__ import annotations

from typing import NamedTuple

from sim.catalog import Gpu, Model
from sim.scenario import Server
from sim.sizes import ACTIVATION_BYTES, WEIGHT_BYTES, kv_layer_bytes, parts_of


class Work(NamedTuple):
    """Work of a step on each GPU.

    Notes
    -----
    `x_bytes` are read once a step, `x_token_*` for each token, `head_*` where a row samples, `kv_layer_bytes` per token
    of context and layer, `pair_layer_flop` per query-key pair and layer. Of the experts, a step of n tokens reads the
    share 1 - expert_miss^n. `window` [tokens] bounds the context in the `sliding_layers`.
    """

    dense_bytes: float
    dense_token_flop: float
    head_bytes: float
    head_sampled_flop: float
    experts_bytes: float
    experts_token_flop: float
    expert_miss: float
    activation_token_bytes: float
    kv_layer_bytes: float
    pair_layer_flop: float
    full_layers: int
    sliding_layers: int
    window: int


class Rates(NamedTuple):
    """What one GPU can do at best: `peak_flops` and `bandwidth_bytes_per_s` by its datasheet, `flops` sustained."""

    bandwidth_bytes_per_s: float
    peak_flops: float
    flops: float
    wide_flops: float


def work_of(server: Server, model: Model) -> Work:
    """Work of a server's steps."""
    parts, tp, width = parts_of(model), server.tensor_parallel_size, WEIGHT_BYTES[server.weights]
    hit_share = model.experts_per_token / model.experts if model.experts else 1.0
    return Work(
        dense_bytes=parts.dense * width / tp,
        dense_token_flop=2 * parts.dense / tp,
        head_bytes=parts.head * WEIGHT_BYTES["bf16"] / tp,
        head_sampled_flop=2 * parts.head / tp,
        experts_bytes=parts.experts * width / tp,
        experts_token_flop=2 * parts.experts * hit_share / tp,
        expert_miss=1 - hit_share,
        activation_token_bytes=_activation_bytes(model, tp),
        kv_layer_bytes=kv_layer_bytes(model, server.kv_cache_dtype, tp),
        pair_layer_flop=2 * model.heads * (model.head_dim + model.value_head_dim) / tp,
        full_layers=model.layers - model.sliding_layers,
        sliding_layers=model.sliding_layers,
        window=model.sliding_window,
    )


def rates_of(server: Server, gpu: Gpu) -> Rates:
    """Rates of a GPU for the weights' format, and in 16 bit (`wide_flops`, sustained).

    Notes
    -----
    MODEL: a format the part has no arithmetic for, or slow one, is unpacked and multiplied in 16 bit, as weight-only
    kernels do; so every format is accepted on every part.
    """
    share, wide = gpu.sustained_bf16_flops / gpu.bf16_flops, gpu.sustained_bf16_flops
    sustained = {"fp8": gpu.sustained_fp8_flops, "int8": (gpu.int8_flops or 0) * share}
    sustained["fp4"] = (gpu.fp4_flops or 0) * share
    peaks = {"fp8": gpu.fp8_flops, "int8": gpu.int8_flops, "fp4": gpu.fp4_flops}
    flops = max(sustained.get(server.weights) or 0.0, wide)
    peak_flops = gpu.bf16_flops if flops == wide else peaks[server.weights] or gpu.bf16_flops
    return Rates(gpu.bandwidth_bytes_per_s, peak_flops, flops, wide)


def _activation_bytes(model: Model, tensor_parallel_size: int) -> float:
    """Bytes of a token's activations streamed through all layers: 2 L (2 d + (qkv + 2 ff + H hd) / tp)."""
    qkv = (model.heads + 2 * model.kv_heads) * model.head_dim
    wide = (model.moe_intermediate or model.intermediate) * max(model.experts_per_token, 1)
    split = qkv + 2 * wide + model.heads * model.value_head_dim
    return ACTIVATION_BYTES * model.layers * (2 * model.hidden + split / tensor_parallel_size)
