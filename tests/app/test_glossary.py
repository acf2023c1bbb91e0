"""The glossary: every row is whole, in an order that explains, and what it leads to is there."""

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.gallery import FIGURE_BY_NAME
from app.main import create_app
from app.settings import ROOT, Settings
from app.terms import SUBJECTS, TERMS, term_of
from app.terms.term import ENGINES
from tests.rows import some_always

ALL = [term for subject in SUBJECTS for term in subject.terms]
WORDS = [(term.key, engine, text) for term in ALL for engine, text in zip(ENGINES, term.words, strict=True) if text]
ADDRESSES = sorted({term.live.address for term in ALL if term.live})
USES = [
    (path.relative_to(ROOT).as_posix(), key)
    for path in sorted((ROOT / "templates").rglob("*.html"))
    for key in re.findall(r"""\bterm\(["']([^"']+)["']""", path.read_text())
]
ROOFLINE = {"memory-bound", "compute-bound", "arithmetic-intensity", "roofline", "ridge-point"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(trace_dir=tmp_path_factory.mktemp("traces")))) as client:
        yield client


@pytest.fixture(scope="module")
def html(client: TestClient) -> str:
    return client.get("/glossary/").text.replace("<wbr>", "")


@pytest.mark.parametrize("term", ALL, ids=lambda term: term.key)
def test_row_is_whole(term) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", term.key)
    assert term.name
    assert term.name[0] == term.name.strip()[0]
    assert term.definition[0].isupper()
    assert term.definition.endswith(".")
    assert not re.search(r"[.!?] ", term.definition), "one sentence"
    assert any(term.words) or term.key in ROOFLINE, "a word of an engine, except for what no engine speaks of"


def test_words_are_marked_as_code_in_pairs() -> None:
    assert [row for row in WORDS if row[2].count("`") % 2 or row[2] != row[2].strip(" .")] == []


def test_keys_are_unique() -> None:
    assert len(TERMS) == len(ALL) >= 45


def test_definition_uses_no_term_that_is_explained_later() -> None:
    found = []
    for place, term in enumerate(ALL):
        for later in ALL[place + 1 :]:
            flags = re.IGNORECASE if later.in_text == later.name.lower() else 0
            if re.search(rf"\b{re.escape(later.in_text.split(',')[0])}(s|es)?\b", term.definition, flags):
                found.append((term.key, later.key))
    assert found == []


def test_every_term_that_a_template_uses_exists() -> None:
    assert USES
    assert [use for use in USES if use[1] not in TERMS] == []
    assert term_of(USES[0][1]) in ALL


def test_page_has_every_term_once_by_its_anchor(html: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(TERMS) <= set(ids)
    links = set(re.findall(r'href="#([^"]+)"', html))
    assert links <= set(ids)
    assert set(TERMS) <= links


def test_page_names_no_absolute_address(html: str) -> None:
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', html)
    assert not [address for address in addresses if address.startswith(("/", "http"))]


def test_page_says_the_words_of_every_engine_as_code(html: str) -> None:
    assert "<dt>vLLM</dt><dd><code>Request</code>, <code>vllm:num_requests_running</code></dd>" in html
    assert [html.count(f"<dt>{engine}</dt>") for engine in ENGINES] == [sum(any(t.words) for t in ALL)] * 5


@pytest.mark.parametrize("address", some_always(ADDRESSES, 5))
def test_address_where_a_term_is_live_shows_the_figure(client: TestClient, address: str) -> None:
    path, _, fragment = address.partition("#")
    answer = client.get("/" + path)
    assert answer.status_code == 200
    place = re.search(rf'<[^>]*\bid="{fragment}"[^>]*>', answer.text)
    assert place
    assert not re.search(r"\bhidden\b", place[0])


def test_every_figure_of_an_address_is_in_the_gallery() -> None:
    places = {address.partition("#")[2].removeprefix("fig-") for address in ADDRESSES}
    assert places <= {*FIGURE_BY_NAME, "metrics"}


def test_header_leads_to_the_glossary(html: str) -> None:
    assert 'href="../glossary/" aria-current="page"' in html
