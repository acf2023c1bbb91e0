"""Splits command text into commands of words, as a shell would, and goes on where a shell would give up."""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_WORDS = 2000
MOST_LINES = 200
LONGEST_LINE = 20_000

_HINT = re.compile(
    r"vllm|sglang|llama-server|trtllm-serve|bench|aiperf|genai-perf|guidellm|^\s*-{1,2}[A-Za-z]", re.IGNORECASE
)

_CONTINUED = re.compile(r"[ \t]*(?:\\|\^|`)[ \t]*\n[ \t]*")
_FLAG_LINE = re.compile(r"\n(?=[ \t]*-{1,2}[A-Za-z])")
_PROMPT = re.compile(
    r"^[ \t]*(?:[\w.-]+@[\w.-]+[^$#\n]{0,80}[$#]|\$|%|>|PS [^>\n]{0,80}>|#(?=[ \t]*(?:vllm|docker|python)\b))[ \t]+"
)
_SEPARATORS = ("&&", "||", ";", "|", "&")


class Commands(NamedTuple):
    """Commands, each a list of words, and what was mended to get them."""

    commands: list[list[str]]
    repairs: list[tuple[str, str]]


def commands_of(text: str) -> Commands:
    """Commands of a text, as far as their lines name a program or have flags.

    A line that begins with a flag goes on with the line before, even without a backslash.
    """
    repairs: list[tuple[str, str]] = []
    text = _CONTINUED.sub(" ", text)
    joined = _FLAG_LINE.sub(" ", text)
    if joined != text:
        repairs.append(("a flag at the start of a line", "part of the line before it"))
    lines = [line for line in joined.split("\n") if _HINT.search(line)][:MOST_LINES]
    commands = [words for line in lines for words in _commands_of_line(_PROMPT.sub("", line[:LONGEST_LINE]))]
    return Commands(commands, repairs)


def split_words(text: str) -> list[str]:
    """Words of one line, its separators included as words."""
    words: list[str] = []
    at = 0
    while at < len(text) and len(words) < MOST_WORDS:
        if text[at].isspace():
            at += 1
        elif text[at] == "#":
            break
        else:
            word, at = _word(text, at)
            words.append(word)
    return words


def _commands_of_line(line: str) -> list[list[str]]:
    commands: list[list[str]] = [[]]
    for word in split_words(line):
        if word in _SEPARATORS:
            commands.append([])
        else:
            commands[-1].append(word)
    return [command for command in commands if command]


def _word(text: str, at: int) -> tuple[str, int]:
    """Word that starts at a place, and where it ends. Braces hold blanks together, so that bare JSON is one word."""
    for separator in _SEPARATORS:
        if text.startswith(separator, at):
            return separator, at + len(separator)
    word, depth, start = "", 0, at
    while at < len(text):
        char = text[at]
        if char in "'\"" and depth == 0:
            part, at = _quoted(text, at)
            word += part
            continue
        if depth == 0 and (char.isspace() or (char in ";|&" and at > start)):
            break
        depth += (char == "{") - (char == "}")
        if char == "\\" and depth == 0 and at + 1 < len(text) and text[at + 1] in " \"'\\$#{}[]":
            at += 1
            char = text[at]
        word, at = word + char, at + 1
    return word, at


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Text between quotes, and where it ends; a quote that is never closed is a plain character."""
    quote, part, place = text[at], "", at + 1
    while place < len(text):
        char = text[place]
        if char == quote:
            return part, place + 1
        if char == "\\" and quote == '"' and place + 1 < len(text) and text[place + 1] in '"\\$':
            place += 1
            char = text[place]
        part, place = part + char, place + 1
    return quote, at + 1
