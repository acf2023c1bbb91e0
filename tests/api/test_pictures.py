"""GET /embed/NAME.svg: files that stand alone, hold what the run holds, and say why when they cannot be made."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.bars import bars_of
from app.pictures.gallery import PICTURES
from app.pictures.tokens import read_tokens
from sim.catalog import GIB
from sim.memory import memory_terms
from sim.run import simulate
from sim.scenario import scenario_from
from tests.api.conftest import SMALL

NAMESPACE = "{http://www.w3.org/2000/svg}"
SETTINGS = dict(pair.split("=") for pair in SMALL.split("&"))


def read(client: TestClient, path: str, status: int = 200) -> ElementTree.Element:
    answer = client.get(f"/embed/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "image/svg+xml"
    return ElementTree.fromstring(answer.content)


def texts(svg: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in svg.iter(f"{NAMESPACE}text")]


@pytest.mark.parametrize("name", PICTURES)
def test_picture_stands_alone(client: TestClient, name: str) -> None:
    svg = read(client, f"{name}.svg?{SMALL}&t=0.2")
    content = ElementTree.tostring(svg, encoding="unicode")
    assert not re.search(r"href|url\((?!#)|<script|var\(|@import|@font-face", content)
    assert svg.findtext(f"{NAMESPACE}title")
    assert svg.findtext(f"{NAMESPACE}desc")
    assert "prefers-color-scheme:dark" in str(svg.findtext(f"{NAMESPACE}style"))
    assert any("Llama-3.1-8B" in text for text in texts(svg))


@pytest.mark.parametrize("name", PICTURES)
def test_picture_uses_only_styles_and_patterns_it_has(client: TestClient, name: str) -> None:
    svg = read(client, f"{name}.svg?{SMALL}&b.batching=static&t=0.2")
    styles = {style for element in svg.iter() for style in element.get("class", "").split()}
    rules = set(re.findall(r"\.([a-z]\w*)", str(svg.findtext(f"{NAMESPACE}style"))))
    assert styles <= rules
    patterns = {element.get("id") for element in svg.iter(f"{NAMESPACE}pattern")}
    assert set(re.findall(r"url\(#([\w-]+)\)", ElementTree.tostring(svg, encoding="unicode"))) <= patterns


def test_colours_are_the_tokens_of_the_page(client: TestClient) -> None:
    light, dark = str(read(client, f"timeline.svg?{SMALL}").findtext(f"{NAMESPACE}style")).split("@media")
    for i in range(1, 9):
        token = read_tokens()[f"series-{i}"]
        assert f".s{i}{{color:{token.light}}}" in light
        assert f".s{i}{{color:{token.dark}}}" in dark
        assert token.light != token.dark


@pytest.mark.parametrize("more", ["", "&b.batching=static", "&b.max_num_seqs=2&c.batching=static"])
def test_timeline_has_a_bar_for_each_stay(client: TestClient, more: str) -> None:
    svg = read(client, f"timeline.svg?{SMALL}{more}")
    shown = [scenario_from(SETTINGS)]
    for run in ("b", "c"):
        own = dict(p.removeprefix(f"{run}.").split("=") for p in more.split("&") if p.startswith(f"{run}."))
        shown += [scenario_from(SETTINGS | own)] if own else []
    bars = [bars_of(simulate(scenario)) for scenario in shown]
    drawn = [g for g in svg.iter(f"{NAMESPACE}g") if re.fullmatch(r"s\d", g.get("class", "")) and len(g)]
    assert len(drawn) == sum(map(len, bars)) + 2  # two are in the legend
    labels = [text for text in texts(svg) if text.isdigit()]
    assert set(labels) <= {str(request + 1) for each in bars for request in each["request"].tolist()}
    assert labels


def test_timeline_shows_a_playhead_only_for_a_time(client: TestClient) -> None:
    timed, plain = (texts(read(client, f"timeline.svg?{SMALL}{t}")) for t in ("&t=0.2", ""))
    run = simulate(scenario_from(SETTINGS))
    step = int(np.searchsorted(run.steps["start_s"], 0.2, "right")) - 1
    assert f"{run.steps['waiting'][step]} waiting" in timed
    assert not any(text.endswith(" waiting") for text in plain)


@pytest.mark.parametrize(("width", "height"), [(240, 120), (320, 2400), (2400, 300)])
def test_picture_has_the_size_that_is_asked_for(client: TestClient, width: int, height: int) -> None:
    for name in PICTURES:
        svg = read(client, f"{name}.svg?{SMALL}&width={width}&height={height}&t=0.1")
        assert (svg.get("width"), svg.get("height")) == (str(width), str(height))


def test_timeline_of_a_long_run_stays_small(client: TestClient) -> None:
    answer = client.get("/embed/timeline.svg?rate=200&num_requests=5000&output_tokens=60&max_num_seqs=1024&t=10")
    assert answer.status_code == 200
    assert len(answer.content) < 1_500_000
    assert any("of 1024 slots drawn" in " ".join(t) for t in [texts(ElementTree.fromstring(answer.content))])


def test_kv_map_says_its_step_and_the_numbers_of_its_frame(client: TestClient) -> None:
    query = f"{SMALL}&num_gpu_blocks=64&max_model_len=512&t=0.2"
    svg, run = read(client, f"kv-map.svg?{query}"), simulate(scenario_from(SETTINGS | {"num_gpu_blocks": 64}))
    step = int(np.searchsorted(run.steps["start_s"], 0.2, "right")) - 1
    written = " ".join(texts(svg))
    assert f"step {step} · t = 0.200 s" in written
    assert f"{63 - run.frame(step).free_blocks} of 63 blocks in use" in written
    numbers = {int(text) for text in texts(svg) if text.isdigit()}
    assert numbers == {row.request + 1 for row in run.frame(step).running}


def test_kv_map_without_a_time_shows_the_fullest_step(client: TestClient) -> None:
    run = simulate(scenario_from(SETTINGS))
    assert any(f"step {int(np.argmin(run.steps['free']))} " in t for t in texts(read(client, f"kv-map.svg?{SMALL}")))


def test_memory_says_every_term_in_gib(client: TestClient) -> None:
    terms = memory_terms(scenario_from({}).server)
    written = " ".join(texts(read(client, "memory.svg?rate=3")))
    for size in (terms.weights_bytes, terms.activation_bytes, terms.other_bytes, terms.kv_bytes):
        assert f"{size / GIB:.1f} GiB" in written


def test_memory_of_a_model_that_does_not_fit_is_a_picture_that_says_by_how_much(client: TestClient) -> None:
    missing = memory_terms(scenario_from({"model": "llama-3.1-405b"}).server).missing_bytes
    written = texts(read(client, "memory.svg?model=llama-3.1-405b"))
    assert f"does not fit: {missing / GIB:.1f} GiB too much" in written
    assert "too much" in written


def test_memory_has_a_bar_for_each_set_up_that_differs(client: TestClient) -> None:
    one = texts(read(client, f"memory.svg?{SMALL}&b.batching=static"))
    two = texts(read(client, f"memory.svg?{SMALL}&b.weights=fp8"))
    assert [sum(text.startswith("server may use") for text in each) for each in (one, two)] == [1, 2]


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("timeline.svg?rate=-1", 422, "rate"),
        ("timeline.svg?b.rate=%00x", 422, "b.rate"),
        ("timeline.svg?model=llama-3.1-405b", 422, "model"),
        ("memory.svg?width=10", 422, "width"),
        (f"timeline.svg?load=trace&trace={'0' * 64}", 409, "trace"),
        ("nothing.svg", 404, "timeline"),
    ],
)
def test_what_cannot_be_drawn_is_a_picture_that_says_why(client: TestClient, path: str, status: int, word: str) -> None:
    assert word in " ".join(texts(read(client, path, status)))
    assert client.get(f"/embed/{path}").headers["cache-control"] == "no-store"


def test_picture_is_kept_by_its_tag(client: TestClient) -> None:
    path = f"/embed/timeline.svg?{SMALL}&t=0.1"
    etag = client.get(path).headers["etag"]
    assert client.get(path, headers={"If-None-Match": etag}).status_code == 304
    assert client.get(f"{path}&width=500").headers["etag"] != etag


def test_only_what_is_under_embed_may_be_framed_from_anywhere(client: TestClient) -> None:
    picture, page = client.get(f"/embed/timeline.svg?{SMALL}"), client.get(f"/lab/?{SMALL}")
    assert picture.headers["content-security-policy"].endswith("frame-ancestors *")
    assert page.headers["content-security-policy"].endswith("frame-ancestors 'self'")
    assert "script" not in picture.headers["content-security-policy"]
