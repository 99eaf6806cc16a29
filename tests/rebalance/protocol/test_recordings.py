"""Every subscription, assignment and user data of both recordings."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.records import GroupMember, GroupMetadata, decode_record
from rebalance.protocol import (
    ClaimSource,
    decode_assignment,
    decode_generation,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_generation,
    encode_sticky_user_data,
    encode_subscription,
    member_claim,
)
from tests.support.wire import RecordBytes, churn, first_look


def members(
    records: tuple[RecordBytes, ...],
) -> list[tuple[GroupMetadata, GroupMember]]:
    """Members of all generations, each with its group at that time."""
    groups = (decode_record(key, value) for key, value in records if key[:2] == b"\0\2")
    return [
        (group, member)
        for group in groups
        if isinstance(group, GroupMetadata)
        for member in group.members
    ]


def test_all_are_written_again_byte_for_byte() -> None:
    found = members(churn()) + members(first_look())
    for _, member in found:
        subscription = decode_subscription(member.subscription)
        assert encode_subscription(subscription) == member.subscription
        assert encode_assignment(decode_assignment(member.assignment)) == (
            member.assignment
        )
    assert len(found) == 2938 + 51


def test_all_user_data_are_written_again_byte_for_byte() -> None:
    lengths: Counter[str] = Counter()
    for _, member in members(churn()) + members(first_look()):
        data = decode_subscription(member.subscription).user_data
        if data is None or not data:
            lengths["none"] += 1
        elif len(data) == 4:
            lengths["generation"] += 1
            assert encode_generation(decode_generation(data)) == data
        else:
            lengths["sticky"] += 1
            assert encode_sticky_user_data(decode_sticky_user_data(data)) == data
    assert lengths == {"none": 961, "generation": 1001, "sticky": 1027}


@pytest.mark.heavy
def test_where_claims_were_found() -> None:
    sources: Counter[tuple[str, ClaimSource]] = Counter()
    for group, member in members(churn()):
        subscription = decode_subscription(member.subscription)
        claim = member_claim(subscription, group.protocol or "")
        assert claim.generation < group.generation
        sources[group.group_id, claim.source] += 1
    assert sources == {
        ("ads-java-coop", ClaimSource.FIELD): 732,
        ("ads-java-sticky", ClaimSource.NOWHERE): 28,
        ("ads-java-sticky", ClaimSource.USER_DATA): 278,
        ("billing-roundrobin", ClaimSource.NOWHERE): 213,
        ("feed-coop", ClaimSource.FIELD): 252,
        ("mix-coop", ClaimSource.FIELD): 318,
        ("nightly-batch", ClaimSource.FIELD): 81,
        ("orders-range", ClaimSource.FIELD): 325,
        ("search-sticky", ClaimSource.NOWHERE): 31,
        ("search-sticky", ClaimSource.USER_DATA): 238,
        ("upgrade-726", ClaimSource.FIELD): 442,
    }


def test_sticky_claims_its_assignment() -> None:
    """Java's and kafka-python's user data repeat the assignment of their generation."""
    given: dict[tuple[str, int], dict[str, set[int]]] = {}
    compared: Counter[str] = Counter()
    for group, member in members(churn()):
        if group.protocol != "sticky":
            continue
        claim = member_claim(decode_subscription(member.subscription), "sticky")
        was = given.get((member.member_id, claim.generation))
        if was is not None:
            assert {topic: set(n) for topic, n in claim.partitions} == was
            compared[group.group_id] += 1
        partitions = decode_assignment(member.assignment).partitions
        now = {topic: set(numbers) for topic, numbers in partitions if numbers}
        given[member.member_id, group.generation] = now
    assert compared == {"ads-java-sticky": 278, "search-sticky": 235}
