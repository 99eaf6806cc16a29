"""A rebalance as a drawing: what moves, as it was and as it could have been."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given as given_examples
from playwright.sync_api import Browser

from oracle.report import write_page, write_rebalance_page
from oracle.report.assignment_diff import fate_of, holders_of, owners_of, spots_of
from oracle.report.flows import COLUMNS_DRAWN, Flow, Flows, flows_of
from oracle.report.moves_drawing import drawing
from rebalance import instance_of, plain_of, rebalance_of
from solver import solve
from tests.oracle.report.html_reading import Element, read_html
from tests.oracle.report.scenes import (
    BEST,
    FORGOTTEN,
    RESTLESS,
    even,
    given,
    small_audit,
)
from tests.oracle.report.test_browser import CONTRAST, TOO_WIDE
from tests.support.shapes import Document
from tests.support.strategies import rebalances_with_assignments
from verify import Case, case_of, judge_case


def flows(instance: Document, answer: Document, best: Document, *wrong: Any) -> Flows:
    case = case_of(instance)
    return flows_of(case, answer["members"], best["members"], set(wrong))


def moved(*flows: Flow) -> set[tuple[int, int, int, str]]:
    return {(flow.giver, flow.taker, flow.count, flow.fate) for flow in flows}


def test_what_moves_is_counted_per_pair() -> None:
    found = flows(even("orders"), RESTLESS, BEST)
    assert (found.names, found.folded) == (("a", "b", "c"), 0)
    assert (found.before, found.recorded.loads) == ((2, 2, 0), (2, 1, 1))
    assert moved(*found.recorded.flows) == {
        (0, 1, 1, "needless"),
        (0, 2, 1, "needless"),
        (1, 0, 1, "needless"),
        (1, 0, 1, "needed"),
    }
    assert moved(*found.best.flows) == {
        (0, 0, 2, "kept"),
        (1, 1, 1, "kept"),
        (1, 2, 1, "needed"),
    }


def test_what_nobody_holds_has_a_column() -> None:
    found = flows(even("orders"), FORGOTTEN, BEST, (None, "t", 3))
    assert found.names == (None, "a", "b", "c")
    assert found.recorded.loads == (1, 2, 1, 0)
    assert (2, 0, 1, "forbidden") in moved(*found.recorded.flows)


def flows_partition_by_partition(
    case: Case, after: Document, best: Document, wrong: set[Any]
) -> Counter[tuple[str | None, str | None, str]]:
    """Count givers, takers, and fates as recorded, slowly."""
    owner = owners_of(case)
    taken, ideal = holders_of(after, owner), holders_of(best, owner)
    broken = {(topic, number) for _, topic, number in wrong}
    found: Counter[tuple[str | None, str | None, str]] = Counter()
    for spot in {*spots_of(case), *taken}:
        giver, taker = owner.get(spot), taken.get(spot)
        fate = fate_of(giver, taker, ideal.get(spot))
        found[giver, taker, "forbidden" if spot in broken else fate] += 1
    return found


@given_examples(rebalances_with_assignments(valid=False), rebalances_with_assignments())
def test_flows_are_those_of_each_partition(
    pair: tuple[Document, Document], other: tuple[Document, Document]
) -> None:
    """Of answers that break rules, and of one that is for another rebalance."""
    instance, best = pair[0], solve(instance_of(rebalance_of(pair[0])))
    ideal = plain_of(best.to_document(instance_of(rebalance_of(instance))))["members"]
    case = case_of(instance)
    for answer in (pair[1], other[1]):
        verdict = judge_case(case, answer)
        wrong = {
            (v.get("member"), v["topic"], v["partition"])
            for v in verdict["violations"]
            if "topic" in v
        }
        found = flows_of(case, answer["members"], ideal, wrong)
        names = dict(enumerate(found.names))
        assert Counter(
            {
                (names[flow.giver], names[flow.taker], flow.fate): flow.count
                for flow in found.recorded.flows
            }
        ) == flows_partition_by_partition(case, answer["members"], ideal, wrong)


def test_most_members_of_a_large_group_share_a_column() -> None:
    names = [f"m{number:03}" for number in range(100)]
    member = {"subscription": ["t"], "generation": 1}
    instance = even("large") | {
        "topics": {"t": {"partitions": 100}},
        "members": {
            name: member | {"owned": {"t": [at]}} for at, name in enumerate(names)
        },
    }
    stays = given(**{name: [at] for at, name in enumerate(names)})
    swap = {"m098": {"t": [99]}, "m099": {"t": [98]}}
    swapped = stays | {"members": stays["members"] | swap}
    found = flows(instance, swapped, stays)
    assert len(found.names) == COLUMNS_DRAWN
    assert found.names[-2:] == ("m098", "m099")
    assert found.folded == 60
    assert found.before == (1,) * COLUMNS_DRAWN + (60,)
    assert sum(found.recorded.loads) == 100
    assert "60 more" in drawing(found, found.recorded)


def page_of_one(folder: Path, instance: Document, answer: Document) -> Path:
    out = folder / "index.html"
    write_rebalance_page(
        json.dumps(instance),
        json.dumps(answer),
        out,
        claim_rule="newest-claim",
        generation=41,
        at=datetime(2026, 11, 24, 7, 30, 5, tzinfo=UTC),
    )
    return out


def read_one(folder: Path, answer: Document) -> Element:
    return read_html(page_of_one(folder, even("orders"), answer).read_text())


def test_the_page_of_a_rebalance(tmp_path: Path) -> None:
    root = read_one(tmp_path, RESTLESS)
    assert root.one("h1").text == "orders, 2026-11-24 07:30:05 UTC, generation 41"
    assert "Moved 4 partitions; 1 was needed" in root.one("header").text
    assert len(root.all("svg", class_="moves")) == 2
    assert "Why 1 move is the fewest" in root.text


def test_the_page_of_the_best(tmp_path: Path) -> None:
    assert "At the optimum" in read_one(tmp_path, BEST).one("header").text


def test_the_page_of_an_invalid_assignment(tmp_path: Path) -> None:
    lede = read_one(tmp_path, FORGOTTEN).one("header").text
    assert "1 partition, such as t 3, assigned to no member" in lede


HOSTILE = "<img src=x onerror=alert(1)>'\"\u202e" + "x" * 300


def hostile() -> tuple[Document, Document]:
    text = json.dumps((even(HOSTILE), RESTLESS))
    instance, answer = json.loads(text)
    for document in (instance, answer):
        document["members"][HOSTILE] = document["members"].pop("a")
    return instance, answer


def test_names_are_escaped(tmp_path: Path) -> None:
    html = page_of_one(tmp_path, *hostile()).read_text()
    assert "<img" not in html
    assert "\u202e" not in html


@pytest.mark.heavy
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_it_fits_and_has_no_barrier(
    browser: Browser, tmp_path: Path, width: int, scheme: Any
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    for name, pair in (("plain", (even("orders"), RESTLESS)), ("hostile", hostile())):
        (tmp_path / name).mkdir()
        page = context.new_page()
        page.goto(page_of_one(tmp_path / name, *pair).as_uri())
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate(CONTRAST) == []
        found = Axe().run(page).response
        assert [(rule["id"], rule["nodes"]) for rule in found["violations"]] == []
        page.keyboard.press("Tab")  # the drawings can be scrolled by keys
        assert page.evaluate("document.activeElement.className") == "scroll"
        assert page.pdf(format="A4").startswith(b"%PDF")
    context.close()


@pytest.mark.heavy
def test_a_link_opens_a_rebalance(browser: Browser, tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    write_page(folder, folder / "index.html")
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    closed = [
        case.get_attribute("id")
        for case in page.query_selector_all("details.case:not([open])")
    ]
    assert "rebalance-orders-2" in closed
    page.goto((folder / "index.html").as_uri() + "#rebalance-orders-2")
    opened = page.query_selector("#rebalance-orders-2")
    assert opened is not None
    assert opened.get_attribute("open") is not None
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.close()
