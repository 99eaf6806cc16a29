"""The exact core on every scenario, with and without the closed form, judged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance import OPTIMUM, play
from rebalance import AssignmentDocument, ClaimRule, Instance, Rebalance, instance_of
from solver import Result, solve
from solver.exact import solve_without_closed_form
from tests.conformance.corpus.scenes import SCENARIOS, complaints, judged

Solve = Callable[[Instance], Result]


def solved(way: Solve, rebalance: Rebalance, rule: ClaimRule) -> AssignmentDocument:
    instance = instance_of(rebalance, claim_rule=rule)
    return way(instance).to_document(instance)


@pytest.mark.parametrize("rule", ClaimRule, ids=lambda rule: rule.value)
@pytest.mark.parametrize("way", [solve, solve_without_closed_form])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_expectations_are_met(scenario: str, way: Solve, rule: ClaimRule) -> None:
    def answer(rebalance: Rebalance, rule: ClaimRule) -> AssignmentDocument:
        return solved(way, rebalance, rule)

    assert complaints(SCENARIOS[scenario], OPTIMUM, answer, rule) == []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_answer_is_proved_to_the_judge(scenario: str) -> None:
    rule = ClaimRule.NEWEST_CLAIM
    for scene in play(SCENARIOS[scenario], lambda r: solved(solve, r, rule)):
        assert scene.assignment is not None
        verdict = judged(scene.rebalance, scene.assignment, rule.value)
        assert verdict["proved"]["dec_min"], scene.step.name
        assert verdict["proved"]["stickiness"], scene.step.name
