"""Recordings of llama-server: drive the engine as a trace was driven, and compare every step, result and start-up.

Below user validation: a step is one decode call and takes one unit of time, a request arrives in the step in which
the real server handled it first. The real server's defect (a task pinned to a busy slot may overwrite what the slot
holds) is imitated here and nowhere else.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from sim.conformance.llama_server_steps import Replay
from sim.conformance.verdict import Verdict, short
from sim.cost import Cost
from sim.engine.llama_server.layout import Config, Status
from sim.engine.llama_server.recorder import Recorder
from sim.engine.llama_server.setup import LogSizes, Tasks, make_state
from sim.engine.llama_server.startup import AUTO, Arguments, start
from sim.errors import ScenarioError

UNIT_COST = Cost(*([0.0] * len(Cost._fields)))
TRAINING_TOKENS = 8192  # context of the recorded model
TOKEN_BYTES = 12288  # a token's KV in the recorded model
MIB = 1 << 20
SPARE_TOKENS = 1 << 20
UNKNOWN_TOKEN = -7  # what a trace does not tell of a request that did not end
TOLD = {"result", "error", "http"}


def _argument(trace: dict[str, Any], name: str, default: float) -> float:
    given = trace["args"]
    return float(given[given.index(name) + 1]) if name in given else default


def arguments_from(trace: dict[str, Any]) -> Arguments:
    """Arguments of a recorded command line that set slots, context and batch."""
    return Arguments(
        n_parallel=int(_argument(trace, "-np", AUTO)),
        n_ctx=int(_argument(trace, "-c", 0)),
        n_batch=int(_argument(trace, "-b", 2048)),
        n_ubatch=int(_argument(trace, "-ub", 512)),
        kv_unified="--kv-unified" in trace["args"],
        n_ctx_per_slot=int(_argument(trace, "--kv-unified-per-slot", 0)),
    )


def told_startup(trace: dict[str, Any]) -> dict[str, Any]:
    """What our start-up says, in the form of the recording."""
    started = start(arguments_from(trace), TRAINING_TOKENS)
    told = {name: getattr(started, name) for name in started.__dataclass_fields__}
    return {"n_seq_max": started.n_slots, **told, "started": started.can_start}


def config_from(trace: dict[str, Any]) -> Config:
    """Engine settings of a recorded trace."""
    started = start(arguments_from(trace), TRAINING_TOKENS)
    return Config(
        n_slots=started.n_slots,
        n_ctx=started.n_ctx,
        n_ctx_slot=started.n_ctx_slot,
        n_batch=started.n_batch,
        n_ubatch=started.n_ubatch,
        kv_unified=int(started.kv_unified),
        cache_ram_bytes=int(_argument(trace, "--cache-ram", 8192)) * MIB,
        kv_bytes_per_token=TOKEN_BYTES,
        cache_idle_slots=int("--no-cache-idle-slots" not in trace["args"]),
        cont_batching=int("--no-cont-batching" not in trace["args"]),
        context_shift=int("--context-shift" in trace["args"]),
        imitates_defect=1,
        has_unit_steps=1,
        slot_prompt_similarity=float(np.float32(_argument(trace, "--slot-prompt-similarity", 0.1))),
    )


def prompt_tokens(seed: int, count: int) -> list[int]:
    """Token ids of a piece of a recorded prompt: pseudo-random, the first told by the seed."""
    numbers = random.Random(seed * 7919 + 1)  # noqa: S311 - the rule of the recording
    tokens = [259 + numbers.randrange(253) for _ in range(count)]
    return [259 + seed % 253, *tokens[1:]] if count else []


def prompt_of(trace: dict[str, Any], request: dict[str, Any]) -> list[int]:
    """Token ids of a recorded prompt."""
    tokens: list[int] = []
    for piece in request["prompt"]:
        if piece[0] == "out":
            tokens += trace["requests"][piece[1]]["out_ids"][: piece[2]]
        else:
            tokens += prompt_tokens(*piece)
    return tokens


def arrivals_of(trace: dict[str, Any]) -> dict[int, int]:
    """Step in which each request was first handled: taken from the queue and not put back because of a decode."""
    steps: dict[int, int] = {}
    for i, (step, kind, request, *_) in enumerate(trace["events"]):
        if kind == "process" and request not in steps and not _is_declined(trace["events"][i + 1 :], request):
            steps[request] = step
    return steps


def _is_declined(events: list[list[Any]], request: int) -> bool:
    for _, kind, *told in events:
        if kind in {"process", "decline", "defer", "launch"} and told[kind == "launch"] == request:
            return bool(kind == "decline")
    return False


def _is_cancelled(request: dict[str, Any]) -> bool:
    return "cancelled" in str(request.get("error", ""))


def tasks_from(trace: dict[str, Any]) -> Tasks:
    """Requests of a recorded trace, arriving at their step index as seconds."""
    rows = trace["requests"]
    arrivals = arrivals_of(trace)
    prompts = [prompt_of(trace, row) for row in rows]
    predicted = [row.get("n_predict", 8) for row in rows]
    texts = [
        prompt + (row["out_ids"] + [UNKNOWN_TOKEN] * count)[:count]
        for prompt, row, count in zip(prompts, rows, predicted, strict=True)
    ]
    cancels = {e[3]: e[0] for e in trace["events"] if e[1] == "stop" and _is_cancelled(rows[e[3]])}
    reuse = int(_argument(trace, "--cache-reuse", 0))
    return Tasks(
        arrival_s=np.array([float(arrivals[i]) for i in range(len(rows))]),
        cancel_s=np.array([float(cancels.get(i, "nan")) for i in range(len(rows))]),
        prompt_tokens=np.array([len(prompt) for prompt in prompts], np.int32),
        n_predict=np.array(predicted, np.int32),
        texts=np.array([token for text in texts for token in text], np.int32),
        id_slot=np.array([row.get("id_slot", -1) for row in rows], np.int32),
        n_keep=np.array([row.get("n_keep", 0) for row in rows], np.int32),
        n_cache_reuse=np.array([row.get("n_cache_reuse", reuse) for row in rows], np.int32),
        cache_prompt=np.array([row.get("cache_prompt", True) for row in rows], np.bool_),
        after=np.full(len(rows), -1, np.int32),
        gap_s=np.zeros(len(rows)),
    )


def record_trace(trace: dict[str, Any], sizes: LogSizes | None = None) -> Recorder:
    """Run a recorded trace to its end and return the recorder."""
    tasks = tasks_from(trace)
    spare = SPARE_TOKENS if (tasks.id_slot >= 0).any() else 0
    recorder = Recorder(make_state(config_from(trace), UNIT_COST, tasks, sizes, spare))
    recorder.advance()
    return recorder


def told_result(row: Any) -> dict[str, Any]:
    """What a request's client is told at its end."""
    status = int(row["status"])
    if status == Status.FINISHED:
        cached = int(row["cached"])
        evaluated = int(row["prompt"]) - cached
        told = {"slot": int(row["slot"]), "cached": cached, "evaluated": evaluated, "predicted": int(row["generated"])}
        return {"http": 200, "error": False, **told, "truncated": bool(row["truncated"])}
    return {"http": 400 if status == Status.TOO_LONG else 200, "error": True}


def expected_result(request: dict[str, Any]) -> dict[str, Any]:
    """The same as recorded."""
    return {"http": request["http"], "error": "error" in request, **request.get("result", {})}


def _differences(trace: dict[str, Any], recorder: Recorder) -> Iterator[tuple[str, Any, Any]]:
    """Every recorded field: its name, its recorded value and ours."""
    tasks = tasks_from(trace)
    replay = Replay(recorder.log(), tasks.prompt_tokens, len(recorder.state.slots))
    steps = list(replay.steps())
    yield "number of steps", len(trace["steps"]), len(steps)
    for recorded, ours in zip(trace["steps"], steps, strict=False):
        for name, value in ours.items():
            yield f"step {recorded['s']}, {name}", recorded.get(name, 0), value
    for i, (request, row) in enumerate(zip(trace["requests"], recorder.requests(), strict=True)):
        recorded = expected_result(request)
        for name, value in told_result(row).items():
            yield f"request {i}, {name}", recorded.get(name), value
    launches = [[e[0], e[2], e[3]] for e in trace["events"] if e[1] == "launch"]
    yield "launches", launches, replay.launches


def _all_differences(trace: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    recorded = trace["startup"] | {"started": trace["started"]}
    for name, value in told_startup(trace).items():
        if name in recorded:
            yield f"start-up, {name}", recorded[name], value
    if trace["requests"]:
        yield from _differences(trace, record_trace(trace))


def compare(trace: dict[str, Any], path: str = "") -> Verdict:
    """Run one trace and compare; `Verdict.difference` names the first field that differs."""
    fields = 0
    try:
        for name, real, ours in _all_differences(trace):
            fields += 1
            if ours != real:
                words = f"{name}: recorded {short(real)}, ours {short(ours)}"
                return Verdict(path, len(trace["steps"]), fields, words)
    except KeyError as error:
        raise ScenarioError("path", path, f"a recorded trace; it lacks {error}") from None
    return Verdict(path, len(trace["steps"]), fields, None)
