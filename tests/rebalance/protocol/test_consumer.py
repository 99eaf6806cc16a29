"""Subscriptions and assignments: written by hand, recorded, and random."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rebalance import WireError
from rebalance.protocol import (
    MemberAssignment,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from tests.support.examples import costly
from tests.support.wire import Vector, attempt, java, recorded_members
from tests.support.wire_strategies import assignments, damaged, subscriptions

TOPICS = "0000000100027431"  # one topic, t1
NO_DATA = "ffffffff"
OWNED = "0000000100027431000000020000000000000003"  # t1: 0 and 3
GENERATION = "00000007"
RACK = "000161"

BY_HAND = [
    ("0000" + TOPICS + NO_DATA, Subscription(version=0, topics=("t1",))),
    (
        "0001" + TOPICS + NO_DATA + OWNED,  # KIP-429
        Subscription(version=1, topics=("t1",), owned=(("t1", (0, 3)),)),
    ),
    (
        "0001" + TOPICS + NO_DATA,  # kafka-go
        Subscription(version=1, topics=("t1",), is_short=True),
    ),
    (
        "0002" + TOPICS + "00000001ab" + OWNED + GENERATION,  # KIP-792
        Subscription(
            version=2,
            topics=("t1",),
            user_data=b"\xab",
            owned=(("t1", (0, 3)),),
            generation=7,
        ),
    ),
    (
        "0003" + TOPICS + "00000000" + OWNED + GENERATION + RACK,  # KIP-881
        Subscription(
            version=3,
            topics=("t1",),
            user_data=b"",
            owned=(("t1", (0, 3)),),
            generation=7,
            rack="a",
        ),
    ),
]


@pytest.mark.parametrize(("text", "subscription"), BY_HAND)
def test_subscription_by_hand(text: str, subscription: Subscription) -> None:
    assert decode_subscription(bytes.fromhex(text)) == subscription
    assert encode_subscription(subscription).hex() == text


@pytest.mark.parametrize("version", range(4))
def test_assignment_by_hand(version: int) -> None:
    data = bytes.fromhex(f"000{version}" + OWNED + "00000002cafe")
    assignment = MemberAssignment(
        version=version, partitions=(("t1", (0, 3)),), user_data=b"\xca\xfe"
    )
    assert decode_assignment(data) == assignment
    assert encode_assignment(assignment) == data


def test_java_subscriptions() -> None:
    vectors = java("subscription")
    assert {v.version for v in vectors} == {0, 1, 2, 3}
    for vector in vectors:
        subscription = _subscription(vector)
        assert decode_subscription(vector.data) == subscription
        assert encode_subscription(subscription) == vector.data


def test_java_assignments() -> None:
    vectors = java("assignment")
    assert {v.version for v in vectors} == {0, 1, 2, 3}
    for vector in vectors:
        fields = vector.fields
        assignment = MemberAssignment(
            version=vector.version,
            partitions=_partitions(fields["partitions"]),
            user_data=_optional(fields["user_data"]),
        )
        assert decode_assignment(vector.data) == assignment
        assert encode_assignment(assignment) == vector.data


@costly()
@given(subscriptions())
@example(Subscription(version=0, topics=("",) * 9))  # the shortest topics there are
def test_subscription_round_trip(subscription: Subscription) -> None:
    assert decode_subscription(encode_subscription(subscription)) == subscription


@pytest.mark.heavy
@given(assignments())
@example(MemberAssignment(version=0, partitions=(("", ()),) * 9))
def test_assignment_round_trip(assignment: MemberAssignment) -> None:
    assert decode_assignment(encode_assignment(assignment)) == assignment


def test_a_newer_version_is_read_as_the_newest_known() -> None:
    """Java 4.3.1 reads these very bytes the same way."""
    data = bytes.fromhex("000900000001000161ffffffff0000000000000007")
    read = decode_subscription(data + bytes.fromhex("ffffdeadbeef"))
    assert read == Subscription(version=9, topics=("a",), generation=7)
    with pytest.raises(WireError, match="version 9"):
        encode_subscription(read)
    given_out = decode_assignment(bytes.fromhex("7fff" + OWNED + NO_DATA + "00"))
    assert given_out.partitions == (("t1", (0, 3)),)
    with pytest.raises(WireError, match="version 32767"):
        encode_assignment(given_out)


def test_what_an_older_version_lacks_is_left_out() -> None:
    newest = Subscription(version=3, topics=("t",), generation=4, rack="r")
    oldest = Subscription(version=0, topics=("t",), generation=4, rack="r")
    assert decode_subscription(encode_subscription(newest)) == newest
    assert decode_subscription(encode_subscription(oldest)) == Subscription(
        version=0, topics=("t",)
    )


REFUSED = [
    ("", 0, "version: 2 bytes wanted, 0 left"),
    ("00", 0, "version: 2 bytes wanted, 1 left"),
    ("ffff00000000" + NO_DATA, 0, "version -1"),
    ("0000ffffffff" + NO_DATA, 2, "topics: -1 items"),
    ("0000fffffffb" + NO_DATA, 2, "topics: -5 items"),
    ("00007fffffff" + NO_DATA, 2, "topics: 2147483647 items, but 4 bytes left"),
    ("000000000001ffff" + NO_DATA, 6, "topic: null where a value must be"),
    ("000000000001fffe" + NO_DATA, 6, "topic: negative length -2"),
    ("00000000000100097431" + NO_DATA, 6, "topic: length 9, but 6 bytes left"),
    ("000000000001000361c328" + NO_DATA, 9, "topic: not UTF-8"),
    ("000000000000fffffffe", 6, "user data: negative length -2"),
    ("0000000000007fffffff00", 6, "length 2147483647, but 1 bytes left"),
    ("000000000000ffff", 6, "user data: 4 bytes wanted, 2 left"),
    ("0000" + TOPICS + NO_DATA + "00", 14, "subscription: 1 bytes too many"),
    ("0001" + TOPICS + NO_DATA + "00", 14, "owned partitions: 4 bytes wanted, 1 left"),
    ("0002" + TOPICS + NO_DATA, 14, "owned partitions: 4 bytes wanted, 0 left"),
    ("000100000000" + NO_DATA + "000000010000ffffffff", 16, "-1 items"),
    ("000100000000" + NO_DATA + "00000001000040000000", 16, "1073741824"),
    ("000200000000" + NO_DATA + "000000000000", 14, "generation: 4 bytes"),
    ("000300000000" + NO_DATA + "00000000" + GENERATION + "fffe", 18, "rack: neg"),
    ("000300000000" + NO_DATA + "00000000" + GENERATION + RACK + "00", 21, "1 byte"),
]


@pytest.mark.parametrize(("text", "offset", "reason"), REFUSED)
def test_refused_with_the_byte_at_fault(text: str, offset: int, reason: str) -> None:
    with pytest.raises(WireError) as caught:
        decode_subscription(bytes.fromhex(text))
    assert reason in caught.value.reason
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    "text",
    ["00007fffffff", "0000000000007fffffff", "000100000000ffffffff7fffffff"],
)
def test_a_false_length_costs_no_memory(text: str) -> None:
    data = bytes.fromhex(text) + bytes(20)
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            decode_subscription(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


CANNOT_SAY = [
    (Subscription(version=4, topics=()), 0, "version 4"),
    (Subscription(version=-1, topics=()), 0, "version -1"),
    (Subscription(version=0, topics=("x" * 32768,)), 6, "32768 bytes, 32767 at most"),
    (Subscription(version=0, topics=("\ud800",)), 6, "no UTF-8 form"),
    (Subscription(version=2, topics=(), generation=2**31), 14, "does not fit"),
    (Subscription(version=1, topics=(), owned=(("t", (2**31,)),)), 17, "numbers"),
    (Subscription(version=2, topics=(), is_short=True), 0, "only version 1"),
    (
        Subscription(version=1, topics=(), owned=(("t", (1,)),), is_short=True),
        0,
        "without owned partitions is short",
    ),
]


@pytest.mark.parametrize(("subscription", "offset", "reason"), CANNOT_SAY)
def test_the_wire_cannot_carry(
    subscription: Subscription, offset: int, reason: str
) -> None:
    with pytest.raises(WireError) as caught:
        encode_subscription(subscription)
    assert reason in caught.value.reason
    assert caught.value.offset == offset


SUBSCRIPTIONS = tuple(m.subscription for m in recorded_members())
ASSIGNMENTS = tuple(m.assignment for m in recorded_members())


@pytest.mark.parametrize(
    ("decode", "messages"),
    [(decode_subscription, SUBSCRIPTIONS), (decode_assignment, ASSIGNMENTS)],
)
def test_cut_anywhere_is_refused(
    decode: Callable[[bytes], object], messages: tuple[bytes, ...]
) -> None:
    for message in messages:
        whole = decode(message)
        for end in range(len(message)):
            if isinstance(whole, Subscription) and end == _end_of_short(whole):
                assert decode(message[:end]) == replace(whole, owned=(), is_short=True)
                continue
            with pytest.raises(WireError) as caught:
                decode(message[:end])
            assert 0 <= caught.value.offset <= end


@pytest.mark.heavy
@given(st.binary(max_size=40) | damaged(SUBSCRIPTIONS))
@example(b"\x00\x00" + bytes(8))
def test_any_bytes_are_a_subscription_or_refused(data: bytes) -> None:
    """Bytes that are read and written again are unchanged."""
    subscription = attempt(decode_subscription, data)
    if isinstance(subscription, WireError):
        assert 0 <= subscription.offset <= len(data)
    elif subscription.version <= 3:
        assert encode_subscription(subscription) == data


@given(st.binary(max_size=40) | damaged(ASSIGNMENTS))
@example(b"\x00\x00" + bytes(8))
def test_any_bytes_are_an_assignment_or_refused(data: bytes) -> None:
    assignment = attempt(decode_assignment, data)
    if isinstance(assignment, WireError):
        assert 0 <= assignment.offset <= len(data)
    elif assignment.version <= 3:
        assert encode_assignment(assignment) == data


def _end_of_short(subscription: Subscription) -> int | None:
    """Return where version 1 ends without its owned partitions."""
    if subscription.version != 1:
        return None
    return len(encode_subscription(replace(subscription, owned=(), is_short=True)))


def _subscription(vector: Vector) -> Subscription:
    fields = vector.fields
    return Subscription(
        version=vector.version,
        topics=tuple(fields["topics"]),
        user_data=_optional(fields["user_data"]),
        owned=_partitions(fields["owned"]),
        generation=fields["generation"],
        rack=fields["rack"],
    )


def _partitions(
    rows: list[tuple[str, list[int]]],
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((topic, tuple(numbers)) for topic, numbers in rows)


def _optional(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)
