"""ETags and Cache-Control of answers that are a pure function of their address."""

from __future__ import annotations

import hashlib

from starlette.requests import Request

import sim

CALIBRATION = "uncalibrated"


def cache_headers(request: Request, *parts: object, vary: str = "Accept-Encoding") -> dict[str, str]:
    """ETag over the engine's version, the calibration and all that the answer depends on, and how long it may be kept.

    The tag is weak: the same answer, compressed or not.
    """
    text = "\0".join(map(str, (sim.__version__, CALIBRATION, *parts)))
    tag = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
    max_age = request.app.state.settings.cache_seconds
    return {"ETag": f'W/"{tag}"', "Cache-Control": f"public, max-age={max_age}", "Vary": vary}


def is_known(request: Request, headers: dict[str, str]) -> bool:
    """Whether the client already has the answer (If-None-Match)."""
    given = request.headers.get("If-None-Match", "")
    tags = {tag.strip().removeprefix("W/") for tag in given.split(",")}
    return "*" in tags or headers["ETag"].removeprefix("W/") in tags
