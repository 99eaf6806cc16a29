"""Rebalances that the page shows, judged again, and compared with the tables.

The tables have verdicts that compiled code computed, of which the judge checks all in
small audits and a sample in others. Whatever a reader can see of a single rebalance, it
checks here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAgain:
    """One rebalance, and the judge's verdicts on two answers to it.

    Attributes
    ----------
    instance : dict
        As the judge read it.
    document : Rebalance
    evaluation : Evaluation
    given, best : AssignorAnswer
        The recorded assignment and the optimum.
    """

    instance: dict[str, Any]
    document: Rebalance
    evaluation: Evaluation
    given: AssignorAnswer
    best: AssignorAnswer

    def compare(self, rows: Mapping[str, Row]) -> None:
        """Compare the verdicts with rows of a table, by assignor, column by column.

        Raises
        ------
        DisagreementError
            If a column differs.
        """
        evaluation = self.evaluation
        least = least_of(self.best, None, by_capacity=evaluation.by_capacity)
        for answer in (self.given, self.best):
            row = rows.get(answer.assignor, {})
            bound = evaluation.peak_lag_bound if row.get("lag_known") else None
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
    for unit in chosen:
        instance, rows = found[unit["drawn_from"], unit["drawn_id"]]
        best = rows.get(OPTIMUM)
        is_rebalance = unit["drawn_from"] == "rebalances"
        judged = judged_again(
            instance,
            rows[ACTUAL]["assignment"],
            claim_rule,
            best_text=None if best is None else best["assignment"],
            is_round=is_rebalance and bool(unit["cooperative"]),
        )
        try:
            judged.compare(rows)
        except DisagreementError as error:
            reason = f"rebalance {unit['drawn_id']}: {error}"
            raise DisagreementError(reason) from error
        yield judged


def judged_again(
    instance_text: str,
    given_text: str,
    claim_rule: str,
    *,
    best_text: str | None = None,
    is_round: bool = False,
) -> JudgedAgain:
    """Judge a recorded assignment and the optimum.

    Parameters
    ----------
    instance_text, given_text, best_text
        A rebalance/1, and two assignment/1, as JSON. Without an optimum, the rebalance
        is solved.
    is_round
        Of a cooperative rebalance: partitions can be withheld.
    """
    # The audit applied its size limit when it read the instance; none is needed here.
    instance = verify.read_rebalance(instance_text, max_partitions=INT64_MAX)
    case = verify.case_of(instance, claim_rule=claim_rule)
    document = parse_rebalance(instance_text, max_partitions=INT64_MAX)
    evaluation = Evaluation(document, ClaimRule(claim_rule), case=case)
    given = verify.read_assignment(given_text)
    verdict = verify.judge_case(case, given, cooperative=is_round)
    return JudgedAgain(
        instance=instance,
        document=document,
        evaluation=evaluation,
        given=AssignorAnswer(assignor=ACTUAL, assignment=given, verdict=verdict),
        best=evaluation.optimum() if best_text is None else _read(best_text, case),
    )


def _read(text: str, case: verify.Case) -> AssignorAnswer:
    best = verify.read_assignment(text)
    verdict = verify.judge_case(case, best)
    return AssignorAnswer(assignor=OPTIMUM, assignment=best, verdict=verdict)


def _stated(
    tables: Tables, chosen: Sequence[Row]
) -> dict[tuple[str, str], tuple[str, dict[str, Row]]]:
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
    found: dict[tuple[str, str], tuple[str, dict[str, Row]]] = {
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
