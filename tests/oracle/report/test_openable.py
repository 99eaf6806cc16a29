"""Rebalances that can be opened on the page: their data, and how scripts draw them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

import verify
from oracle.report import page_of, write_page
from oracle.report.facts import units_of
from oracle.report.openable import MOST, even_room
from oracle.report.outliers import solved
from tests.oracle.report.audits import Audit
from tests.oracle.report.html_reading import read_html
from tests.oracle.report.scenes import (
    BEST,
    CHAINED,
    LOPSIDED,
    RESTLESS,
    even,
    given,
    small_audit,
)
from tests.support.shapes import CHAIN, Document

ID, TITLE, SAID, BALANCING, COLUMNS, FOLDED, BEFORE = range(7)


def data_of(folder: Path) -> list[dict[str, Any]]:
    """Return the groups in the data of a page."""
    script = read_html(page_of(folder)).all("script", id="rebalance-data")[0]
    found: list[dict[str, Any]] = json.loads("".join(script.words))["groups"]
    return found


def titles(folder: Path) -> dict[str, list[str]]:
    return {
        group["name"]: [rebalance[TITLE] for rebalance in group["rebalances"]]
        for group in data_of(folder)
    }


@pytest.mark.heavy
def test_the_newest_rebalance_of_each_group_is_first(tmp_path: Path) -> None:
    assert titles(small_audit().write(tmp_path / "audit")) == {
        "orders": [
            "2026-03-01 12:00:05 UTC, generation 5 · invalid",
            "2026-03-01 12:00:04 UTC, generation 4 · unbalanced",
            "2026-03-01 12:00:03 UTC, generation 3 · needless moves",
            "2026-03-01 12:00:02 UTC, generation 2 · needless moves",
            "2026-03-01 12:00:01 UTC, generation 1 · at the optimum",
        ],
        "feed": ["generation 4 · needless moves", "generation 2 · at the optimum"],
        "chain": ["2026-03-01 12:00:01 UTC, generation 1 · unbalanced"],
    }


@pytest.mark.heavy
def test_what_is_said_is_what_the_page_says_of_the_worst(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    said = {
        rebalance[ID]: rebalance[SAID]
        for group in data_of(folder)
        for rebalance in group["rebalances"]
    }
    cases = read_html(page_of(folder)).all("details", class_="case")
    assert len(cases) == 5
    for case in cases:
        words = case.one("span", class_="said").text.split()
        assert said[case.attributes["id"]].split() == words
    assert said["rebalance-orders-1"].startswith("At the optimum")


@pytest.mark.heavy
def test_a_group_that_was_created_again_has_two_ids(tmp_path: Path) -> None:
    audit = Audit()
    for _ in range(2):
        audit.rebalance(even("orders"), {"actual": BEST})
    (group,) = data_of(audit.write(tmp_path / "audit"))
    ids = [rebalance[ID] for rebalance in group["rebalances"]]
    assert ids == ["rebalance-orders-1", "rebalance-orders-1.2"]


@pytest.mark.heavy
def test_columns_are_members_of_the_group(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(even("orders"), {"actual": RESTLESS})
    (group,) = data_of(audit.write(tmp_path / "audit"))
    assert group["members"] == ["a", "b", "c"]
    (one,) = group["rebalances"]
    assert (one[COLUMNS], one[FOLDED], one[BEFORE]) == ([0, 1, 2], 0, [2, 2, 0])


@pytest.mark.heavy
def test_the_data_of_each_group_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest remain; a group does not take the room of another."""
    audit = Audit()
    for generation in range(1, 21):
        audit.rebalance(even("orders"), {"actual": RESTLESS}, generation=generation)
    audit.rebalance(even("feed"), {"actual": BEST})
    folder = audit.write(tmp_path / "audit")
    assert len(titles(folder)["orders"]) == 20
    monkeypatch.setattr("oracle.report.openable.DATA_BYTES", 3000)
    _assert_cut(titles(folder))
    monkeypatch.undo()
    monkeypatch.setattr("oracle.report.openable.PARTITIONS", 40)
    _assert_cut(titles(folder))


def _assert_cut(cut: dict[str, list[str]]) -> None:
    assert cut["feed"] == ["2026-03-01 12:00:01 UTC, generation 1 · at the optimum"]
    assert 2 < len(cut["orders"]) < 10
    assert cut["orders"][0] == "2026-03-01 12:00:20 UTC, generation 20 · needless moves"


@pytest.mark.heavy
def test_transfers_are_listed_for_unbalanced_rebalances(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(even("orders"), {"actual": LOPSIDED}, generation=2)
    audit.rebalance(even("orders"), {"actual": RESTLESS}, generation=1)
    (group,) = data_of(audit.write(tmp_path / "audit"))
    shown = [rebalance[BALANCING] for rebalance in group["rebalances"]]
    assert shown == [["t 3 from b to c"], []]


@pytest.mark.parametrize(
    ("instance", "answer", "number"),
    [
        (even("g"), LOPSIDED, 1),
        (CHAIN, CHAINED, 3),
        (even("g"), given(c=[0, 1, 2, 3]), 2),
    ],
)
def test_the_transfers_balance_what_was_recorded(
    tmp_path: Path, instance: Document, answer: Document, number: int
) -> None:
    """Applied to it, they leave an assignment that the judge calls dec-min balanced."""
    audit = Audit()
    answer = answer | {
        "members": {name: {} for name in instance["members"]} | answer["members"]
    }
    audit.rebalance(instance, {"actual": answer})
    tables = audit.tables(tmp_path / "audit")
    units = units_of(tables)
    (found,) = solved(tables, units.to_pylist(), "newest-claim")
    held = {
        name: {topic: {*numbers} for topic, numbers in member.items()}
        for name, member in answer["members"].items()
    }
    for transfer in found.balancing:
        assert transfer.giver is not None
        assert transfer.receiver is not None
        for topic, numbers in transfer.partitions.items():
            assert held[transfer.giver][topic] >= {*numbers}
            held[transfer.giver][topic] -= {*numbers}
            held[transfer.receiver].setdefault(topic, set()).update(numbers)
    after = {
        name: {topic: sorted(numbers) for topic, numbers in topics.items()}
        for name, topics in held.items()
    }
    verdict = verify.judge(
        verify.read_rebalance(json.dumps(instance)),
        verify.read_assignment(json.dumps(answer | {"members": after})),
    )
    assert verdict["verdict"] == "valid"
    assert verdict["figures"]["dec_min_balanced"]
    assert sum(transfer.count for transfer in found.balancing) == number


@drawn(st.lists(st.integers(0, 2 * MOST), max_size=12), st.integers(0, MOST))
def test_room_is_shared_evenly(wanted: list[int], most: int) -> None:
    room = even_room(wanted, most)
    assert sum(room) == min(most, sum(wanted))
    short = [has for has, wants in zip(room, wanted, strict=True) if has < wants]
    if short:
        assert max(room) - min(short) <= 1


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    folder = small_audit().write(tmp_path / "audit")
    write_page(folder, folder / "index.html")
    shown = browser.new_page()
    shown.goto((folder / "index.html").as_uri())
    yield shown
    shown.close()


LINES = """
(place) => [...place.querySelectorAll("svg.moves")].map((svg) => ({
  size: ["width", "height", "viewBox"].map((name) => svg.getAttribute(name)),
  label: svg.parentElement.getAttribute("aria-label"),
  paths: [...svg.querySelectorAll("path")].map((one) => ["class", "d", "stroke-width"]
    .map((name) => one.getAttribute(name)).concat(one.textContent)),
  boxes: [...svg.querySelectorAll("rect")].map((one) =>
    ["x", "y", "width", "height", "rx"].map((name) => one.getAttribute(name))),
  texts: [...svg.querySelectorAll("text")].map((one) =>
    [one.getAttribute("x"), one.getAttribute("y"), one.lastChild.textContent]),
}))
"""


@pytest.mark.heavy
def test_scripts_draw_as_the_page_does(page: Page) -> None:
    """Every rebalance that the page draws itself, opened in the other place."""
    compared = 0
    for group in range(3):
        page.get_by_role("combobox", name="Group", exact=True).select_option(
            index=group
        )
        rebalances = page.get_by_role("combobox", name="Rebalance", exact=True)
        for at in range(rebalances.locator("option").count()):
            rebalances.select_option(index=at)
            id_ = page.evaluate("location.hash").removeprefix("#")
            drawn_by_page = page.query_selector(f"details.case[id='{id_}']")
            if drawn_by_page is None:
                continue
            opened = page.query_selector("#opened")
            assert opened is not None
            there, here = opened.evaluate(LINES), drawn_by_page.evaluate(LINES)
            assert len(here) == 2
            for svg, other in zip(here, there, strict=True):
                for name in svg:
                    assert sorted(map(str, svg[name])) == sorted(map(str, other[name]))
            compared += 1
    assert compared == 5


@pytest.mark.heavy
def test_a_link_opens_any_rebalance(page: Page) -> None:
    def shown() -> list[str]:
        found: list[str] = page.evaluate(
            "[document.activeElement.tagName, ...[...document.querySelectorAll("
            "'#opened select')].map((one) => one.selectedOptions[0].textContent)]"
        )
        return found

    page.goto(page.url + "#rebalance-feed-2")
    assert shown() == ["SELECT", "feed", "generation 2 · at the optimum"]
    page.evaluate("location.hash = '#rebalance-orders-1'")
    page.wait_for_function(
        "document.querySelector('#opened select').selectedOptions[0].text === 'orders'"
    )
    assert shown() == [
        "SELECT",
        "orders",
        "2026-03-01 12:00:01 UTC, generation 1 · at the optimum",
    ]
    assert page.get_by_role("button", name="Older").is_disabled()
    page.get_by_role("button", name="Newer").click()
    assert page.evaluate("location.hash") == "#rebalance-orders-2"
    page.keyboard.press("Enter")  # the button still has the focus
    assert shown()[1:] == [
        "orders",
        "2026-03-01 12:00:03 UTC, generation 3 · needless moves",
    ]


@pytest.mark.heavy
def test_each_group_links_to_its_newest_rebalance(page: Page) -> None:
    def found() -> list[str | None]:
        links = page.get_by_role("link", name="open", exact=True)
        return [link.get_attribute("href") for link in links.all()]

    expected = ["#rebalance-orders-5", "#rebalance-feed-4", "#rebalance-chain-1"]
    assert found() == expected
    page.get_by_role("button", name="invalid").click()  # scripts draw the rows anew
    assert found() == expected
