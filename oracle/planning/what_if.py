"""Effects of a change: the optimum and every assignor, judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import verify
from heuristics import ASSIGNORS
from oracle.planning.apply_changes import apply_changes
from oracle.planning.change_records import Change
from oracle.planning.plan_records import Outcome, PlannedAnswer, PlannedObjective
from oracle.planning.transition import OwnersBefore, planned_transfers, transition
from rebalance import (
    Assignment,
    ClaimRule,
    Figures,
    Instance,
    InstanceError,
    Rebalance,
    document_of,
    instance_of,
    plain_of,
)
from solver import Policy, Result

SolveOne = Callable[[Instance, Policy], Result]

OPTIMUM = "optimum"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanQuestion:
    """The questions on a group, beyond the changes."""

    policy: Policy
    solve_one: SolveOne
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
    round_ms: int = 3_000


def what_if(
    rebalance: Rebalance, changes: Sequence[Change], question: PlanQuestion
) -> Outcome:
    """Apply the changes, solve, run every assignor, and judge all answers.

    Raises
    ------
    InstanceError
        If a change contradicts the group, or the policy does not apply to it.
    """
    changed = apply_changes(rebalance, changes)
    before = instance_of(rebalance, claim_rule=question.claim_rule)
    after = instance_of(changed, claim_rule=question.claim_rule)
    about = _Changed(
        after=after,
        owners=OwnersBefore.of(before, after),
        case=verify.case_of(plain_of(changed), claim_rule=question.claim_rule.value),
        question=question,
    )
    result = question.solve_one(after, question.policy)
    best = result.assignment
    answers = [about.optimum(result)]
    answers += [about.heuristic(name) for name in ASSIGNORS]
    return Outcome.known(
        members=len(after.members),
        partitions=int(after.topic_sizes[after.topic_subscribed].sum()),
        lag_known=after.lag is not None,
        answers=answers,
        transfers=(
            [] if best is None else planned_transfers(about.owners, after, best)
        ),
        assignment=None if best is None else result.to_document(after),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changed:
    """The group after the changes, as the engines and as the judge read it."""

    after: Instance
    owners: OwnersBefore
    case: verify.Case
    question: PlanQuestion

    def optimum(self, result: Result) -> PlannedAnswer:
        """Judge the best assignment."""
        status = {"assignor": OPTIMUM, "status": result.status.value}
        if result.reason is not None:
            status["reason"] = result.reason
        if result.assignment is None:
            return PlannedAnswer.model_validate(status)
        plain = plain_of(result.to_document(self.after))
        return self._judged(status, result.assignment, plain)

    def heuristic(self, name: str) -> PlannedAnswer:
        """Run and judge an assignor, or return why it does not apply."""
        assignor = ASSIGNORS[name]
        refused = assignor.refuses(self.after)
        if refused is not None:
            return PlannedAnswer(assignor=name, refused=refused)
        assignment = assignor.assign(self.after)
        plain = plain_of(document_of(self.after, assignment, assignor=name))
        plain["policy"] = str(self.question.policy)
        return self._judged({"assignor": name}, assignment, plain)

    def _judged(
        self, known: dict[str, str], assignment: Assignment, plain: dict[str, Any]
    ) -> PlannedAnswer:
        """Return figures and objectives as the judge counts them.

        Raises
        ------
        InstanceError
            If the judge cannot judge the policy, or an assignor's answer is invalid: a
            defect of this program.
        """
        verdict = verify.judge_case(self.case, plain)
        if verdict["verdict"] != "valid":
            culprit = verdict["evidence"].get("unreadable", {"reason": "invalid"})
            raise InstanceError(culprit["reason"], subject=known["assignor"])
        return PlannedAnswer.model_validate(
            {
                **known,
                **_found(verdict),
                "balance_met": verdict["policy"]["balance_met"],
                "budget_met": verdict["policy"]["budget_met"],
                "figures": Figures.model_validate(verdict["figures"]),
                "objectives": [*map(_objective, verdict["objectives"])],
                "transition": transition(
                    known["assignor"],
                    self.after,
                    assignment,
                    self.owners,
                    self.question.round_ms,
                ),
            }
        )


def _objective(judged: dict[str, Any]) -> PlannedObjective:
    keys = ("of", "value", "scale")
    return PlannedObjective.model_validate(
        {key: judged[key] for key in keys if key in judged}
    )


def _found(verdict: dict[str, Any]) -> dict[str, str]:
    found = verdict.get("status", {}).get("found")
    return {} if found is None else {"found": found}
