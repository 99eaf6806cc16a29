"""Sticky's user data: KIP-54, KIP-341, kafka-python's own form, Java's bytes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rebalance import WireError
from rebalance.protocol import (
    StickyUserData,
    decode_generation,
    decode_sticky_user_data,
    decode_subscription,
    encode_generation,
    encode_sticky_user_data,
)
from tests.support.wire import attempt, java, recorded_members
from tests.support.wire_strategies import INT32, damaged, sticky_user_data

HELD = "0000000100027431000000020000000000000003"  # t1: 0 and 3
PARTITIONS = (("t1", (0, 3)),)

BY_HAND = [
    (HELD, StickyUserData(version=0, partitions=PARTITIONS)),  # KIP-54
    (
        HELD + "00000005",  # KIP-341
        StickyUserData(version=1, partitions=PARTITIONS, generation=5),
    ),
    (
        "0001" + HELD + "00000005",  # kafka-python 3
        StickyUserData(version=1, partitions=PARTITIONS, generation=5, prefixed=True),
    ),
    ("00000000", StickyUserData(version=0, partitions=())),
    ("00000000ffffffff", StickyUserData(version=1, partitions=())),
]

RECORDED = tuple(
    data
    for member in recorded_members()
    if (data := decode_subscription(member.subscription).user_data)
    and len(data) > 4  # Java's cooperative generation
)


@pytest.mark.parametrize(("text", "held"), BY_HAND)
def test_by_hand(text: str, held: StickyUserData) -> None:
    assert decode_sticky_user_data(bytes.fromhex(text)) == held
    assert encode_sticky_user_data(held).hex() == text


def test_java_writes_version_1() -> None:
    vectors = java("sticky-user-data")
    assert len(vectors) == 2
    for vector in vectors:
        held = decode_sticky_user_data(vector.data)
        assert (held.version, held.prefixed) == (1, False)
        assert held.generation == vector.fields["generation"]
        # Java lists topics in the order of its hash map
        assert sorted(held.partitions) == sorted(
            (topic, tuple(numbers)) for topic, numbers in vector.fields["partitions"]
        )
        assert encode_sticky_user_data(held) == vector.data


def test_java_cooperative_writes_a_generation() -> None:
    vectors = java("cooperative-user-data")
    assert len(vectors) == 2
    for vector in vectors:
        assert decode_generation(vector.data) == vector.fields["generation"]
        assert encode_generation(vector.fields["generation"]) == vector.data


@pytest.mark.heavy
def test_more_topics_than_a_prefix_can_be_taken_for() -> None:
    """65,536 topics start with the bytes of kafka-python's version number."""
    held = StickyUserData(
        version=1, partitions=(("", ()),) * 65_536, generation=3, prefixed=False
    )
    data = encode_sticky_user_data(held)
    assert data.startswith(b"\x00\x01")
    assert decode_sticky_user_data(data) == held


@pytest.mark.heavy
@given(sticky_user_data())
def test_round_trip(held: StickyUserData) -> None:
    assert decode_sticky_user_data(encode_sticky_user_data(held)) == held


@given(INT32)
def test_generation_round_trip(generation: int) -> None:
    assert decode_generation(encode_generation(generation)) == generation


@pytest.mark.heavy
@given(st.binary(max_size=40) | damaged(RECORDED))
@example(b"\x00\x01")
@example(b"\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07")
def test_any_bytes_are_user_data_or_refused(data: bytes) -> None:
    held = attempt(decode_sticky_user_data, data)
    if isinstance(held, WireError):
        assert 0 <= held.offset <= len(data)
    else:
        assert encode_sticky_user_data(held) == data


def test_cut_anywhere_is_refused_or_the_older_form() -> None:
    for data in RECORDED:
        for end in range(len(data)):
            held = attempt(decode_sticky_user_data, data[:end])
            if isinstance(held, WireError):
                assert 0 <= held.offset <= end
            else:  # version 1 without its generation is version 0
                assert (held.version, end) == (0, len(data) - 4)


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("", 0, "partitions held: 4 bytes wanted"),
        ("ffffffff", 0, "partitions held: -1 items"),
        (HELD + "0000", 20, "generation: 4 bytes wanted"),
        (HELD + "0000000500", 24, "1 bytes too many"),
        ("0001" + HELD, 22, "generation: 4 bytes wanted"),
        ("00017fffffff", 2, "2147483647 items"),
    ],
)
def test_refused_with_the_byte_at_fault(text: str, offset: int, reason: str) -> None:
    with pytest.raises(WireError) as caught:
        decode_sticky_user_data(bytes.fromhex(text))
    assert reason in caught.value.reason
    assert caught.value.offset == offset


@pytest.mark.parametrize("text", ["", "000000", "0000000500"])
def test_a_generation_is_four_bytes(text: str) -> None:
    with pytest.raises(WireError):
        decode_generation(bytes.fromhex(text))


@pytest.mark.parametrize(
    "held",
    [
        StickyUserData(version=2, partitions=()),
        StickyUserData(version=0, partitions=(), prefixed=True),
        StickyUserData(version=1, partitions=(), generation=2**31),
    ],
)
def test_the_wire_cannot_carry(held: StickyUserData) -> None:
    with pytest.raises(WireError):
        encode_sticky_user_data(held)
