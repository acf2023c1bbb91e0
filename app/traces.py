"""Uploaded traces by their content's hash, in a folder that all workers share; bounded in size, count and age."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from pathlib import Path
from threading import Lock

from cachetools import LRUCache

from app.errors import Problem, busy
from app.settings import Settings
from sim.workload import Trace, read_trace, sample_trace

PARSED_KEPT = 4
WRITING_S = 600
_TEMPORARY = "."
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


class TraceStore:
    """Keeps traces. All methods may block and may be called from any thread."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.trace_dir
        self._parsed: LRUCache[str, Trace] = LRUCache(PARSED_KEPT)
        self._lock = Lock()

    def add(self, content: bytes, name: str = "") -> Trace:
        """Read and keep a trace file.

        Raises
        ------
        ScenarioError
            If it is not a trace; nothing is kept then.
        """
        trace = read_trace(content, name)
        try:
            self._write(trace.sha256, content)
            self.sweep(keep=trace.sha256)
        except OSError as error:
            raise busy(f"The server cannot keep the file: {error.strerror}.", retry_after_s=60) from error
        with self._lock:
            self._parsed[trace.sha256] = trace
        return trace

    def get(self, sha256: str) -> Trace:
        """Return the trace of that hash.

        Raises
        ------
        Problem
            409 if this server does not have it; the client is to send the file again.
        """
        if sha256 == sample_trace().sha256:
            return sample_trace()
        with self._lock:
            trace = self._parsed.get(sha256)
        if trace is None:
            trace = read_trace(self._content(sha256), sha256)
            if trace.sha256 != sha256:
                raise _missing(sha256)  # somebody has changed the file
            with self._lock:
                self._parsed[sha256] = trace
        else:
            self._touch(sha256)
        return trace

    def sweep(self, keep: str = "") -> None:
        """Remove what is too old, then the longest unused until size and count are within their bounds."""
        limits = self.settings
        now, count, total = time.time(), 0, 0
        for path, status in sorted(self._files(), key=lambda file: file[1].st_mtime, reverse=True):
            if path.name.startswith(_TEMPORARY) and now - status.st_mtime < WRITING_S:
                continue
            count, total = count + 1, total + status.st_size
            is_beyond = count > limits.trace_count or total > limits.trace_total_bytes
            if path.name != keep and (is_beyond or now - status.st_mtime > limits.trace_age_s):
                path.unlink(missing_ok=True)

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        files = []
        for path in self.folder.iterdir():
            try:
                files.append((path, path.stat()))
            except FileNotFoundError:
                continue  # another worker swept it
        return files

    def _write(self, sha256: str, content: bytes) -> None:
        """Write at once or not at all, for others read meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.folder / f"{_TEMPORARY}{secrets.token_hex(8)}"
        temporary.write_bytes(content)
        temporary.replace(self.folder / sha256)

    def _content(self, sha256: str) -> bytes:
        if _SHA256.fullmatch(sha256):
            try:
                content = (self.folder / sha256).read_bytes()
            except FileNotFoundError:
                pass
            else:
                self._touch(sha256)
                return content
        detail = f"This server does not have the trace {sha256}. Send the file to api/v1/traces, then ask again."
        raise Problem(
            409, detail, field="trace", value=sha256, allowed="the sha256 of an uploaded trace", sha256=sha256
        )

    def _touch(self, sha256: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # swept by another worker; what is parsed stays good
            os.utime(self.folder / sha256)


def _missing(sha256: str) -> Problem:
    detail = f"This server does not have the trace {sha256}. Send the file to api/v1/traces, then ask again."
    return Problem(409, detail, field="trace", value=sha256, allowed="the sha256 of an uploaded trace", sha256=sha256)
