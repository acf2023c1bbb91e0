"""GET /embed/NAME/: a figure alone, framed from anywhere, calm when it cannot be shown."""

import re

import pytest
from starlette.testclient import TestClient

from app.gallery import FIGURES
from app.main import create_app
from app.settings import Settings
from tests.api.conftest import SMALL

NAMES = [figure.name for figure in FIGURES]
HTML = {"Accept": "text/html"}


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_a_page_that_may_be_framed(client: TestClient, name: str) -> None:
    answer = client.get(f"/embed/{name}/?{SMALL}&t=0.2", headers=HTML)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].endswith("frame-ancestors *")
    assert 'class="site-header"' not in answer.text
    assert f'data-views="{name}"' in answer.text
    assert "uncalibrated" in answer.text


def test_page_names_no_absolute_address(client: TestClient) -> None:
    html = client.get(f"/embed/queue/?{SMALL}").text
    addresses = re.findall(r'(?:href|src|srcset|action|hx-get|data-[a-z-]*url)="([^"]*)"', html)
    assert not [address for address in addresses if address.startswith(("/", "http"))]


def test_link_to_the_lab_writes_all_parameters(client: TestClient) -> None:
    html = client.get(f"/embed/queue/?{SMALL}&t=0.2").text
    found = re.search(r'href="\.\./\.\./lab/\?([^"]*)"', html)
    assert found
    assert {"max_num_seqs=4", "watermark=0", "t=0.2"} <= set(found[1].replace("&amp;", "&").split("&"))


def test_frame_of_a_figure_is_a_fragment_of_it_alone(client: TestClient) -> None:
    html = client.get(f"/embed/queue/frame/?{SMALL}&t=0.2", headers={"HX-Request-Type": "partial"}).text
    assert html.lstrip().startswith('<section id="frame"')
    assert re.search(r'data-figure="queue"[^>]*>', html)
    assert re.search(r'data-figure="step"[^>]* hidden>', html)


def test_frame_as_a_page_is_the_figure(client: TestClient) -> None:
    assert client.get(f"/embed/queue/frame/?{SMALL}&t=0.2").url.path == "/embed/queue/"


def test_unknown_figure_is_answered_by_a_list_of_those_there_are(client: TestClient) -> None:
    answer = client.get("/embed/nothing/", headers=HTML)
    assert answer.status_code == 404
    for name in NAMES:
        assert f'href="../../embed/{name}/"' in answer.text


@pytest.mark.parametrize(
    ("query", "status", "word"),
    [("rate=-1", 422, "rate"), ("nonsense=1", 422, "nonsense"), (f"load=trace&trace={'0' * 64}", 409, "trace")],
)
def test_what_cannot_be_shown_is_said_on_a_page_that_may_be_framed(
    client: TestClient, query: str, status: int, word: str
) -> None:
    answer = client.get(f"/embed/timeline/?{query}", headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert word in answer.text
    assert answer.headers["content-security-policy"].endswith("frame-ancestors *")


def test_model_that_does_not_fit_is_shown_with_its_memory(client: TestClient) -> None:
    html = client.get("/embed/timeline/?model=llama-3.1-405b", headers=HTML).text
    assert '<img class="picture" src="../../embed/memory.svg?model=llama-3.1-405b' in html
    assert "memory.svg" not in client.get("/embed/timeline/?rate=-1", headers=HTML).text


def test_who_may_frame_an_embed_is_a_setting(settings: Settings) -> None:
    client = TestClient(create_app(settings.model_copy(update={"embed_ancestors": "https://course.example"})))
    for path in (f"/embed/timeline/?{SMALL}", f"/embed/timeline.svg?{SMALL}", "/embed/nothing/"):
        policy = client.get(path).headers["content-security-policy"]
        assert policy.endswith("frame-ancestors https://course.example"), path


@pytest.mark.parametrize("path", [f"/lab/?{SMALL}", "/api/v1/params", "/embedded", "/static/embed/x"])
def test_nothing_else_may_be_framed_from_anywhere(client: TestClient, path: str) -> None:
    assert client.get(path).headers["content-security-policy"].endswith("frame-ancestors 'self'")
