"""The table of the founding document's statements: every address is a page that has the figure it names."""

import re
from urllib.parse import urlsplit

import pytest

from app.gallery import FIGURE_BY_NAME
from app.lessons import ALL
from app.params import parse_query, read_query
from app.settings import ROOT

LINE = re.compile(
    r"^\| (?P<statement>.+) \| `(?P<address>[^`]+)` \| (?P<figure>[a-z-]+) \| (?P<verdict>.+) \|$", re.MULTILINE
)
ROWS = [found.groupdict() for found in LINE.finditer((ROOT / "docs" / "seed.md").read_text())]
LESSONS = {lesson.path: lesson for lesson in ALL}


def test_table_is_read_whole() -> None:
    lines = [line for line in (ROOT / "docs" / "seed.md").read_text().splitlines() if line.startswith("| ")]
    assert len(ROWS) == len(lines) - 1 > 40  # without its head


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{row['figure']}" for i, row in enumerate(ROWS)])
def test_address_has_the_figure_it_names(row: dict[str, str]) -> None:
    address = urlsplit(row["address"])

    if row["figure"] == "later":
        assert re.search(r"ENGINES|FIDELITY", row["verdict"])
    else:
        assert row["figure"] in FIGURE_BY_NAME
    if address.path == "lab/":
        views = read_query([*parse_query(address.query), *([] if address.query else [("num_requests", "60")])])
        assert row["figure"] in views.views
        return
    sections = {section.name: section for section in LESSONS[address.path].sections}
    shown = [sections[address.fragment]] if address.fragment else list(sections.values())
    assert row["figure"] == "later" or any(row["figure"] in section.figures for section in shown)
