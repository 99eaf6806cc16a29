"""Fixtures of the tests of the page."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from oracle.report import page_charts
from tests.pipeline.churn_audit import churn_audit
from tests.support.browsing import running_browser

__all__ = ["churn_audit"]

Draw = Callable[..., str]
DRAWING = ("outcome_bars", "gap_cells")
_DRAWN: dict[bytes, str] = {}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as started:
        yield started


@pytest.fixture(autouse=True)
def charts_drawn_once(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draw a chart once per process: most pages of these tests have the same ones.

    A chart takes a tenth of a second of CPU. Tests with `charts_drawn_anew` draw all.
    """
    if "charts_drawn_anew" not in request.fixturenames:
        for name in DRAWING:
            drawn = _kept(name, getattr(page_charts, name))
            monkeypatch.setattr(page_charts, name, drawn)


@pytest.fixture
def charts_drawn_anew() -> None:
    """Ask for charts that no other test has drawn."""


def _kept(name: str, draw: Draw) -> Draw:
    def drawn(*given: Any, **options: Any) -> str:
        key = pickle.dumps((name, given, options))
        if key not in _DRAWN:
            _DRAWN[key] = draw(*given, **options)
        return _DRAWN[key]

    return drawn
