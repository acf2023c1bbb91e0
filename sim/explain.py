"""Why a step is as it is, in one sentence; and what each waiting request waits for."""

from __future__ import annotations

from collections.abc import Sequence

from sim.engine.layout import Cache
from sim.engine.record import Kind, Why
from sim.frame import Frame
from sim.run import Run
from sim.scenario import settings_of

MOST_NAMED = 4


def explain(run: Run, step: int) -> str:
    """Sentence on what changed in a step and why.

    Parameters
    ----------
    run : Run
    step : int
        Index of the step.
    """
    frame = run.frame(step)
    happened = [text for text in (_preempted(frame), _admitted(run, step), _chunked(run, frame)) if text]
    if not happened:
        happened = [_steady(frame)]
    if step == run.fork_step:
        happened.insert(0, _forked(run))
    waits = _waits(run, step, frame)
    return " ".join([*happened, *([waits] if waits else [])])


def explain_waiting(run: Run, step: int) -> list[tuple[int, str]]:
    """What each waiting request waits for, in the order of the line.

    Returns
    -------
    list of (request, reason)
        Requests are indices, as everywhere in sim.
    """
    frame = run.frame(step)
    if not frame.waiting:
        return []
    head = frame.waiting[0]
    reasons = [(head, _head_reason(run, step, frame))]
    shared = Why(int(run.steps["why"][step])) in _FOR_ALL
    rest = reasons[0][1] if shared else f"behind {_name(head)}, the head of the line"
    return reasons + [(request, rest) for request in frame.waiting[1:]]


# Reasons that hold for the whole line alike; the others hold for its head, and the rest waits behind it.
_FOR_ALL = {Why.BATCH_RUNNING, Why.BATCH_FILLING, Why.PREEMPTION}


def _name(request: int) -> str:
    return f"request {request + 1}"


def _names(requests: Sequence[int]) -> str:
    shown = [str(request + 1) for request in requests[:MOST_NAMED]]
    more = len(requests) - len(shown)
    if more:
        return f"requests {', '.join(shown)} and {more} more"
    if len(shown) == 1:
        return f"request {shown[0]}"
    return f"requests {', '.join(shown[:-1])} and {shown[-1]}"


def _events(run: Run, step: int, *kinds: Kind) -> list[tuple[int, int, int]]:
    """Requests with `a` and `b` of the step's events of these kinds."""
    first = int(run.steps["events_end"][step - 1]) if step else 0
    rows = run.events[first : int(run.steps["events_end"][step])]
    return [(int(r["request"]), int(r["a"]), int(r["b"])) for r in rows if r["kind"] in kinds]


def _left_before(run: Run, step: int) -> list[int]:
    """Requests that gave their slot back just before this step."""
    kinds = (Kind.RELEASE,) if run.config_at(step - 1).is_static else (Kind.FINISH,)
    return [request for request, _, _ in _events(run, step - 1, *kinds)] if step else []


def _forked(run: Run) -> str:
    """What the fork changes; a value that stays is not named."""
    before, fork = settings_of(run.scenario), run.scenario.fork
    changes = fork.settings() if fork else {}
    new = [f"{name} is {value}, not {before[name]}" for name, value in changes.items() if value != before[name]]
    gone = len({request for request, _, _ in _events(run, run.fork_step or 0, Kind.VACATE)})
    left = f" {_plural(gone, 'finished request')} leave{'s' if gone == 1 else ''} at once." if gone else ""
    return f"From this step on {', '.join(new) or 'nothing is different'}.{left}"


def _preempted(frame: Frame) -> str:
    if not frame.preempted:
        return ""
    verb = "were" if len(frame.preempted) > 1 else "was"
    return (
        f"No KV block was left for the next tokens, so {_names(frame.preempted)} {verb} preempted: "
        "blocks freed, back to the head of the line, to be computed again."
    )


def _admitted(run: Run, step: int) -> str:
    admitted = _events(run, step, Kind.ADMIT, Kind.RESUME)
    if not admitted:
        return ""
    who, verb = _names([request for request, _, _ in admitted]), "join" if len(admitted) > 1 else "joins"
    hit = sum(tokens for _, tokens, _ in admitted)
    reused = f" {hit:,} of their tokens were cached and are not computed again." if hit else ""
    if run.config_at(step).is_static:
        return f"The server was idle, so a new batch is formed: {who} {verb} it and all wait for its longest.{reused}"
    left = _left_before(run, step)
    if left and int(run.steps["waiting"][step - 1]) > 0:
        return f"{_names(left).capitalize()} finished, so {who} {verb} at this step.{reused}"
    return f"{who.capitalize()} {verb} the batch.{reused}"


def _chunked(run: Run, frame: Frame) -> str:
    rows = [row for row in frame.running if row.phase == "prefill" and row.scheduled]
    rows = [row for row in rows if row.computed + row.scheduled < row.prompt + row.outputs]
    if not rows:
        return ""
    row = rows[-1]
    left = row.prompt + row.outputs - row.computed - row.scheduled
    cause = "fit this step's budget"
    if row.scheduled == run.scenario_at(frame.step).server.long_prefill_token_threshold:
        cause = "are what long_prefill_token_threshold allows"
    share = f"{row.scheduled:,} of its tokens {cause}, {left:,} are left for later steps"
    return f"{_name(row.request).capitalize()}'s prompt is cut: {share}."


def _steady(frame: Frame) -> str:
    decoding = [row for row in frame.running if row.scheduled]
    if not decoding:
        return "Nothing is scheduled: results of the step before are still to come."
    count = len(decoding)
    what = f"{count} requests decode" if count > 1 else f"{_name(decoding[0].request).capitalize()} decodes"
    each = "one token each" if count > 1 else "one token"
    if any(row.drafts for row in decoding):
        each = "each with drafts to verify" if count > 1 else "with drafts to verify"
    return f"{what}, {each}."


def _waits(run: Run, step: int, frame: Frame) -> str:
    held = len(frame.held)
    if run.config_at(step).is_static and held:
        last = max(frame.running, key=lambda row: _remaining(run, row.request, row.outputs), default=None)
        until = ""
        if last:
            left = _plural(_remaining(run, last.request, last.outputs), "token")
            until = f" until {_name(last.request)} ends, after {left} more"
        line = f"{_wait(frame)} while the batch keeps" if frame.waiting else "The batch keeps"
        return f"{line} {_plural(held, 'finished slot')}{until}."
    if not frame.waiting:
        return ""
    return f"{_wait(frame)}: {_head_reason(run, step, frame)}."


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _wait(frame: Frame) -> str:
    return "1 waits" if len(frame.waiting) == 1 else f"{len(frame.waiting):,} wait"


def _remaining(run: Run, request: int, outputs: int) -> int:
    return int(run.requests.output_tokens[request]) - outputs


def _head_reason(run: Run, step: int, frame: Frame) -> str:
    why, server = Why(int(run.steps["why"][step])), run.scenario_at(step).server
    head = frame.waiting[0]
    reasons = {
        Why.NOBODY: "just arrived",
        Why.SLOT: _slot_reason(frame, server.max_num_seqs),
        Why.BLOCKS: _blocks_reason(run, step, frame),
        Why.BUDGET: _budget_reason(run, step, head),
        Why.PREEMPTION: "nobody is admitted in a step that had to preempt",
        Why.BATCH_RUNNING: "the static batch has to end first",
        Why.BATCH_FILLING: "the static batch is not full yet",
        Why.WHOLE_PROMPT: f"{_name(head)}'s prompt is over what is left of the step's budget, and is not cut",
        Why.IN_FLIGHT: "a result of the step before is still to come",
    }
    return reasons[why]


def _slot_reason(frame: Frame, slots: int) -> str:
    taken = len(frame.running) + len(frame.held)
    if taken > slots:  # a fork has taken some away
        return f"{taken} requests still run, on {slots} slots"
    return f"all {slots} slots are taken"


def _budget_reason(run: Run, step: int, head: int) -> str:
    budget, row = run.config_at(step).max_num_batched_tokens, run.steps[step]
    if int(row["prefill"] + row["decode"]) < budget:
        return f"{_name(head)} with its drafts is over what is left of the step's budget of {budget:,} tokens"
    return f"the step's budget of {budget:,} tokens is spent"


def _blocks_reason(run: Run, step: int, frame: Frame) -> str:
    """Blocks that the head needs beside those in use that it shares, and those it could have."""
    config, needed, head = run.config_at(step), int(run.steps["needed"][step]), _name(frame.waiting[0])
    if config.region_blocks:
        return f"{head} would reserve {config.region_blocks:,} KV blocks in one piece, {frame.free_blocks:,} are free"
    watermark = " with the watermark" if config.watermark_blocks else ""
    if config.cache == Cache.PER_SLOT:
        reusable = f"{frame.free_blocks:,} are free and {frame.kept_blocks:,} kept by free slots"
        return f"{head} needs {needed:,} KV blocks{watermark}, {reusable}"
    return f"{head} needs {needed:,} KV blocks{watermark}, {frame.free_blocks:,} are free"
