"""Takes from a pasted text what terminals, editors and chat programs put into it."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202c"
DASHES = "‐‑‒–—―−"
QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "`": "'"}

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_SERVICE_PREFIX = re.compile(r"^[A-Za-z][\w.-]*[ \t]+\|[ \t]?(?=\S)", re.MULTILINE)
_STAMP_PREFIX = re.compile(
    r"^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?[ \t]+(?:std(?:out|err)[ \t]+[FP][ \t]+)?", re.MULTILINE
)
_WIDE = re.compile("[！-～]")
_LONG_BLANK = re.compile(r"[ \t]{100,}")
_FLAG_WITH_DASHES = re.compile(rf"(?<![\w{DASHES}-])[-{DASHES}]{{1,2}}[A-Za-z][\w.{DASHES}-]*")


class Cleaned(NamedTuple):
    """A text and what was mended in it, as (before, after)."""

    text: str
    repairs: list[tuple[str, str]]


def decode(data: bytes) -> str:
    """Text of a paste or file: UTF-8 with or without a byte order mark, UTF-16 with one; bad bytes become marks."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def cleaned(text: str) -> Cleaned:
    """Text without line-end marks, colours, fences, prefixes of docker compose, and invisible characters."""
    repairs = []
    text = _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = text.translate({0: " ", 0xA0: " ", 0x202F: " ", 0x3000: " "}).replace("\ufeff", "")
    visible = text.translate(dict.fromkeys(map(ord, INVISIBLE)))
    if visible != text:
        repairs.append(("characters that cannot be seen", "nothing"))
    visible = _FENCE.sub("", _LONG_BLANK.sub(" ", visible))
    visible = _STAMP_PREFIX.sub("", visible)
    if len(_SERVICE_PREFIX.findall(visible)) >= max(1, visible.count("\n") // 2):
        visible = _SERVICE_PREFIX.sub("", visible)
    return Cleaned(visible, repairs)


def plain_punctuation(text: str) -> Cleaned:
    """Command text with typewriter dashes and quotes, and what was mended."""
    repairs: list[tuple[str, str]] = []

    def mended(found: re.Match[str]) -> str:
        word = found.group()
        if not any(dash in word for dash in DASHES):
            return word
        lead = len(word) - len(word.lstrip(DASHES + "-"))
        name = re.sub(f"[{DASHES}]", "-", word[lead:])
        plain = ("-" if len(name) == 1 else "--") + name
        repairs.append((word, plain))
        return plain

    text = _FLAG_WITH_DASHES.sub(mended, text)
    curly = [quote for quote in QUOTES if quote in text and quote != "`"]
    for quote in curly:
        repairs.append((quote, QUOTES[quote]))
        text = text.replace(quote, QUOTES[quote])
    wide = unicodedata.normalize("NFKC", text) if _WIDE.search(text) else text
    if wide != text:
        repairs.append(("full-width characters", "plain ones"))
    return Cleaned(wide, repairs)
