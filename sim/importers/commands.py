"""Reads command lines, argument lists and configuration files into a draft."""

from __future__ import annotations

from sim.importers.clean import plain_punctuation
from sim.importers.flags import read_flags, unglued
from sim.importers.flags_llama import settle_slots
from sim.importers.programs import SERVERS, Call, find_call
from sim.importers.reading import Draft
from sim.importers.words import commands_of
from sim.importers.yaml_args import args_of_yaml, config_words, is_args_yaml


def read_commands(text: str, draft: Draft) -> bool:
    """Read every command of a text that is known; say whether there was one of a server or a benchmark."""
    plain = plain_punctuation(text)
    calls = _calls(plain.text, draft)
    if not calls:
        return False
    for before, after in plain.repairs:
        draft.repair(before, after)
    for call in sorted(calls, key=lambda call: bool(call.program.tool)):
        _read_call(call, draft)
    _check_gpus(draft)
    _warn_of_slots(draft)
    return True


def finish_commands(draft: Draft) -> None:
    """Set what follows from all that was read: slots of a llama-server, defaults of vLLM that are not ours."""
    if draft.engine == "llama-server":
        settle_slots(draft)
    if draft.engine == "vllm" and "num_gpu_blocks" not in draft.figures:  # a phrase of vLLM before V1
        _set_async_scheduling(draft)


def _calls(text: str, draft: Draft) -> list[Call]:
    commands = commands_of(text)
    calls = [call for words in commands.commands if (call := find_call(words, draft))]
    listed = _listed_call(text, draft)
    if listed:
        return [listed, *(call for call in calls if call.program.tool)]
    if calls:
        for before, after in commands.repairs:
            draft.repair(before, after)
        return calls
    flags = [word for words in commands.commands for word in words]
    if flags and flags[0].startswith("-") and _known(flags) * 2 >= _flag_count(flags):
        return [Call(SERVERS[_engine_of(flags)], flags)]
    config = config_words(text)
    return [Call(SERVERS[config.engine], config.words)] if config else []


def _listed_call(text: str, draft: Draft) -> Call | None:
    """Call whose arguments are a YAML list."""
    words = args_of_yaml(text, draft) if is_args_yaml(text) else []
    call = find_call(words, draft) if words else None
    if call is None and _known(words):
        return Call(SERVERS[_engine_of(words)], words)
    return call


def _read_call(call: Call, draft: Draft) -> None:
    program = call.program
    if program.engine:
        if draft.engine and draft.engine != program.engine:
            draft.warn(f"Two servers are named, {draft.engine} and {program.engine}; what the later one says is taken.")
        draft.engine = program.engine
    else:
        draft.load["is_command"] = True
        draft.load.setdefault("tool", program.tool)
    read_flags(call.words, program.table, draft)
    if draft.load.get("tool") == "vllm" and draft.load.get("backend", "").startswith("sglang"):
        draft.load["backend"] = "sglang"


def _set_async_scheduling(draft: Draft) -> None:
    if draft.params.get("num_speculative_tokens"):
        if draft.params.pop("async_scheduling", True):
            draft.warn(
                "vLLM runs drafts with async scheduling; no recorded run shows how, so here async_scheduling is off "
                "with "
                "drafts: a finish is seen one step earlier than there."
            )
    elif "async_scheduling" not in draft.params:
        draft.set("async_scheduling", value=True)
        draft.understand("async scheduling is vLLM's default → async_scheduling = true")


def _warn_of_slots(draft: Draft) -> None:
    if draft.engine == "vllm" and "max_num_seqs" not in draft.params:
        draft.warn(
            "max_num_seqs is not given: vLLM takes 1,024 on a GPU of 70 GiB or more (not A100) and 256 below; here "
            "it is 256."
        )


def _check_gpus(draft: Draft) -> None:
    visible, tp = draft.figures.get("visible_gpus"), draft.params.get("tensor_parallel_size", 1)
    needed = tp * draft.figures.get("pipeline_parallel_size", 1) * draft.figures.get("data_parallel_size", 1)
    if visible is None or visible == needed:
        return
    if visible < needed:
        draft.warn(f"{needed} GPUs are asked for and {visible} are visible: the server would not start.")
    else:
        draft.warn(f"{visible} GPUs are visible and {needed} used: tensor_parallel_size is {tp}.")


def _engine_of(words: list[str]) -> str:
    """Engine that knows most of the flags; vLLM if several know as many."""
    return max(SERVERS, key=lambda engine: _known_by(engine, words))


def _known(words: list[str]) -> int:
    return max(_known_by(engine, words) for engine in SERVERS)


def _known_by(engine: str, words: list[str]) -> int:
    table, silent = SERVERS[engine].table, Draft()
    names = [
        word.lstrip("-").partition("=")[0].replace("_", "-")
        for word in unglued(words, table, silent)
        if word.startswith("-")
    ]
    return sum(name in table.by_name or name.removeprefix("no-") in table.by_name for name in names)


def _flag_count(words: list[str]) -> int:
    return sum(word.startswith("-") for word in words)
