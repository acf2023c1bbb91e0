"""What servers say while they run: samples of running, waiting, KV in use and throughput."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise

from sim.importers.quantities import read_plain
from sim.importers.reading import Draft
from sim.importers.startup_log import NUMBER

MOST_SAMPLES = 5000
N = NUMBER

_VLLM = re.compile(
    rf"Avg prompt throughput: {N} tokens/s,? Avg generation throughput: {N} tokens/s,? Running: (\d+) reqs"
    rf"(?:,? Swapped: \d+ reqs)?,? (?:Waiting|Pending): (\d+) reqs(?:,? (?:Deferred|Skipped): \d+ reqs)?"
    rf"(?:,? GPU KV cache usage: {N}%)?(?:.*?[Pp]refix cache hit rate: (?:GPU: )?{N}%)?"
)
_HIT_RATE = re.compile(rf"Prefix cache hit rate: GPU: {N}%")
_SGLANG_DECODE = re.compile(
    rf"Decode batch[^\n]*?#running-req: (\d+)(?:, #(?:full )?token: {N})?(?:, (?:full )?token usage: {N})?[^\n]*?"
    rf"gen throughput \(token/s\): {N}(?:[^\n]*?#queue-req: (\d+))?"
)
_SGLANG_PREFILL = re.compile(rf"Prefill batch[^\n]*?#new-token: {N}, #cached-token: {N}")
_ACCEPTANCE = re.compile(rf"Avg Draft acceptance rate: {N}%")
_LLAMA_TIMES = re.compile(rf"(?P<kind>prompt eval|eval) time\s*=\s*{N} ms /\s*{N} (?:tokens|runs)")
_ISO_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)")
_VLLM_STAMP = re.compile(r"\b(\d\d-\d\d) (\d\d:\d\d:\d\d)\b")


def read_runtime_log(text: str, draft: Draft) -> bool:
    """Read what a server said while it ran; say whether anything was found."""
    return any([_read_vllm(text, draft), _read_sglang(text, draft), _read_llama(text, draft)])


def _read_vllm(text: str, draft: Draft) -> bool:
    samples = [found for _, found in zip(range(MOST_SAMPLES), _VLLM.finditer(text), strict=False)]
    if not samples:
        return False
    draft.engine = draft.engine or "vllm"
    draft.figure("prompt_tokens_per_s", [read_plain(found[1]) for found in samples])
    draft.figure("output_tokens_per_s", [read_plain(found[2]) for found in samples])
    draft.figure("running", [int(found[3]) for found in samples])
    draft.figure("waiting", [int(found[4]) for found in samples])
    if all(found[5] for found in samples):
        draft.figure("kv_usage", [_share(found[5]) for found in samples])
    rates = [found[6] for found in samples] if all(found[6] for found in samples) else _HIT_RATE.findall(text)
    if rates:
        draft.figure("hit_rate", [_share(rate) for rate in rates])
    _note_interval(text, [found.start() for found in samples], draft)
    _note_acceptance(text, draft)
    draft.understand(f"{len(samples)} samples of vLLM's log: throughput, running, waiting, KV usage")
    return True


def _read_sglang(text: str, draft: Draft) -> bool:
    samples = [found for _, found in zip(range(MOST_SAMPLES), _SGLANG_DECODE.finditer(text), strict=False)]
    prefills = [found for _, found in zip(range(MOST_SAMPLES), _SGLANG_PREFILL.finditer(text), strict=False)]
    if not samples and not prefills:
        return False
    draft.engine = draft.engine or "sglang"
    if samples:
        draft.figure("running", [int(found[1]) for found in samples])
        draft.figure("output_tokens_per_s", [read_plain(found[4]) for found in samples])
        _note_sglang_pool(samples, draft)
        if all(found[5] for found in samples):
            draft.figure("waiting", [int(found[5]) for found in samples])
        _note_interval(text, [found.start() for found in samples], draft)
    new, cached = (sum(read_plain(found[part]) for found in prefills) for part in (1, 2))
    if new + cached > 0:
        draft.figure(
            "hit_rate", [round(read_plain(p[2]) / max(read_plain(p[1]) + read_plain(p[2]), 1), 4) for p in prefills]
        )
    draft.understand(f"{len(samples)} decode and {len(prefills)} prefill batches of SGLang's log")
    return True


def _note_sglang_pool(samples: list[re.Match[str]], draft: Draft) -> None:
    """KV in use; and the pool, from tokens / usage of the fullest sample, since usage has two digits only."""
    if not all(found[3] for found in samples):
        return
    draft.figure("kv_usage", [read_plain(found[3]) for found in samples])
    fullest = max(samples, key=lambda found: read_plain(found[3]))
    usage = read_plain(fullest[3])
    if fullest[2] and usage >= 0.05:
        draft.warn(
            f"{read_plain(fullest[2]):,.0f} tokens at a usage of {usage:g}: a pool of about "
            f"{read_plain(fullest[2]) / usage:,.0f} tokens (usage is logged to two digits)."
        )


def _read_llama(text: str, draft: Draft) -> bool:
    sums = {"prompt eval": [0.0, 0.0], "eval": [0.0, 0.0]}
    for found in _LLAMA_TIMES.finditer(text):
        sums[found["kind"]][0] += read_plain(found[2])
        sums[found["kind"]][1] += read_plain(found[3])
    (prompt_ms, prompt_tokens), (eval_ms, eval_tokens) = sums["prompt eval"], sums["eval"]
    if prompt_ms > 0:
        draft.figure("prompt_tokens_per_s", prompt_tokens / prompt_ms * 1000)
    if eval_tokens > 0:
        draft.latency("tpot_ms", "mean", eval_ms / eval_tokens)
    if not (prompt_ms or eval_ms):
        return False
    draft.engine = draft.engine or "llama-server"
    draft.understand("timings of llama-server's requests")
    return True


def _note_acceptance(text: str, draft: Draft) -> None:
    rates = [read_plain(rate) / 100 for rate in _ACCEPTANCE.findall(text)]
    if rates and draft.params.get("num_speculative_tokens"):
        draft.warn(
            f"Drafts accepted on average {sum(rates) / len(rates):.0%} of the time; acceptance here is a position's."
        )


def _note_interval(text: str, places: list[int], draft: Draft) -> None:
    """Time between two samples [s], from the stamps on their lines."""
    stamps = [_stamp(text[text.rfind("\n", 0, place) + 1 : place]) for place in places]
    known = [stamp for stamp in stamps if stamp is not None]
    gaps = [later - earlier for earlier, later in pairwise(known)]
    positive = sorted(gap / timedelta(seconds=1) for gap in gaps if gap > timedelta(0))
    if len(known) == len(places) and positive:
        draft.figure("sample_interval_s", positive[len(positive) // 2])


def _stamp(line: str) -> datetime | None:
    iso, short = _ISO_STAMP.search(line), _VLLM_STAMP.search(line)
    text = f"{iso[1]} {iso[2]}" if iso else f"2000-{short[1]} {short[2]}" if short else ""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S") if text else None  # noqa: DTZ007 (only differences count)
    except ValueError:
        return None


def _share(percent: str) -> float:
    return round(read_plain(percent) / 100, 6)
