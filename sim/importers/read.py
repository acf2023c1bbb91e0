"""Reads a pasted text, whatever it is of what people paste: commands, logs, results, traces."""

from __future__ import annotations

from sim.errors import ScenarioError
from sim.importers.bench_console import read_console, read_offline_bench, read_trtllm_bench
from sim.importers.bench_json import find_json, read_json
from sim.importers.bench_tables import read_aiperf_table, read_guidellm_table
from sim.importers.check_result import check_result
from sim.importers.check_server import check_server
from sim.importers.clean import cleaned, decode
from sim.importers.commands import finish_commands, read_commands
from sim.importers.load import settle_load
from sim.importers.log_args import read_log_args
from sim.importers.reading import Draft, PasteKind, Reading
from sim.importers.runtime_log import read_runtime_log
from sim.importers.startup_log import read_startup_log
from sim.importers.trace_text import looks_like_trace, read_trace_text

MAX_CHARACTERS = 1_000_000
"""Longest text that is neither trace nor JSON: of a longer log the start, and some minutes of samples, say it all."""
LONGEST_LINE = 8000
"""Characters of a line; what is longer is no log and no command."""
BLOCK_TOKENS = 16
"""vLLM's block where a log does not say it."""
_READERS = (
    (PasteKind.SERVE_COMMAND, (read_commands,)),
    (PasteKind.SERVER_LOG, (read_log_args, read_startup_log, read_runtime_log)),
    (
        PasteKind.BENCH_RESULT,
        (read_console, read_offline_bench, read_trtllm_bench, read_aiperf_table, read_guidellm_table),
    ),
)
"""Readers in the order in which they read, so that a log's values replace those of a command."""
_READERS_BY_WEIGHT = (PasteKind.BENCH_RESULT, PasteKind.SERVE_COMMAND, PasteKind.SERVER_LOG)
WHAT_CAN_BE_READ = (
    "a vllm serve, llama-server, sglang or trtllm-serve command (also docker, Kubernetes or YAML arguments), a "
    "start-up or "
    "runtime log, a benchmark's result (vLLM, SGLang, AIPerf, GuideLLM; console or JSON), or a trace"
)


def read_paste(data: bytes | str, name: str = "") -> Reading:
    """What a pasted text or a file says.

    Parameters
    ----------
    data : bytes or str
        The text; bytes are read as UTF-8, or UTF-16 with a byte order mark. A trace may be gzip.
    name : str
        File name, for messages about a trace.

    Raises
    ------
    ScenarioError
        If nothing in it can be read: says what and where.

    Examples
    --------
    >>> reading = read_paste("vllm serve Qwen/Qwen3-8B --max_num_seqs 64 --no-enable-prefix-caching")
    >>> reading.params["model"], reading.params["max_num_seqs"], reading.params["prefix_cache"]
    ('qwen3-8b', 64, 'off')
    >>> reading.repaired
    (('--max_num_seqs', '--max-num-seqs'),)
    """
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    draft = Draft()
    if looks_like_trace(raw):
        read_trace_text(raw, name, draft)
        return draft.finish(PasteKind.TRACE)
    text = decode(raw)
    kind = _read_text(text, draft)
    if kind is None:
        raise _unreadable(text, name)
    _note_pool(draft)
    finish_commands(draft)
    _note_lengths(draft)
    settle_load(draft)
    check_server(draft)
    check_result(draft)
    return draft.finish(kind)


def _read_text(text: str, draft: Draft) -> PasteKind | None:
    """Read all parts of a text; its kind is that of what tells most: a result before a command before a log."""
    plain = cleaned(text)
    for before, after in plain.repairs:
        draft.repair(before, after)
    document = find_json(plain.text)
    if document is not None and read_json(document, draft):
        return PasteKind.BENCH_RESULT
    if len(text) > MAX_CHARACTERS:
        allowed = f"at most {MAX_CHARACTERS:,}; paste the part that matters"
        raise ScenarioError("text", f"{len(text):,} characters", allowed)
    lines = "\n".join(line[:LONGEST_LINE] for line in plain.text.split("\n"))
    found = {kind: [read(lines, draft) for read in readers] for kind, readers in _READERS}
    return next((kind for kind in _READERS_BY_WEIGHT if any(found[kind])), None)


def _note_pool(draft: Draft) -> None:
    """Blocks from tokens and tokens from blocks, so that the simulated pool is the logged one."""
    figures, params = draft.figures, draft.params
    if draft.engine == "llama-server" or "num_gpu_blocks" in params:
        return
    size = params.get("block_size", BLOCK_TOKENS if draft.engine != "sglang" else 1)
    blocks = figures.get("num_gpu_blocks")
    if blocks is not None:
        if "kv_tokens" not in figures:
            draft.figure("kv_tokens", blocks * size)
            draft.warn(
                f"{blocks:,} blocks of {size} tokens (the default, where the text does not say) hold "
                f"{blocks * size:,} tokens."
            )
        if blocks:  # logged by engines without a null block (vLLM before V1, TensorRT-LLM): all can be used
            draft.set("num_gpu_blocks", blocks + 1)
    elif figures.get("kv_tokens", 0) >= 2 * size:
        extra = 0 if draft.engine == "vllm" else 1
        draft.set("num_gpu_blocks", round(figures["kv_tokens"] / size) + extra)
        if draft.engine == "sglang":
            draft.set("block_size", size)


def _note_lengths(draft: Draft) -> None:
    """Mean lengths of a result, where nothing says how they were drawn."""
    figures, load = draft.figures, draft.load
    count = figures.get("requests")
    if count and "num_prompts" not in load:
        load["num_prompts"] = count
    for key, total, mean in (
        ("input_len", "total_prompt_tokens", "mean_prompt_tokens"),
        ("output_len", "total_output_tokens", "mean_output_tokens"),
    ):
        average = figures.get(mean) or (figures[total] / count if count and total in figures else None)
        if average and key not in load and not load.get("data"):
            load[f"mean_{key}"] = average


def _unreadable(text: str, name: str) -> ScenarioError:
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return ScenarioError("text", "", WHAT_CAN_BE_READ)
    count = f"{len(lines)} {'lines' if len(lines) > 1 else 'line'}"
    where = f"{name}{', ' if name else ''}{count}, the first: {lines[0].strip()}"
    return ScenarioError("text", where, WHAT_CAN_BE_READ)
