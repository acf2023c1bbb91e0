"""Compression of a body that is sent in pieces: each piece can be read as soon as it has arrived."""

from __future__ import annotations

import zlib
from typing import Protocol

import brotli  # type: ignore[import-untyped]

BROTLI_QUALITY = 5
BROTLI_WINDOW = 18
GZIP_LEVEL = 4


class Compressor(Protocol):
    """Takes pieces, gives what of the compressed body they complete."""

    def add(self, piece: bytes) -> bytes:
        """Compress a piece and flush."""

    def finish(self, piece: bytes = b"") -> bytes:
        """Compress the last piece and end the body."""


class Identity:
    """No compression."""

    def add(self, piece: bytes) -> bytes:
        return piece

    def finish(self, piece: bytes = b"") -> bytes:
        return piece


class Brotli:
    """Content-Encoding br."""

    def __init__(self) -> None:
        self._compressor = brotli.Compressor(brotli.MODE_TEXT, BROTLI_QUALITY, BROTLI_WINDOW)

    def add(self, piece: bytes) -> bytes:
        return bytes(self._compressor.process(piece) + self._compressor.flush())

    def finish(self, piece: bytes = b"") -> bytes:
        return bytes(self._compressor.process(piece) + self._compressor.finish())


class Gzip:
    """Content-Encoding gzip."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(GZIP_LEVEL, wbits=16 + zlib.MAX_WBITS)

    def add(self, piece: bytes) -> bytes:
        return self._compressor.compress(piece) + self._compressor.flush(zlib.Z_SYNC_FLUSH)

    def finish(self, piece: bytes = b"") -> bytes:
        return self._compressor.compress(piece) + self._compressor.flush()


SMALL_BYTES = 500

COMPRESSORS: dict[str, type[Identity | Brotli | Gzip]] = {"": Identity, "br": Brotli, "gzip": Gzip}
"""By the name of the Content-Encoding."""


def accepted_encoding(accept_encoding: str) -> str:
    """Best of br and gzip that the client takes, or ''."""
    accepted = {}
    for item in accept_encoding.lower().split(","):
        name, _, parameters = item.partition(";")
        accepted[name.strip()] = parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return next((name for name in ("br", "gzip") if accepted.get(name)), "")


def compressed(body: bytes, accept_encoding: str) -> tuple[bytes, dict[str, str]]:
    """Compress a whole body if that is worth it; return it with the headers that say so. Call it in a thread."""
    encoding = accepted_encoding(accept_encoding)
    if not encoding or len(body) < SMALL_BYTES:
        return body, {}
    return COMPRESSORS[encoding]().finish(body), {"Content-Encoding": encoding}
