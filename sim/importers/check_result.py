"""What the figures of a benchmark's result say together: contradictions and consequences, in words with the numbers."""

from __future__ import annotations

from typing import Any

from sim.importers.reading import Draft

TOLERANCE = 0.05
"""Relative difference from which on two figures contradict each other."""


def check_result(draft: Draft) -> None:
    """Add to the warnings what a result's figures say together."""
    for check in (_duration, _tokens_per_s, _output_rate, _short_outputs, _little, _tpot, _second_token):
        check(draft)


def differ(one: float, other: float, tolerance: float = TOLERANCE) -> bool:
    """Whether two figures differ by more than a share of the larger one."""
    return abs(one - other) > tolerance * max(abs(one), abs(other))


def positive(value: Any) -> float:
    """The value if it is a number above 0, else 0."""
    return value if isinstance(value, int | float) and value > 0 else 0


def _little(draft: Draft) -> None:
    """Little's law: requests in flight = rate x time in the system."""
    rate, e2e_ms = positive(draft.figures.get("requests_per_s")), _mean_e2e_ms(draft)
    if not rate or e2e_ms is None:
        return
    in_flight = rate * e2e_ms / 1000
    draft.figure("in_flight", round(in_flight, 3))
    draft.warn(
        f"{rate:.4g} requests/s x {e2e_ms / 1000:.4g} s = {in_flight:.3g} in flight on average (Little's law)"
        + _said_of_flight(draft, in_flight)
    )


def _said_of_flight(draft: Draft, in_flight: float) -> str:
    stated = positive(draft.figures.get("concurrency"))
    if stated and differ(in_flight, stated, 2 * TOLERANCE):
        return f", but a concurrency of {stated:g} is reported: these figures contradict each other."
    cap, count = positive(draft.load.get("max_concurrency")), positive(draft.figures.get("requests"))
    if cap and in_flight > cap * (1 + TOLERANCE):
        return f", more than the cap of {cap:g}: these figures contradict each other."
    if cap and in_flight < cap * (1 - 2 * TOLERANCE):
        return f", of {cap:g} allowed: at the start and the end, or between requests, some users had none under way."
    if cap:
        return f": agrees with the cap of {cap:g}."
    if 0.9 <= in_flight <= 1.1:
        return ": one request at a time, so nothing is batched and throughput is that of one user."
    if count and in_flight > count / 2:
        return f", of {count:,} in all: nearly all were sent at once (a burst), which the text does not say."
    return "."


def _mean_e2e_ms(draft: Draft) -> float | None:
    """Mean latency as stated, else TTFT and the gaps after it: ITL weighs tokens equally, so it goes before TPOT."""
    stated = _mean(draft, "e2e_ms")
    if stated is not None:
        return stated
    itl = _mean(draft, "itl_ms")
    ttft, gap, outputs = _mean(draft, "ttft_ms"), _mean(draft, "tpot_ms") if itl is None else itl, _mean_outputs(draft)
    return ttft + gap * max(outputs - 1, 0) if ttft is not None and gap is not None and outputs else None


def _duration(draft: Draft) -> None:
    rate, duration, count = (positive(draft.figures.get(name)) for name in ("requests_per_s", "duration_s", "requests"))
    if rate and duration and count and differ(rate * duration, count):
        draft.warn(
            f"{rate:.4g} requests/s x {duration:.4g} s = {rate * duration:,.0f} requests, but {count:,} are "
            "reported: these "
            "figures contradict each other."
        )


def _tokens_per_s(draft: Draft) -> None:
    """Tokens per second from requests per second and lengths."""
    figures = draft.figures
    rate, outputs = positive(figures.get("requests_per_s")), _mean_outputs(draft)
    prompts = _per_request(draft, "prompt") or positive(draft.load.get("input_len"))
    sums = (
        ("output_tokens_per_s", outputs, "output tokens"),
        ("total_tokens_per_s", prompts + outputs if prompts and outputs else 0, "prompt + output tokens"),
    )
    for name, tokens, what in sums:
        logged = positive(figures.get(name))
        if rate and logged and tokens and differ(rate * tokens, logged):
            draft.warn(
                f"{rate:.4g} requests/s x {tokens:,.1f} {what} = {rate * tokens:,.0f} tok/s, but {logged:,.0f} tok/s "
                "is reported: these figures contradict each other."
            )


def _output_rate(draft: Draft) -> None:
    names = ("duration_s", "total_output_tokens", "output_tokens_per_s")
    duration, total, logged = (positive(draft.figures.get(name)) for name in names)
    if duration and total and logged and differ(total / duration, logged):
        draft.warn(
            f"{total:,} output tokens / {duration:.4g} s = {total / duration:,.0f} tok/s, but {logged:,.0f} tok/s is "
            "reported: these figures contradict each other."
        )


def _short_outputs(draft: Draft) -> None:
    """Outputs that ended before the length that was asked for, and tokens that merge when counted again."""
    asked, outputs = positive(draft.load.get("output_len")), _mean_outputs(draft)
    is_fixed = draft.params.get("output_dist") == "fixed"
    if asked and outputs and is_fixed and outputs < asked * (1 - TOLERANCE):
        draft.warn(
            f"Outputs have {outputs:,.1f} tokens on average where {asked:,} were asked for: answers ended early (no "
            "--ignore-eos?), so throughput and latency are those of shorter answers."
        )
    again, total = (positive(draft.figures.get(name)) for name in ("retokenized_output_tokens", "total_output_tokens"))
    if again and total and differ(again, total):
        draft.warn(
            f"Counted again from the text there are {again:,} output tokens, not {total:,}: random tokens merge when "
            "they are written out and read again. The engine made the larger number."
        )


def _tpot(draft: Draft) -> None:
    """What TPOT means in this text, where it can be told."""
    ttft, tpot, itl, e2e = (_mean(draft, name) for name in ("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"))
    outputs = _mean_outputs(draft)
    if tpot is None:
        return
    if draft.load.get("tool") == "guidellm":
        _explain_guidellm(draft, ttft, itl, outputs)
    elif itl is not None and differ(tpot, itl, 2 * TOLERANCE):
        draft.warn(
            f"Mean TPOT {tpot:.4g} ms and mean ITL {itl:.4g} ms differ because TPOT has one value a request and ITL "
            "one "
            "a token: long answers count more in ITL. That is right, not an error."
        )
    elif ttft is not None and e2e is not None and outputs > 1:
        computed = (e2e - ttft) / (outputs - 1)
        agrees = "is not" if differ(computed, tpot) else "agrees with"
        draft.warn(
            f"({e2e:,.1f} - {ttft:,.1f}) / {outputs - 1:,.0f} = {computed:.2f} ms a token, which {agrees} the TPOT of "
            f"{tpot:.2f} ms."
        )


def _explain_guidellm(draft: Draft, ttft: float | None, itl: float | None, outputs: float) -> None:
    computed = ""
    if ttft is not None and itl is not None and outputs:
        whole = ttft + (outputs - 1) * itl
        computed = f": ({ttft:,.4g} + {outputs - 1:,.0f} x {itl:.4g}) / {outputs:,.0f} = {whole / outputs:.4g} ms"
    draft.warn(
        f"GuideLLM's TPOT is latency / tokens and includes TTFT{computed}. What vLLM calls TPOT is nearer to its ITL: "
        "compare its TPOT with nothing else."
    )


def _second_token(draft: Draft) -> None:
    second = draft.figures.get("ttst_ms", {}).get("p50", 1)
    if 0 < second < 0.1:
        draft.warn(
            f"The second token comes {second:.3g} ms after the first (median): both arrive in one chunk, so gaps "
            "between "
            "tokens are those of the stream, not of steps."
        )


def _mean_outputs(draft: Draft) -> float:
    return _per_request(draft, "output")


def _per_request(draft: Draft, what: str) -> float:
    """Mean prompt or output [tokens], 0 where it is not known."""
    total, count = positive(draft.figures.get(f"total_{what}_tokens")), positive(draft.figures.get("requests"))
    return total / count if total and count else positive(draft.figures.get(f"mean_{what}_tokens"))


def _mean(draft: Draft, name: str) -> float | None:
    value = draft.figures.get(name)
    mean = value.get("mean") if isinstance(value, dict) else None
    return mean if mean is not None and mean >= 0 else None
