"""Answers of every assignor to one rebalance, each with the judge's verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from heuristics import ASSIGNORS, Assignor
from rebalance import (
    AssignmentDocument,
    ClaimRule,
    Instance,
    InstanceError,
    MissingExtraError,
    OracleError,
    Rebalance,
    document_of,
    instance_of,
    plain_of,
)
from solver import NAMED, Limits, solve
from verify import Case, case_of, judge_case

ACTUAL: Final = "actual"
"""The answer of the group's own leader, in a history."""
OPTIMUM: Final = "optimum"
"""Dec-min balance, then the fewest moves: the default policy of `solver.solve`."""
KIP54: Final = "kip54-sticky"
"""The fewest moves among KIP-54 balanced assignments: a StickyAssignor's optimum."""
EFFORT: Final = 0.1
"""Effort of the search for KIP-54's optimum (`solver.Limits`): equal answers on every
machine, after at most half a second of CPU for 100 members and 1,000 partitions."""

JUDGE: Final = "judge"
COLUMNS: Final = "columns"

Document: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorAnswer:
    """Answer of one assignor.

    Attributes
    ----------
    refused : str or None
        Why the assignor does not apply; ``assignment`` and ``verdict`` are then None.
    assignment : dict or None
        assignment/1, as the judge read it.
    verdict : dict or None
        verdict/1.
    judged_by : str or None
        `JUDGE`; or `COLUMNS`, of an answer whose verdict is computed from columns.
    """

    assignor: str
    refused: str | None = None
    assignment: Document | None = None
    verdict: Document | None = None
    judged_by: str | None = None

    @property
    def status(self) -> str | None:
        """Status that the answer claims; None for heuristics and clients."""
        return None if self.assignment is None else self.assignment.get("status")

    def judged(self) -> tuple[Document, Document]:
        """Return assignment and verdict of an answer that is not a refusal.

        Raises
        ------
        ValueError
            If the assignor refused.
        """
        if self.assignment is None or self.verdict is None:
            raise ValueError(f"{self.assignor} does not apply: {self.refused}")
        return self.assignment, self.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An assignor that raised an exception."""

    assignor: str
    error: Exception


class DisagreementError(OracleError):
    """The compiled pass and the judge differ: a defect of this program."""

    exit_code = 70


class Evaluation:
    """One rebalance, encoded once for the engines and once for the judge.

    ``case`` is the same rebalance, parsed by the judge, if the caller has it.

    Raises
    ------
    InstanceError
        If the document contradicts itself.
    """

    def __init__(
        self,
        document: Rebalance,
        claim_rule: ClaimRule,
        *,
        case: Case | None = None,
    ) -> None:
        self.instance: Instance = instance_of(document, claim_rule=claim_rule)
        self.case: Case = case or case_of(
            plain_of(document), claim_rule=claim_rule.value
        )

    @property
    def by_capacity(self) -> bool:
        """Whether members state capacities, so that balance is load ÷ capacity."""
        return self.instance.capacity is not None

    @property
    def peak_lag_bound(self) -> int | None:
        """Lower bound on the peak lag of every valid assignment; None without lag."""
        return self.case.peak_lag_bound

    def answers(self, names: Collection[str]) -> Iterator[AssignorAnswer | Failure]:
        """Run and judge the named assignors: heuristics, optimum, KIP-54's optimum."""
        runs: dict[str, Callable[[], AssignorAnswer]] = {
            name: partial(self.heuristic, assignor)
            for name, assignor in ASSIGNORS.items()
        }
        # The optimum comes first: heuristics are compared with its loads.
        for name, run in {OPTIMUM: self.optimum, KIP54: self.kip54, **runs}.items():
            if name not in names:
                continue
            try:
                yield run()
            except DisagreementError:
                raise
            except Exception as error:  # noqa: BLE001  # a failure affects one answer
                yield Failure(assignor=name, error=error)

    def heuristic(self, assignor: Assignor) -> AssignorAnswer:
        """Run and judge one heuristic, or return why it does not apply."""
        refused = assignor.refuses(self.instance)
        if refused is not None:
            return AssignorAnswer(assignor=assignor.name, refused=refused)
        assignment = assignor.assign(self.instance)
        document = document_of(self.instance, assignment, assignor=assignor.name)
        return self.judge(assignor.name, document)

    def optimum(self) -> AssignorAnswer:
        """Solve for dec-min balance and stickiness, and have the certificate checked.

        ``policy`` and ``objectives`` are omitted: the certificate proves both
        objectives, and the judge reports this in ``proved``.
        """
        document = solve(self.instance).to_document(self.instance)
        bare = document.model_copy(update={"policy": None, "objectives": None})
        return self.judge(OPTIMUM, bare)

    def kip54(self) -> AssignorAnswer:
        """Solve for the fewest moves among KIP-54 balanced assignments.

        It does not apply if the solvers that it needs are not installed.
        """
        try:
            result = solve(self.instance, NAMED[KIP54], limits=Limits(effort=EFFORT))
        except MissingExtraError as missing:
            return AssignorAnswer(assignor=KIP54, refused=str(missing))
        return self.judge(KIP54, result.to_document(self.instance))

    def actual(
        self,
        members: Mapping[str, Mapping[str, list[int]]],
        *,
        assignor: str | None,
        cooperative: bool,
    ) -> AssignorAnswer:
        """Judge the assignment that the group's leader computed."""
        document: Document = {
            "format": "assignment/1",
            "group": self.instance.group,
            "members": members,
        }
        if self.instance.id is not None:
            document["id"] = self.instance.id
        if assignor is not None:
            document["assignor"] = assignor
        verdict = judge_case(self.case, document, cooperative=cooperative)
        return AssignorAnswer(
            assignor=ACTUAL, assignment=document, verdict=verdict, judged_by=JUDGE
        )

    def judge(self, assignor: str, document: AssignmentDocument) -> AssignorAnswer:
        """Judge the JSON value of an assignment.

        Raises
        ------
        InstanceError
            If the judge cannot judge this policy for this instance.
        """
        plain = plain_of(document)
        verdict = judge_case(self.case, plain)
        if verdict["verdict"] == "unreadable":
            culprit = verdict["evidence"]["unreadable"]
            raise InstanceError(culprit["reason"], subject=culprit["path"])
        return AssignorAnswer(
            assignor=assignor, assignment=plain, verdict=verdict, judged_by=JUDGE
        )
