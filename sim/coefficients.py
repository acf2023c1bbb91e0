"""Coefficients of a step's time from model, accelerator and efficiencies; `sim.cost.Cost` says what each is."""

from __future__ import annotations

from sim.catalog import Gpu, Model
from sim.catalog.efficiencies import efficiencies_of
from sim.scenario import Server
from sim.sizes import ACTIVATION_BYTES, WEIGHT_BYTES, kv_layer_bytes, parts_of, weights_bytes

ETA = 0.7
"""The simple model's one efficiency, of bandwidth and of matmul rate: plausible, uncalibrated."""


def _flops(server: Server, gpu: Gpu) -> float:
    """Sustained matmul rate for the weights' format.

    Notes
    -----
    MODEL: a format the part has no arithmetic for, or slow one, is unpacked and multiplied in 16 bit, as weight-only
    kernels do; so every format is accepted on every part.
    """
    share = gpu.sustained_bf16_flops / gpu.bf16_flops
    rates = {"fp8": gpu.sustained_fp8_flops, "int8": (gpu.int8_flops or 0) * share, "fp4": (gpu.fp4_flops or 0) * share}
    return max(rates.get(server.weights) or 0.0, gpu.sustained_bf16_flops)


def _attention_flop_per_pair(model: Model, tensor_parallel_size: int) -> float:
    """FLOP of one query-key pair in one layer: scores and their weighted sum."""
    return 2 * model.heads * (model.head_dim + model.value_head_dim) / tensor_parallel_size


def simple_coefficients(server: Server, model: Model, gpu: Gpu) -> dict[str, float]:
    """Coefficients of the textbook formula: all weights, KV, FLOP of active parameters, one efficiency."""
    tp = server.tensor_parallel_size
    bandwidth, flops = ETA * gpu.bandwidth_bytes_per_s, ETA * _flops(server, gpu)
    kv_bytes = kv_layer_bytes(model, server.kv_cache_dtype, tp)
    return {
        "dense_s": weights_bytes(model, server.weights, tp) / bandwidth,
        "dense_token_s": 2 * model.active_params / tp / flops,
        "kv_s": model.layers * kv_bytes / bandwidth,
        "pair_s": model.layers * _attention_flop_per_pair(model, tp) / flops,
    }


def roofline_coefficients(server: Server, model: Model, gpu: Gpu) -> dict[str, float]:
    """Coefficients of the roofline, each part with its own efficiency."""
    e, tp, parts, width = (
        efficiencies_of(gpu),
        server.tensor_parallel_size,
        parts_of(model),
        WEIGHT_BYTES[server.weights],
    )
    bandwidth, flops = gpu.bandwidth_bytes_per_s, _flops(server, gpu) * e.matmul
    wide_flops = gpu.sustained_bf16_flops * e.matmul
    hit_share = model.experts_per_token / model.experts if model.experts else 1.0
    kv_layer_s = kv_layer_bytes(model, server.kv_cache_dtype, tp) / (bandwidth * e.kv)
    pair_layer_s = _attention_flop_per_pair(model, tp) / (gpu.sustained_bf16_flops * e.attention)
    full_layers = model.layers - model.sliding_layers
    layer_us = e.layer_us + (e.quantised_layer_us if server.weights != "bf16" else 0.0)
    return {
        "dense_s": parts.dense * width / tp / (bandwidth * e.weights),
        "dense_token_s": 2 * parts.dense / tp / flops,
        "head_s": parts.head * WEIGHT_BYTES["bf16"] / tp / (bandwidth * e.weights),
        "head_sampled_s": 2 * parts.head / tp / wide_flops,
        "experts_s": parts.experts * width / tp / (bandwidth * e.experts),
        "experts_token_s": 2 * parts.experts * hit_share / tp / flops,
        "expert_miss": 1 - hit_share,
        "activation_token_s": e.activations * _activation_bytes(model, tp) / bandwidth,
        "kv_s": full_layers * kv_layer_s,
        "kv_window_s": model.sliding_layers * kv_layer_s,
        "pair_s": full_layers * pair_layer_s,
        "pair_window_s": model.sliding_layers * pair_layer_s,
        **_communication(gpu, model, tp),
        "overhead_s": (model.layers * layer_us + e.step_us) * 1e-6,
        "running_s": e.row_us * 1e-6,
        "admitted_s": e.prompt_us * 1e-6,
    }


def _activation_bytes(model: Model, tensor_parallel_size: int) -> float:
    """Bytes of a token's activations streamed through all layers: 2 L (2 d + (qkv + 2 ff + H hd) / tp)."""
    qkv = (model.heads + 2 * model.kv_heads) * model.head_dim
    wide = (model.moe_intermediate or model.intermediate) * max(model.experts_per_token, 1)
    split = qkv + 2 * wide + model.heads * model.value_head_dim
    return ACTIVATION_BYTES * model.layers * (2 * model.hidden + split / tensor_parallel_size)


def _communication(gpu: Gpu, model: Model, tensor_parallel_size: int) -> dict[str, float]:
    """Two all-reduces a layer: latency and bytes / link.

    Notes
    -----
    MODEL: experts are split as the dense layers are, so there is no dispatch between ranks; over PCIe the latency
    grows with the number of peers.
    """
    if tensor_parallel_size == 1 or gpu.link_bytes_per_s is None:
        return {}
    e, peers = efficiencies_of(gpu), tensor_parallel_size - 1
    hops = peers if "PCIe" in gpu.link_kind else 1
    moved = 2 * peers / tensor_parallel_size * model.hidden * ACTIVATION_BYTES
    return {
        "comm_s": 2 * model.layers * e.link_latency_us * 1e-6 * hops,
        "comm_token_s": 2 * model.layers * moved / (gpu.link_bytes_per_s * e.link),
    }
