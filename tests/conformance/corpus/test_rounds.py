"""The rounds of ``cooperative-sticky`` on every scenario that expects some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance import Step, play, unmet
from heuristics import CooperativeStickyAssignor
from rebalance import (
    AssignmentDocument,
    ClaimRule,
    Rebalance,
    document_of,
    instance_of,
    rebalance_of,
    to_json,
)
from tests.conformance.corpus.scenes import SCENARIOS, answers_of
from verify import judge, read_assignment, read_rebalance

COOPERATIVE = CooperativeStickyAssignor()
RULE = ClaimRule.NEWEST_CLAIM


def last_round(step: Step) -> int:
    """Return the last round of which the step expects something, 0 for none."""
    return max((expectation.round or 0 for expectation in step.expect), default=0)


def generations_of(
    rebalance: Rebalance, n_rounds: int
) -> Iterator[tuple[Rebalance, AssignmentDocument]]:
    """Yield each round: what the leader receives, and what it assigns.

    All members join the next round with what they were assigned in this one.
    """
    for generation in range(100, 100 + n_rounds):
        instance = instance_of(rebalance, claim_rule=RULE)
        given = COOPERATIVE.first_round(instance).given
        answer = document_of(instance, given, assignor=COOPERATIVE.name)
        yield rebalance, answer
        document: dict[str, Any] = rebalance.model_dump(exclude_none=True)
        for member_id, about in document["members"].items():
            about["owned"] = answer.members[member_id]
            about["generation"] = generation
        rebalance = rebalance_of(document)


EXPECTING = [
    name for name, scenario in SCENARIOS.items() if any(map(last_round, scenario.steps))
]


@pytest.mark.parametrize("name", EXPECTING)
def test_rounds_are_as_expected(name: str) -> None:
    answer = answers_of(COOPERATIVE)
    n_met = 0
    for step, document, _ in play(SCENARIOS[name], lambda r: answer(r, RULE)):
        due = list(step.expected_of(COOPERATIVE.name))
        rounds = generations_of(document, last_round(step))
        for number, (rebalance, said) in enumerate(rounds, start=1):
            verdict = judge(
                read_rebalance(to_json(rebalance)),
                read_assignment(to_json(said)),
                cooperative=True,
            )
            assert verdict["violations"] == []
            for expectation in due:
                if expectation.round == number:
                    assert (
                        list(unmet(expectation, rebalance, said, verdict["figures"]))
                        == []
                    )
                    n_met += 1
    assert n_met >= 1
