"""Pages: whole or as a fragment, with relative addresses only, and honest when they cannot be made."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings

LAB = "/lab/?rate=4&num_requests=12&max_num_seqs=4&b.batching=static&t=1"
FRAME = LAB.replace("/lab/", "/lab/frame/")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("traces")
    with TestClient(create_app(Settings(trace_dir=folder))) as client:
        yield client


def test_home_is_the_tour(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.url.path == "/"
    assert 'data-lesson="tour"' in answer.text


def test_lab_names_no_absolute_address(client: TestClient) -> None:
    html = client.get(LAB).text
    addresses = re.findall(r'(?:href|src|action|hx-get|data-[a-z-]*url)="([^"]*)"', html)
    assert addresses
    assert not [address for address in addresses if address.startswith(("/", "http"))]


def test_lab_without_parameters_opens_on_the_first_preset(client: TestClient) -> None:
    html = client.get("/lab/").text
    assert re.search(r'aria-current="true"><b>Static penalty</b>', html)
    assert "<b>Static penalty.</b> Static holds every slot" in html
    assert 'data-given="false"' in html


def test_frame_is_a_fragment_for_htmx(client: TestClient) -> None:
    answer = client.get(FRAME, headers={"HX-Request-Type": "partial"})
    assert answer.text.lstrip().startswith('<section id="frame"')
    assert "<html" not in answer.text
    assert "HX-Request-Type" in answer.headers["vary"]


def test_frame_as_a_page_is_the_lab_at_that_time(client: TestClient) -> None:
    answer = client.get(FRAME)
    assert answer.url.path == "/lab/"
    assert 'data-t="1"' in answer.text


def test_frame_names_the_slots_of_the_run_in_focus(client: TestClient) -> None:
    html = client.get(FRAME + "&run=b", headers={"HX-Request-Type": "partial"}).text
    assert "KV blocks, static" in html
    assert html.count("<tr") == 1 + 4


def test_time_after_the_end_is_the_end(client: TestClient) -> None:
    html = client.get(LAB.replace("t=1", "t=100000")).text
    assert "Every request is done." in html


@pytest.mark.parametrize("query", ["max_num_seqs=0", "nonsense=1", "t=-1", "model=llama-3.1-405b"])
def test_what_cannot_be_run_is_said_on_a_page(client: TestClient, query: str) -> None:
    answer = client.get(f"/lab/?{query}", headers={"Accept": "text/html"})
    assert answer.status_code == 422
    assert query.split("=", maxsplit=1)[0] in answer.text


def test_model_that_does_not_fit_is_shown_with_its_memory(client: TestClient) -> None:
    html = client.get("/lab/?model=llama-3.1-405b", headers={"Accept": "text/html"}).text
    assert '<img class="picture" src="../embed/memory.svg?model=llama-3.1-405b' in html
    assert "memory.svg" not in client.get("/lab/?rate=-1", headers={"Accept": "text/html"}).text


def test_unknown_trace_is_asked_for(client: TestClient) -> None:
    answer = client.get(f"/lab/?load=trace&trace={'0' * 64}")
    assert answer.status_code == 409
    assert "does not have the trace" in answer.text


def test_overview_has_columns_of_equal_length(client: TestClient) -> None:
    courses = client.get("/lab/overview/?rate=4&num_requests=12&max_num_seqs=4&b.batching=static").json()
    assert set(courses["runs"]) == {"a", "b"}
    assert not courses["is_long"]
    lengths = {len(courses["runs"]["a"][name]) for name in ("running", "waiting", "blocks", "step")}
    assert len(lengths) == 1
    assert max(courses["runs"]["b"]["running"]) <= 4


def test_events_are_a_fragment_and_without_scripts_a_page_with_the_filter(client: TestClient) -> None:
    query = "rate=4&num_requests=12&max_num_seqs=4&views=timeline,events&kind=&request=2"
    part = client.get(f"/lab/events/?{query}", headers={"HX-Request-Type": "partial"})
    assert part.text.lstrip().startswith('<div class="event-list"')
    assert "Request 2 arrives" in part.text
    page = client.get(f"/lab/events/?{query}")
    assert page.url.path == "/lab/"
    assert "kind" not in str(page.url.query)
    assert "Request 2 arrives" in page.text
    assert "Request 3 arrives" not in page.text
