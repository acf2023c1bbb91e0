"""Every lesson, by the same suite: its rows, its words, its numbers on another GPU, its questions, its links."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from starlette.testclient import TestClient

from app.gallery import FIGURE_BY_NAME
from app.lessons import ALL
from app.main import create_app
from app.numbers import MISSING, around, nearest, written
from app.params import parse_query, read_query
from app.sections import Lesson, Section, Slider
from app.settings import ROOT, Settings

WORDS = ROOT / "templates" / "lessons"
OTHER = "gpu=a100-sxm-80gb&model=qwen3-14b"
TOO_LARGE = "model=llama-3.1-70b"
SECTIONS = [(lesson, section) for lesson in ALL for section in lesson.sections]
STAGES = [(lesson, section) for lesson, section in SECTIONS if section.query]

each_lesson = pytest.mark.parametrize("lesson", ALL, ids=lambda lesson: lesson.slug)
each_stage = pytest.mark.parametrize(
    ("lesson", "section"), STAGES, ids=[f"{lesson.slug}-{section.name}" for lesson, section in STAGES]
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("traces")
    with TestClient(create_app(Settings(trace_dir=folder))) as client:
        yield client


class Page(HTMLParser):
    """What the tests look at: texts of numbers, ids, links, and per question how many options are right."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.numbers: list[tuple[str, bool]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.lab_links: list[str] = []
        self.right: list[int] = []
        self._number: list[str] | None = None
        self._is_free = True
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pairs = dict(attrs)
        if "id" in pairs:
            self.ids.append(pairs["id"] or "")
        if tag == "a" and pairs.get("href"):
            self.links.append(pairs["href"] or "")
        if "data-lab" in pairs:
            self.lab_links.append(pairs["href"] or "")
        classes = (pairs.get("class") or "").split()
        if "number" in classes:
            self._number, self._is_free = [], "data-fixed" not in pairs and "reading" not in classes
        if "question" in classes:
            self.right.append(0)
        if "data-right" in pairs:
            self.right[-1] += 1

    def handle_data(self, data: str) -> None:
        if self._number is not None:
            self._number.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and self._number is not None:
            self.numbers.append(("".join(self._number), self._is_free))
            self._number = None


@cache
def _words(lesson: Lesson, section: Section) -> str:
    return (WORDS / lesson.slug / f"{section.name}.html").read_text()


@each_lesson
def test_lesson_says_what_it_is_for_and_where_it_comes_from(lesson: Lesson) -> None:
    assert re.fullmatch(r"[a-z][a-z-]*", lesson.slug)
    assert 3 <= lesson.minutes <= 10
    assert lesson.aim.endswith(".")
    assert lesson.sources
    assert len(lesson.teacher) >= 3
    names = [section.name for section in lesson.sections]
    assert len(set(names)) == len(names)


@each_stage
def test_stage_shows_figures_of_the_gallery_and_its_knobs_stand_where_its_scenario_is(
    lesson: Lesson, section: Section
) -> None:
    assert set(section.figures) <= set(FIGURE_BY_NAME)
    assert section.figures
    for knob in section.knobs:
        if isinstance(knob, Slider):
            assert 0 <= knob.place(section.query) < len(knob.values)
            settings = [knob.settings(value) for value in knob.values]
        else:
            states = parse_query(knob.on), parse_query(knob.off)
            assert any(set(parse_query(section.query)).issuperset(state) for state in states), knob.name
            settings = [tuple(state) for state in states]
        for pairs in settings:  # each place is a scenario that is accepted
            read_query({**dict(parse_query(section.query)), **dict(pairs)}.items())


@each_stage
def test_section_has_a_guess_a_task_and_one_stage(lesson: Lesson, section: Section) -> None:
    words = _words(lesson, section)

    assert words.count("{{ stage() }}") == 1
    assert words.count("{% call ask(") >= 1
    assert words.count("{% call task(") >= 1
    assert "reading(" in words


@pytest.mark.parametrize(
    ("lesson", "section"), SECTIONS, ids=[f"{lesson.slug}-{section.name}" for lesson, section in SECTIONS]
)
def test_words_type_no_number_with_a_unit(lesson: Lesson, section: Section) -> None:
    prose = re.sub(r"\{[{%#].*?[}%#]\}|<[^>]*>", " ", _words(lesson, section), flags=re.DOTALL)

    assert not re.findall(r"\d[\d,.]*\s?(?:ms|s|µs|GB|GiB|TB|MB|kB|%|×|x|times|tokens?|tok/s)\b", prose)


@each_lesson
def test_numbers_are_other_numbers_on_another_gpu_with_another_model(lesson: Lesson, client: TestClient) -> None:
    here, there = (Page(client.get(f"/{lesson.path}?{query}").text) for query in ("", OTHER))

    pairs = [(x[0], y[0]) for x, y in zip(here.numbers, there.numbers, strict=True) if x[1]]
    assert pairs
    assert not [text for text, other in pairs if text == other]
    assert not [text for text, _ in here.numbers if "–" in text and text != "–"]


@each_lesson
@pytest.mark.parametrize("query", ["", OTHER])
def test_each_question_has_one_right_answer(lesson: Lesson, query: str, client: TestClient) -> None:
    page = Page(client.get(f"/{lesson.path}?{query}").text)

    assert page.right
    assert set(page.right) == {1}


@each_lesson
def test_ids_are_unique_and_links_lead_somewhere(lesson: Lesson, client: TestClient) -> None:
    page = Page(client.get(f"/{lesson.path}").text)

    assert sorted(page.ids) == sorted(set(page.ids))
    for link in {link for link in page.links if not link.startswith("http")}:
        address = urlsplit(urljoin(f"http://testserver/{lesson.path}", link))
        if address.path == f"/{lesson.path}" and address.fragment:
            assert address.fragment in page.ids
        else:
            assert client.get(f"{address.path}?{address.query}").status_code == 200, link


@each_lesson
def test_without_scripts_words_numbers_and_pictures_remain(lesson: Lesson, client: TestClient) -> None:
    html = client.get(f"/{lesson.path}").text

    for section in lesson.sections:
        if section.query:
            assert f'id="{section.name}-stage"' in html
    assert html.count("<noscript>") >= len([section for section in lesson.sections if section.query])
    for picture in re.findall(r'<img class="picture"[^>]* src="([^"]+)"', html)[:2]:
        answer = client.get(urljoin(f"/{lesson.path}", picture.replace("&amp;", "&")))
        assert answer.headers["Content-Type"] == "image/svg+xml"
        assert answer.status_code == 200


def test_model_that_does_not_fit_is_said_in_the_figure_with_a_way_back(client: TestClient) -> None:
    answer = client.get(f"/?{TOO_LARGE}")

    assert answer.status_code == 200
    assert re.search(r"GiB", answer.text)
    assert "Back to Llama-3.1-8B" in answer.text
    assert "embed/memory.svg" in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("query", "words"),
    [("gpu=h1000", "gpu: h1000"), ("rate=3", "model and gpu only"), ("model=", "model")],
)
def test_what_cannot_be_read_is_refused_with_the_name_and_what_is_allowed(
    query: str, words: str, client: TestClient
) -> None:
    answer = client.get(f"/?{query}")

    assert answer.status_code == 422
    assert words in answer.text


def test_unknown_lesson_is_not_found(client: TestClient) -> None:
    answer = client.get("/lessons/none/", headers={"Accept": "text/html"})

    assert answer.status_code == 404
    assert "There is no lesson none" in answer.text


def test_contents_lead_to_every_lesson(client: TestClient) -> None:
    page = Page(client.get("/lessons/").text)

    assert {f"{lesson.slug}/" for lesson in ALL[1:]} <= set(page.links)
    covers = re.findall(r'src="\.\./(embed/[^"]+)"', client.get("/lessons/").text)
    assert len(covers) == len(ALL) - 1
    for cover in covers:
        assert client.get(f"/{cover.replace('&amp;', '&')}").headers["Content-Type"] == "image/svg+xml"


def test_lab_link_of_a_stage_opens_the_same_scenario_at_the_same_time(client: TestClient) -> None:
    page = Page(client.get("/").text)

    opened = [read_query(parse_qsl(urlsplit(link).query, keep_blank_values=True)) for link in page.lab_links]
    shown = [read_query(parse_query(section.query)) for lesson, section in STAGES if lesson.slug == "tour"]
    assert [views.scenarios for views in opened] == [views.scenarios for views in shown]
    assert [views.t for views in opened] == pytest.approx([views.t for views in shown], abs=0.05)


def test_what_is_missing_is_written_as_a_dash() -> None:
    assert written(MISSING.metrics["ttft_s"].p50 / 3, "ms") == "–"
    assert nearest(MISSING.x, {1: "one", 2: "two"}) == nearest(0, {1: "one"}) == around(0.1, "count", (1, 2)) == []
