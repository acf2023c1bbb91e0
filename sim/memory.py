"""What fits: GPU memory -> weights, activations, other, and the KV blocks that are left; every `auto` resolved."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from sim.catalog import GIB, Gpu, Model, find_gpu, find_model
from sim.errors import ScenarioError
from sim.scenario import Server
from sim.sizes import ACTIVATION_BYTES, kv_bytes_per_token, weights_bytes

SAMPLER_BYTES = 15.4
"""Bytes per slot and vocabulary entry while sampling: nearly four float32 copies of the logits. vLLM 0.17 and later
log peaks of 1.89 GiB (vocabulary 128,256) and 2.21 to 2.23 GiB (152,064) with 1,024 slots, for models of any size."""
RUNTIME_BYTES = int(0.25 * GIB)
"""What is not PyTorch's on one GPU; logged as 0.13 to 0.25 GiB."""
PEER_BYTES = int(1.85 * GIB)
"""What communication buffers add when a model is split; logged as 2.06 to 2.13 GiB in all."""
# MODEL: CUDA graphs, inside the budget since vLLM 0.21, take the same on every model and GPU.
GRAPH_BYTES = int(0.4 * GIB)
FIRST_BLOCKS = 2
"""The null block and one that can be used."""


@dataclass(frozen=True, slots=True)
class KvPlan:
    """Memory of one GPU and the block pool.

    Notes
    -----
    Bytes are per GPU; `gpu_bytes` is what the server may use (utilisation x visible memory). `num_gpu_blocks` counts
    the null block as vLLM does, `usable_blocks` does not. The last two are what vLLM logs at start:
    `max_concurrency` is blocks / blocks of a longest request, `kv_tokens` is that times its length.
    """

    weights_bytes: int
    kv_bytes_per_token: int
    activation_bytes: int
    other_bytes: int
    kv_bytes: int
    gpu_bytes: int
    num_gpu_blocks: int
    usable_blocks: int
    max_model_len: int
    max_num_batched_tokens: int
    notes: tuple[str, ...]
    kv_tokens: int
    max_concurrency: float


@dataclass(frozen=True, slots=True)
class MemoryTerms:
    """What a server asks of one GPU's memory, whether it fits or not.

    Notes
    -----
    Bytes are per GPU. `gpu_bytes` is what the server may use of the `visible_bytes`; `kv_bytes` is the block pool: what
    weights, activations and other leave, or as large as it was asked for. `block_bytes` is one block of it.
    """

    visible_bytes: int
    gpu_bytes: int
    weights_bytes: int
    activation_bytes: int
    other_bytes: int
    kv_bytes: int
    block_bytes: int
    missing_bytes: int

    @property
    def is_fitting(self) -> bool:
        """Whether the model and its first KV blocks fit; by `missing_bytes` they do not."""
        return self.missing_bytes == 0


def memory_terms(server: Server) -> MemoryTerms:
    """Terms of a server's memory, also of one that does not fit: for a picture, where `kv_plan` refuses.

    Raises
    ------
    ScenarioError
        If the token budget is too small.
    """
    model, gpu, tp = find_model(server.model), find_gpu(server.gpu), server.tensor_parallel_size
    weights = round(weights_bytes(model, server.weights, tp))
    activation = _activation_bytes(model, server, _token_budget(server, gpu))
    other = RUNTIME_BYTES + GRAPH_BYTES + (PEER_BYTES if tp > 1 else 0)
    gpu_bytes = round(server.gpu_memory_utilization * gpu.visible_bytes)
    block_bytes = server.block_size * kv_bytes_per_token(model, server.kv_cache_dtype, tp)
    left = gpu_bytes - weights - activation - other
    return MemoryTerms(
        visible_bytes=round(gpu.visible_bytes),
        gpu_bytes=gpu_bytes,
        weights_bytes=weights,
        activation_bytes=activation,
        other_bytes=other,
        kv_bytes=max(left, 0) if server.num_gpu_blocks is None else server.num_gpu_blocks * block_bytes,
        block_bytes=block_bytes,
        missing_bytes=max((0 if server.num_gpu_blocks else FIRST_BLOCKS * block_bytes) - left, 0),
    )


def kv_plan(server: Server) -> KvPlan:
    """Memory plan of a server.

    Raises
    ------
    ScenarioError
        If the model does not fit (by how much is said), if the pool cannot hold one request of max_model_len, or if the
        token budget is too small.
    """
    model, gpu = find_model(server.model), find_gpu(server.gpu)
    budget, terms = _token_budget(server, gpu), memory_terms(server)
    _check_fit(server, terms)
    fitting = (terms.gpu_bytes - terms.weights_bytes - terms.activation_bytes - terms.other_bytes) // terms.block_bytes
    blocks = server.num_gpu_blocks or fitting
    max_model_len = _max_model_len(server, model, blocks - 1, budget)
    concurrency = blocks / ceil(max_model_len / server.block_size)
    return KvPlan(
        weights_bytes=terms.weights_bytes,
        kv_bytes_per_token=terms.block_bytes // server.block_size,
        activation_bytes=terms.activation_bytes,
        other_bytes=terms.other_bytes,
        kv_bytes=terms.kv_bytes,
        gpu_bytes=terms.gpu_bytes,
        num_gpu_blocks=blocks,
        usable_blocks=blocks - 1,
        kv_tokens=int(concurrency * max_model_len),
        max_concurrency=concurrency,
        max_model_len=max_model_len,
        max_num_batched_tokens=budget,
        notes=tuple(_notes(server, model, blocks, fitting)),
    )


def _default_token_budget(gpu: Gpu) -> int:
    """By device memory, an A100 as a small one: vLLM 0.33, arg_utils.get_batch_defaults, API server."""
    if gpu.visible_bytes >= 160 * GIB:
        return 16384
    return 8192 if gpu.visible_bytes >= 70 * GIB and not gpu.id.startswith("a100") else 2048


def _token_budget(server: Server, gpu: Gpu) -> int:
    budget = server.max_num_batched_tokens
    if budget is None:
        is_whole = server.prefill == "whole" and server.max_model_len is not None
        budget = max(_default_token_budget(gpu), (server.max_model_len or 0) if is_whole else 0)
    if budget < server.max_num_seqs:
        raise ScenarioError("max_num_seqs", server.max_num_seqs, f"at most the token budget of a step, {budget}")
    return budget


def _activation_bytes(model: Model, server: Server, budget: int) -> int:
    """Peak of a profiled step: the larger of one layer of a full budget and of sampling for all slots.

    Notes
    -----
    MODEL: one layer holds four times the hidden state, its qkv and three times its feed-forward width per token.
    """
    qkv = (model.heads + 2 * model.kv_heads) * model.head_dim
    wide = (model.moe_intermediate or model.intermediate) * max(model.experts_per_token, 1)
    layer = 4 * model.hidden + (qkv + 3 * wide) / server.tensor_parallel_size
    return round(max(budget * layer * ACTIVATION_BYTES, SAMPLER_BYTES * server.max_num_seqs * model.vocab))


def _check_fit(server: Server, terms: MemoryTerms) -> None:
    if terms.is_fitting:
        return
    hardware = f"{server.tensor_parallel_size} x {server.gpu} at {server.gpu_memory_utilization:g}"
    weights, rest = _gib(terms.weights_bytes), _gib(terms.activation_bytes + terms.other_bytes)
    raise ScenarioError(
        "model",
        f"{server.model} in {server.weights}",
        f"what fits into {hardware}, {_gib(terms.gpu_bytes)} GiB a GPU: weights {weights}, activations and other "
        f"{rest} and the first KV blocks are {_gib(terms.missing_bytes, 2)} GiB too much",
    )


def _max_model_len(server: Server, model: Model, usable_blocks: int, budget: int) -> int:
    pool_tokens = usable_blocks * server.block_size
    is_whole = server.prefill == "whole"
    wanted = server.max_model_len
    if wanted is None:
        return _at_least_two(server, min(model.max_context, pool_tokens, budget if is_whole else pool_tokens))
    if wanted > pool_tokens:
        raise ScenarioError("max_model_len", wanted, f"at most {pool_tokens}, what one request can have in the pool")
    if is_whole and wanted > budget:
        raise ScenarioError("max_num_batched_tokens", budget, f"with prefill=whole at least max_model_len, {wanted}")
    return wanted


def _at_least_two(server: Server, max_model_len: int) -> int:
    if max_model_len < 2:
        raise ScenarioError("num_gpu_blocks", server.num_gpu_blocks, "a pool that holds a prompt and an output token")
    return max_model_len


def _notes(server: Server, model: Model, blocks: int, fitting: int) -> list[str]:
    notes = []
    if blocks > fitting:
        notes.append(f"num_gpu_blocks {blocks} is more than the {fitting} that fit into the memory of {server.gpu}")
    if model.sliding_layers:
        notes.append("layers with a sliding window are counted with their whole context")
    if model.kv_lora_rank and server.tensor_parallel_size > 1:
        notes.append("every GPU holds the whole latent KV of this model")
    return notes


def _gib(amount: int, digits: int = 1) -> str:
    return f"{amount / GIB:.{digits}f}"
