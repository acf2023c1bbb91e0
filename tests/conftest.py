"""What every test can ask for: the shared folder, a served app, a Chromium; and what CI must not leave out."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("BATCHSCOPE_SHARED", ROOT.parent / "shared"))
UNWANTED = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup",
    "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter",
    "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)  # fmt: skip
"""Hidden pages of the address bar that each window has though nobody sees it, which cost more than a page of ours: the
first three. The switch counts once, so the rest are those that Playwright turns off."""
CHROMIUM_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(UNWANTED)}",
)
LONG_FILES = (
    "invariants/test_runs",
    "oracle/test_vllm_oracle",
    "browser/test_compare",
    "browser/test_views",
    "browser/test_lab_controls",
    "a11y/test_lab_axe",
)
"""Files that take longest: they begin first, so that no worker is left alone with one at the end."""

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, database=None, print_blob=True)
hypothesis.settings.register_profile("fewer", hypothesis.settings.get_profile("ci"), max_examples=50)
hypothesis.settings.register_profile("fuzz", derandomize=False, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz", action="store_true", help="new random examples on each run, instead of always the same")
    parser.addoption("--all", action="store_true", help="also further rows of long tables, and more random examples")


def pytest_configure(config: pytest.Config) -> None:
    profile = "fuzz" if config.getoption("--fuzz") else "ci" if config.getoption("--all") else "fewer"
    hypothesis.settings.load_profile(profile)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long files first; without --all, further rows of long tables are left out."""
    items.sort(key=lambda item: not item.path.with_suffix("").as_posix().endswith(LONG_FILES))
    if config.getoption("--all"):
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI the shared folder is there, so a skipped test means that something was not tested."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and SHARED.exists() and reporter and reporter.stats.get("skipped"):
        reporter.write_line("a test was skipped though the shared folder is present", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of recorded traces and reference data that lies beside a working copy, not in it."""
    if not SHARED.exists():
        pytest.skip("needs ../shared")
    return SHARED


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the real app, served by uvicorn on a free port, without the slash at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, *f"-m uvicorn app.main:app --port {port} --log-level warning".split()]
    with log.open("w") as out, subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out) as process:
        try:
            wait_for_health(url, process, log)
            yield url
        finally:
            process.terminate()


def wait_for_health(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    pytest.fail(f"the server did not come up:\n{log.read_text()}")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], browser_type: Any) -> dict[str, Any]:
    """Playwright's own Chromium if it is installed, else the system's."""
    flags = [*CHROMIUM_FLAGS, *(["--no-sandbox"] if os.getuid() == 0 else [])]
    args = {**browser_type_launch_args, "args": flags}
    if not Path(browser_type.executable_path).exists():
        args["executable_path"] = shutil.which("chromium") or shutil.which("google-chrome")
    return args


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any], server: str) -> dict[str, Any]:
    """Pages open paths of the served app: page.goto("/lab/")."""
    return {**browser_context_args, "base_url": server}
