"""Unusual audits, and folders without an audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.report import page_of, write_page
from oracle.report.charts import with_numbered_clips
from oracle.report.facts import GROUPS_SHOWN
from rebalance import OutputError, SourceError
from tests.oracle.cli.commands import CHAIN
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import (
    BEST,
    CHAINED,
    LOPSIDED,
    RESTLESS,
    even,
    given,
    small_audit,
)
from tests.oracle.report.test_page import cases, page, section, table


@pytest.mark.heavy
def test_a_broken_round_breaks_its_episode(tmp_path: Path) -> None:
    audit = Audit()
    key = audit.episode(even("feed"), BEST, first=1, last=2)
    hasty = given(a=[0], b=[2, 3], c=[1])
    for generation, answer in ((1, hasty), (2, BEST)):
        audit.rebalance(
            even("feed"),
            {"actual": answer},
            generation=generation,
            cooperative=True,
            episode_id=key,
        )
    root = page(audit, tmp_path)
    assert root.one("h1").text == "In 1 of 1 rebalances the assignment violated a rule."
    (case,) = cases(root)
    assert "generation 1" in case.text
    assert "assigned before its owner had revoked it" in case.text
    assert table(root, "clients")[1][4:8] == ["0 · 0 %", "0", "0", "1"]


@pytest.mark.heavy
def test_all_at_the_optimum(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(even("orders"), {"actual": BEST})
    root = page(audit, tmp_path)
    assert root.one("h1").text == (
        "1 rebalance, each at the optimum: no assignment would be better."
    )
    assert cases(root) == []
    assert "No records were excluded." in root.text
    assert root.all("section", **{"aria-labelledby": "cooperative"}) == []


@pytest.mark.heavy
def test_bars_have_the_labels_for_which_there_is_room(tmp_path: Path) -> None:
    audit = Audit()
    long = "consumers-of-a-topic-with-a-name-of-many-characters"
    for generation, assignor in enumerate(("range", "cooperative-sticky"), start=1):
        for group in ("upgrade-726", long):
            audit.rebalance(
                even(group), {"actual": BEST}, assignor=assignor, generation=generation
            )
    clients = section(page(audit, tmp_path), "clients")
    labels = {}
    for variant in ("wide", "narrow"):
        texts = clients.one("div", class_=variant).all("text")
        labels[variant] = {text.text for text in texts if text.text[:1] in "cu"}
    assert labels["wide"] == {
        "upgrade-726 range",
        "upgrade-726 cooperative-sticky",
        "consumers-of-a-topic…me-of-many-characters range",
        "consumers-of-a…any-characters cooperative-sticky",
    }
    assert labels["narrow"] == {
        "upgrade-726 range",
        "upg…-726 coop…icky",
        "consu…acters range",
        "cons…ters coo…icky",
    }


def test_nothing_at_all(tmp_path: Path) -> None:
    root = page(Audit(), tmp_path)
    assert root.one("h1").text == "No rebalance in this source could be judged."
    assert "contains no recorded assignment" in root.text


@pytest.mark.heavy
def test_rebalances_without_answers_of_clients(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(even("orders"), {"range": LOPSIDED}, assignor=None)
    root = page(audit, tmp_path)
    assert "1 generation could be read, but without a recorded" in root.text
    assert table(root, "assignors")[-1][0] == "range"


@pytest.mark.heavy
def test_many_groups_are_summed_up(tmp_path: Path) -> None:
    audit = Audit()
    for number in range(GROUPS_SHOWN + 5):
        audit.rebalance(even(f"group-{number:03}"), {"actual": LOPSIDED})
    root = page(audit, tmp_path)
    _, *rows, others, total = table(root, "clients")
    assert len(rows) == GROUPS_SHOWN
    assert others[0] == "5 more groups"
    assert others[2:] == ["5", "5", "0 · 0 %", "0", "5", "0", ""]
    assert total[3] == str(GROUPS_SHOWN + 5)


@pytest.mark.heavy
def test_clusters_are_named_when_there_are_several(tmp_path: Path) -> None:
    audit = Audit("north")
    audit.rebalance(even("orders"), {"actual": BEST})
    audit.cluster = "south"
    audit.rebalance(even("orders"), {"actual": LOPSIDED})
    rows = table(page(audit, tmp_path), "clients")[1:-1]
    assert [row[0] for row in rows] == [
        "south / orders balance it now: at least 1 transfer drawn: generation 1",
        "north / orders nothing to gain",
    ]


@pytest.mark.heavy
def test_the_claim_rule_of_the_audit_is_followed_and_stated(tmp_path: Path) -> None:
    old = even("orders")
    old["members"]["b"]["generation"] = 0
    for rule, kept in (("newest-claim", "KIP-341"), ("current-generation", "KIP-615")):
        audit = Audit(claim_rule=rule)
        audit.rebalance(old, {"actual": RESTLESS})
        root = page(audit, tmp_path / rule)
        assert kept in section(root, "words").text
        (case,) = cases(root)
        owned = "Of 4 owned" if rule == "newest-claim" else "Of 2 owned"
        assert owned in case.text


@pytest.mark.heavy
def test_where_lag_counts_from_is_stated(tmp_path: Path) -> None:
    for reset, end in (("earliest", "start"), ("latest", "end"), ("none", "start")):
        audit = small_audit()
        audit.offset_reset = reset
        text = section(page(audit, tmp_path / reset), "words").text
        assert f"if nothing was committed, from the log {end}." in text


@pytest.mark.heavy
@pytest.mark.usefixtures("charts_drawn_anew")
def test_the_same_tables_give_the_same_page(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    turned = small_audit()
    for rows in turned.rows.values():
        rows.reverse()
    first = page_of(folder)
    assert page_of(folder) == first
    assert page_of(turned.write(tmp_path / "turned")) == first


def test_clip_paths_are_numbered_per_page() -> None:
    def page_with(*numbers: int) -> str:
        return "<p>clip7</p>" + "".join(
            f'<svg><clipPath id="clip{n}"/><g clip-path="url(#clip{n})"/>clip7</svg>'
            for n in numbers
        )

    expected = page_with(1, 2, 1)
    assert with_numbered_clips(page_with(7, 12, 7)) == expected
    assert with_numbered_clips(expected) == expected


@pytest.mark.heavy
def test_the_page_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    write_page(folder, folder / "index.html")
    assert (folder / "index.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(OutputError, match="cannot write"):
        write_page(folder, folder / "absent" / "index.html")
    with pytest.raises(OutputError, match="no space left"):
        write_page(folder, Path("/dev/full"))


def test_folders_that_hold_no_audit(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="folder is missing"):
        page_of(tmp_path)
    folder = small_audit().write(tmp_path / "audit")
    for text, reason in (
        ("{", "not JSON"),
        ("[]", "format"),
        ('{"format": 1}', "format"),
    ):
        (folder / "audit.json").write_text(text)
        with pytest.raises(SourceError, match=reason):
            page_of(folder)
    (folder / "audit.json").unlink()
    with pytest.raises(SourceError, match="no audit here"):
        page_of(folder)


def test_a_table_that_is_none(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    for path in (folder / "answers").rglob("*.parquet"):
        path.write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(SourceError, match="no table of an audit"):
        page_of(folder)


@pytest.mark.heavy
def test_numbers_agree_with_a_count_of_the_rows(tmp_path: Path) -> None:
    """Recount the numbers with loops over the rows."""
    audit = small_audit()
    root = page(audit, tmp_path)
    actual = [
        row
        for row in audit.rows["answers"]
        if row["assignor"] == "actual" and not row["cooperative"]
    ]
    rests = [row for row in audit.rows["episodes"] if row["ended"] == "rest"]
    whole = [*actual, *rests]
    optimum = sum(row["at_optimum"] is True for row in whole)
    invalid = sum(row["verdict"] != "valid" for row in whole)
    uneven = sum(
        row["verdict"] == "valid" and not row["dec_min_balanced"] for row in whole
    )
    needless = sum(
        row["moves"] - row["moves_least"]
        for row in whole
        if row["verdict"] == "valid" and row["dec_min_balanced"]
    )
    tiles = [tile.text for tile in root.one("dl", class_="tiles").all("dd")]
    share = f"{round(100 * optimum / len(whole))} %"
    assert tiles == [str(len(whole)), share, str(needless), str(uneven), str(invalid)]


def test_the_chain_is_as_shown() -> None:
    """The scenario of the corpus: valid and KIP-54 balanced."""
    assert json.dumps(CHAINED["members"]["a"]) == '{"t": [0, 1]}'
    assert CHAIN["members"]["a"]["owned"] == CHAINED["members"]["a"]
