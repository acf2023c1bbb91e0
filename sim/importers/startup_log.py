"""What servers say when they start: memory, pool, limits. vLLM V0 and V1, SGLang, TensorRT-LLM, llama-server."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sim.importers.quantities import read_plain
from sim.importers.reading import Draft

NUMBER = r"(-?\d+(?:,\d{3})*(?:\.\d+)?)"
SIZE = NUMBER + r"\s*(GiB|GB|MiB|MB)\b"
"""A size in a log: its GB are GiB, and its MB MiB, in all of these engines."""


@dataclass(frozen=True, slots=True)
class Line:
    """A phrase of a log: the figures (or, with `=`, parameters) its groups are, and whose phrase it is.

    `pick` chooses among several processes' values: of a pool the smallest, which is what all of them use.
    """

    pattern: re.Pattern[str]
    names: tuple[str, ...]
    engine: str = ""
    pick: Callable[[float, float], float] | None = None


def _line(pattern: str, names: str, engine: str = "", pick: Callable[[float, float], float] | None = None) -> Line:
    return Line(re.compile(pattern), tuple(names.split()), engine, pick)


# fmt: off
LINES: tuple[Line, ...] = (
    _line(rf"(?:[Ll]oading model weights took|Model loading took|model weights take)\s+{SIZE}", "weights_gib", "vllm"),
    _line(rf"Memory profiling results:.*?total_gpu_memory={SIZE}", "gpu_memory_gib", "vllm"),
    _line(rf"total_gpu_memory \({SIZE}\)", "gpu_memory_gib", "vllm"),
    _line(rf"peak_torch_memory={SIZE}", "peak_torch_gib", "vllm"),
    _line(rf"non_torch_memory(?:=| takes ){SIZE}", "non_torch_gib", "vllm"),
    _line(rf"PyTorch activation peak memory takes\s+{SIZE}", "activation_gib", "vllm"),
    _line(rf"peak activation memory[: ]+{SIZE}", "activation_gib", "vllm"),
    _line(rf"(?:kv_cache_size=|reserved for KV Cache is\s+){SIZE}", "kv_gib", "vllm", min),
    _line(rf"Available KV cache memory: {SIZE}", "kv_gib", "vllm", min),
    _line(rf"reserved {SIZE} memory for KV Cache", "kv_gib", "vllm", min),
    _line(rf"gpu_memory_utilization(?:=| \(){NUMBER}\)?", "=gpu_memory_utilization", "vllm"),
    _line(rf"The current --gpu-memory-utilization={NUMBER}", "=gpu_memory_utilization", "vllm"),
    _line(rf"equivalent to --gpu-memory-utilization={NUMBER}", "equivalent_utilization", "vllm"),
    _line(rf"# (?:GPU|CUDA|cuda|rocm|ROCM) blocks: {NUMBER}", "num_gpu_blocks", "vllm", min),
    _line(rf"num_gpu_blocks(?: is)?[:=] ?{NUMBER}", "num_gpu_blocks", "vllm", min),
    _line(rf"GPU KV cache size: {NUMBER} tokens", "kv_tokens", "vllm", min),
    _line(rf"KV cache size: {NUMBER} tokens", "kv_tokens", "vllm", min),
    _line(rf"Maximum concurrency for {NUMBER} tokens per request: {NUMBER}x",
          "=max_model_len max_concurrency", "vllm", min),
    _line(rf"max seq len \({NUMBER}\) is larger than the maximum number of tokens that .{{0,30}}KV cache \({NUMBER}\)",
          "=max_model_len kv_tokens", "vllm", min),
    _line(rf"Estimated CUDA graph memory: {SIZE}", "cuda_graph_gib", "vllm"),
    _line(rf"Graph capturing finished in [\d.]+ secs?, took {SIZE}", "cuda_graph_gib", "vllm"),
    _line(rf"Add (\d+) padding layers, may waste at most {NUMBER}% KV cache memory",
          "padding_layers padding_waste_percent", "vllm"),
    _line(rf"[Cc]hunked prefill is enabled with max_num_batched_tokens={NUMBER}", "=max_num_batched_tokens", "vllm"),
    _line(rf"Using max model len {NUMBER}", "=max_model_len", "vllm"),
    _line(r"vLLM API server version v?([\d.]+)|Initializing an? (?:V1 )?LLM engine \(v([\d.]+)", "version", "vllm"),
    _line(rf"Load weight end\..*?mem usage={SIZE}", "weights_gib", "sglang"),
    _line(rf"KV Cache is allocated\.\s+#tokens: {NUMBER}", "kv_tokens", "sglang", min),
    _line(rf"max_total_num_tokens={NUMBER}", "kv_tokens", "sglang", min),
    _line(rf"\bchunked_prefill_size={NUMBER}", "=chunked_prefill_size", "sglang"),
    _line(rf"\bmax_prefill_tokens={NUMBER}", "=max_prefill_tokens", "sglang"),
    _line(rf"\bmax_running_requests={NUMBER}", "=max_num_seqs", "sglang"),
    _line(rf"\bcontext_len={NUMBER}", "=max_model_len", "sglang"),
    _line(rf"Capture cuda graph end\..*?mem usage={SIZE}", "cuda_graph_gib", "sglang"),
    _line(rf"Allocated {SIZE} for max tokens in paged KV cache \({NUMBER}\)", "kv_gib kv_tokens", "tensorrt-llm", min),
    _line(rf"Number of tokens per block: {NUMBER}", "=block_size", "tensorrt-llm"),
    _line(rf"primary blocks={NUMBER}", "num_gpu_blocks", "tensorrt-llm", min),
    _line(rf"\[TRT-LLM\].*?max_seq_len={NUMBER}, max_num_requests={NUMBER}, max_num_tokens={NUMBER}",
          "=max_model_len =max_num_seqs =max_num_batched_tokens", "tensorrt-llm"),
    _line(rf"TRTGptModel maxNumTokens: {NUMBER}", "=max_num_batched_tokens", "tensorrt-llm"),
    _line(rf"TRTGptModel (?:maxNumSequences|maxBatchSize): {NUMBER}", "=max_num_seqs", "tensorrt-llm"),
    _line(rf"TRTGptModel maxSequenceLen: {NUMBER}", "=max_model_len", "tensorrt-llm"),
    _line(rf"Loaded engine size: {SIZE}", "weights_gib", "tensorrt-llm"),
    _line(rf"n_slots\s*=\s*{NUMBER}", "slots", "llama-server"),
    _line(rf"new slot,? n_ctx(?:_slot)?\s*=\s*{NUMBER}", "ctx_per_slot", "llama-server"),
    _line(rf"n_ctx_(?:per_seq|seq|slot)\s*(?:=|\()\s*{NUMBER}", "ctx_per_slot", "llama-server"),
    _line(rf"llama_(?:context|new_context_with_model):\s+n_ctx\s+=\s*{NUMBER}", "=ctx_size", "llama-server"),
    _line(rf"(?:llama_context|llama_new_context_with_model):\s+n_batch\s+=\s*{NUMBER}", "=n_batch", "llama-server"),
    _line(rf"(?:llama_context|llama_new_context_with_model):\s+n_ubatch\s+=\s*{NUMBER}", "=n_ubatch", "llama-server"),
    _line(rf"KV self size\s*=\s*{SIZE}", "kv_gib", "llama-server"),
    _line(rf"llama_kv_cache\w*: size\s*=\s*{SIZE}", "kv_gib", "llama-server"),
    _line(rf"model size\s*=\s*{SIZE}", "weights_gib", "llama-server"),
    _line(rf"CUDA\d+ model buffer size\s*=\s*{SIZE}", "weights_gib", "llama-server"),
)
# fmt: on

_KV_HALVES = re.compile(rf"KV Cache is allocated\..*?K size: {SIZE}, V size: {SIZE}")
_KV_WHOLE = re.compile(rf"KV Cache is allocated\..*?KV size: {SIZE}")
_SLOT_IDS = re.compile(r"slot\s+\S*:?\s*id\s+(\d{1,3}) \|.*?new slot")


def read_startup_log(text: str, draft: Draft) -> bool:
    """Read what a server said at its start; say whether anything was found."""
    found_any = False
    for line in LINES:
        for found in line.pattern.finditer(text):
            found_any = True
            _note(line, found, draft)
    for halves in _KV_HALVES.finditer(text):
        draft.figure("kv_gib", _gib(halves[1], halves[2]) + _gib(halves[3], halves[4]))
    whole = _KV_WHOLE.search(text)
    if whole:
        draft.figure("kv_gib", _gib(whole[1], whole[2]))
    slots = {int(found[1]) for found in _SLOT_IDS.finditer(text)}
    if slots:
        draft.figures.setdefault("slots", max(slots) + 1)
    return found_any


def _note(line: Line, found: re.Match[str], draft: Draft) -> None:
    if line.engine:
        draft.engine = draft.engine or line.engine
    values = _values_of(line, [group for group in found.groups() if group is not None])
    for name, value in zip(line.names, values, strict=False):
        if name.startswith("="):
            _set(draft, name[1:], value, found.group())
            continue
        if name == "version":
            draft.figure(name, str(value))
            draft.understand(found.group())
            continue
        number = float(value)
        before = draft.figures.get(name)
        if line.pick and isinstance(before, int | float) and before != number and "concurrency" not in name:
            draft.warn(f"{name} is logged as {before:g} and as {number:g}: the pool of all processes is the smallest.")
            number = line.pick(before, number)
        draft.figure(name, number)
        draft.understand(found.group())


def _values_of(line: Line, groups: list[str]) -> list[float | str]:
    """Values of a phrase's groups; a unit belongs to the number before it."""
    if line.names == ("version",):
        return list(groups)
    values: list[float | str] = []
    for group in groups:
        if group in ("GiB", "GB", "MiB", "MB"):
            values[-1] = float(values[-1]) / (1024 if group.startswith("M") else 1)
        else:
            values.append(read_plain(group.rstrip(",")))
    return values


def _set(draft: Draft, name: str, value: float | str, said: str) -> None:
    number = float(value)
    if name == "chunked_prefill_size" and number > 0:
        draft.set("max_num_batched_tokens", number)
    draft.set(name, int(number) if number.is_integer() else number, f"{name} = {number:g} in the log")
    draft.understand(said)


def _gib(number: str, unit: str) -> float:
    return read_plain(number) / (1024 if unit.startswith("M") else 1)
