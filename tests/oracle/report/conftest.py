"""Fixtures of the tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.pipeline.churn_audit import churn_audit
from tests.support.browsing import running_browser

__all__ = ["churn_audit"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as started:
        yield started
