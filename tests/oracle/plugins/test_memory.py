"""Subscriptions of our members compared with those of Java's members."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.plugins import Memory, Mode, claim_of, mode_of
from rebalance.protocol import (
    ClaimSource,
    Subscription,
    decode_generation,
    decode_sticky_user_data,
    decode_subscription,
    encode_subscription,
)
from tests.support.wire import RecordedMember, recorded_members

HELD = "0000000100027431000000020000000000000003"  # t1: 0 and 3
NUMBERS = st.sets(st.tuples(st.sampled_from(["t", "u", "ü"]), st.integers(0, 9)))


def test_sticky_before_the_first_rebalance() -> None:
    assert Memory().subscription(["t"], mode=Mode.EAGER).user_data is None


@pytest.mark.parametrize(("generation", "tail"), [(-1, ""), (5, "00000005")])
def test_sticky_by_hand(generation: int, tail: str) -> None:
    """Version 0 (KIP-54) with no generation, else version 1 (KIP-341)."""
    memory = Memory()
    memory.remember([("t1", 3), ("t1", 0)], generation)
    said = memory.subscription(["t1"], mode=Mode.EAGER)
    assert said.user_data == bytes.fromhex(HELD + tail)
    assert (said.owned, said.generation) == ((), generation)


def test_a_whole_subscription_by_hand() -> None:
    memory = Memory()
    memory.remember([("t1", 0)], 5)
    said = memory.subscription(["u", "t1"], mode=Mode.COOPERATIVE, rack="r")
    assert (
        encode_subscription(said).hex()
        == (
            "0003" + "00000002" + "00027431" + "000175"  # t1, u
            "00000004" + "00000005"  # user data: the generation
            "00000001" + "00027431" + "00000001" + "00000000"  # owned
            "00000005" + "000172"  # generation, rack
        )
    )


def of_java(assignor: str) -> list[RecordedMember]:
    return [
        member
        for member in recorded_members()
        if (member.client, member.assignor) == ("java", assignor)
    ]


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_the_same_bytes_as_java(assignor: str) -> None:
    """Byte for byte: in these Java's hash map happens to have topics in order.

    Left out are members whose last rebalance was another assignor's: of that, Java's
    assignor knows nothing, and its consumer does.
    """
    compared = 0
    for member in of_java(assignor):
        theirs = decode_subscription(member.subscription)
        mode = mode_of(assignor, None)
        claim = claim_of(theirs, mode)
        known = generation_in(theirs, mode)
        if known != theirs.generation:
            continue
        memory = Memory(generation=known)
        if claim.source is not ClaimSource.NOWHERE and known >= 0:
            memory.held = claim.partitions
        ours = memory.subscription(theirs.topics, mode=mode, rack=theirs.rack)
        assert encode_subscription(ours) == member.subscription
        compared += 1
    assert compared == {"sticky": 4, "cooperative-sticky": 14}[assignor]


def generation_in(said: Subscription, mode: Mode) -> int:
    if not said.user_data:
        return -1
    if mode is Mode.COOPERATIVE:
        return decode_generation(said.user_data)
    return decode_sticky_user_data(said.user_data).generation


@pytest.mark.heavy
@given(NUMBERS, st.integers(-1, 2**31 - 1), st.sampled_from(Mode))
def test_a_leader_reads_the_remembered_assignment(
    held: set[tuple[str, int]], generation: int, mode: Mode
) -> None:
    memory = Memory()
    memory.remember(sorted(held, reverse=True), generation)
    sent = encode_subscription(memory.subscription(["t", "u", "ü"], mode=mode))
    claim = claim_of(decode_subscription(sent), mode)
    assert {(t, n) for t, numbers in claim.partitions for n in numbers} == held
    assert claim.generation == generation


def test_what_is_not_wanted_any_more_was_revoked_before() -> None:
    memory = Memory()
    memory.remember([("t", 0), ("u", 1)], 3)
    said = memory.subscription(["u"], mode=Mode.COOPERATIVE)
    assert said.owned == (("u", (1,)),)


@pytest.mark.parametrize("junk", [b"\0", b"\0\0\0\x07", b"\xff" * 40])
def test_junk_is_no_claim(junk: bytes) -> None:
    said = Subscription(version=1, topics=("t",), user_data=junk, owned=(("t", (0,)),))
    claim = claim_of(said, Mode.EAGER)
    assert (claim.partitions, claim.source) == ((), ClaimSource.UNREADABLE)


def test_librdkafka_claims_in_its_field() -> None:
    found = [
        claim_of(decode_subscription(member.subscription), Mode.COOPERATIVE)
        for member in recorded_members()
        if (member.client, member.assignor) == ("librdkafka", "cooperative-sticky")
    ]
    assert sum(bool(claim.partitions) for claim in found) == 3
    assert sum(claim.generation >= 0 for claim in found) == 6


@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky"])
def test_no_other_mode_under_a_name_of_kafkas(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is eager in every client"):
        mode_of(name, Mode.COOPERATIVE)
    with pytest.raises(ValueError, match="cooperative in every client, not eager"):
        mode_of("cooperative-sticky", Mode.EAGER)
    assert mode_of("mine", Mode.COOPERATIVE) is Mode.COOPERATIVE
