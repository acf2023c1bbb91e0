"""Finds the program in a command: an engine's server or a benchmark, after environment, docker and python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sim.importers.flags import FlagTable
from sim.importers.flags_bench import BENCH
from sim.importers.flags_llama import LLAMA
from sim.importers.flags_sglang import SGLANG
from sim.importers.flags_trtllm import TRTLLM
from sim.importers.flags_vllm import VLLM
from sim.importers.reading import Draft
from sim.importers.words import split_words


@dataclass(frozen=True, slots=True)
class Program:
    """A program whose flags are known: a server of an engine, or a benchmark (`tool`)."""

    table: FlagTable
    engine: str = ""
    tool: str = ""


SERVERS: dict[str, Program] = {
    "vllm": Program(VLLM, engine="vllm"),
    "sglang": Program(SGLANG, engine="sglang"),
    "llama-server": Program(LLAMA, engine="llama-server"),
    "tensorrt-llm": Program(TRTLLM, engine="tensorrt-llm"),
}
BENCHMARKS: dict[str, Program] = {name: Program(BENCH, tool=name) for name in ("vllm", "sglang", "aiperf", "guidellm")}

_PATTERNS: tuple[tuple[re.Pattern[str], Program], ...] = tuple(
    (re.compile(pattern), program)
    for pattern, program in (
        (r"vllm serve", SERVERS["vllm"]),
        (r"\S*vllm\.entrypoints\.(?:openai\.)?api_server", SERVERS["vllm"]),
        (r"sglang serve", SERVERS["sglang"]),
        (r"\S*sglang\.launch_server", SERVERS["sglang"]),
        (r"llama-server(?:\.exe)?", SERVERS["llama-server"]),
        (r"trtllm-serve serve", SERVERS["tensorrt-llm"]),
        (r"trtllm-serve", SERVERS["tensorrt-llm"]),
        (r"vllm bench serve", BENCHMARKS["vllm"]),
        (r"benchmark_serving\.py", BENCHMARKS["vllm"]),
        (r"\S*sglang\.bench_serving", BENCHMARKS["sglang"]),
        (r"bench_serving\.py", BENCHMARKS["sglang"]),
        (r"aiperf profile", BENCHMARKS["aiperf"]),
        (r"genai-perf profile", BENCHMARKS["aiperf"]),
        (r"guidellm benchmark(?: run)?", BENCHMARKS["guidellm"]),
    )
)
"""Beginnings of a command, longest first where one begins another; a path before the program is cut off."""

_IMAGES: tuple[tuple[str, Program], ...] = (
    ("vllm", SERVERS["vllm"]),
    ("llama.cpp:server", SERVERS["llama-server"]),
)
_LAUNCHER = re.compile(
    r"[A-Za-z_]\w*=.*|(?:\S*/)?(?:python[\d.]*|pypy3?|py)(?:\.exe)?|-\S*|sudo|nohup|time|exec|env|uv|uvx|run|poetry|pipenv|conda|"
    r"numactl|taskset|srun|mpirun|kubectl|docker|podman|compose|bash|sh|/bin/\S+|cmd|start|export|set|then|do|\w+:|\d+",
    re.DOTALL,
)
"""Words that may stand before a program; after other words it is only a command if flags follow."""
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_DOCKER_SWITCHES = {
    "-d",
    "-i",
    "-t",
    "-it",
    "-ti",
    "-itd",
    "-dit",
    "--rm",
    "--init",
    "--privileged",
    "--detach",
    "--interactive",
    "--tty",
}
_GPU_VARIABLES = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


@dataclass(frozen=True, slots=True)
class Call:
    """A program with the words after it."""

    program: Program
    words: list[str]


def find_call(words: Sequence[str], draft: Draft) -> Call | None:
    """Program of a command and its arguments; what stands before it is noted in the draft. None if there is none."""
    nested = next((word for word in words if " " in word and _program_in(split_words(word)) is not None), None)
    if nested is not None and _program_in(words) is None:
        return find_call(split_words(nested), draft)
    image = _image_call(words, draft)
    if image:
        return image
    place = _program_in(words)
    if place is None:
        return None
    _note_variables(words[: place.start], draft)
    return Call(place.program, list(words[place.end :]))


def note_gpus(draft: Draft, listed: str) -> None:
    """Note how many GPUs are visible, from a list of devices or a count."""
    text = listed.strip("'\" ").removeprefix("device=")
    if text in ("", "all", "void", "none", "-1"):
        return
    count = (
        int(text)
        if re.fullmatch(r"\d{1,3}", text) and listed.startswith("#")
        else len([p for p in text.split(",") if p.strip()])
    )
    draft.figure("visible_gpus", count)


@dataclass(frozen=True, slots=True)
class _Place:
    program: Program
    start: int
    end: int


def _program_in(words: Sequence[str]) -> _Place | None:
    for start in range(min(len(words), 200)):
        first = words[start].replace("\\", "/").rsplit("/", 1)[-1]
        for length in (3, 2, 1):
            text = " ".join([first, *words[start + 1 : start + length]])
            for pattern, program in _PATTERNS:
                if len(words[start : start + length]) == length and pattern.fullmatch(text):
                    end = start + length
                    return _Place(program, start, end) if _is_command(words, start, end) else None
    return None


def _is_command(words: Sequence[str], start: int, end: int) -> bool:
    """Whether a program's name is meant as a command and not as a word of a sentence."""
    return all(map(_LAUNCHER.fullmatch, words[:start])) or any(word.startswith("-") for word in words[end:])


def _image_call(words: Sequence[str], draft: Draft) -> Call | None:
    """Call of a container: the words after the image are its program's arguments, or name a program."""
    at = next(
        (i for i, word in enumerate(words) if word == "run" and i and words[i - 1] in ("docker", "podman", "nerdctl")),
        None,
    )
    if at is None:
        return None
    _note_variables(words[: at - 1], draft)
    at = _skip_docker_flags(words, at + 1, draft)
    if at >= len(words):
        return None
    image, rest = words[at], words[at + 1 :]
    place = _program_in(rest)
    if place is not None:
        return Call(place.program, list(rest[place.end :]))
    program = next((program for part, program in _IMAGES if part in image.lower()), None)
    return Call(program, list(rest)) if program else None


def _skip_docker_flags(words: Sequence[str], at: int, draft: Draft) -> int:
    why = "an option of docker, not of the engine"
    while at < len(words) and words[at].startswith("-"):
        flag = words[at]
        if flag in _DOCKER_SWITCHES or "=" in flag or at + 1 >= len(words) or words[at + 1].startswith("-"):
            value, at = flag.partition("=")[2], at + 1
            said = flag
        else:
            value, said, at = words[at + 1], f"{flag} {words[at + 1]}", at + 2
        name = flag.partition("=")[0]
        if name == "--gpus":
            note_gpus(draft, f"#{value}" if value.isdecimal() else value)
        if name in ("-e", "--env"):
            _note_variables([value], draft)
        else:
            draft.ignore(said, why)
    return at


def _note_variables(words: Sequence[str], draft: Draft) -> None:
    for word in words:
        found = _VARIABLE.fullmatch(word)
        if not found:
            continue
        if found["name"] in _GPU_VARIABLES:
            note_gpus(draft, found["value"])
            draft.understand(f"{word}: {draft.figures.get('visible_gpus', 'all')} GPUs visible")
        elif any(part in found["name"] for part in ("TOKEN", "KEY", "SECRET", "PASSWORD")):
            draft.ignore(f"{found['name']}=…", "a secret, which is not kept: take it out of what you paste elsewhere")
        else:
            draft.ignore(word, "an environment variable; none of these changes what is simulated")
