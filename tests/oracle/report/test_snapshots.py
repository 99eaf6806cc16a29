"""Snapshots on the page: counted by themselves, and only as far as they are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.report.facts import ENOUGH_JUDGED, facts_of
from oracle.report.load import load
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, LOPSIDED, RESTLESS, even, small_audit
from tests.oracle.report.test_page import page, section, table


def with_snapshots(audit: Audit) -> Audit:
    """Add seven: 1 balanced, 1 unbalanced, 1 invalid, 3 unknown, 1 recorded."""
    audit.snapshot("logged", 1, balanced=True, verdict="valid")
    audit.snapshot("orders", 1, balanced=None, if_equal=True)
    audit.snapshot("orders", 2, balanced=None)
    audit.snapshot("orders", 3, balanced=True, verdict="valid", state_of="orders#1")
    audit.snapshot("billing", 1, balanced=False)
    audit.snapshot("billing", 2, balanced=None, verdict="invalid")
    audit.snapshot("calm", 1, balanced=None, if_equal=False)
    return audit


@pytest.mark.heavy
def test_snapshots_change_nothing_about_rebalances(tmp_path: Path) -> None:
    without = page(small_audit(), tmp_path / "without")
    root = page(with_snapshots(small_audit()), tmp_path / "with")
    assert root.one("h1").text == without.one("h1").text
    assert root.one("dl", class_="tiles").text == without.one("dl", class_="tiles").text
    for name in ("clients", "assignors", "gaps", "kip54", "cooperative", "worst"):
        assert section(root, name).text == section(without, name).text
    facts = [
        facts_of(load(tmp_path / folder / "audit")) for folder in ("with", "without")
    ]
    assert facts[0].all_clients == facts[1].all_clients
    assert "Snapshots" not in without.text


@pytest.mark.heavy
def test_snapshots_by_group(tmp_path: Path) -> None:
    root = page(with_snapshots(small_audit()), tmp_path)
    head, *rows = table(root, "snapshots")
    assert head == [
        "group",
        "balanced",
        "unbalanced",
        "invalid",
        "cannot be determined",
        "of these, balanced if equal",
        "unbalanced if equal",
        "in the records",
    ]
    assert rows == [
        ["billing", "0", "1", "1", "0", "0", "0", "0"],
        ["logged", "1", "0", "0", "0", "0", "0", "0"],
        ["calm", "0", "0", "0", "1", "0", "1", "0"],
        ["orders", "0", "0", "0", "2", "1", "0", "1"],
        ["all", "1", "1", "1", "3", "1", "1", "1"],
    ]
    links = section(root, "snapshots").all("a")
    assert [link.attributes["href"] for link in links] == ["#group-orders"]
    text = section(root, "snapshots").text
    assert "The balance of 3 snapshots cannot be determined" in text
    assert "3 snapshots" in [term.text for term in section(root, "snapshots").all("dt")]
    assert "1 snapshot shows a state that the records contain" in text
    assert "1 balanced and 1 unbalanced" in text
    chart = section(root, "snapshots").one("div", class_="wide")
    texts = [element.text for element in chart.all("text")]
    assert {"billing", "calm", "logged", "orders"} <= set(texts)
    assert not any("%" in text for text in texts)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ([None], "The balance of no snapshot in this source can be determined."),
        ([False, None], "Of 2 snapshots, 1 is unbalanced."),
        ([False, False], "Of 2 snapshots, 2 are unbalanced."),
        ([True, None], "Of 2 snapshots, 1 is balanced."),
    ],
)
def test_the_headline_without_rebalances(
    tmp_path: Path, known: list[bool | None], said: str
) -> None:
    audit = Audit()
    for number, balanced in enumerate(known):
        audit.snapshot("g", number, balanced=balanced)
    root = page(audit, tmp_path)
    assert root.one("h1").text == said
    assert "0 rebalances" not in root.text
    lede = root.one("p", class_="lede").text
    assert lede.startswith("The source contains snapshots of groups, not rebalances")
    assert ("of 1 other snapshot cannot" in lede) == (None in known and len(known) > 1)


@pytest.mark.heavy
def test_the_example_needs_enough_judged_rebalances(tmp_path: Path) -> None:
    """Two of two wrong are no example next to one of five."""
    audit = Audit()
    for generation in (1, 2):
        audit.rebalance(even("few"), {"actual": RESTLESS}, generation=generation)
    root = page(audit, tmp_path / "few")
    assert "worst results" not in root.one("p", class_="lede").text
    for generation in range(1, ENOUGH_JUDGED + 1):
        answer = LOPSIDED if generation == 1 else BEST
        audit.rebalance(even("many"), {"actual": answer}, generation=generation)
    lede = page(audit, tmp_path / "many").one("p", class_="lede").text
    assert "in group many (sticky), 1 of 5 rebalances were not optimal: 1 unb" in lede
    assert "invalid" not in lede
    assert "needless" not in lede
