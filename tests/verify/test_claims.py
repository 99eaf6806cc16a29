"""Owners under both claim rules, against a comparison of all pairs of claims."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

import verify
from tests.references import naive_judge as naive
from tests.support.shapes import (
    DOUBLE_CLAIM,
    MIXED_GENERATIONS,
    NEWEST_CLAIM_UNSUBSCRIBED,
    STALE_CLAIM,
    VANISHED,
    Document,
)
from tests.support.strategies import rebalances

RULES = st.sampled_from(("newest-claim", "current-generation"))


def owners(instance: Document, claim_rule: str) -> dict[tuple[str, int], str]:
    case = verify.case_of(instance, claim_rule=claim_rule)
    return {
        (topic, number): member
        for (member, topic), numbers in case.owned.items()
        for number in numbers
    }


@given(rebalances(), RULES)
@example(STALE_CLAIM, "newest-claim")
@example(DOUBLE_CLAIM, "newest-claim")
@example(VANISHED, "newest-claim")
@example(MIXED_GENERATIONS, "current-generation")
@example(NEWEST_CLAIM_UNSUBSCRIBED, "current-generation")
def test_claims(instance: Document, claim_rule: str) -> None:
    """Differential: the newest of the claims that count, and ties."""
    case = verify.case_of(instance, claim_rule=claim_rule)
    found = {
        (topic, number): set(members)
        for topic, claimed in case.claimants.items()
        for number, members in claimed.items()
    }
    assert found == naive.claimants(instance, claim_rule)
    assert owners(instance, claim_rule) == naive.owners(instance, claim_rule)


def test_default_is_the_newest_claim() -> None:
    assert verify.case_of(MIXED_GENERATIONS).owned == {
        ("a", "t"): {0, 1},
        ("b", "t"): {2, 3},
        ("c", "t"): {4, 5},
        ("d", "t"): {6, 7},
    }
