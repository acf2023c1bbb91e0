"""What the browser tests share: a page that must not complain."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser.helpers import BARE, wait_for_picture


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    """Long enough for a machine that does other things too."""
    page.set_default_timeout(90_000)
    expect.set_options(timeout=20_000)


@pytest.fixture(autouse=True)
def complaints(page: Page) -> Iterator[list[str]]:
    """Console errors and uncaught exceptions; any that a test does not clear fails it."""
    said: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            said.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield said
    assert said == []


@pytest.fixture
def lab(page: Page) -> Page:
    """The lab, drawn and at rest."""
    page.goto(BARE)
    wait_for_picture(page)
    return page
