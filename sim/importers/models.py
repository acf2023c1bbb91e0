"""From the name of a model, as people write it, to the catalogue's entry and the format of its weights."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from sim.catalog import find_model, load_models
from sim.importers.reading import Draft

# fmt: off
FORMATS: dict[str, str] = {
    "awq": "int4", "awq-marlin": "int4", "gptq": "int4", "gptq-marlin": "int4", "gptq-int4": "int4", "w4a16": "int4",
    "int4": "int4", "4bit": "int4", "4-bit": "int4", "bnb-4bit": "int4", "bitsandbytes": "int4", "nf4": "int4",
    "bnb": "int4", "auto-round": "int4", "w4afp8": "int4", "awq-4bit": "int4", "awq-int4": "int4", "marlin": "int4",
    "moe-wna16": "int4",
    "fp8": "fp8", "fp8-dynamic": "fp8", "fbgemm-fp8": "fp8", "modelopt": "fp8", "w8a8-fp8": "fp8", "ptpc-fp8": "fp8",
    "fp8-block": "fp8",
    "int8": "int8", "8bit": "int8", "8-bit": "int8", "w8a8": "int8", "w8a8-int8": "int8", "w8a16": "int8",
    "experts-int8": "int8", "gptq-int8": "int8", "quantized.w8a8": "int8", "quantized.w4a16": "int4",
    "quantized.w8a16": "int8",
    "nvfp4": "fp4", "mxfp4": "fp4", "modelopt-fp4": "fp4", "petit-nvfp4": "fp4", "fp4": "fp4",
    "bf16": "bf16", "fp16": "bf16", "f16": "bf16", "bfloat16": "bf16", "float16": "bf16", "half": "bf16",
    "q8-0": "int8", "q4-0": "int4", "q4-1": "int4", "q4-k": "int4", "q4-k-m": "int4", "q4-k-s": "int4",
    "iq4-xs": "int4", "iq4-nl": "int4", "ud-q4-k-xl": "int4",
}
"""Format of the weights by what names and `--quantization` call it; GGUF's 4 bit formats take 4.3 to 4.9 bit."""

SAME_SHAPES: dict[str, str] = {
    "deepseek-r1-distill-llama-8b": "llama-3.1-8b",
    "deepseek-r1-distill-llama-70b": "llama-3.3-70b",
    "deepseek-r1-distill-qwen-1.5b": "qwen2.5-1.5b",
    "deepseek-r1-distill-qwen-14b": "qwen2.5-14b",
    "deepseek-r1-distill-qwen-32b": "qwen2.5-32b",
    "qwq-32b": "qwen2.5-32b",
    "qwen2.5-coder-7b": "qwen2.5-7b",
    "qwen2.5-coder-14b": "qwen2.5-14b",
    "qwen2.5-coder-32b": "qwen2.5-32b",
    "hermes-3-llama-3.1-8b": "llama-3.1-8b",
    "hermes-3-llama-3.1-70b": "llama-3.1-70b",
    "llama-3.1-nemotron-70b": "llama-3.1-70b",
    "deepseek-r1": "deepseek-v3",
    "deepseek-v3.1": "deepseek-v3",
    "deepseek-r1-0528": "deepseek-v3",
    "deepseek-v3-0324": "deepseek-v3",
    "llama-4-scout-17b-16e": "llama-4-scout",
    "phi-4": "phi-4-14b",
}
"""Fine-tuned models by the entry whose shapes they have."""
# fmt: on

_TUNINGS = {
    "instruct",
    "it",
    "chat",
    "hf",
    "base",
    "dynamic",
    "gguf",
    "g128",
    "2507",
    "2501",
    "2503",
    "symmetric",
    "pt",
    "v0.1",
    "thinking",
    "unsloth",
}
_LLAMA_BITS = re.compile(r"-((?:ud-)?i?q[1-8](?:-[0-9a-z]+){0,2})$")
_SPLIT = re.compile(r"-\d{5}-of-\d{5}$")
_HYBRID = re.compile(
    r"kimi-linear|jamba|mamba|qwen3-next|qwen3\.[5-9]|nemotron-(?:h|nano|3)|falcon-h1|granite-4|minimax-(?:01|m1)|bamba|zamba|"
    r"lfm2|ring-.*linear|rwkv|plamo2",
)
_LATENT = re.compile(r"deepseek-(?:v2|v3|r1(?!-distill)|coder-v2)|kimi-k2|glm-5|longcat|mistral-large-3")
_WINDOWED = re.compile(r"gemma-[23]|gpt-oss|llama-4|mistral-7b-v0\.1|command-a")


class Named(NamedTuple):
    """What a model's name says: id of the catalogue or '', format of the weights or '', and GGUF's word for it."""

    id: str
    weights: str
    bits: str


def read_model_name(name: str) -> Named:
    """What a model's name or path says; only a name that is certain has an id.

    Examples
    --------
    >>> read_model_name("/models/Qwen2.5-72B-Instruct-AWQ/")
    Named(id='qwen2.5-72b', weights='int4', bits='')
    >>> read_model_name("somebody/my-finetune").id
    ''
    """
    stem = _stem(name)
    bits, weights = "", ""
    found = _LLAMA_BITS.search(stem)
    if found:
        bits, stem = found[1].replace("-", "_"), stem[: found.start()]
        weights = FORMATS.get(found[1], "")
    while True:
        if stem in _ids():
            return Named(_ids()[stem], weights, bits)
        shorter, suffix = _without_suffix(stem)
        if not suffix:
            return Named("", weights, bits)
        weights = weights or FORMATS.get(suffix, "")
        stem = shorter


def set_model(draft: Draft, name: str, said: str) -> None:
    """Set model and weights from a name, and say what the name does not tell or the catalogue does not have."""
    named = read_model_name(name)
    draft.figure("model", name.strip()[:200])
    if named.id:
        draft.set("model", named.id, said)
    else:
        draft.understand(f"{said}: a model that the catalogue does not have")
        draft.warn(
            f"{_last(name)} is not in the catalogue, and no model is guessed: choose the entry that is nearest in "
            "shape, "
            "or read memory and times as those of another model."
        )
    if named.weights:
        draft.set("weights", named.weights, f"{named.bits or _last(name)} in the model's name")
    elif named.bits:
        draft.warn(f"Weights in {named.bits} are not modelled: the formats here are bf16, fp8, int8, int4 and fp4.")
    _warn_of_kind(draft, _stem(name))


def set_quantisation(draft: Draft, text: str, said: str) -> None:
    """Set the weights' format from `--quantization`; a name that leaves the bits open does not undo the model's own."""
    word = text.strip().lower().replace("_", "-")
    if word in FORMATS:
        draft.set("weights", FORMATS[word], said)
    elif word in ("compressed-tensors", "quark", "auto", "none", "null", "torchao", "inc", "gguf"):
        draft.ignore(said, "it does not say how many bits the weights have; the model's name may")
    else:
        draft.ignore(
            said, f"no format of the weights here is called {word}: " + ", ".join(sorted(set(FORMATS.values())))
        )


def set_dtype(draft: Draft, text: str, said: str) -> None:
    """Note the number format of activations; it does not undo a quantised checkpoint."""
    word = text.strip().lower()
    if word in ("float32", "float"):
        draft.ignore(said, "32 bit activations and weights are not modelled")
    elif word in ("auto", "bfloat16", "float16", "half", "bf16", "fp16"):
        draft.understand(f"{said}: activations and KV of 16 bit; weights that are quantised stay so")
    else:
        draft.ignore(said, f"{word} is no number format that is known here")


def set_kv_format(draft: Draft, text: str, said: str) -> None:
    """Set the KV cache's format: 16 bit or fp8."""
    word = text.strip().lower()
    if word.startswith("fp8"):
        draft.set("kv_cache_dtype", "fp8", said)
    elif word in ("auto", "bfloat16", "bf16", "float16", "f16", "fp16"):
        draft.set("kv_cache_dtype", "auto", said)
    else:
        draft.ignore(said, f"a KV cache in {word} is not modelled: 16 bit or fp8 are")


def _warn_of_kind(draft: Draft, stem: str) -> None:
    if _HYBRID.search(stem):
        draft.warn(
            "A hybrid model: its linear-attention layers keep one state a request and no KV a token, so the KV "
            "formula of "
            "full attention gives too few tokens. Do not trust KV figures, and preemption, of this scenario."
        )
    elif _LATENT.search(stem):
        draft.warn(
            "An MLA model: it keeps one latent a token instead of keys and values of every head, and each GPU holds "
            "all "
            "of it; an engine without MLA support keeps many times more."
        )
    elif _WINDOWED.search(stem):
        draft.warn(
            "Some layers of this model have a sliding window. They are counted with their whole context here, so an "
            "engine with a hybrid KV manager holds more tokens than shown."
        )


def _stem(name: str) -> str:
    last = _last(name).lower().removesuffix(".gguf").replace("_", "-").replace(" ", "-").replace(":", "-")
    return _SPLIT.sub("", last).replace("-instruct-v", "-v")


def _last(name: str) -> str:
    """Last part of a path, or of a folder of the hub's cache."""
    last = name.strip().strip("'\"").rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
    return last.rsplit("--", 1)[-1] if last.startswith("models--") else last


def _without_suffix(stem: str) -> tuple[str, str]:
    """Stem without the longest known suffix, and that suffix; '' if it has none."""
    for suffix in _suffixes():
        if stem.endswith(f"-{suffix}") and len(stem) > len(suffix) + 1:
            return stem[: -len(suffix) - 1], suffix
    return stem, ""


@cache
def _suffixes() -> tuple[str, ...]:
    return tuple(sorted({*FORMATS, *_TUNINGS}, key=len, reverse=True))


@cache
def _ids() -> dict[str, str]:
    """Id by the last part of every id, name and alias, in lower case with hyphens."""
    spellings = {
        _stem(word): model.id for model in load_models().values() for word in (*model.aliases, model.name, model.id)
    }
    names = {stem: entry for stem, entry in spellings.items() if _without_suffix(stem)[1] not in FORMATS}
    older = {f"meta-{stem}": entry for stem, entry in names.items() if stem.startswith("llama-")}
    return names | older | {name: find_model(entry).id for name, entry in SAME_SHAPES.items()}
