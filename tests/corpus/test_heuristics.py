"""Every heuristic on every scenario, under both claim rules."""

from __future__ import annotations

import pytest

from heuristics import ASSIGNORS
from rebalance import ClaimRule
from tests.corpus.scenes import SCENARIOS, answers_of, complaints


@pytest.mark.parametrize("rule", ClaimRule, ids=lambda rule: rule.value)
@pytest.mark.parametrize("name", ASSIGNORS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_expectations_are_met(scenario: str, name: str, rule: ClaimRule) -> None:
    answer = answers_of(ASSIGNORS[name])
    assert complaints(SCENARIOS[scenario], name, answer, rule) == []
