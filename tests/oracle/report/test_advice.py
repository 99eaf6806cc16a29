"""The line of advice about each group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oracle.report import advice_of_group, write_page
from pipeline.audit import AuditSummary
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, LOPSIDED, RESTLESS, TWICE, even
from tests.support.shapes import Document

SWITCH = "use (cooperative-)sticky:"
RATE = "partitions per rebalance"
INVALID = (
    "its last assignment is invalid (assigned-twice): restart a member, so that the"
    " group assigns anew"
)
NOTHING = "nothing to gain"
LAST = "its last assignment is at least 1 transfer from balance"
WOULD = "would have balanced it"
NEW = {"protocol": "consumer"}
TOO = "; it would have balanced the last assignment (at least 1 transfer)"
FEW = f"{RATE} off the optimum: a comparison of assignors takes 5 judged rebalances"
NONE = f"{RATE} off the optimum: none of Kafka's other assignors does better"


def audit_of(*answers: Document, other: Document = BEST, **more: Any) -> Audit:
    """Return an audit of one group with another answer of ``sticky`` to each."""
    audit = Audit()
    for generation, answer in enumerate(answers, start=1):
        audit.rebalance(
            even("orders"),
            {"actual": answer, "sticky": other, "uniform": other, "round-robin": BEST},
            generation=generation,
            **({"assignor": "range"} | more),
        )
    return audit


def advice_to(audit: Audit, folder: Path) -> str | None:
    """Return the advice to the group of an audit."""
    return advice_of_group(audit.write(folder / "audit"), "orders")


@pytest.mark.parametrize(
    ("answers", "more", "advice"),
    [
        ([BEST] * 5, {}, NOTHING),
        ([*[RESTLESS] * 4, BEST], {}, f"{SWITCH} 2.4 → 0.0 {RATE}"),
        # A former state states nothing about now.
        ([*[RESTLESS] * 4, LOPSIDED], {}, f"{SWITCH} 2.6 → 0.0 {RATE}{TOO}"),
        ([TWICE, LOPSIDED, BEST], {}, f"0.7 {FEW}"),
        ([LOPSIDED, TWICE], {}, f"{INVALID}; 1.0 {FEW}"),
        # Four rebalances are not evidence about others, but of themselves.
        ([RESTLESS] * 4, {}, f"3.0 {FEW}"),
        ([BEST, LOPSIDED], {}, f"{LAST}: (cooperative-)sticky {WOULD}"),
        (
            [BEST, LOPSIDED],
            {"other": LOPSIDED},
            f"{LAST}: round-robin {WOULD}",
        ),
        # Ties go to the sticky assignor; otherwise, the better one is named.
        ([RESTLESS] * 5, {}, f"{SWITCH} 3.0 → 0.0 {RATE}"),
        ([RESTLESS] * 5, {"other": LOPSIDED}, f"use round-robin: 3.0 → 0.0 {RATE}"),
        # Nobody is advised to use the same, also by its other name.
        ([RESTLESS] * 5, {"other": RESTLESS, "assignor": "roundrobin"}, f"3.0 {NONE}"),
        (
            [RESTLESS] * 5,
            {"assignor": "sticky"},
            f"use round-robin: 3.0 → 0.0 {RATE}",
        ),
        (
            [RESTLESS] * 5,
            {"assignor": "uniform", **NEW},
            f"3.0 {NONE}",
        ),
        # Groups of the new protocol have another alternative.
        (
            [RESTLESS] * 5,
            {"assignor": "server-range", **NEW},
            f"use uniform: 3.0 → 0.0 {RATE}",
        ),
    ],
)
def test_the_advice_to_a_group(
    answers: list[Document], more: dict[str, Any], advice: str, tmp_path: Path
) -> None:
    assert advice_to(audit_of(*answers, **more), tmp_path) == advice


def test_an_assignor_that_refuses_is_not_named(tmp_path: Path) -> None:
    audit = audit_of(*[RESTLESS] * 5)
    for row in audit.rows["answers"]:
        if row["rebalance_id"] == "orders#2" and row["assignor"] == "sticky":
            row |= {"applies": False, "refused": "no"}
    assert advice_to(audit, tmp_path) == f"use round-robin: 3.0 → 0.0 {RATE}"


def test_only_the_last_assignor_of_a_group_has_advice(tmp_path: Path) -> None:
    """The former one's rebalances are no evidence about the present one."""
    audit = audit_of(*[RESTLESS] * 5)
    for generation in range(6, 11):
        audit.rebalance(
            even("orders"),
            {"actual": BEST, "sticky": BEST},
            generation=generation,
            assignor="roundrobin",
        )
    assert advice_to(audit, tmp_path) == NOTHING


def test_of_rebalances_without_a_generation_the_last_line_is_last(
    tmp_path: Path,
) -> None:
    """By value: line 10 follows line 9."""
    audit = audit_of(*[BEST] * 9, LOPSIDED)
    for row in (*audit.rows["answers"], *audit.rows["rebalances"]):
        row["generation"] = None
    assert advice_to(audit, tmp_path) == f"{SWITCH} 0.1 → 0.0 {RATE}{TOO}"


def test_a_later_day_follows_a_higher_generation(tmp_path: Path) -> None:
    """A group that was created again counts its generations from 1."""
    audit = audit_of(BEST, LOPSIDED)
    for row in (*audit.rows["answers"], *audit.rows["rebalances"]):
        row["date"] = "2026-03-02" if row["generation"] == 1 else "2026-03-01"
    assert advice_to(audit, tmp_path) == f"0.5 {FEW}"


@pytest.mark.heavy
def test_the_plan_of_each_recorded_group_has_the_line_of_the_page(
    churn_audit: AuditSummary, tmp_path: Path
) -> None:
    folder = Path(churn_audit.out)
    facts = write_page(folder, tmp_path / "index.html")
    rows = [row for row in facts.groups if not row.advice.startswith("used before")]
    assert len(rows) > 8
    assert any(row.advice.startswith(SWITCH) for row in rows)
    for row in rows:
        assert advice_of_group(folder, row.group) == row.advice


def test_groups_of_the_same_name_in_two_clusters(tmp_path: Path) -> None:
    audit, other = map(audit_of, (BEST, LOPSIDED))
    for name, rows in other.rows.items():
        audit.rows[name] += [row | {"cluster": "test"} for row in rows]
    audit.rebalance(even("others"), {"actual": RESTLESS})
    found = advice_of_group(audit.write(tmp_path / "audit"), "orders")
    last = f"{LAST}: (cooperative-)sticky {WOULD}"
    assert found == f"prod: {NOTHING}; test: {last}"
