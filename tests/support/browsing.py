"""A headless browser for the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tools.browser import find


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Start Chromium; a machine without one fails the test."""
    found = find()
    assert found is not None, "no browser: make browser"
    with sync_playwright() as playwright:
        # The sandbox needs rights that root in a container lacks; the page is ours.
        started = playwright.chromium.launch(
            executable_path=str(found), args=["--no-sandbox"]
        )
        yield started
        started.close()
