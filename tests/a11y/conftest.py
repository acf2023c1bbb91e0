"""The same patience and the same ear for complaints as in the browser tests."""

from tests.browser.conftest import complaints, patience  # noqa: F401
