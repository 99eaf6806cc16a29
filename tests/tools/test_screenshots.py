"""The pictures of pages: their size, where they are shown, and what captions state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support.browsing import running_browser
from tools.screenshots import (
    ADVICE,
    AUDIT,
    REBALANCE,
    SCREENSHOTS,
    WIDTH,
    Screenshot,
    taken,
    write_page,
)

ROOT = Path(__file__).resolve().parents[2]
SHOWN = {AUDIT: "README.md", ADVICE: "docs/audit.md", REBALANCE: "docs/explain.md"}


def size(png: bytes) -> tuple[int, int]:
    """Return width and height, which the header of a PNG has at byte 16."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def caption(shot: Screenshot) -> str:
    text = (ROOT / SHOWN[shot]).read_text(encoding="utf-8")
    found = re.search(rf"!\[([^]]+)]\((?:docs/)?images/{shot.picture}\)", text)
    assert found is not None, f"{SHOWN[shot]} does not show {shot.picture}"
    return " ".join(found[1].split())


@pytest.mark.parametrize("shot", SCREENSHOTS, ids=lambda shot: shot.picture)
def test_every_picture_is_kept_and_shown(shot: Screenshot) -> None:
    width, height = size((ROOT / "docs" / "images" / shot.picture).read_bytes())
    assert width == WIDTH
    assert 400 < height < 1400
    assert len(caption(shot)) > 40


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as started:
        yield started


def text_of(browser: Browser, page: Path) -> str:
    opened = browser.new_page()
    opened.goto(page.as_uri())
    text = opened.locator("body").inner_text()
    opened.close()
    return " ".join(text.split())


@pytest.mark.heavy
def test_the_drawn_rebalance_is_as_its_caption_states(
    browser: Browser, tmp_path: Path
) -> None:
    page = write_page(REBALANCE, tmp_path)
    assert size(taken(browser, REBALANCE, page))[0] == WIDTH
    drawn = page.read_text(encoding="utf-8")
    recorded, best = re.findall(r'role="img" aria-label="([^"]+)"', drawn)
    numbers = re.search(
        r"(\d+) moves leave (.+); in the optimum, (\d+) moves lead to "
        r"(.+)",
        caption(REBALANCE),
    )
    assert numbers is not None
    for moves, label in ((numbers[1], recorded), (numbers[3], best)):
        moved = re.findall(r"(\d+) partitions? from", label)
        assert sum(map(int, moved)) == int(moves), label
    loads = text_of(browser, page).split("Loads (partitions × members) ")[1]
    assert loads.startswith(f"{numbers[2]}. Optimal: {numbers[4]}.")


@pytest.mark.heavy
def test_the_audit_is_as_the_captions_state(browser: Browser, tmp_path: Path) -> None:
    page = write_page(AUDIT, tmp_path)
    text = text_of(browser, page)
    counts = re.search(r"in (\d+) of (\d+) rebalances", caption(AUDIT))
    assert counts is not None
    assert f"In {counts[1]} of {counts[2]} rebalances the" in text
    assert "rebalances judged, in 11 groups" in text
    assert "eleven" in caption(AUDIT)
    group, advice = re.findall(r"`([^`]+)`", caption(ADVICE))
    assert f"{group} open {advice} partitions per rebalance" in text
    for shot in (AUDIT, ADVICE):
        assert size(taken(browser, shot, page))[0] == WIDTH
