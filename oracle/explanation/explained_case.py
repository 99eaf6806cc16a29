"""Subject of an explanation: a rebalance, a policy, its optimum, and the judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import verify
from oracle.explanation.statement_records import TransferRecord
from rebalance import Assignment, Instance, members_of
from solver import Policy, Result

Members = Mapping[str, Mapping[str, Sequence[int]]]
Verdict = Mapping[str, Any]


class CheckError(Exception):
    """A statement that is not true: it is withdrawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCase:
    """A rebalance in columns for the solver, and as a case for the judge.

    ``best_document`` is the optimum as assignment/1, ``best_verdict`` the judge's
    verdict on it. Under the balance ``dec-min``, ``sticky`` is the optimum of the
    policy ``sticky``, whose certificate describes all balanced assignments, if the
    judge accepts it (``are_levels_proved``).
    """

    instance: Instance
    case: verify.Case
    policy: Policy
    best: Result
    best_document: Mapping[str, Any]
    best_verdict: Verdict
    sticky: Result | None
    stickiest_document: Mapping[str, Any]
    are_levels_proved: bool
    given: Members | None = None  # the assignment that is explained

    @property
    def known(self) -> list[Members]:
        """Assignments that are known beside the optimum, whatever they are worth."""
        found: list[Members] = [] if self.given is None else [self.given]
        if self.stickiest_document is self.best_document:
            return found
        return [*found, self.stickiest_document["members"]]

    def policy_of(self, objectives: Sequence[str]) -> str:
        """Return the text of the policy with its objectives in this order."""
        balance, *rest = str(self.policy).split("; ")
        budget = rest[-1:] if self.policy.max_moves is not None else []
        levels = [", ".join(objectives)] if objectives else []
        return "; ".join([balance, *levels, *budget])

    def stickiest(self) -> Result:
        """Return the stickiest balanced assignment.

        Raises
        ------
        CheckError
            If there is none: the policy has another balance.
        """
        if self.sticky is None:
            raise CheckError("no certificate of balance")
        return self.sticky

    def judge(self, members: Members, *, policy: str | None = None) -> Verdict:
        """Return the verdict on an assignment, and on the objectives of a policy."""
        document = {"format": "assignment/1", "members": members}
        stated = {} if policy is None else {"policy": policy}
        return verify.judge_case(self.case, document | stated)

    def members_of(self, assignment: Assignment) -> Members:
        """Return an assignment by member and topic."""
        return members_of(self.instance, assignment)

    def spot(self, row: int) -> tuple[str, int]:
        """Return topic and number of a partition."""
        topic = int(self.instance.partition_topic[row])
        first = int(self.instance.topic_offsets[topic])
        return self.instance.topics[topic], row - first

    def records(
        self, transfers: Iterable[tuple[int, int, int]]
    ) -> list[TransferRecord]:
        """Name the partition and the members of transfers."""
        names = self.instance.members
        return [
            TransferRecord.known(
                topic=topic, partition=number, giver=names[a], to=names[b]
            )
            for row, a, b in transfers
            for topic, number in [self.spot(row)]
        ]


def load_of(members: Members, name: str) -> int:
    """Return the number of partitions of a member."""
    return sum(map(len, members[name].values()))


def require(is_true: object, claim: str) -> None:
    """Raise CheckError if a part of a statement is not true."""
    if not is_true:
        raise CheckError(claim)
