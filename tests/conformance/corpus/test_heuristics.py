"""Every heuristic on every scenario, under both claim rules."""

from __future__ import annotations

import pytest

from heuristics import ASSIGNORS
from rebalance import ClaimRule
from tests.conformance.corpus.scenes import SCENARIOS, answers_of, complaints


@pytest.mark.parametrize("rule", ClaimRule, ids=lambda rule: rule.value)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_expectations_are_met(scenario: str, rule: ClaimRule) -> None:
    found = {
        name: complaints(SCENARIOS[scenario], name, answers_of(assignor), rule)
        for name, assignor in ASSIGNORS.items()
    }
    assert {name: faults for name, faults in found.items() if faults} == {}
