"""Static files: compressed once, cached for long when their address carries a version."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock
from zlib import MAX_WBITS, compressobj

import brotli  # type: ignore[import-untyped]
from cachetools import LRUCache, cached
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.compress import accepted_encoding

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATE = "public, no-cache"
CACHE_BYTES = 32 * 1024 * 1024
_TEXT_SUFFIXES = {".css", ".js", ".mjs", ".svg", ".json", ".html", ".txt", ".map", ".csv", ".webmanifest"}
_VERSION_IN_NAME = re.compile(r"[-.](\d+\.\d+\.\d+|[0-9a-f]{8,})(\.min)?\.\w+$")


class Assets(StaticFiles):
    """Starlette's static files with Content-Encoding, Cache-Control and weak ETags.

    A file whose name holds a version (plotly-4.1.1.min.js, app.0a1b2c3d.js), or that is asked for with `?v=`, never
    changes under its address; any other is asked for again with its ETag.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file as it is or compressed, or 304."""
        response = await super().get_response(path, scope)
        has_version = _VERSION_IN_NAME.search(path) or "v=" in scope.get("query_string", b"").decode("latin-1")
        response.headers["Cache-Control"] = IMMUTABLE if has_version else REVALIDATE
        if Path(path).suffix not in _TEXT_SUFFIXES:
            return response
        response.headers["Vary"] = "Accept-Encoding"
        response.headers["ETag"] = "W/" + response.headers["ETag"].removeprefix("W/")
        encoding = accepted_encoding(Headers(scope=scope).get("accept-encoding", ""))
        return await _encoded(response, encoding) if isinstance(response, FileResponse) and encoding else response


async def _encoded(response: FileResponse, encoding: str) -> Response:
    body = await run_in_threadpool(_compressed, Path(response.path), response.headers["ETag"], encoding)
    headers = {
        name: value for name, value in response.headers.items() if name not in ("content-length", "accept-ranges")
    }
    return Response(body, response.status_code, {**headers, "Content-Encoding": encoding})


@cached(LRUCache(CACHE_BYTES, getsizeof=len), lock=Lock())
def _compressed(path: Path, version: str, encoding: str) -> bytes:  # noqa: ARG001 (part of the cache key)
    content = path.read_bytes()
    if encoding == "br":
        return bytes(brotli.compress(content, mode=brotli.MODE_TEXT, quality=9))
    compressor = compressobj(9, wbits=16 + MAX_WBITS)
    return compressor.compress(content) + compressor.flush()
