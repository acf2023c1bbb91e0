"""The flags of llama-server, and what its slots and context come to."""

from __future__ import annotations

from math import ceil

from sim.catalog import find_model
from sim.importers.flags import Arity, Effect, Flag, FlagTable, does, notes, sets, without_effect
from sim.importers.models import set_model
from sim.importers.quantities import read_count, read_number, read_switch
from sim.importers.reading import Draft

SWITCH, ONE = Arity.SWITCH, Arity.ONE
AUTO_SLOTS = 4
"""Slots without -np: they share one pool of KV. An explicit number splits the context instead."""
PADDING = 256
"""Contexts are rounded up to a multiple of this [tokens]."""
FP8_LIKE = ("q8_0",)
WIDE = ("f16", "bf16")


def _count(name: str, canonical: str = "") -> Effect:
    def effect(draft: Draft, text: str, said: str) -> None:
        draft.set(name, read_count(text), said)
        if canonical:
            draft.set(canonical, read_count(text))

    return effect


def _parallel(draft: Draft, text: str, said: str) -> None:
    slots = read_count(text)
    if slots < 1:
        draft.understand(f"{said}: automatic")
        return
    draft.set("parallel", slots, said)
    draft.set("max_num_seqs", slots)


def _context(draft: Draft, text: str, said: str) -> None:
    tokens = read_count(text)
    if tokens == 0:
        draft.understand(f"{said}: the model's whole training context, shared by all slots")
    else:
        draft.set("ctx_size", tokens, said)


def _switch(name: str, *, off: bool = False) -> Effect:
    def effect(draft: Draft, text: str, said: str) -> None:
        draft.set(name, read_switch(text) != off, said)

    return effect


def _cache_type(name: str) -> Effect:
    def effect(draft: Draft, text: str, said: str) -> None:
        draft.set(name, text.strip().lower(), said)

    return effect


def _gpu_layers(draft: Draft, text: str, said: str) -> None:
    word = text.strip().lower()
    draft.set("n_gpu_layers", word if word in ("auto", "all") else read_count(text), said)


def _own(name: str, *aliases: str) -> Flag:
    return does(name, _count(name.replace("-", "_")), *aliases)


LLAMA = FlagTable(
    "llama-server",
    rows=(
        does("model", set_model, "m"),
        does("hf-repo", set_model, "hf", "hfr"),
        does("parallel", _parallel, "np"),
        does("ctx-size", _context, "c"),
        does("batch-size", _count("n_batch", "max_num_batched_tokens"), "b"),
        does("ubatch-size", _count("n_ubatch"), "ub"),
        does("kv-unified", _switch("kv_unified"), "kvu", arity=SWITCH),
        does("cont-batching", _switch("cont_batching"), "cb", arity=SWITCH),
        does("no-cont-batching", _switch("cont_batching", off=True), "nocb", arity=SWITCH),
        does("context-shift", _switch("context_shift"), arity=SWITCH),
        does("cache-type-k", _cache_type("cache_type_k"), "ctk"),
        does("cache-type-v", _cache_type("cache_type_v"), "ctv"),
        does("n-gpu-layers", _gpu_layers, "ngl", "gpu-layers"),
        sets("slot-prompt-similarity", "slot_prompt_similarity", read_number, "sps"),
        _own("cache-ram", "cram"),
        _own("cache-reuse"),
        _own("kv-unified-per-slot"),
        _own("n-predict", "n", "predict"),
        _own("draft-max", "draft", "draft-n"),
        notes("port", "port", read_count),
        *without_effect("where and how the server answers; nothing of it is simulated", ONE,
            "host path api-prefix api-key api-key-file ssl-key-file ssl-cert-file timeout|to threads-http alias|a "
            "slot-save-path chat-template chat-template-file reasoning-format reasoning-budget media-path"),
        *without_effect("where and how the server answers; nothing of it is simulated", SWITCH,
            "no-webui webui slots no-slots metrics props jinja no-jinja embedding|embeddings reranking|rerank "
            "verbose|v "
            "log-disable log-verbose"),
        *without_effect("how the model is found and loaded; it changes the start, not the run", ONE,
            "model-url|mu hf-file|hff hf-token|hft lora lora-scaled mmproj|mm mmproj-url override-kv rope-scaling "
            "rope-scale "
            "rope-freq-base rope-freq-scale yarn-orig-ctx model-draft|md gpu-layers-draft|ngld ctx-size-draft|cd"),
        *without_effect("how the model is found and loaded; it changes the start, not the run", SWITCH,
            "mlock no-mmap mmap no-warmup warmup check-tensors offline no-mmproj"),
        *without_effect("kernels, threads and devices: times are those of the cost model, whatever runs them", ONE,
            "threads|t threads-batch|tb cpu-mask|C cpu-range|Cr prio poll numa device|dev split-mode|sm "
            "tensor-split|ts "
            "main-gpu|mg override-tensor|ot n-cpu-moe|ncmoe flash-attn|fa"),
        *without_effect("kernels, threads and devices: times are those of the cost model, whatever runs them", SWITCH,
            "no-kv-offload|nkvo cpu-moe|cmoe no-op-offload no-repack op-offload swa-full"),
        *without_effect("how tokens are chosen, not how requests are scheduled", ONE,
            "temp|temperature top-k top-p min-p seed|s samplers repeat-penalty repeat-last-n presence-penalty "
            "frequency-penalty keep draft-min draft-p-min defrag-thold|dt checkpoint-every-n-tokens ctx-checkpoints"),
        *without_effect("how tokens are chosen, not how requests are scheduled", SWITCH, "ignore-eos"),
    ),
)  # fmt: skip


def settle_slots(draft: Draft) -> None:
    """Say how many slots there are and what each may hold, once all flags and log lines are read.

    References
    ----------
    Start-ups of llama-server, build b11434: separate KV is ceil256(ceil256(c) / np) a slot, one pool is ceil256(c).
    """
    params, figures = draft.params, draft.figures
    slots = params.get("parallel") or figures.get("slots") or AUTO_SLOTS
    is_command, is_auto = "model" in figures, "parallel" not in params
    is_unified = bool(params.get("kv_unified", is_auto)) and not _is_split(draft, slots)
    figures["slots"] = slots
    draft.set("parallel", slots)
    draft.set("max_num_seqs", slots)
    draft.set("kv_unified", is_unified)
    draft.set("prefix_cache", "per_slot")
    if is_command and is_auto:
        draft.warn(f"No -np: {slots} slots that share one pool of KV (kv_unified), not {slots} separate contexts.")
    _settle_context(draft, slots, is_unified=is_unified)
    _warn_of_cache_types(draft)
    if is_command and "n_gpu_layers" not in params:
        draft.warn(
            "No -ngl: older builds then compute on the CPU; newer ones put what fits on the GPU. A GPU is simulated."
        )


def _is_split(draft: Draft, slots: int) -> bool:
    """Whether a log says that each slot has its own part of the context."""
    tokens, per_slot = draft.params.get("ctx_size"), draft.figures.get("ctx_per_slot")
    return bool(tokens and per_slot and slots > 1 and per_slot < _padded(tokens))


def _settle_context(draft: Draft, slots: int, *, is_unified: bool) -> None:
    tokens = draft.params.get("ctx_size")
    if not tokens and "model" in draft.params:
        tokens = find_model(draft.params["model"]).max_context
        draft.warn(f"No -c: the server takes the model's training context, {tokens:,} tokens for all slots together.")
    if not tokens:
        return
    padded = _padded(tokens)
    per_slot = padded if is_unified else _padded(ceil(padded / slots))
    per_slot = draft.figures.setdefault("ctx_per_slot", per_slot)
    pool = padded if is_unified else per_slot * slots
    draft.figure("kv_tokens", pool)
    draft.set("max_model_len", per_slot)
    if is_unified:
        draft.warn(
            f"All {slots} slots share {pool:,} tokens; one slot may use up to {per_slot:,}, and an overflow fails them."
        )
    elif slots > 1:
        older = "" if tokens // slots == per_slot else f"; older builds divided down, {tokens // slots:,} each"
        split = f"{tokens:,} tokens of context in {slots} slots: {per_slot:,} each"
        draft.warn(f"{split} (rounded up to {PADDING}, build b11434){older}.")


def _warn_of_cache_types(draft: Draft) -> None:
    kinds = [draft.params.get(name, "f16") for name in ("cache_type_k", "cache_type_v")]
    if all(kind in WIDE for kind in kinds):
        return
    if all(kind in FP8_LIKE for kind in kinds):
        draft.set("kv_cache_dtype", "fp8")
        draft.warn("K and V caches in q8_0 take 8.5 bit a number; fp8, 8 bit, is nearest here.")
        return
    draft.warn(f"K cache {kinds[0]}, V cache {kinds[1]}: such a mix is not modelled, KV has 16 bit here.")


def _padded(tokens: int) -> int:
    return -(-tokens // PADDING) * PADDING
