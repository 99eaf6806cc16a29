"""Every figure of a rebalance on the page is that of the judge.

Reaches into ``oracle.report`` to compare single rows without drawing a page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import verify
from oracle.report.facts import units_of
from oracle.report.judged_again import OF_EPISODE
from oracle.report.outliers import solved
from pipeline.evaluation import (
    COLUMNS,
    AssignorAnswer,
    DisagreementError,
    Least,
    answer_columns,
)
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, LOPSIDED, episode_of, even

OF_ANSWER = (
    *OF_EPISODE,
    "applies",
    "evidence",
    "kept",
    "lag_spread",
    "load_max",
    "load_min",
    "loads",
    "peak_lag",
    "peak_lag_bound",
    "proved_dec_min",
    "proved_peak_lag",
    "proved_stickiness",
    "refused",
    "status",
    "violations",
    "withheld",
)
VIOLATION = {"rule": "unassigned", "member": None, "topic": "t", "partition": 0}


def changed(value: Any, name: str) -> Any:
    """Return another value of a column."""
    if name == "violations":
        return [VIOLATION]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value, 0]
    return "other"


def audited() -> Audit:
    """Return two rebalances, the second cooperative, and the step of the latter."""
    audit = Audit()
    audit.rebalance(even("orders", lag=[1, 2, 3, 4]), {"actual": LOPSIDED})
    episode_of(audit, BEST, first=1)
    return audit


def judge_all(audit: Audit, folder: Path) -> int:
    tables = audit.tables(folder)
    units = units_of(tables).to_pylist()
    return len([*solved(tables, units, "newest-claim")])


def test_no_column_is_left_out() -> None:
    """Those that are depend on other answers, or on what a code does not state."""
    verdict = verify.judge(even("g"), BEST)
    columns = answer_columns(
        AssignorAnswer(assignor="actual", assignment=BEST, verdict=verdict),
        Least(),
        None,
    )
    others = {"assignor", "assignment", "judged_by", "rack_mismatches"}
    others |= {"moves_least_kip54", "at_kip54_optimum"}
    assert columns.keys() - others == {*OF_ANSWER}


def test_tables_with_the_verdicts_of_the_judge_are_accepted(tmp_path: Path) -> None:
    assert judge_all(audited(), tmp_path / "audit") == 2


@pytest.mark.parametrize("name", OF_ANSWER)
@pytest.mark.parametrize("assignor", ["actual", "optimum"])
def test_a_false_column_of_an_answer_is_refused(
    assignor: str, name: str, tmp_path: Path
) -> None:
    audit = audited()
    (row,) = (
        row
        for row in audit.rows["answers"]
        if (row["group_id"], row["assignor"]) == ("orders", assignor)
    )
    row["judged_by"] = COLUMNS
    row[name] = changed(row[name], name)
    if (assignor, name) == ("actual", "applies"):
        assert judge_all(audit, tmp_path / "audit") == 1  # such a row is not shown
        return
    words = rf"rebalance orders#1: {assignor}: the judge and the tables differ: {name}:"
    with pytest.raises(DisagreementError, match=words):
        judge_all(audit, tmp_path / "audit")


@pytest.mark.parametrize("name", OF_EPISODE)
def test_a_false_column_of_an_episode_is_refused(name: str, tmp_path: Path) -> None:
    audit = audited()
    (row,) = audit.rows["episodes"]
    row[name] = changed(row[name], name)
    words = rf"rebalance feed#1: actual: the judge and the tables differ: {name}:"
    with pytest.raises(DisagreementError, match=words):
        judge_all(audit, tmp_path / "audit")


def test_a_false_optimum_is_refused(tmp_path: Path) -> None:
    """It is that of the tables, and not another one that the page computes."""
    audit = audited()
    rows = [row for row in audit.rows["answers"] if row["group_id"] == "orders"]
    (given,) = (row for row in rows if row["assignor"] == "actual")
    (best,) = (row for row in rows if row["assignor"] == "optimum")
    best["assignment"] = given["assignment"]
    with pytest.raises(DisagreementError, match=r"(optimum|actual): the judge"):
        judge_all(audit, tmp_path / "audit")
