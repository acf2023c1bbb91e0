"""Coefficients of a step's time from model, accelerator and efficiencies; `sim.cost.Cost` says what each is."""

from __future__ import annotations

from sim.catalog import Gpu, Model
from sim.catalog.efficiencies import efficiencies_of
from sim.scenario import Server
from sim.sizes import ACTIVATION_BYTES, weights_bytes
from sim.work import rates_of, work_of

ETA = 0.7
"""The simple model's one efficiency, of bandwidth and of matmul rate: plausible, uncalibrated."""


def simple_coefficients(server: Server, model: Model, gpu: Gpu) -> dict[str, float]:
    """Coefficients of the textbook formula: all weights, KV, FLOP of active parameters, one efficiency."""
    tp, work, rates = server.tensor_parallel_size, work_of(server, model), rates_of(server, gpu)
    bandwidth, flops = ETA * rates.bandwidth_bytes_per_s, ETA * rates.flops
    return {
        "dense_s": weights_bytes(model, server.weights, tp) / bandwidth,
        "dense_token_s": 2 * model.active_params / tp / flops,
        "kv_s": model.layers * work.kv_layer_bytes / bandwidth,
        "pair_s": model.layers * work.pair_layer_flop / flops,
    }


def roofline_coefficients(server: Server, model: Model, gpu: Gpu) -> dict[str, float]:
    """Coefficients of the roofline, each part with its own efficiency."""
    e, work, rates = efficiencies_of(gpu), work_of(server, model), rates_of(server, gpu)
    bandwidth, flops = rates.bandwidth_bytes_per_s, rates.flops * e.matmul
    kv_layer_s = work.kv_layer_bytes / (bandwidth * e.kv)
    pair_layer_s = work.pair_layer_flop / (rates.wide_flops * e.attention)
    layer_us = e.layer_us + (e.quantised_layer_us if server.weights != "bf16" else 0.0)
    return {
        "dense_s": work.dense_bytes / (bandwidth * e.weights),
        "dense_token_s": work.dense_token_flop / flops,
        "head_s": work.head_bytes / (bandwidth * e.weights),
        "head_sampled_s": work.head_sampled_flop / (rates.wide_flops * e.matmul),
        "experts_s": work.experts_bytes / (bandwidth * e.experts),
        "experts_token_s": work.experts_token_flop / flops,
        "expert_miss": work.expert_miss,
        "activation_token_s": e.activations * work.activation_token_bytes / bandwidth,
        "kv_s": work.full_layers * kv_layer_s,
        "kv_window_s": work.sliding_layers * kv_layer_s,
        "pair_s": work.full_layers * pair_layer_s,
        "pair_window_s": work.sliding_layers * pair_layer_s,
        **_communication(gpu, model, server.tensor_parallel_size),
        "overhead_s": (model.layers * layer_us + e.step_us) * 1e-6,
        "running_s": e.row_us * 1e-6,
        "admitted_s": e.prompt_us * 1e-6,
    }


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
