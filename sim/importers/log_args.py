"""Arguments that a server repeats in its log: vLLM's `non-default args`, SGLang's `server_args`, vLLM's config."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sim.importers.flags import read_flags
from sim.importers.programs import SERVERS
from sim.importers.reading import Draft

_NON_DEFAULT = re.compile(r"non-default args: (\{[^\n]*)")
_PAIR = re.compile(r"'(\w+)': ('[^']*'|\"[^\"]*\"|\[[^\]]*\]|[^,{}\[\]]+)")
_SERVER_ARGS = re.compile(r"server_args=(?:ServerArgs)?\(([^\n]*)")
_ENGINE_CONFIG = re.compile(r"Initializing (?:a|an) (?:V1 )?LLM engine[^\n]*with config: ([^\n]*)")
_KEY_VALUE = re.compile(r"\b(\w+)=('[^']*'|[\w.+-]+)")
_CONFIG_NAMES = {
    "model": "model", "max_seq_len": "max-model-len", "tensor_parallel_size": "tensor-parallel-size",
    "quantization": "quantization", "kv_cache_dtype": "kv-cache-dtype",
    "pipeline_parallel_size": "pipeline-parallel-size",
    "enable_prefix_caching": "enable-prefix-caching", "enable_chunked_prefill": "enable-chunked-prefill",
    "chunked_prefill_enabled": "enable-chunked-prefill", "data_parallel_size": "data-parallel-size",
}  # fmt: skip
"""Keys of vLLM's logged configuration that say what a flag says."""


def read_log_args(text: str, draft: Draft) -> bool:
    """Read arguments that a log repeats; say whether there were any."""
    vllm = [*_non_default(text)] or [*_engine_config(text)]
    sglang = [*_server_args(text)]
    for engine, words in (("vllm", vllm), ("sglang", sglang)):
        if words:
            draft.engine = draft.engine or engine
            read_flags(words, SERVERS[engine].table, draft)
    return bool(vllm or sglang)


def _non_default(text: str) -> Iterator[str]:
    found = _NON_DEFAULT.search(text)
    if not found:
        return
    for name, value in _pairs(found[1]):
        if name != "model_tag":
            yield f"--{name.replace('_', '-')}={value}"


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of a Python dictionary; of one that is cut off or holds objects, the plain ones."""
    try:
        whole = ast.literal_eval(text.strip()[:20_000])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        whole = None
    if isinstance(whole, dict):
        pairs = [(str(name), value) for name, value in whole.items()]
    else:
        pairs = [(name, value.strip().strip("'\"")) for name, value in _PAIR.findall(text)]
    for name, value in pairs:
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            continue
        yield name, _written(value)


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value).replace("'", '"') if isinstance(value, dict) else str(value)


def _engine_config(text: str) -> Iterator[str]:
    found = _ENGINE_CONFIG.search(text)
    for name, value in _KEY_VALUE.findall(found[1]) if found else ():
        if name in _CONFIG_NAMES and value not in ("None", "'None'"):
            yield f"--{_CONFIG_NAMES[name]}={value.strip(chr(39))}"


def _server_args(text: str) -> Iterator[str]:
    found = _SERVER_ARGS.search(text)
    table = SERVERS["sglang"].table
    for name, value in _KEY_VALUE.findall(found[1]) if found else ():
        flag = table.by_name.get(name.replace("_", "-"))
        if flag and flag.effect and value not in ("None", "False", "'None'"):
            yield f"--{name.replace('_', '-')}={value.strip(chr(39))}"
