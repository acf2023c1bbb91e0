"""What README and the rules of the house promise holds."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sim.__main__ import app as command_line

ROOT = Path(__file__).parents[2]
RECORDS = (".png", ".ico", ".gz", ".woff2", ".csv")
REGISTRIES = [
    f"{name}.{end}" for name, end in [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com")]
]
CDNS = [
    f"{name}.{end}"
    for name, end in [(f"js{'delivr'}", "net"), ("unpkg", "com"), ("cloudflare", "com"), ("googleapis", "com")]
]
SOURCES = [path for folder in ("sim", "app") for path in sorted((ROOT / folder).rglob("*.py"))]
SCRIPTS = sorted((ROOT / "scripts").iterdir())
MARKDOWN = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]


def tracked_texts() -> list[tuple[str, str]]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    paths = [ROOT / name for name in listed if name and not name.endswith(RECORDS)]
    return [(path.name, path.read_text(encoding="utf-8")) for path in paths if path.is_file()]


def shell_lines(markdown: str) -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", markdown, re.DOTALL)
    return [words for block in blocks for line in block.splitlines() if (words := shlex.split(line, comments=True))]


README_LINES = shell_lines((ROOT / "README.md").read_text())


def test_readme_begins_with_serve_and_test() -> None:
    assert [line[0] for line in README_LINES[:2]] == ["scripts/serve", "scripts/test"]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bscripts/\w+", "".join(p.read_text() for p in MARKDOWN)))))
def test_script_named_in_the_documentation_exists(name: str) -> None:
    assert (ROOT / name).is_file()


def test_command_line_starts() -> None:
    call = [sys.executable, "-m", "sim", "--help"]
    assert subprocess.run(call, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("command", sorted({line[3] for line in README_LINES if line[:3] == ["python", "-m", "sim"]}))
def test_readme_command_exists(command: str) -> None:
    assert CliRunner().invoke(command_line, [command, "--help"]).exit_code == 0


@pytest.mark.parametrize("document", MARKDOWN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_local_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("path", [*SCRIPTS, ROOT / ".ci" / "run"], ids=lambda path: path.name)
def test_script_is_executable(path: Path) -> None:
    assert os.access(path, os.X_OK)


@pytest.mark.parametrize("host", [*REGISTRIES, *CDNS])
def test_no_file_names_a_registry_or_cdn(host: str) -> None:
    assert [name for name, text in tracked_texts() if host in text] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_source_file_has_one_subject(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 350


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_hashed(path: Path) -> None:
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n?", "", path.read_text(), flags=re.MULTILINE))
    assert [entry for entry in entries if not re.match(r"\S+==\S+.*\\\n    --hash=sha256:", entry)] == []


PACKAGES = json.loads((ROOT / "package-lock.json").read_text())["packages"]


@pytest.mark.parametrize("name", [name for name in PACKAGES if name])
def test_browser_package_has_a_checksum_and_no_address(name: str) -> None:
    assert PACKAGES[name]["integrity"].startswith("sha512-")
    assert "resolved" not in PACKAGES[name]


def test_model_page_lists_the_simplifications_of_the_source() -> None:
    page = subprocess.run(
        [sys.executable, ROOT / "scripts/model_notes"], capture_output=True, text=True, check=True
    ).stdout
    assert (ROOT / "docs/model.md").read_text() == page, "run scripts/model_notes --update"
