"""ETags and Cache-Control of answers that are a pure function of their address."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import chain

from starlette.requests import Request

from app.settings import ROOT


@cache
def build_id() -> str:
    """Hash of everything that answers follow from besides their address: engine, constants, catalogue, codec."""
    digest = hashlib.blake2b(digest_size=8)
    files = chain.from_iterable(
        (ROOT / folder).rglob(f"*.{end}") for folder in ("sim", "app") for end in ("py", "toml")
    )
    for path in sorted(files):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def cache_headers(request: Request, *parts: object, vary: str = "Accept-Encoding") -> dict[str, str]:
    """ETag over the build and all that the answer depends on, and how long it may be kept.

    The tag is weak: the same answer, compressed or not.
    """
    text = "\0".join(map(str, (build_id(), *parts)))
    tag = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
    max_age = request.app.state.settings.cache_seconds
    return {"ETag": f'W/"{tag}"', "Cache-Control": f"public, max-age={max_age}", "Vary": vary}


def is_known(request: Request, headers: dict[str, str]) -> bool:
    """Whether the client already has the answer (If-None-Match)."""
    given = request.headers.get("If-None-Match", "")
    tags = {tag.strip().removeprefix("W/") for tag in given.split(",")}
    return "*" in tags or headers["ETag"].removeprefix("W/") in tags
