"""The page's contents: every number comes from the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.report import page_of
from tests.oracle.report.audits import Audit
from tests.oracle.report.html_reading import Element, read_html
from tests.oracle.report.scenes import (
    FORGOTTEN,
    RESTLESS,
    even,
    small_audit,
)


def page(audit: Audit, folder: Path, command: str | None = None) -> Element:
    return read_html(page_of(audit.write(folder / "audit"), command=command))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Element:
    return page(small_audit(), tmp_path_factory.mktemp("small"))


def section(root: Element, name: str) -> Element:
    return root.one("section", **{"aria-labelledby": name})


def table(root: Element, name: str, number: int = 0) -> list[list[str]]:
    return section(root, name).all("table")[number].rows()


@pytest.mark.heavy
def test_the_headline_is_the_finding(small: Element) -> None:
    assert small.one("h1").text == (
        "In 6 of 8 rebalances the assignment moved partitions needlessly, left the"
        " group unbalanced or violated a rule."
    )
    assert small.one("head").one("title").text.startswith("In 6 of 8 rebalances")
    lede = small.one("p", class_="lede").text
    assert (
        "in group orders (sticky), 4 of 5 rebalances were not optimal: 2 with" in lede
    )
    assert "For every rebalance, the optimum was computed and proved" in lede


@pytest.mark.heavy
def test_the_tiles(small: Element) -> None:
    tiles = small.one("dl", class_="tiles")
    numbers = [tile.text for tile in tiles.all("dd")]
    words = [tile.text for tile in tiles.all("dt")]
    assert numbers == ["8", "25 %", "9", "2", "1"]
    assert words[0] == "rebalances judged, in 3 groups"
    assert words[2] == "needless moves, in 3 rebalances"


def test_groups_and_their_drawn_rebalances_link_to_each_other(small: Element) -> None:
    rows = {
        row.attributes["id"]: row for row in small.all("tr") if row.attributes.get("id")
    }
    drawn = {
        case.attributes["id"]: case for case in small.all("details", class_="case")
    }
    assert len(drawn) == 5
    found = set()
    for group, row in rows.items():
        for span in row.all(class_="drawn"):
            for link in span.all("a"):
                case = link.attributes["href"].removeprefix("#")
                found.add(case)
                back = drawn[case].all("p")[-1].all("a")[-1].attributes["href"]
                assert back == f"#{group}"
    assert found == drawn.keys()


def test_every_link_within_the_page_has_a_target(small: Element) -> None:
    ids = {element.attributes.get("id") for element in small.all()}
    links = [element.attributes.get("href", "") for element in small.all("a")]
    within = {link.removeprefix("#") for link in links if link.startswith("#")}
    assert len(within) > 10
    assert within <= ids


def test_the_clients_by_group(small: Element) -> None:
    head, *rows = table(small, "clients")
    assert head[:4] == ["group", "assignor", "potential gain", "judged"]
    gains = [row.pop(2) for row in rows]
    assert gains == ["8", "3", "1", "12"]
    assert [row[0].partition(" ")[2] for row in rows] == [
        (
            "its last assignment is invalid; use range: 1.6 → 1.0 partitions per"
            " rebalance drawn: generation 5, generation 4, generation 2"
        ),
        "1.5 partitions per rebalance off the optimum: see explain drawn: generation 4",
        "balance it now: at least 1 transfer drawn: generation 1",
        "",
    ]
    assert [[row[0].partition(" ")[0], *row[1:]] for row in rows] == [
        ["orders", "sticky", "5", "1 · 20 %", "2 · 6 moves", "1", "1", "75 %"],
        ["feed", "cooperative-sticky", "2", "1 · 50 %", "1 · 3 moves", "0", "0", "–"],
        ["chain", "range", "1", "0 · 0 %", "0", "1", "0", "–"],
        ["all", "", "8", "2 · 25 %", "3 · 9 moves", "2", "1", ""],
    ]
    assert (
        "In addition, 1 rebalance could not be classified"
        in section(small, "clients").text
    )


def test_the_assignors_on_the_same_rebalances(small: Element) -> None:
    _, *rows = table(small, "assignors")
    assert [row[:-1] for row in rows] == [
        ["optimum", "12", "12 · 100 %", "0", "0", "0"],
        ["kip54-sticky", "12", "11 · 92 %", "0", "1", "0"],
        ["constrained-sticky", "5 of 6", "5 · 100 %", "0", "0", "0"],
        ["as recorded", "6", "1 · 17 %", "2 · 6 moves", "2", "1"],
        ["range", "6", "0 · 0 %", "0", "6", "0"],
    ]


def test_the_charts_have_the_same_numbers(small: Element) -> None:
    for variant in ("wide", "narrow"):
        chart = section(small, "clients").one("div", class_=variant)
        texts = [element.text for element in chart.all("text")]
        assert chart.attributes["role"] == "img"
        assert "table below" in chart.attributes["aria-label"]
        for label in ("orders", "chain", "feed", "20 %", "50 %"):
            assert label in texts
        # By group: optimum, needless, unbalanced, invalid, open.
        counts = sorted(text for text in texts if text.isdigit())
        assert counts == sorted(["1", "2", "1", "1", "1", "1", "1", "1"])


def test_gaps_by_size(small: Element) -> None:
    balance, moves, lag = (table(small, "gaps", number) for number in range(3))
    assert balance[0] == ["assignor", "0", "≤4", "≤16", "≤64", "≤256", ">256"]
    assert balance[1:] == [
        ["constrained-sticky", "5", "0", "0", "0", "0", "0"],
        ["as recorded", "3", "1", "1", "0", "0", "0"],
        ["range", "0", "5", "1", "0", "0", "0"],
    ]
    assert moves[1:] == [
        ["constrained-sticky", "5", "0", "0", "0", "0", "0"],
        ["as recorded", "1", "0", "2", "0", "0", "0"],
    ]
    # Bound 40: a's 0, 1 and b's 2 make 30; c's 3 is 40. Reversed, a has 70.
    assert lag[1:] == [
        ["constrained-sticky", "5", "0", "0", "0", "0", "0"],
        ["as recorded", "1", "0", "0", "0", "3", "0"],
        ["range", "0", "0", "0", "0", "5", "0"],
    ]


def test_cooperative_rebalances(small: Element) -> None:
    _, *rows = table(small, "cooperative")
    assert rows == [
        ["feed", "cooperative-sticky", "2", "1", "2.0", "2", "5", "2", "1", "4.5"]
    ]


def cases(root: Element) -> list[Element]:
    return root.all("details", class_="case")


def test_the_worst_are_shown_worst_first(small: Element) -> None:
    found = [case.one("summary") for case in cases(small)]
    said = [summary.one("span", class_="said").text for summary in found]
    assert [summary.one("strong").text for summary in found] == [
        "orders, generation 5",
        "chain, generation 1",
        "orders, generation 4",
        "feed, generation 4",
        "orders, generation 2",
    ]
    assert said == [
        "1 partition, such as t 1, assigned to several members (b).",
        "Loads (partitions × members) 2×1, 1×2, 0×1. Optimal: 1×4.",
        "Loads (partitions × members) 2×2, 0×1. Optimal: 2×1, 1×2.",
        "Moved 4 partitions; 1 was needed for optimal loads.",
        "Moved 4 partitions; 1 was needed for optimal loads.",
    ]


def pieces(cell: Element) -> list[tuple[str, str]]:
    return [
        (piece.attributes["class"].split()[-1], piece.text)
        for piece in cell.all("span", class_="piece")
    ]


def test_owners_before_and_after(small: Element) -> None:
    restless = cases(small)[-1].one("table")
    (_, *rows) = restless.all("tr")
    assert [row.one("th").text for row in rows] == ["a", "b", "c"]
    drawn = [[pieces(cell) for cell in row.all("td")] for row in rows]
    assert drawn == [
        [
            [("needless", "✕ needless move: 0-1")],
            [
                ("needed", "→ moved, as in the optimum: 3"),
                ("needless", "✕ needless move: 2"),
            ],
            [("kept", "stays: 0-1")],
        ],
        [
            [
                ("needed", "→ moved, as in the optimum: 3"),
                ("needless", "✕ needless move: 2"),
            ],
            [("needless", "✕ needless move: 0")],
            [("kept", "stays: 2")],
        ],
        [
            [],
            [("needless", "✕ needless move: 1")],
            [("needed", "→ moved, as in the optimum: 3")],
        ],
    ]


@pytest.mark.heavy
def test_what_is_against_the_rules_is_marked(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(even("orders"), {"actual": FORGOTTEN})
    (case,) = cases(page(audit, tmp_path))
    assert "1 partition, such as t 3, assigned to no member" in case.text
    *_, nobody = case.one("table").all("tr")
    assert nobody.one("th").text == "nobody"
    assert [pieces(cell) for cell in nobody.all("td")] == [
        [],
        [("forbidden", "! invalid: 3")],
        [],
    ]


def test_the_chain_is_the_proof(small: Element) -> None:
    (case,) = (case for case in cases(small) if case.text.startswith("chain"))
    text = case.text
    hops = [hop.text for hop in case.one("ul", class_="chain").all("li")]
    assert hops == ["t 0 from a to b", "u 0 from b to c", "v 0 from c to d"]
    assert "a had 2 partitions, d 0." in text
    assert (
        "Why 3 moves are the fewest. Of 4 owned partitions the optimum keeps 1" in text
    )
    assert "proves that no assignment with loads 1×4 keeps more than 1." in text


@pytest.mark.heavy
def test_a_proof_that_fails_is_not_claimed(tmp_path: Path) -> None:
    """ "Proved" is stated only if the judge has confirmed it."""
    audit = Audit()
    audit.rebalance(even("orders"), {"actual": RESTLESS})
    audit.rebalance(even("orders"), {"actual": RESTLESS}, generation=2)
    for row in audit.rows["answers"]:
        if row["generation"] == 1:
            row["proved_stickiness"] = False
            row["moves_least"] = row["at_optimum"] = None
    root = page(audit, tmp_path)
    lede = root.one("p", class_="lede").text
    assert "For 1 of 2 generations, the optimum was computed and proved" in lede
    assert root.one("h1").text.startswith("In 1 of 1 rebalances")
    assert "In addition, 1 rebalance could not be classified" in root.text
    assert len(cases(root)) == 1


def test_what_was_audited(small: Element) -> None:
    found = section(small, "audited")
    facts = found.one("dl", class_="facts")
    shown = dict(
        zip(
            (term.text for term in facts.all("dt")),
            (meaning.text for meaning in facts.all("dd")),
            strict=True,
        )
    )
    assert shown["source"] == "churn/records.jsonl"
    assert shown["time"] == "2026-03-01 12:00:01 UTC to 2026-03-01 12:00:06 UTC"
    assert shown["groups"] == "3, up to 4 members and 4 partitions"
    assert (
        shown["assignors of clients"] == "cooperative-sticky (6), sticky (5), range (1)"
    )
    assert shown["lag"] == "unknown (7), up to the log end when the recording ended (5)"
    assert found.one("table").rows()[1:] == [
        ["set-aside", "Member", "new group protocol (KIP-848)", "1,200"],
        ["unreadable", "GroupMetadata", "bytes end too early", "3"],
    ]


@pytest.mark.heavy
def test_the_footer_has_the_command_to_repeat_the_audit(tmp_path: Path) -> None:
    command = "assignor-oracle audit 'a b' --out <x>"
    footer = page(small_audit(), tmp_path, command).one("footer")
    assert footer.one("pre").text == command
    for words in ("1.2.3", "2026-03-02T00:00:00+00:00", "TestOS, 2 cores, 8 GiB"):
        assert words in footer.text
