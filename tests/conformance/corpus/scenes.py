"""Run scenarios and judge the answers: shared code of the corpus tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance import EVERYONE, Scenario, corpus, play, unmet
from heuristics import Assignor
from rebalance import (
    AssignmentDocument,
    ClaimRule,
    Rebalance,
    document_of,
    instance_of,
    to_json,
)
from verify import judge, read_assignment, read_rebalance

SCENARIOS = {scenario.name: scenario for scenario in corpus()}

Answer = Callable[[Rebalance, ClaimRule], AssignmentDocument | None]


def judged(
    rebalance: Rebalance, assignment: AssignmentDocument, claim_rule: str
) -> dict[str, Any]:
    instance = read_rebalance(to_json(rebalance))
    answer = read_assignment(to_json(assignment))
    return judge(instance, answer, claim_rule=claim_rule)


def complaints(
    scenario: Scenario, subject: str, answer: Answer, rule: ClaimRule
) -> list[str]:
    """Run a scenario under one claim rule; list the unmet expectations."""
    found = []
    for step, rebalance, assignment in play(scenario, lambda r: answer(r, rule)):
        due = [
            expectation
            for expectation in step.expected_of(subject, EVERYONE)
            if expectation.claim_rule == rule.value and expectation.round is None
        ]
        if assignment is None:
            found += [
                f"{step.name}: refused, expected {expectation.name}"
                for expectation in due
                if subject in expectation.of and not expectation.refused
            ]
            continue
        verdict = judged(rebalance, assignment, rule.value)
        found += [f"{step.name}: {fault}" for fault in verdict["violations"]]
        found += [
            f"{step.name}: {expectation.name}: {fault}"
            for expectation in due
            for fault in unmet(expectation, rebalance, assignment, verdict["figures"])
        ]
    return found


def answers_of(assignor: Assignor) -> Answer:
    """Return a heuristic as a function on documents; None if it refuses."""

    def answer(rebalance: Rebalance, rule: ClaimRule) -> AssignmentDocument | None:
        instance = instance_of(rebalance, claim_rule=rule)
        if assignor.refuses(instance) is not None:
            return None
        return document_of(instance, assignor.assign(instance), assignor=assignor.name)

    return answer
