"""The line of advice about each group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oracle.report import advice_of_group
from oracle.report.facts import facts_of
from oracle.report.load import load
from pipeline.audit import AuditSummary
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, LOPSIDED, RESTLESS, TWICE, even
from tests.support.shapes import Document

SWITCH = "use (cooperative-)sticky:"
RATE = "partitions per rebalance"
INVALID = "its last assignment is invalid"


def advice_of(
    folder: Path,
    *answers: Document,
    other: Document = BEST,
    assignor: str = "range",
    protocol: str = "classic",
    cooperative: bool = False,
) -> str:
    """Return the advice to a group that gave these answers, one per rebalance."""
    audit = Audit()
    for generation, answer in enumerate(answers, start=1):
        audit.rebalance(
            even("orders"),
            {"actual": answer, "sticky": other, "uniform": other},
            generation=generation,
            assignor=assignor,
            protocol=protocol,
            cooperative=cooperative,
        )
    (row,) = facts_of(load(audit.write(folder / "audit"))).groups
    return row.advice


def test_nothing_to_gain(tmp_path: Path) -> None:
    assert advice_of(tmp_path, *[BEST] * 5) == "nothing to gain"


def test_needless_moves_that_another_assignor_would_not_make(tmp_path: Path) -> None:
    advice = advice_of(tmp_path, *[RESTLESS] * 4, BEST)
    assert advice == f"{SWITCH} 2.4 → 0.0 {RATE}"


def test_the_last_state_is_first(tmp_path: Path) -> None:
    advice = advice_of(tmp_path, *[RESTLESS] * 4, LOPSIDED)
    now = "balance it now: at least 1 transfer"
    assert advice == f"{now}; {SWITCH} 2.6 → 0.0 {RATE}"


def test_a_former_state_says_nothing_about_now(tmp_path: Path) -> None:
    advice = advice_of(tmp_path, TWICE, LOPSIDED, BEST)
    assert advice == f"0.7 {RATE} off the optimum: see explain"


def test_an_invalid_last_assignment_is_named(tmp_path: Path) -> None:
    assert advice_of(tmp_path, LOPSIDED, TWICE) == INVALID


def test_four_rebalances_are_no_evidence(tmp_path: Path) -> None:
    advice = advice_of(tmp_path, *[RESTLESS] * 4)
    assert advice == f"3.0 {RATE} off the optimum: see explain"


def test_an_assignor_that_is_no_better_is_not_named(tmp_path: Path) -> None:
    advice = advice_of(tmp_path, *[RESTLESS] * 5, other=RESTLESS)
    assert advice == f"3.0 {RATE} off the optimum: see explain"


@pytest.mark.parametrize("assignor", ["sticky", "uniform"])
def test_nobody_is_advised_to_switch_to_the_same(tmp_path: Path, assignor: str) -> None:
    protocol = {"sticky": "classic", "uniform": "consumer"}[assignor]
    advice = advice_of(tmp_path, *[RESTLESS] * 5, assignor=assignor, protocol=protocol)
    assert advice == f"3.0 {RATE} off the optimum: see explain"


def test_groups_of_the_new_protocol_have_another_alternative(tmp_path: Path) -> None:
    advice = advice_of(
        tmp_path, *[RESTLESS] * 5, assignor="server-range", protocol="consumer"
    )
    assert advice == f"use uniform: 3.0 → 0.0 {RATE}"


def audit_of(*answers: Document, other: Document | str, **more: Any) -> Audit:
    """Return an audit of one group with another answer of ``sticky`` to each."""
    audit = Audit()
    for generation, answer in enumerate(answers, start=1):
        audit.rebalance(
            even("orders"),
            {"actual": answer, "sticky": other, "round-robin": BEST},
            generation=generation,
            **({"assignor": "range"} | more),
        )
    return audit


def lines_of(audit: Audit, folder: Path) -> dict[str | None, str]:
    """Return the advice in each row of a group, by assignor."""
    rows = facts_of(load(audit.write(folder / "audit"))).groups
    return {row.assignor: row.advice for row in rows}


def test_ties_go_to_the_sticky_assignor(tmp_path: Path) -> None:
    audit = audit_of(*[RESTLESS] * 5, other=BEST)
    line = f"{SWITCH} 3.0 → 0.0 {RATE}"
    assert lines_of(audit, tmp_path) == {"range": line}


def test_the_better_of_two_is_named(tmp_path: Path) -> None:
    audit = audit_of(*[RESTLESS] * 5, other=LOPSIDED)
    line = f"use round-robin: 3.0 → 0.0 {RATE}"
    assert lines_of(audit, tmp_path) == {"range": line}


def test_an_assignor_that_refuses_is_not_named(tmp_path: Path) -> None:
    audit = audit_of(*[RESTLESS] * 5, other=BEST)
    for row in audit.rows["answers"]:
        if row["rebalance_id"] == "orders#2" and row["assignor"] == "sticky":
            row |= {"applies": False, "refused": "no"}
    line = f"use round-robin: 3.0 → 0.0 {RATE}"
    assert lines_of(audit, tmp_path) == {"range": line}


def test_nobody_is_advised_to_use_the_same_by_its_other_name(tmp_path: Path) -> None:
    audit = audit_of(*[RESTLESS] * 5, other=RESTLESS, assignor="roundrobin")
    line = f"3.0 {RATE} off the optimum: see explain"
    assert lines_of(audit, tmp_path) == {"roundrobin": line}


def test_only_the_last_assignor_of_a_group_has_advice(tmp_path: Path) -> None:
    """The former one's rebalances are no evidence about the present one."""
    audit = audit_of(*[RESTLESS] * 5, other=BEST)
    for generation in range(6, 11):
        audit.rebalance(
            even("orders"),
            {"actual": BEST, "sticky": BEST},
            generation=generation,
            assignor="roundrobin",
        )
    found = lines_of(audit, tmp_path)
    assert found == {"range": "", "roundrobin": "nothing to gain"}


def test_of_rebalances_without_a_generation_the_last_line_is_last(
    tmp_path: Path,
) -> None:
    """By value: line 10 follows line 9."""
    audit = audit_of(*[BEST] * 9, LOPSIDED, other=BEST)
    for row in (*audit.rows["answers"], *audit.rows["rebalances"]):
        row["generation"] = None
    line = "balance it now: at least 1 transfer"
    assert lines_of(audit, tmp_path) == {"range": f"{line}; {SWITCH} 0.1 → 0.0 {RATE}"}


def test_a_later_day_follows_a_higher_generation(tmp_path: Path) -> None:
    """A group that was created again counts its generations from 1."""
    audit = audit_of(BEST, LOPSIDED, other=BEST)
    for row in (*audit.rows["answers"], *audit.rows["rebalances"]):
        row["date"] = "2026-03-02" if row["generation"] == 1 else "2026-03-01"
    line = f"0.5 {RATE} off the optimum: see explain"
    assert lines_of(audit, tmp_path) == {"range": line}


def test_groups_of_the_same_name_in_two_clusters(tmp_path: Path) -> None:
    audit, other = (audit_of(answer, other=BEST) for answer in (BEST, LOPSIDED))
    for name, rows in other.rows.items():
        audit.rows[name] += [row | {"cluster": "test"} for row in rows]
    found = facts_of(load(audit.write(tmp_path / "audit"))).groups
    assert {row.cluster: row.advice for row in found} == {
        "prod": "nothing to gain",
        "test": "balance it now: at least 1 transfer",
    }


@pytest.mark.heavy
def test_the_plan_of_each_recorded_group_has_the_line_of_the_page(
    churn_audit: AuditSummary,
) -> None:
    folder = Path(churn_audit.out)
    rows = [row for row in facts_of(load(folder)).groups if row.advice]
    assert len(rows) > 8
    assert any(row.advice.startswith(SWITCH) for row in rows)
    for row in rows:
        assert advice_of_group(folder, row.group) == row.advice


def test_the_plan_of_a_group_names_each_cluster(tmp_path: Path) -> None:
    audit, other = (audit_of(answer, other=BEST) for answer in (BEST, LOPSIDED))
    for name, rows in other.rows.items():
        audit.rows[name] += [row | {"cluster": "test"} for row in rows]
    audit.rebalance(even("others"), {"actual": RESTLESS})
    found = advice_of_group(audit.write(tmp_path / "audit"), "orders")
    assert found == "prod: nothing to gain; test: balance it now: at least 1 transfer"
