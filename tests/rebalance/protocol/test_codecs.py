"""Messages of members: written by hand, by Java, recorded, random, and damaged."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance import WireError
from rebalance.protocol import (
    MemberAssignment,
    StickyUserData,
    Subscription,
    decode_assignment,
    decode_generation,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_generation,
    encode_sticky_user_data,
    encode_subscription,
)
from tests.support.wire import TESTS, Vector, attempt, java, lines, recorded_members
from tests.support.wire_strategies import (
    INT32,
    assignments,
    damaged,
    sticky_user_data,
    subscriptions,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """How one kind of message is read and written, and messages of clients."""

    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    drawn: st.SearchStrategy[Any]
    recorded: tuple[bytes, ...]


USER_DATA = (decode_subscription(m.subscription).user_data for m in recorded_members())
HELD_BY_STICKY = tuple(data for data in USER_DATA if data and len(data) > 4)
SHORTEST = (("", ()),) * 9  # the shortest topics there are
MANY = (("", ()),) * 65_536  # begin with the bytes of kafka-python's version number
CODECS = {
    "subscription": Codec(
        decode=decode_subscription,
        encode=encode_subscription,
        drawn=subscriptions() | st.just(Subscription(version=0, topics=("",) * 9)),
        recorded=tuple(m.subscription for m in recorded_members()),
    ),
    "assignment": Codec(
        decode=decode_assignment,
        encode=encode_assignment,
        drawn=assignments() | st.just(MemberAssignment(version=0, partitions=SHORTEST)),
        recorded=tuple(m.assignment for m in recorded_members()),
    ),
    "sticky-user-data": Codec(
        decode=decode_sticky_user_data,
        encode=encode_sticky_user_data,
        drawn=sticky_user_data() | st.just(StickyUserData(version=1, partitions=MANY)),
        recorded=HELD_BY_STICKY,
    ),
    "cooperative-user-data": Codec(
        decode=decode_generation,
        encode=encode_generation,
        drawn=INT32,
        recorded=(encode_generation(7),),
    ),
}

TOPICS = "0000000100027431"  # one topic, t1
NO_DATA = "ffffffff"
OWNED = "0000000100027431000000020000000000000003"  # t1: 0 and 3
ZERO_AND_THREE = (("t1", (0, 3)),)
GENERATION = "00000007"
RACK = "000161"

BY_HAND = [
    ("0000" + TOPICS + NO_DATA, Subscription(version=0, topics=("t1",))),
    (
        "0001" + TOPICS + NO_DATA + OWNED,  # KIP-429
        Subscription(version=1, topics=("t1",), owned=ZERO_AND_THREE),
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
            owned=ZERO_AND_THREE,
            generation=7,
        ),
    ),
    (
        "0003" + TOPICS + "00000000" + OWNED + GENERATION + RACK,  # KIP-881
        Subscription(
            version=3,
            topics=("t1",),
            user_data=b"",
            owned=ZERO_AND_THREE,
            generation=7,
            rack="a",
        ),
    ),
    *[
        (
            f"000{version}" + OWNED + "00000002cafe",
            MemberAssignment(
                version=version, partitions=ZERO_AND_THREE, user_data=b"\xca\xfe"
            ),
        )
        for version in range(4)
    ],
    (OWNED, StickyUserData(version=0, partitions=ZERO_AND_THREE)),  # KIP-54
    (
        OWNED + GENERATION,  # KIP-341
        StickyUserData(version=1, partitions=ZERO_AND_THREE, generation=7),
    ),
    (
        "0001" + OWNED + GENERATION,  # kafka-python 3
        StickyUserData(
            version=1, partitions=ZERO_AND_THREE, generation=7, prefixed=True
        ),
    ),
    ("00000000", StickyUserData(version=0, partitions=())),
    ("00000000ffffffff", StickyUserData(version=1, partitions=())),
]
CODEC_OF = {
    Subscription: CODECS["subscription"],
    MemberAssignment: CODECS["assignment"],
    StickyUserData: CODECS["sticky-user-data"],
}


@pytest.mark.parametrize(("text", "message"), BY_HAND)
def test_by_hand(text: str, message: Any) -> None:
    codec = CODEC_OF[type(message)]
    assert codec.decode(bytes.fromhex(text)) == message
    assert codec.encode(message).hex() == text


@pytest.mark.parametrize(
    ("name", "versions"),
    [
        ("subscription", {0, 1, 2, 3}),
        ("assignment", {0, 1, 2, 3}),
        ("sticky-user-data", {1}),
        ("cooperative-user-data", {0}),
    ],
)
def test_java(name: str, versions: set[int]) -> None:
    vectors, codec = java(name), CODECS[name]
    assert {vector.version for vector in vectors} == versions
    for vector in vectors:
        message = codec.decode(vector.data)
        assert codec.encode(message) == vector.data
        if name == "sticky-user-data":  # Java lists topics in the order of its hash map
            message = replace(message, partitions=tuple(sorted(message.partitions)))
        assert message == written_by_java(vector)


def written_by_java(vector: Vector) -> Any:
    given_to_java: dict[str, Any] = {
        name: tuple(sorted((topic, tuple(numbers)) for topic, numbers in value))
        if name in {"owned", "partitions"}
        else tuple(value)
        if name == "topics"
        else bytes.fromhex(value)
        if name == "user_data" and value is not None
        else value
        for name, value in vector.fields.items()
    }
    match vector.message:
        case "subscription":
            return Subscription(version=vector.version, **given_to_java)
        case "assignment":
            return MemberAssignment(version=vector.version, **given_to_java)
        case "sticky-user-data":
            return StickyUserData(version=1, **given_to_java)
    return given_to_java["generation"]


@pytest.mark.parametrize("name", CODECS)
@given(data=st.data())
def test_round_trip(name: str, data: st.DataObject) -> None:
    codec = CODECS[name]
    message = data.draw(codec.drawn)
    assert codec.decode(codec.encode(message)) == message


@pytest.mark.parametrize("name", CODECS)
@given(data=st.data())
def test_any_bytes_are_a_message_or_refused(name: str, data: st.DataObject) -> None:
    """Bytes that are read and written again are unchanged."""
    codec = CODECS[name]
    text = data.draw(
        st.binary(max_size=40)
        | st.sampled_from([b"\0\0" + bytes(8), b"\0\1", b"\0\1\0\0\0\0\0\0\0\7"])
        | damaged(codec.recorded)
    )
    message = attempt(codec.decode, text)
    if isinstance(message, WireError):
        assert 0 <= message.offset <= len(text)
    elif getattr(message, "version", 0) <= 3:
        assert codec.encode(message) == text


@pytest.mark.parametrize("name", CODECS)
def test_cut_anywhere_is_refused_or_an_older_form(name: str) -> None:
    codec = CODECS[name]
    for data in codec.recorded:
        whole = codec.decode(data)
        for end in range(len(data)):
            message = attempt(codec.decode, data[:end])
            if isinstance(message, WireError):
                assert 0 <= message.offset <= end
            elif isinstance(message, StickyUserData):
                # Version 1 without its generation is version 0.
                assert (message.version, end) == (0, len(data) - 4)
            else:
                assert whole.version == 1
                assert message == replace(whole, owned=(), is_short=True)


def test_a_newer_version_is_read_as_the_newest_known() -> None:
    """Java 4.3.1 reads these very bytes the same way."""
    data = bytes.fromhex("000900000001000161ffffffff0000000000000007")
    read = decode_subscription(data + bytes.fromhex("ffffdeadbeef"))
    assert read == Subscription(version=9, topics=("a",), generation=7)
    with pytest.raises(WireError, match="version 9"):
        encode_subscription(read)
    given_out = decode_assignment(bytes.fromhex("7fff" + OWNED + NO_DATA + "00"))
    assert given_out.partitions == ZERO_AND_THREE
    with pytest.raises(WireError, match="version 32767"):
        encode_assignment(given_out)


def test_what_an_older_version_lacks_is_left_out() -> None:
    oldest = Subscription(version=0, topics=("t",), generation=4, rack="r")
    read = decode_subscription(encode_subscription(oldest))
    assert read == Subscription(version=0, topics=("t",))


@pytest.mark.parametrize(
    "row", lines(TESTS / "data/wire/refused.jsonl"), ids=lambda row: row["reason"]
)
def test_refused_with_the_byte_at_fault(row: dict[str, Any]) -> None:
    data = bytes.fromhex(row["hex"])
    tracemalloc.start()
    try:
        with pytest.raises(WireError) as caught:
            CODECS[row["message"]].decode(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000  # whatever length it states
    finally:
        tracemalloc.stop()
    assert row["reason"] in caught.value.reason
    assert caught.value.offset == row["offset"]


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
    (StickyUserData(version=2, partitions=()), 0, "version 2"),
    (StickyUserData(version=0, partitions=(), prefixed=True), 0, ""),
    (StickyUserData(version=1, partitions=(), generation=2**31), 4, "does not fit"),
]


@pytest.mark.parametrize(("message", "offset", "reason"), CANNOT_SAY)
def test_the_wire_cannot_carry(message: Any, offset: int, reason: str) -> None:
    with pytest.raises(WireError) as caught:
        CODEC_OF[type(message)].encode(message)
    assert reason in caught.value.reason
    assert caught.value.offset == offset
