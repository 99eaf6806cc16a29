"""The policies in scenarios: answers meet the expectations."""

from __future__ import annotations

import pytest

from rebalance import AssignmentDocument, ClaimRule, Rebalance, instance_of
from solver import parse_policy, solve
from tests.conformance.corpus.scenes import SCENARIOS, complaints

PREFIX = "policy:"
SPOKEN_OF = sorted(
    {
        (scenario.name, subject)
        for scenario in SCENARIOS.values()
        for step in scenario.steps
        for expectation in step.expect
        for subject in expectation.of
        if subject.startswith(PREFIX)
    }
)


@pytest.mark.parametrize(("scenario", "subject"), SPOKEN_OF)
def test_expectations_are_met(scenario: str, subject: str) -> None:
    policy = parse_policy(subject.removeprefix(PREFIX))

    def answer(rebalance: Rebalance, rule: ClaimRule) -> AssignmentDocument | None:
        instance = instance_of(rebalance, claim_rule=rule)
        if policy.needs_lag and instance.lag is None:
            return None
        outcome = solve(instance, policy)
        assert outcome.status.value == "optimal"
        return outcome.to_document(instance)

    assert (
        complaints(SCENARIOS[scenario], subject, answer, ClaimRule.NEWEST_CLAIM) == []
    )
