"""Owners under both claim rules, against a comparison of all pairs of claims."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import verify
from rebalance import ClaimRule, Rebalance, instance_of
from tests.references import naive_judge as naive
from tests.support.shapes import (
    DOUBLE_CLAIM,
    MIXED_GENERATIONS,
    NEWEST_CLAIM_UNSUBSCRIBED,
    SHAPES,
    STALE_CLAIM,
    VANISHED,
    Document,
    shape,
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


@pytest.mark.parametrize("claim_rule", ["newest-claim", "current-generation"])
@pytest.mark.parametrize("name", SHAPES)
def test_columns_settle_claims_alike(name: str, claim_rule: str) -> None:
    """Differential: the engines' columns name the owners that the judge names."""
    document = Rebalance.model_validate(shape(name))
    columns = instance_of(document, claim_rule=ClaimRule(claim_rule))
    topic_of, first = columns.partition_topic.tolist(), columns.topic_offsets.tolist()
    found = {
        (columns.topics[topic_of[row]], row - first[topic_of[row]]): columns.members[m]
        for row, m in enumerate(columns.owner.tolist())
        if m >= 0
    }
    assert found == owners(shape(name), claim_rule)


def test_default_is_the_newest_claim() -> None:
    assert verify.case_of(MIXED_GENERATIONS).owned == {
        ("a", "t"): {0, 1},
        ("b", "t"): {2, 3},
        ("c", "t"): {4, 5},
        ("d", "t"): {6, 7},
    }


def test_current_generation_alone() -> None:
    case = verify.case_of(MIXED_GENERATIONS, claim_rule="current-generation")
    assert case.owned == {("d", "t"): {6, 7}}


def test_two_claims_of_one_generation_make_no_owner() -> None:
    case = verify.case_of(DOUBLE_CLAIM)
    assert case.owned == {("c1", "t"): {1}, ("c2", "t"): {2}}
    assert case.claimants == {"t": {0: ("c1", "c2"), 1: ("c1",), 2: ("c2",)}}


def test_claims_on_deleted_partitions_make_no_owner() -> None:
    assert verify.case_of(VANISHED).owned == {("a", "t"): {0}, ("b", "t"): {1}}


def test_three_claims_two_of_them_newest() -> None:
    instance = shape("DOUBLE_CLAIM")
    instance["members"]["c3"] |= {"owned": {"t": [0]}, "generation": 5}
    instance["members"]["c4"] = {"subscription": ["t"], "owned": {"t": [0]}}
    case = verify.case_of(instance)
    assert case.claimants["t"][0] == ("c3",)
    assert case.owned["c3", "t"] == {0}
