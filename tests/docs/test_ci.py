"""A run in CI leaves nothing out: a skipped test fails it where the shared folder is present, and only there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPING = "import pytest\n\ndef test_recorded():\n    pytest.skip('needs ../shared')\n"


@pytest.mark.parametrize(("folder", "expected"), [("here", 1), ("absent", 0)])
def test_skip_fails_the_run_when_shared_is_present(tmp_path: Path, folder: str, expected: int) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "test_skipping.py").write_text(SKIPPING)
    env = {**os.environ, "CI": "true", "BATCHSCOPE_SHARED": str(tmp_path / folder)}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    command = [sys.executable, "-m", "pytest", *options, tmp_path]
    run = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (run.returncode, "1 skipped" in run.stdout) == (expected, True), run.stdout
