"""Figures of groups equal counts of the tables' rows, and those of the page.

Reaches into `oracle.report`, to compare the figures with the numbers of the page.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from oracle.alerting import read_figures
from oracle.report.facts import facts_of
from oracle.report.load import load
from oracle.summary import FIGURES
from pipeline.audit import AuditSummary
from pipeline.tables import read_table
from tests.oracle.report.histories import audit_of, drawn_sources, write_sources
from tests.oracle.report.scenes import small_audit, with_snapshots
from tests.pipeline.groups import Log
from tests.support.examples import one_in

Sums = dict[tuple[str, str], Counter[str]]


def counted(folder: Path) -> Sums:
    """Count rows one by one, and take needless moves and balance from the page."""
    found: Sums = {}

    def add(row: dict[str, str], name: str, number: int | bool | None) -> None:
        key = row["cluster"], row["group_id"]
        found.setdefault(key, Counter())[name] += number or 0

    for row in read_table(folder, "rebalances").to_pylist():
        add(row, "rebalances", 1)
        add(row, "durations_unknown", row["lasted_ms"] is None)
    for row in read_table(folder, "answers").to_pylist():
        if row["assignor"] == "actual":
            add(row, "invalid", row["verdict"] not in ("valid", None))
            for name in ("unread_partition_ms", "shared_partition_ms"):
                add(row, name, row[name])
    for row in read_table(folder, "snapshots").to_pylist():
        if row["state_of"] is None:
            add(row, "invalid", row["verdict"] == "invalid")
    facts = facts_of(load(folder))
    for client in facts.groups:
        key = {"cluster": client.cluster, "group_id": client.group}
        add(key, "unbalanced", client.counts.unbalanced)
        add(key, "needless_moves", client.counts.needless_moves)
    for state in facts.states.rows:
        key = {"cluster": state.cluster, "group_id": state.group}
        add(key, "unbalanced", state.counts.unbalanced)
    return found


def check_figures(folder: Path) -> Sums:
    """Compare the figures with the counts; return them."""
    figures = read_figures(folder).groups
    keys = [(row["cluster"], row["group_id"]) for row in figures]
    assert keys == sorted(set(keys))
    found = {
        key: Counter({name: row[name] for name in FIGURES})
        for key, row in zip(keys, figures, strict=True)
    }
    assert found == counted(folder)
    return found


def test_an_audit_of_which_every_number_is_known(tmp_path: Path) -> None:
    folder = with_snapshots(small_audit()).write(tmp_path / "audit")
    found = check_figures(folder)
    names = ("rebalances", "invalid", "unbalanced", "needless_moves")
    assert {
        group: tuple(figures[name] for name in names)
        for (_, group), figures in found.items()
    } == {
        "billing": (0, 1, 1, 0),
        "calm": (0, 0, 0, 0),
        "chain": (1, 0, 1, 0),
        "feed": (6, 0, 0, 3),
        "logged": (0, 0, 0, 0),
        "orders": (5, 1, 1, 6),
    }


@pytest.mark.heavy
@one_in(6)
@given(drawn=drawn_sources())
def test_figures_of_drawn_audits(drawn: tuple[Log, str]) -> None:
    with TemporaryDirectory() as folder:
        sources = write_sources(Path(folder) / "sources", *drawn)
        check_figures(audit_of(sources, Path(folder) / "audit"))


@pytest.mark.heavy
def test_figures_of_a_recording(churn_audit: AuditSummary) -> None:
    found = check_figures(Path(churn_audit.out))
    total = sum(found.values(), Counter[str]())
    assert total["rebalances"] == churn_audit.rows["rebalances"]
    assert total["invalid"]
    assert total["unread_partition_ms"]
