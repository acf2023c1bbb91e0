from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings

SMALL = "num_requests=12&max_num_seqs=4&rate=20&prompt_tokens=64&output_tokens=16"
"""A run of a few hundred steps."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(trace_dir=tmp_path / "traces", workers=2)


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with TestClient(create_app(settings)) as client:
        yield client
