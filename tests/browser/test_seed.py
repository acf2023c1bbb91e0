"""The figures that docs/seed.md leads to are drawn from the engine's data, on the page and in the section it names."""

from itertools import groupby
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.docs.test_seed import ROWS
from tests.rows import some_always

pytestmark = pytest.mark.browser

SHOWN = sorted((row for row in ROWS if row["figure"] != "later"), key=lambda row: row["address"])
PAGES = {
    path: sorted({(urlsplit(row["address"]).fragment, row["figure"]) for row in rows})
    for path, rows in (
        (path, list(rows)) for path, rows in groupby(SHOWN, lambda row: row["address"].partition("#")[0])
    )
}
DRAWN = """(card) => {
  const isDrawn = (canvas) => {
    const small = new OffscreenCanvas(16, 16).getContext("2d", { willReadFrequently: true });
    if (canvas.width) small.drawImage(canvas, 0, 0, 16, 16);
    return small.getImageData(0, 0, 16, 16).data.some((value) => value);
  };
  return [...card.querySelectorAll("canvas")].some(isDrawn) ||
    Boolean(card.querySelector(".chart-box[data-drawn], svg [data-block], [data-twin]:not(:empty)"));
}"""


@pytest.mark.parametrize("path", some_always(sorted(path for path in PAGES if path.startswith("lab/")), every=3))
def test_lab_draws_what_the_table_names(page: Page, path: str) -> None:
    page.goto(f"/{path}")
    for _, figure in PAGES[path]:
        assert_drawn(page, f'[data-figure="{figure}"]')


@pytest.mark.parametrize("path", some_always(sorted(path for path in PAGES if not path.startswith("lab/")), every=4))
def test_lesson_draws_what_the_table_names(page: Page, path: str) -> None:
    page.goto(f"/{path}")
    for section, figure in PAGES[path]:
        place = f'#{section} [data-figure="{figure}"]' if section else f'[data-figure="{figure}"]'
        assert_drawn(page, place)


def assert_drawn(page: Page, place: str) -> None:
    card = page.locator(place).first
    card.scroll_into_view_if_needed()
    expect(card).to_be_visible()
    page.wait_for_function(f"(card) => ({DRAWN})(card)", arg=card.element_handle(), timeout=60_000)
