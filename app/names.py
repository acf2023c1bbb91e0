"""What the runs of a page are called: after what tells them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.controls import CONTROL_BY_NAME
from app.form import text_of
from sim.catalog import load_gpus, load_models
from sim.fork import FORK
from sim.parameters import PARAMETERS
from sim.scenario import Scenario, settings_of

NOTES = {
    ("batching", "static"): "waits for the slowest",
    ("batching", "continuous"): "joins at the next step",
    ("kv", "paged"): "blocks as they are needed",
    ("kv", "contiguous"): "reserves the longest context",
    ("prefill", "chunked"): "prompts between decodes",
    ("prefill", "whole"): "a prompt in one step",
}
WORDS = {
    ("prefix_cache", "off"): "no prefix cache",
    ("prefix_cache", "shared"): "prefix cache",
    ("prefix_cache", "per_slot"): "cache per slot",
    ("num_speculative_tokens", "0"): "no drafts",
    ("kv_cache_dtype", "auto"): "16-bit KV",
    ("max_waiting", "none"): "any line",
    ("max_num_seqs", "1"): "1 slot",
    ("concurrency", "1"): "1 user",
    ("num_speculative_tokens", "1"): "1 draft",
    ("tensor_parallel_size", "1"): "1 GPU",
    ("scheduler_reserve_full_isl", "true"): "whole prompts admitted",
    ("scheduler_reserve_full_isl", "false"): "first chunks admitted",
    ("prefix_groups", "1"): "one system prompt",
    ("async_scheduling", "true"): "async scheduling",
    ("async_scheduling", "false"): "no async scheduling",
}
"""What a value of a parameter is called."""
PHRASES = {
    "batching": "{}",
    "kv": "{} KV",
    "prefill": "{} prefill",
    "rate": "{} req/s",
    "concurrency": "{} users",
    "num_requests": "{} requests",
    "seed": "seed {}",
    "prompt_tokens": "{}-token prompts",
    "output_tokens": "{}-token outputs",
    "shared_prefix_tokens": "{} tokens shared",
    "prefix_groups": "{} system prompts",
    "max_num_seqs": "{} slots",
    "max_num_batched_tokens": "budget {}",
    "num_gpu_blocks": "{} blocks",
    "block_size": "blocks of {}",
    "tensor_parallel_size": "{} GPUs",
    "num_speculative_tokens": "{} drafts",
    "max_waiting": "line of {}",
    "slo_ttft_ms": "TTFT under {} ms",
    "slo_tpot_ms": "TPOT under {} ms",
}
"""What any other value is called; without a phrase it is the control's label and the value."""
CATALOGUES = {
    "model": {model.id: model.name for model in load_models().values()},
    "gpu": {gpu.id: gpu.name for gpu in load_gpus().values()},
}
COUNTS = ("one", "two", "three")
MOST_NAMED = 2
PLACE = {parameter.name: place for place, parameter in enumerate(PARAMETERS)}
ORDER = sorted(CONTROL_BY_NAME, key=lambda name: (name != "batching", not CONTROL_BY_NAME[name].is_basic, PLACE[name]))
"""What is named first: batching, then what the page always shows."""


@dataclass(frozen=True, slots=True)
class Name:
    """What a run is called."""

    label: str
    note: str


def names_of(scenarios: Mapping[str, Scenario]) -> dict[str, Name]:
    """The first run is called after all in which others differ from it, each other after its own differences."""
    texts = {name: _texts(scenario) for name, scenario in scenarios.items() if name != FORK}
    differing = {name: _differing(texts["a"], values) for name, values in texts.items()}
    own = dict(differing)
    own["a"] = [key for key in ORDER if any(key in keys for keys in differing.values())]
    if FORK in scenarios and not own["a"]:
        own["a"] = _differing(texts["a"], _texts(scenarios[FORK].forked))
    names = {name: _name(own[name] or ["batching"], values) for name, values in texts.items()}
    if FORK in scenarios:
        names[FORK] = _fork_name(texts["a"], scenarios[FORK])
    return _told_apart({run: names[run] for run in scenarios})


def _texts(scenario: Scenario) -> dict[str, str]:
    return {key: text_of(value) for key, value in settings_of(scenario).items()}


def _differing(plain: Mapping[str, str], values: Mapping[str, str]) -> list[str]:
    return [key for key in ORDER if values[key] != plain[key]]


def _name(keys: list[str], values: Mapping[str, str]) -> Name:
    phrase = _phrase(keys, values)
    return Name(phrase[:1].upper() + phrase[1:], NOTES.get((keys[0], values[keys[0]]), "") if len(keys) == 1 else "")


def _fork_name(plain: Mapping[str, str], scenario: Scenario) -> Name:
    assert scenario.fork, "the run of a fork has one"
    later = _texts(scenario.forked)
    keys = _differing(plain, later) or [scenario.fork.changes[0][0]]
    return Name(f"From {scenario.fork.time_s:.4g} s: {_phrase(keys, later)}", "the same until then")


def _told_apart(names: Mapping[str, Name]) -> dict[str, Name]:
    """Names of which no two are alike."""
    labels = [name.label for name in names.values()]
    return {
        run: Name(f"{name.label} ({run})", name.note) if labels.count(name.label) > 1 else name
        for run, name in names.items()
    }


def _phrase(keys: list[str], values: Mapping[str, str]) -> str:
    named = ", ".join(value_phrase(key, values[key]) for key in keys[:MOST_NAMED])
    return f"{named} +{len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else named


def value_phrase(key: str, value: str) -> str:
    """What a value of a parameter is called, as in "16 slots", "FP8 KV" or "budget auto"."""
    if key in CATALOGUES:
        return CATALOGUES[key].get(value, value)
    if key in ("weights", "kv_cache_dtype") and (key, value) not in WORDS:
        return f"{value.upper()} {'weights' if key == 'weights' else 'KV'}"
    phrase = PHRASES.get(key, f"{CONTROL_BY_NAME[key].label.lower()} {{}}")
    return WORDS.get((key, value), phrase.format(value))


def _futures(scenarios: Mapping[str, Scenario]) -> list[Scenario]:
    return [scenario.forked for scenario in scenarios.values() if scenario.fork]


def title_of(names: Mapping[str, Name], scenarios: Mapping[str, Scenario]) -> str:
    """Heading of the timeline."""
    whole = [scenario for run, scenario in scenarios.items() if run != FORK]
    if len(whole) == 1:
        return "One past, two futures" if FORK in names else f"{names['a'].label} batching"
    count = COUNTS[len(whole) - 1]
    is_same = all(scenario.workload == whole[0].workload for scenario in whole)
    title = f"Same requests, {count} policies" if is_same else f"{count.capitalize()} scenarios on one clock"
    return f"{title}, and a fork" if FORK in names else title


def subtitle_of(scenarios: Mapping[str, Scenario]) -> str:
    """How the timeline is read."""
    slots = sorted({each.server.max_num_seqs for each in (*scenarios.values(), *_futures(scenarios))})
    count = " and ".join(map(str, slots)) if len(slots) < 3 else f"{slots[0]} to {slots[-1]}"
    return f"{count} slots · a row is a slot · a bar is a request · width is time"
