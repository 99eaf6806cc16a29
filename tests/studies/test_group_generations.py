"""Generations that a coordinator has stored: decoded, and judged."""

from __future__ import annotations

import pytest

from pipeline.records import GroupMember, GroupMetadata
from rebalance.protocol import (
    MemberAssignment,
    Subscription,
    encode_assignment,
    encode_subscription,
)
from studies.confirmation.group_generations import (
    StoredGeneration,
    generation_of,
    unrevoked_in,
)

SIZES = {"p": 1, "q": 1}
ALONE = StoredGeneration(
    number=2,
    protocol="cooperative-sticky",
    members={"a": {"subscription": ["p", "q"]}},
    held={"a": {"p": [0], "q": [0]}},
)


def returned(*, held: dict[str, dict[str, list[int]]]) -> StoredGeneration:
    """Return a generation in which b returns with a claim of generation 1."""
    return StoredGeneration(
        number=3,
        protocol="cooperative-sticky",
        members={
            "a": {
                "subscription": ["p", "q"],
                "owned": {"p": [0], "q": [0]},
                "generation": 2,
            },
            "b": {"subscription": ["p"], "owned": {"p": [0]}, "generation": 1},
        },
        held=held,
    )


def test_a_partition_that_its_owner_has_not_revoked_is_named() -> None:
    given = returned(held={"a": {"q": [0]}, "b": {"p": [0]}})
    seen = unrevoked_in([ALONE, given], SIZES)
    assert seen.category == "unrevoked"
    assert seen.outcome == (
        "In generation 3, b receives p:0, while a holds it and has not revoked it. "
        "Claims of generation 3: a claims p:0 and q:0 of generation 2, "
        "b claims p:0 of generation 1."
    )


@pytest.mark.parametrize("kept", [{"q": [0]}, {"p": [0], "q": [0]}])
def test_what_is_withheld_or_kept_is_no_fault(kept: dict[str, list[int]]) -> None:
    seen = unrevoked_in([returned(held={"a": kept, "b": {}})], SIZES)
    assert seen.category == "no fault"
    assert "a claims p:0 and q:0 of generation 2" in seen.outcome


def member_a() -> GroupMember:
    sent = Subscription(version=2, topics=("p",), owned=(("p", (0,)),), generation=6)
    given = MemberAssignment(version=0, partitions=(("p", (0,)),))
    return GroupMember(
        member_id="a-1",
        group_instance_id=None,
        client_id="a",
        client_host="/127.0.0.1",
        rebalance_timeout=1,
        session_timeout=1,
        subscription=encode_subscription(sent),
        assignment=encode_assignment(given),
    )


def test_a_record_is_what_its_members_sent_and_received() -> None:
    group = GroupMetadata(
        group_id="g",
        version=3,
        protocol_type="consumer",
        generation=7,
        protocol="cooperative-sticky",
        leader="a-1",
        members=(member_a(),),
    )
    generation = generation_of(group)
    assert (generation.number, generation.protocol) == (7, "cooperative-sticky")
    claim = {"subscription": ["p"], "owned": {"p": [0]}, "generation": 6}
    assert generation.members == {"a": claim}
    assert generation.held == {"a": {"p": [0]}}
