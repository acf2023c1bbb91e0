"""The share menu: links that write everything, a code that is the link, lines that a page can paste."""

import re
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import segno
from starlette.testclient import TestClient

from app.gallery import FIGURES
from app.params import parse_query, read_query, write_query
from app.pictures.gallery import PICTURES
from app.share import code_of
from sim.parameters import PARAMETERS
from tests.api.conftest import SMALL

PAGE = f"{SMALL}&b.batching=static&t=0.25&run=b&views=timeline,course"
PARTIAL = {"HX-Request-Type": "partial"}


class Reader(HTMLParser):
    """Fields by id, and addresses of links by their text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.links: list[str] = []
        self.options: list[dict[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        if tag == "input":
            self.fields[own["id"]] = own["value"]
        if tag == "a":
            self.links.append(own["href"])
        if tag == "option":
            self.options.append(own)


def read(client: TestClient, query: str = PAGE, **headers: str) -> Reader:
    answer = client.get(f"/share/?{query}", headers={**PARTIAL, **headers})
    assert answer.status_code == 200
    assert "<html" not in answer.text
    return Reader(answer.text)


def test_link_gives_the_same_page_and_writes_every_parameter(client: TestClient) -> None:
    address, _, query = read(client).fields["share-link"].partition("?")
    assert address == "http://testserver/lab/"
    shared, page = read_query(parse_query(query)), read_query(parse_query(PAGE))
    assert (shared.scenarios, shared.t, shared.run, shared.views) == (page.scenarios, page.t, page.run, page.views)
    names = {name for name, _ in parse_query(query)}
    assert {parameter.name for parameter in PARAMETERS} <= names


def test_link_of_a_fork_gives_the_same_fork(client: TestClient) -> None:
    query = f"{SMALL}&fork=0.2&fork.max_num_seqs=8"
    link = read(client, query).fields["share-link"].partition("?")[2]
    assert read_query(parse_query(link)).scenarios == read_query(parse_query(query)).scenarios


@pytest.mark.parametrize("query", [PAGE, "num_requests=60", f"{SMALL}&num_gpu_blocks=40&max_model_len=256"])
def test_code_is_of_a_short_link_to_the_same_page(client: TestClient, query: str) -> None:
    html = client.get(f"/share/?{query}", headers=PARTIAL).text
    found = re.search(r'href="([^"]*)">short link', html)
    assert found
    link = unescape(found[1])
    code = code_of(link)
    assert code.matrix == segno.make_qr(link, error="l").matrix
    assert str(code.svg_inline(scale=4, border=4, dark="#000", light="#fff")) in html
    shared = read_query(parse_query(link.partition("?")[2]))
    page = read_query(parse_query(query))
    assert (shared.scenarios, shared.t) == (page.scenarios, page.t)
    assert len(link) < len(read(client, query).fields["share-link"]) / 3


def test_code_as_a_picture_is_well_formed(client: TestClient) -> None:
    answer = client.get(f"/share/qr.svg?{PAGE}")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert ElementTree.fromstring(answer.content).findtext("{http://www.w3.org/2000/svg}title", "").startswith("http")


@pytest.mark.parametrize("root", ["http://192.168.1.20:8000/", "https://hub.example/user/anna/proxy/8000/"])
def test_links_are_under_the_address_at_which_the_page_was_opened(client: TestClient, root: str) -> None:
    menu = read(client, **{"Page-Root": root})
    assert menu.fields["share-link"].startswith(f"{root}lab/?")
    assert f'src="{root}embed/timeline/?' in menu.fields["share-frame"]


@pytest.mark.parametrize("root", ["javascript:alert(1)/", "//evil/", "x" * 9, 'http://a/"><script>/'])
def test_what_is_no_address_is_not_taken_or_cannot_leave_its_place(client: TestClient, root: str) -> None:
    html = client.get(f"/share/?{PAGE}", headers={**PARTIAL, "Page-Root": root}).text
    assert "<script" not in html
    assert "javascript:" not in html


def test_every_figure_has_a_frame_line_and_every_picture_an_image_line(client: TestClient) -> None:
    options = {option["value"]: option for option in read(client).options if "data-frame" in option}
    assert list(options) == [figure.name for figure in FIGURES]
    for figure in FIGURES:
        line = options[figure.name]["data-frame"]
        source = re.search(r'<iframe src="([^"]*)"', line)
        assert source
        assert f'height="{figure.height}"' in line
        assert client.get(unescape(source[1])).status_code == 200
    assert {name for name, option in options.items() if option["data-image"]} == set(PICTURES)


def test_every_file_is_there(client: TestClient) -> None:
    files = [link for link in read(client).links if link.startswith("../")]
    assert len(files) == len(PICTURES) + 4
    for link in files:
        assert client.get(f"/{link.removeprefix('../')}").status_code == 200, link


def test_menu_is_a_page_without_scripts(client: TestClient) -> None:
    html = client.get(f"/share/?{PAGE}").text
    assert "<html" in html
    assert 'id="share-link"' in html


def test_lab_has_a_preview_with_absolute_addresses(client: TestClient) -> None:
    html = client.get(f"/lab/?{PAGE}").text
    found = re.search(r'<meta property="og:image" content="([^"]*)"', html)
    assert found
    image = unescape(found[1])
    assert image.startswith("http://testserver/embed/timeline.svg?")
    svg = ElementTree.fromstring(client.get(image).content)
    assert (svg.get("width"), svg.get("height")) == ("1200", "630")
    assert '<meta property="og:title" content="Batchscope: ' in html


def test_full_query_reads_back_for_every_default() -> None:
    scenarios = read_query([]).scenarios
    assert read_query(parse_query(write_query(scenarios, full=True))).scenarios == scenarios
