"""The flags of benchmarks, whose load is collected in the draft: vLLM's and SGLang's, AIPerf, GuideLLM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.importers.flags import Arity, Flag, FlagTable, does, without_effect
from sim.importers.models import set_model
from sim.importers.quantities import read_count, read_number
from sim.importers.reading import Draft

SWITCH, ONE, MANY = Arity.SWITCH, Arity.ONE, Arity.MANY


def _collects(name: str, key: str, read: Callable[[str], Any], *aliases: str, arity: Arity = ONE) -> Flag:
    def effect(draft: Draft, text: str, said: str) -> None:
        draft.load[key] = read(text)
        draft.understand(said)

    return does(name, effect, *aliases, arity=arity)


def _model(draft: Draft, text: str, said: str) -> None:
    """A benchmark names the model that the server serves; the server's own command knows it better."""
    if "model" in draft.figures:
        draft.understand(said)
    else:
        set_model(draft, text, said)


def _backend(draft: Draft, text: str, said: str) -> None:
    draft.understand(said)
    draft.load["backend"] = text


def _range_ratio(text: str) -> float:
    """Vary lengths by one ratio; vLLM also takes {"input": r, "output": r}, whose input is what counts here."""
    return read_number(text.partition(":")[2].strip(" {}\"'").split(",")[0] if text.startswith("{") else text)


BENCH = FlagTable(
    "benchmark",
    rows=(
        does("model", _model, "m", "model-names"),
        does("backend", _backend, "endpoint-type"),
        _collects("dataset-name", "dataset", str, "dataset", "public-dataset", "custom-dataset-type"),
        _collects("num-prompts", "num_prompts", read_count, "num-prompt", "request-count", "max-requests",
                  "num-requests"),
        _collects("request-rate", "request_rate", read_number, "rate"),
        _collects("burstiness", "burstiness", read_number, "arrival-smoothness"),
        _collects("max-concurrency", "max_concurrency", read_count, "concurrency", "num-concurrent"),
        _collects("random-input-len", "input_len", read_count, "random-input", "input-len", "sonnet-input-len", "isl",
                  "synthetic-input-tokens-mean", "prompt-input-tokens-mean"),
        _collects("random-output-len", "output_len", read_count, "random-output", "output-len", "sonnet-output-len",
                  "osl",
                  "output-tokens-mean", "sharegpt-output-len", "hf-output-len", "custom-output-len",
                  "prompt-output-tokens-mean"),
        _collects("random-range-ratio", "range_ratio", _range_ratio),
        _collects("random-prefix-len", "prefix_len", read_count, "sonnet-prefix-len", "prefix-prompt-length"),
        _collects("seed", "seed", read_count, "random-seed"),
        _collects("goodput", "goodput", str, arity=MANY),
        _collects("rate-type", "rate_type", str, "profile"),
        _collects("data", "data", str),
        *without_effect("how the benchmark reaches the server, not what it sends", ONE,
            "base-url url target host port endpoint tokenizer tokenizer-mode served-model-name header dataset-path "
            "input-file "
            "lora-path ready-check-timeout-sec label processor backend-type backend-kwargs processor-args "
            "extra-inputs"),
        *without_effect("how the benchmark reaches the server, not what it sends", SWITCH,
            "trust-remote-code no-oversample skip-chat-template apply-chat-template skip-test-prompt "
            "use-server-token-count"),
        *without_effect("what is measured and written, not what is sent", ONE,
            "percentile-metrics metric-percentiles result-dir result-filename output-file output-path output-dir "
            "output-details "
            "artifact-dir max-seconds measurement-interval warmup-request-count num-warmups warmup-requests "
            "sample-requests "
            "outputs warmup cooldown random-seed-dataset benchmark-duration ui profile-export-prefix"),
        *without_effect("what is measured and written, not what is sent", MANY, "metadata"),
        *without_effect("what is measured and written, not what is sent", SWITCH,
            "save-result save-detailed append-result disable-tqdm profile flush-cache return-logprob "
            "output-details-flag plot-timeline "
            "plot-dataset-stats verbose"),
        *without_effect("answers are as long as the benchmark asks, which is what is simulated", SWITCH,
            "ignore-eos disable-ignore-eos streaming disable-stream"),
        *without_effect("how tokens are chosen, not how requests are scheduled", ONE,
            "temperature top-p top-k min-p logprobs use-beam-search best-of extra-request-body extra-body "
            "frequency-penalty "
            "presence-penalty repetition-penalty"),
        *without_effect("how lengths are spread around their mean: fixed lengths are simulated", ONE,
            "synthetic-input-tokens-stddev output-tokens-stddev isl-stddev osl-stddev prompt-input-tokens-stddev "
            "prompt-output-tokens-stddev"),
        *without_effect("a changing rate is not modelled", ONE, "ramp-up-strategy ramp-up-start-rps ramp-up-end-rps"),
        *without_effect("this dataset's own options", ONE,
            "hf-subset hf-split hf-name gsp-num-groups gsp-prompts-per-group gsp-system-prompt-len gsp-question-len "
            "gsp-output-len sharegpt-context-len random-batch-size num-prefixes num-dataset-entries "
            "prefix-repetition-prefix-len prefix-repetition-suffix-len prefix-repetition-num-prefixes "
            "prefix-repetition-output-len"),
    ),
)  # fmt: skip
