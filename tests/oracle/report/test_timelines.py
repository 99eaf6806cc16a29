"""Timelines: ticks, their texts, and drawings, equal with and without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from oracle.report import write_page
from oracle.report.timeline_drawing import words_of
from oracle.report.timelines import (
    FEWER,
    Timeline,
    coarser,
    text_of,
    texts_within,
    timelines_of,
)
from oracle.summary import OUTCOMES
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, FORGOTTEN, LOPSIDED, RESTLESS, even

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK = re.compile(
    r"([A-E])([0-9a-z]*)(?:\.([0-9a-z]+))?(?:!([0-9a-z]+))?(?:_([0-9a-z]+))?"
    r"(?:~([0-9a-z]+))?"
)
ANSWERS = (BEST, RESTLESS, LOPSIDED, FORGOTTEN)


def busy(rebalances: int = 40, **values: Any) -> Audit:
    """Return a group with a rebalance every ten seconds, each outcome in turn."""
    audit = Audit()
    for number in range(rebalances):
        audit.rebalance(
            even("orders", lag=[1, 2, 3, number]),
            {"actual": ANSWERS[number % len(ANSWERS)]},
            generation=number,
            at=START + timedelta(seconds=10 * number),
            **values,
        )
    return audit


def timeline(audit: Audit, folder: Path) -> Timeline:
    (found,) = timelines_of(audit.tables(folder / "audit")).of_group.values()
    return found


def decoded(text: str) -> list[tuple[int, int, int, int, int, int]]:
    """Return place, outcome, members, peak, unread, and lag of each tick."""
    at, members, ticks = 0, 0, []
    for letter, step, now, peak, unread, lag in TICK.findall(text):
        at += int(step or "0", 36)
        members = int(now, 36) if now else members
        most = int(peak or "0", 36)
        left = int(unread, 36) if unread else most
        known = int(lag, 36) if lag else -1
        ticks.append((at, "ABCDE".index(letter), members, most, left, known))
    return ticks


def columns(line: Timeline) -> Iterator[tuple[int, ...]]:
    found = (line.place, line.outcome, line.members, line.peak, line.unread, line.lag)
    return zip(*(column.tolist() for column in found), strict=True)


def test_each_rebalance_is_a_tick_with_its_outcome(tmp_path: Path) -> None:
    line = timeline(busy(), tmp_path)
    names = [OUTCOMES[outcome] for outcome in line.outcome.tolist()]
    assert names == ["optimum", "needless", "unbalanced", "invalid"] * 10
    assert line.place.tolist() == [number * 1000 // 39 for number in range(40)]
    assert line.unread.tolist() == [0, 0, 0, 1] * 10
    assert (line.start, line.length) == (START.timestamp() * 1000, 390_000)
    assert line.extremes.counts == (10, 10, 10, 10, 0)
    assert words_of(line, own=False).startswith(
        "40 generations; 3 members; up to 1 partition without an owner; peak lag up to "
    )


def test_the_text_has_all_ticks(tmp_path: Path) -> None:
    line = timeline(busy(), tmp_path)
    assert decoded(text_of(line)) == [*columns(line)]


@pytest.mark.parametrize("places", FEWER)
def test_ticks_at_one_place_are_one(tmp_path: Path, places: int) -> None:
    """It has the worst outcome, the most unread partitions, and the last state."""
    line = timeline(busy(), tmp_path)
    rough = coarser(line, places)
    assert len(np.unique(rough.place)) == len(rough.place) <= places + 1
    assert decoded(text_of(rough)) == [*columns(rough)]
    assert rough.unread[-1] == line.unread[-1]
    assert rough.extremes == line.extremes
    step = 1000 // places
    for at, outcome, _, peak, *_ in columns(rough):
        same = line.place // step == at // step
        assert peak == line.peak[same].max()
        assert (OUTCOMES[outcome] == "invalid") == (3 in line.outcome[same])


def test_long_texts_have_fewer_places_and_equal_ones_count_once(tmp_path: Path) -> None:
    line = timeline(busy(), tmp_path)
    (whole,) = texts_within([line])
    assert texts_within([line] * 100, len(whole)) == [whole] * 100
    (cut,) = texts_within([line], len(whole) - 1)
    assert len(cut) < len(whole)


def test_a_group_without_times_has_no_timeline(tmp_path: Path) -> None:
    audit = busy(3)
    for row in audit.rows["rebalances"]:
        row["at"] = None
    assert timelines_of(audit.tables(tmp_path / "audit")).of_group == {}


def test_the_last_state_ends_where_the_next_one_begins(tmp_path: Path) -> None:
    audit = busy(3)
    audit.rows["rebalances"][-1] |= {
        "until": START + timedelta(seconds=25),
        "ended": "empty",
    }
    audit.rebalance(even("later"), {"actual": BEST}, at=START + timedelta(hours=1))
    found = timelines_of(audit.tables(tmp_path / "audit"))
    line = found.of_group["prod", "orders"]
    assert (line.lasts, line.ended) == (5_000, True)
    assert found.of_group["prod", "later"].lasts == -1
    assert found.are_short([line])
    assert not found.are_short([])


@pytest.mark.heavy
@pytest.mark.parametrize("alone", [True, False])
def test_scripts_draw_the_same_timelines(
    browser: Browser, tmp_path: Path, alone: bool
) -> None:
    """On the axis of all, and on one of each group."""
    audit = busy()
    if not alone:
        for generation in (1, 2):
            later = START + timedelta(days=generation)
            audit.rebalance(
                even("later"), {"actual": BEST}, generation=generation, at=later
            )
    folder = audit.write(tmp_path / "audit")
    write_page(folder, folder / "index.html")
    shown = []
    for scripts in (False, True):
        context = browser.new_context(java_script_enabled=scripts)
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        figures = page.locator("figure.timeline")
        shown.append(
            [
                (
                    figure.inner_text(),
                    figure.locator("[role=img]").get_attribute("aria-label"),
                    [
                        (path.get_attribute("class"), path.get_attribute("d"))
                        for path in figure.locator("path").all()
                    ],
                )
                for figure in figures.all()
            ]
        )
        context.close()
    assert shown[0] == shown[1]
    assert len(shown[0]) == 2 - alone
