"""Rebalances that the page shows, judged again, and compared with the tables.

The tables have verdicts that compiled code computed, of which the judge checks all in
small audits and a sample in others. Whatever a reader can see of a single rebalance, it
checks here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pyarrow.dataset as ds

import verify
from oracle.report.load import Tables, load_documents
from pipeline.evaluation import (
    ACTUAL,
    OPTIMUM,
    AssignorAnswer,
    DisagreementError,
    Evaluation,
    answer_columns,
    least_of,
)
from pipeline.tables import SCHEMAS
from rebalance import INT64_MAX, ClaimRule, Rebalance, parse_rebalance

Row = Mapping[str, Any]
Document = dict[str, Any]
Stated = tuple[str, dict[str, Row]]
"""A rebalance/1 as text, and rows of a table by assignor."""
_OTHERS: Final = frozenset(
    {
        "assignment",
        "judged_by",
        "rack_mismatches",
        "moves_least_kip54",
        "at_kip54_optimum",
    }
)
"""Columns that are read, not judged; that do not apply without racks; or that depend on
another answer, which the page does not show."""
OF_EPISODE: Final = (
    "verdict",
    "kip54_score",
    "kip54_score_least",
    "kip54_balanced",
    "dec_min_balanced",
    "moves",
    "moves_least",
    "at_optimum",
)
"""Columns of ``episodes`` that state the verdict on the stable state after."""


@dataclass(frozen=True, kw_only=True)
class JudgedAgain:
    """One rebalance, and the judge's verdicts on two answers to it.

    Attributes
    ----------
    text : str
        The rebalance/1.
    instance : dict
        As the judge read it.
    case : Case
        As the judge laid it out, by this claim rule.
    claim_rule : str
    given : AssignorAnswer
        The recorded assignment.
    stated_best : AssignorAnswer or None
        The optimum of the tables; None if they have none.
    """

    text: str
    instance: Document
    case: verify.Case
    claim_rule: str
    given: AssignorAnswer
    stated_best: AssignorAnswer | None

    @cached_property
    def document(self) -> Rebalance:
        """The rebalance as the engines read it; most are not solved here."""
        return parse_rebalance(self.text, max_partitions=INT64_MAX)

    @cached_property
    def best(self) -> AssignorAnswer:
        """The optimum: that of the tables, or a new one."""
        return self.stated_best or self._evaluation.optimum()

    @property
    def _evaluation(self) -> Evaluation:
        rule = ClaimRule(self.claim_rule)
        return Evaluation(self.document, rule, case=self.case)

    @property
    def by_capacity(self) -> bool:
        """Whether members state capacities."""
        return any("capacity" in member for member in self.instance["members"].values())

    def compare(self, rows: Mapping[str, Row]) -> None:
        """Compare the verdicts with rows of a table, by assignor, column by column.

        Raises
        ------
        DisagreementError
            If a column differs.
        """
        least = least_of(self.best, None, by_capacity=self.by_capacity)
        for answer in (self.given, self.best):
            row = rows.get(answer.assignor, {})
            bound = self.case.peak_lag_bound if row.get("lag_known") else None
            found = answer_columns(answer, least, bound)
            compared = (found.keys() & row.keys()) - _OTHERS
            if wrong := sorted(name for name in compared if row[name] != found[name]):
                reason = f"the judge and the tables differ: {', '.join(wrong)}"
                raise DisagreementError(
                    f"{answer.assignor}: {reason}: a defect; please report it"
                )


def judged_units(
    tables: Tables, chosen: Sequence[Row], claim_rule: str
) -> Iterator[JudgedAgain]:
    """Yield rebalances, rows of `client_units`, judged again.

    Raises
    ------
    DisagreementError
        If a verdict is another one than that of the tables.
    """
    found = _stated(tables, chosen)
    stated = [found[unit["drawn_from"], unit["drawn_id"]] for unit in chosen]
    for unit, (_, rows), judged in zip(
        chosen, stated, _judged_all(chosen, stated, claim_rule), strict=True
    ):
        try:
            judged.compare(rows)
        except DisagreementError as error:
            reason = f"rebalance {unit['drawn_id']}: {error}"
            raise DisagreementError(reason) from error
        yield judged


def _judged_all(
    chosen: Sequence[Row], stated: Sequence[Stated], claim_rule: str
) -> Iterator[JudgedAgain]:
    """Judge the rebalances in turn; all of their documents are read together."""
    # The audit applied its size limit when it read the instance; none is needed here.
    instances = verify.read_rebalances(
        (text for text, _ in stated), max_partitions=INT64_MAX
    )
    texts = [
        rows[name]["assignment"]
        for _, rows in stated
        for name in (ACTUAL, OPTIMUM)
        if name in rows
    ]
    documents = iter(verify.read_assignments(texts))
    for unit, (text, rows), instance in zip(chosen, stated, instances, strict=True):
        yield _judged(
            text,
            instance,
            next(documents),
            claim_rule,
            best=next(documents) if OPTIMUM in rows else None,
            is_round=unit["drawn_from"] == "rebalances" and bool(unit["cooperative"]),
        )


def judged_again(
    instance_text: str, given_text: str, claim_rule: str, *, is_round: bool = False
) -> JudgedAgain:
    """Solve a rebalance, and judge the optimum and a recorded assignment.

    Parameters
    ----------
    instance_text, given_text
        A rebalance/1, and an assignment/1, as JSON.
    is_round
        Of a cooperative rebalance: partitions can be withheld.
    """
    return _judged(
        instance_text,
        verify.read_rebalance(instance_text, max_partitions=INT64_MAX),
        verify.read_assignment(given_text),
        claim_rule,
        best=None,
        is_round=is_round,
    )


def _judged(
    text: str,
    instance: Document,
    given: Document,
    claim_rule: str,
    *,
    best: Document | None,
    is_round: bool,
) -> JudgedAgain:
    case = verify.case_of(instance, claim_rule=claim_rule)
    return JudgedAgain(
        text=text,
        instance=instance,
        case=case,
        claim_rule=claim_rule,
        given=_answer(case, ACTUAL, given, is_round=is_round),
        stated_best=None if best is None else _answer(case, OPTIMUM, best),
    )


def _answer(
    case: verify.Case, name: str, assignment: Document, *, is_round: bool = False
) -> AssignorAnswer:
    verdict = verify.judge_case(case, assignment, cooperative=is_round)
    return AssignorAnswer(assignor=name, assignment=assignment, verdict=verdict)


def _stated(tables: Tables, chosen: Sequence[Row]) -> dict[tuple[str, str], Stated]:
    """Read instance and answers of each chosen unit; documents as text."""
    rounds, episodes = (
        [
            (row["drawn_date"], row["group_id"], row["drawn_id"])
            for row in chosen
            if row["drawn_from"] == name
        ]
        for name in ("rebalances", "episodes")
    )
    folder = tables.folder
    columns = ["rebalance_id", "instance"]
    instances = load_documents(folder, "rebalances", "rebalance_id", rounds, columns)
    found: dict[tuple[str, str], Stated] = {
        ("rebalances", row["rebalance_id"]): (row["instance"], {}) for row in instances
    }
    for row in load_documents(
        folder,
        "answers",
        "rebalance_id",
        rounds,
        SCHEMAS["answers"].names,
        ds.field("assignor").isin([ACTUAL, OPTIMUM]),
    ):
        found["rebalances", row["rebalance_id"]][1][row["assignor"]] = row
    columns = ["episode_id", "instance", "assignment", *OF_EPISODE]
    whole = load_documents(folder, "episodes", "episode_id", episodes, columns)
    return found | {
        ("episodes", row["episode_id"]): (row["instance"], {ACTUAL: row})
        for row in whole
    }
