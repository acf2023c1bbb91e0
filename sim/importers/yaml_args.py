"""Arguments in YAML: lists of Kubernetes, Helm and docker compose, and engines' own configuration files.

Line by line, without a YAML parser: what people paste is a part of a file, seldom with its indentation whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sim.importers.flags import FlagTable
from sim.importers.programs import SERVERS, note_gpus
from sim.importers.reading import Draft
from sim.importers.words import split_words

MOST_ITEMS = 2000

_ITEM = re.compile(r"^\s*-\s+(?P<value>\S.*)$")
_FLAG_ITEM = re.compile(r"^\s*-\s+['\"]?-{1,2}[A-Za-z]", re.MULTILINE)
_KEY = re.compile(r"^(?P<indent>\s*)(?:-\s+)?(?P<key>[A-Za-z][\w.-]*)\s*:(?:\s+(?P<value>\S.*)?)?$")
_LIST_KEYS = ("args", "command", "entrypoint", "extraargs", "cmd", "vllmargs", "additionalargs", "extra_args")
_LIST_KEY = re.compile(rf"^\s*(?:-\s+)?(?:{'|'.join(_LIST_KEYS)})\s*:", re.MULTILINE | re.IGNORECASE)
_BLOCK = re.compile(r"[>|][+-]?\d?")
_FLOW_ITEM = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"\\]|\\.)*)\"|([^,\[\]\s][^,\[\]]*)")
_GPUS = re.compile(r"^\s*(?:nvidia|amd)\.com/gpu:\s*['\"]?(\d{1,3})", re.MULTILINE)


def is_args_yaml(text: str) -> bool:
    """Whether the text holds arguments as a YAML list, or under a key such as args or command."""
    return _FLAG_ITEM.search(text) is not None or _LIST_KEY.search(text) is not None


def args_of_yaml(text: str, draft: Draft) -> list[str]:
    """Words of all argument lists of a text, in their order."""
    gpus = _GPUS.search(text)
    if gpus:
        note_gpus(draft, f"#{gpus[1]}")
    words: list[str] = []
    for item in islice(_items(text.split("\n")), MOST_ITEMS):
        if item.is_word and not (item.text.startswith("-") and re.search(r"\s", item.text)):
            words.append(item.text)
            continue
        if item.is_word:
            draft.repair(item.text, "a flag and its value as two arguments")
        words += [word for word in split_words(item.text.replace("\\\n", " ")) if word not in ("\\", ";", "&&")]
    return words


class _Item(NamedTuple):
    text: str
    is_word: bool


def _items(lines: list[str]) -> Iterator[_Item]:
    """Arguments: items of lists, flow lists and blocks under the keys of lists. Other keys are passed over."""
    at, is_list = 0, True
    while at < len(lines):
        line, at = lines[at], at + 1
        key = _KEY.match(line)
        if key and key["key"].lower() in _LIST_KEYS:
            value, is_list = (key["value"] or "").strip(), True
            if _BLOCK.fullmatch(value):
                at, block = _block(lines, at, len(key["indent"]))
                yield _Item(block, is_word=False)
            elif value.startswith("["):
                at, flow = _flow(lines, at, value)
                yield from (_Item(word, is_word=True) for word in flow)
            elif value:
                yield _Item(_plain(value, keeps_inner=True), is_word=False)
            continue
        item = _ITEM.match(line)
        if item and is_list and not (key and not item["value"].startswith(("-", "'", '"'))):
            value = item["value"].strip()
            if _BLOCK.fullmatch(value):
                at, block = _block(lines, at, len(line) - len(line.lstrip()))
                yield _Item(block, is_word=False)
            else:
                yield _Item(_plain(value), is_word=True)
        elif key:
            is_list = False


def _block(lines: list[str], at: int, indent: int) -> tuple[int, str]:
    """Where a block of text ends, and the text as one line."""
    block = []
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > indent):
        block.append(re.sub(r"\\\s*$", "", lines[at]).strip())
        at += 1
    return at, " ".join(block)


def _flow(lines: list[str], at: int, value: str) -> tuple[int, list[str]]:
    """Where a list in brackets ends, and its items."""
    while "]" not in value and at < len(lines):
        value, at = f"{value} {lines[at].strip()}", at + 1
    inner = value[1:].rpartition("]")[0] or value[1:]
    return at, [(single or double or bare).strip() for single, double, bare in _FLOW_ITEM.findall(inner)]


def _plain(value: str, *, keeps_inner: bool = False) -> str:
    """Scalar without its comment and quotes."""
    if value.startswith(("'", '"')):
        end = value.find(value[0], 1)
        if end == len(value.rstrip()) - 1 or value[end + 1 :].lstrip().startswith("#"):
            return value[1:end]
        return value if keeps_inner else value.strip("'\"")
    return re.sub(r"\s+#.*$", "", value).strip()


class Config(NamedTuple):
    """An engine's configuration file as words of a command."""

    engine: str
    words: list[str]


def config_words(text: str) -> Config | None:
    """Words of a configuration file whose keys are an engine's flags; None if it is none.

    Keys may be written as in YAML files (max-model-len, max_num_tokens) or as in Helm values (maxModelLen).
    """
    pairs = list(_pairs(text))
    best, known = "", 0
    for engine, program in SERVERS.items():
        count = sum(_flag_of(key, program.table) is not None for key, _ in pairs)
        if count > known:
            best, known = engine, count
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    if not known or known * 3 < len(pairs) or len(pairs) * 2 < lines:
        return None
    table = SERVERS[best].table
    return Config(best, [f"--{_flag_of(key, table) or key}={value}" for key, value in pairs])


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        key = _KEY.match(line)
        value = _plain((key["value"] or "").strip()) if key else ""
        if key and value and not value.startswith(("[", "{", "|", ">", "&")):
            yield key["key"], value


def _flag_of(key: str, table: FlagTable) -> str | None:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", key).replace("_", "-").lower()
    return name if name in table.by_name else None
