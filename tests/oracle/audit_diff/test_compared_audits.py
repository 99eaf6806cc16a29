"""Comparisons of known audits: periods, refusals, names on the page, findings."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from oracle.audit_diff import (
    AuditDiff,
    diff_of_audits,
    diff_of_last_night,
    news_of,
    worse_lines,
)
from oracle.report import page_of
from rebalance import SourceError, parse_record
from tests.oracle.audit_diff.drawn_tables import EPOCH, add_rebalance, moment
from tests.oracle.audit_diff.two_nights import (
    DAY,
    HOSTILE,
    HOUR,
    monday,
    store_of,
    tuesday,
)
from tests.oracle.report.audits import Audit
from tests.oracle.report.html_reading import read_html
from tests.oracle.report.scenes import TWICE, even, small_audit
from tests.support.pages import ROOT

SCHEMA = json.loads((ROOT / "docs/data/diff-1.schema.json").read_text())


@pytest.fixture
def nights(tmp_path: Path) -> tuple[Path, Path]:
    return monday().write(tmp_path / "monday"), tuesday().write(tmp_path / "tuesday")


def test_a_document_meets_its_schema_and_is_read_again(
    nights: tuple[Path, Path],
) -> None:
    diff = diff_of_audits(*nights)
    document = diff.to_document()
    Draft202012Validator(SCHEMA).validate(document)
    assert parse_record(AuditDiff, json.dumps(document)) == diff


def test_the_out_of_a_store_is_compared_as_the_folders_of_two_nights(
    nights: tuple[Path, Path],
) -> None:
    """Only the versions of the programs are not known."""
    history = store_of([monday(), tuesday()])
    found = diff_of_last_night(nights[1], history)
    assert found is not None
    expected = diff_of_audits(*nights).to_document()
    for period in ("old", "new"):
        del expected[period]["version"]
    unknown = expected["old"] | {"durations_unknown": 0}
    assert found.to_document() == expected | {"old": unknown}
    assert diff_of_last_night(nights[0], store_of([monday()])) is None


def test_three_nights_compare_the_last_two(tmp_path: Path) -> None:
    """An audit without newer records is not a night of its own."""
    audits = [monday(), tuesday(), tuesday(), tuesday()]
    audits[0].newest_record = moment(HOUR)
    audits[1].newest_record = moment(DAY - 1)
    folder = tuesday().write(tmp_path / "out")
    found = diff_of_last_night(folder, store_of(audits))
    assert found is not None
    assert found.old.since == "2026-03-01T01:00:00.001+00:00"
    assert found.old.until == found.new.since == "2026-03-02T00:00:00.000+00:00"
    kept = store_of(audits) | {"first_day": "2026-03-02"}
    assert diff_of_last_night(folder, kept) is None


def test_a_state_that_goes_on_has_its_harm_in_both_periods(
    nights: tuple[Path, Path],
) -> None:
    (orders, _) = diff_of_audits(*nights).worse
    assert orders.group == "orders"
    assert orders.old.invalid_partition_ms == 4 * HOUR
    assert orders.new.invalid_partition_ms == 4 * 5 * HOUR
    assert (orders.old.invalid, orders.new.invalid) == (1, 0)


def test_new_groups_with_harm_alert_like_groups_that_are_worse(
    nights: tuple[Path, Path],
) -> None:
    diff = diff_of_audits(*nights)
    groups = [row.group for row in diff.worse]
    groups += [row.group for row in diff.new_groups]
    assert [line.group for line in worse_lines(diff)] == groups
    assert diff.worse
    assert diff.new_groups


def test_a_window_that_begins_later_is_noted(
    nights: tuple[Path, Path], tmp_path: Path
) -> None:
    """The state of orders, which began before it, is not in such an audit."""
    later, begin = tuesday(), EPOCH + timedelta(days=1)
    later.asked_for = {"since": begin.isoformat()}
    rows = [row for row in later.rows["rebalances"] if row["at"] >= begin]
    begun = {row["rebalance_id"] for row in rows}
    for table, listed in later.rows.items():
        later.rows[table] = [row for row in listed if row["rebalance_id"] in begun]
    diff = diff_of_audits(nights[0], later.write(tmp_path / "later"))
    assert diff.notes[0].startswith("the new audit has no rebalances before its")
    assert [row.group for row in diff.better] == ["billing", "orders", "feed"]


@pytest.mark.parametrize(
    ("parameters", "sources", "reason"),
    [
        ({"cluster": "other"}, [], "cluster other, and"),
        (
            {"claim_rule": "current-generation"},
            [],
            "claim_rule current-generation, and",
        ),
        ({"groups": ["orders"]}, [], "groups orders, and"),
        ({"max_partitions": 7}, [], "max_partitions 7, and"),
        ({}, [{"kind": "leader-log"}], "an audit of leader-log, and"),
    ],
)
def test_other_audits_are_refused(
    nights: tuple[Path, Path],
    parameters: dict[str, object],
    sources: list[dict[str, str]],
    reason: str,
) -> None:
    path = nights[1] / "audit.json"
    manifest = json.loads(path.read_text())
    manifest["parameters"] |= parameters
    path.write_text(json.dumps(manifest | {"sources": sources}))
    with pytest.raises(SourceError, match=reason):
        diff_of_audits(*nights)


def test_audits_without_times_are_refused(
    nights: tuple[Path, Path], tmp_path: Path
) -> None:
    timeless = tuesday()
    timeless.newest_record = None
    with pytest.raises(SourceError, match="no record has a time"):
        diff_of_audits(nights[0], timeless.write(tmp_path / "timeless"))
    empty = Audit()
    empty.newest_record = moment(2 * DAY)
    with pytest.raises(SourceError, match="no rebalance with a time"):
        diff_of_audits(nights[0], empty.write(tmp_path / "empty"))


def test_versions_and_partition_counts_are_noted(nights: tuple[Path, Path]) -> None:
    path = nights[1] / "audit.json"
    manifest = json.loads(path.read_text())
    manifest["parameters"]["topics"] = None
    manifest["versions"]["assignor-oracle"] = "1.2.4"
    path.write_text(json.dumps(manifest))
    notes = diff_of_audits(*nights).notes
    assert notes[:2] == [
        "the audits are of different versions: 1.2.3, 1.2.4",
        "partition counts are given in one of the audits only",
    ]


def test_a_finding_is_new_once(tmp_path: Path) -> None:
    """The same fault in both periods is not new; in a new group it is."""

    def faulty(group: str, generation: int, at: int) -> None:
        audit.rebalance(
            even(group),
            {"actual": TWICE},
            generation=generation,
            at=moment(at),
            until=moment(at + HOUR),
            ended="next",
            lasted_ms=HOUR,
        )

    found = {}
    for name in ("old", "new"):
        audit = Audit()
        faulty("orders", 1, HOUR)
        if name == "new":
            faulty("orders", 2, DAY + HOUR)
            faulty("billing", 1, DAY + HOUR)
        audit.newest_record = moment(DAY if name == "old" else 2 * DAY)
        found[name] = audit.write(tmp_path / name)
    diff = diff_of_audits(found["old"], found["new"])
    assert {row.rebalance_id for row in diff.invalid} == {"orders#2", "billing#1"}
    assert {row.group for row in diff.findings} <= {"billing"}
    assert diff.findings, "the scene no longer agrees with a finding"
    assert all((ROOT / row.page).is_file() for row in diff.findings)


def test_the_page_isolates_the_names_of_its_first_section(
    nights: tuple[Path, Path], tmp_path: Path
) -> None:
    news = news_of(diff_of_audits(*nights))
    folder = small_audit().write(tmp_path / "audit")
    root = read_html(page_of(folder, news=news))
    section = root.one("main").all("section")[0]
    assert section.one("h2").text == "New since the audit before"
    listed = [line.text for line in section.all("li")]
    assert sum(len(part.lines) for part in news.parts) == len(listed)
    isolated = [name.text for name in section.all("bdi")]
    assert isolated.count("\\u202enight\\u2066 <b>") == 1
    assert isolated.count("mine\\u2067") == 1
    assert not any(mark in section.text for mark in "\u202e\u2066\u2067")
    assert HOSTILE not in section.text


def test_a_page_without_news_has_no_such_section(tmp_path: Path) -> None:
    assert 'id="news"' not in page_of(small_audit().write(tmp_path / "audit"))


def test_more_lines_than_the_page_shows(tmp_path: Path) -> None:
    old, new = Audit(), Audit()
    for number in range(15):
        add_rebalance(old, f"g{number:02}", 1, (0, DAY), ended="open")
        add_rebalance(new, f"g{number:02}", 1, (0, DAY + HOUR))
        add_rebalance(
            new,
            f"g{number:02}",
            2,
            (DAY + HOUR, 2 * DAY),
            ended="open",
            moves=1 + number,
            at_optimum=False,
        )
    old.newest_record, new.newest_record = moment(DAY), moment(2 * DAY)
    diff = diff_of_audits(old.write(tmp_path / "old"), new.write(tmp_path / "new"))
    assert [row.new.needless_moves for row in diff.worse] == [*range(15, 0, -1)]
    (first, part) = news_of(diff).parts
    assert first.title == "Another group has the most harm"
    assert (len(first.lines), len(part.lines), part.more) == (1, 10, 5)


@pytest.mark.parametrize(
    ("moves", "kind"), [(7, None), (8, "worse"), (2, "better"), (3, None)]
)
def test_twice_as_many_per_day_are_worse(
    moves: int, kind: str | None, tmp_path: Path
) -> None:
    """Both periods have a day; four needless moves are in the old one."""
    audits = {}
    for name, end in (("old", DAY), ("new", 2 * DAY)):
        audit = audits[name] = Audit()
        wrong: dict[str, Any] = {"at_optimum": False}
        add_rebalance(audit, "g", 1, (0, DAY + HOUR), moves=4, **wrong)
        if name == "new":
            add_rebalance(audit, "g", 2, (DAY + HOUR, end), moves=moves, **wrong)
        audit.newest_record = moment(end - 1)
        audit.write(tmp_path / name)
    diff = diff_of_audits(tmp_path / "old", tmp_path / "new")
    found = {"worse": diff.worse, "better": diff.better}
    assert [name for name, rows in found.items() if rows] == ([kind] if kind else [])
