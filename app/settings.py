"""Settings of the web server, read from environment variables that start with BATCHSCOPE_."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).parent.parent
MIB = 1024 * 1024


def _own_temp_dir() -> Path:
    """A folder of this user's that all workers of the server share."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"batchscope-{user}"


class Settings(BaseSettings):
    """What an operator may change. Limits hold per worker process unless they speak of traces on disk."""

    model_config = SettingsConfigDict(env_prefix="BATCHSCOPE_", frozen=True)

    frame_ancestors: str = Field("'self'", description="Who may frame the pages (CSP frame-ancestors)")
    embed_ancestors: str = Field("*", description="Who may frame what is under /embed/")
    static_dir: Path = ROOT / "static"
    cache_seconds: int = Field(60, ge=0, description="max-age of results")

    workers: int = Field(os.cpu_count() or 1, ge=1, description="Threads that simulate")
    max_queue: int = Field(256, ge=0, description="Calls that may wait for a thread; further ones get 503")
    max_streams: int = Field(512, ge=1, description="Runs in progress at once; further ones get 503")
    max_uploads: int = Field(4, ge=1, description="Files being uploaded at once; further ones get 503")
    max_tokens: int = Field(50_000_000, ge=1, description="Output tokens of one run, as drawn; more gets 422")
    max_sweep_runs: int = Field(500, ge=1, description="Runs of one load curve, points x scenarios x seeds")
    max_blocks: int = Field(40_000_000, ge=1, description="KV blocks that all texts of one run take; more gets 422")
    max_export_rows: int = Field(250_000, ge=1, description="Steps and events in one file; more gets 422")
    max_run_bytes: int = Field(1024 * MIB, ge=1, description="Memory of one run's record; a larger one is given up")
    max_open_bytes: int = Field(3072 * MIB, ge=1, description="Memory of the runs that are read; more gets 503")
    cache_bytes: int = Field(256 * MIB, ge=0, description="Memory for finished runs that may be asked for again")
    body_bytes: int = Field(32 * MIB, ge=0, description="Memory for short streams that may be asked for again")

    trace_dir: Path = Field(default_factory=lambda: _own_temp_dir() / "traces")
    trace_total_bytes: int = Field(1024 * MIB, ge=1, description="All uploaded traces together")
    trace_count: int = Field(200, ge=1, description="Uploaded traces kept")
    trace_age_s: int = Field(30 * 86_400, ge=1, description="A trace unused for longer is removed")
