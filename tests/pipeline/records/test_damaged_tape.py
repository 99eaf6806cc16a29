"""Damaged records on a tape: read as decoding them one by one gives, or not read.

Reaches into `pipeline.records.record_tape` to compare a kernel with its slow reference
implementation.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records import (
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    GroupMetadata,
    OffsetCommit,
    TopicIdPartitions,
    decode_record,
)
from rebalance.protocol import (
    MemberAssignment,
    StickyUserData,
    Subscription,
    encode_assignment,
    encode_sticky_user_data,
    encode_subscription,
)
from tests.pipeline.records.consumer_writers import AnyRecord, written
from tests.pipeline.records.damage import damaged_record
from tests.pipeline.records.samples import (
    group_of,
    of_clients,
    of_java,
    recorded,
    written_anew,
)
from tests.pipeline.records.strategies import (
    NEWER_TAGS,
    consumer_groups,
    consumer_records,
    offset_commits,
)
from tests.pipeline.records.tape_content import content_of, contents_on_tape
from tests.support import amount
from tests.support.wire import RecordBytes
from tests.support.wire_strategies import damaged

TOGETHER = 1_000
"""Records of a batch."""
OF_A_SORT = 50
ALL = 1_000_000


@cache
def sound_records() -> tuple[RecordBytes, ...]:
    """Return a few records of each type and version."""
    found = defaultdict(list)
    for key, value in (*of_java(), *of_clients(), *written_anew(), *recorded()):
        found[key[:2], value and value[:2]].append((key, value))
    return tuple(record for sort in found.values() for record in sort[:OF_A_SORT])


@cache
def sound_groups() -> tuple[GroupMetadata, ...]:
    """Return classic groups whose members' messages can be read."""
    found = [
        decode_record(key, value)
        for key, value in dict.fromkeys((*of_clients(), *recorded()))
        if key[:2] == b"\0\2" and content_of(key, value) is not None
    ]
    return tuple(
        group for group in found if isinstance(group, GroupMetadata) and group.members
    )


def compared(records: Sequence[RecordBytes]) -> Counter[str]:
    """Compare a batch; only records with tags that do not ascend are left out."""
    seen: Counter[str] = Counter()
    for record, content in zip(records, contents_on_tape(records), strict=True):
        expected = content_of(*record)
        assert content in {expected, None}, record
        same = "refused" if content is None else "read"
        seen[same if content == expected else "left"] += 1
    return seen


def check(count: int, seed: int) -> None:
    """Compare so many records."""
    rng = Random(seed)  # noqa: S311
    seen: Counter[str] = Counter()
    for _ in range(count // TOGETHER):
        records = [
            damaged_record(rng, sound_records(), sound_groups())
            for _ in range(TOGETHER)
        ]
        seen += compared(records)
    assert seen.total() == count
    assert seen["read"] > count // 4
    assert seen["left"] < count // 500


def test_damaged_records() -> None:
    check(2 * amount.QUICK, seed=1)


@pytest.mark.nightly(minutes=2)
def test_a_million_damaged_records() -> None:
    check(ALL, seed=amount.FIRST_SEED + 2)


@st.composite
def damaged_records(draw: st.DrawFn) -> RecordBytes:
    record = draw(offset_commits() | consumer_groups() | consumer_records())
    key, value = written(record, draw(NEWER_TAGS))
    return key, draw(damaged((value or b"",)))


@given(st.lists(damaged_records(), min_size=1, max_size=4))
def test_damaged_records_that_are_drawn(records: list[RecordBytes]) -> None:
    compared(records)


NOTHING = TopicIdPartitions(topic_id=bytes(16), partitions=())
WITH_A_TAG = (
    OffsetCommit("g", "t", 0, version=4, offset=7, commit_timestamp=0),
    ConsumerGroupMetadata("g", 1),
    ConsumerGroupTargetAssignmentMetadata("g", 1),
    ConsumerGroupTargetAssignmentMember("g", "m", (NOTHING,)),
    ConsumerGroupMemberMetadata("g", "m", None, None, "", "", (), None, 0, None),
)


@pytest.mark.parametrize("record", WITH_A_TAG, ids=lambda record: type(record).__name__)
def test_tags_of_any_size(record: AnyRecord) -> None:
    """A topic's id, numbers, the epochs of partitions, and what a member sent."""
    values = [
        begin + bytes(size)
        for begin in (b"", b"\0", b"\1", b"\2", b"\1\0\0\0\0\1", b"\2\0\0\0\0\1")
        for size in range(20)
    ]
    seen = compared([written(record, {0: value}) for value in values])
    assert set(seen) == {"read", "refused"}


@pytest.mark.parametrize("version", range(5))
def test_messages_cut_anywhere(version: int) -> None:
    """Only version 1 of a subscription can be short, before the owned partitions."""
    owned, known = (("t", (0, 1)),), min(version, 3)
    sent = Subscription(version=known, topics=("t",), owned=owned, rack="r")
    given = MemberAssignment(version=known, partitions=owned)
    subscription, assignment = (
        struct.pack(">h", version) + message[2:]
        for message in (encode_subscription(sent), encode_assignment(given))
    )
    cuts = [(subscription[:end], b"") for end in range(len(subscription) + 1)]
    cuts += [(subscription, assignment[:end]) for end in range(len(assignment) + 1)]
    seen = compared([written(group_of(*cut, "range")) for cut in cuts])
    assert seen["read"] == 3 + (version == 1)  # two have no assignment


def test_prefix_of_user_data() -> None:
    """Of the versions that user data can begin with, only 1 is a version."""
    user_data = encode_sticky_user_data(
        StickyUserData(version=1, partitions=(("t", (7,)),), generation=5)
    )
    prefixes = (b"", b"\0\0", b"\0\1", b"\0\2", b"\1\1")
    sent = [
        Subscription(version=1, topics=(), user_data=prefix + user_data)
        for prefix in prefixes
    ]
    messages = map(encode_subscription, sent)
    compared([written(group_of(message, b"", "sticky")) for message in messages])


TARGET_KEY = bytes.fromhex("0007 0001 67 0001 6d")  # g, m
PARTITIONS = bytes.fromhex("0000 02") + bytes(16) + b"\1"
"""A topic without partitions, up to its tags."""


@pytest.mark.parametrize("tags", ["05 00 05 00", "07 01 ff 07 01 ff", "06 00 05 00"])
def test_bug_tags_that_no_reader_knows_twice(tags: str) -> None:
    """The kernel skipped them, whereas the decoder refuses one that occurs twice."""
    value = PARTITIONS + b"\2" + bytes.fromhex(tags) + b"\0"
    assert contents_on_tape([(TARGET_KEY, value)]) == [None]
    assert contents_on_tape([(TARGET_KEY, PARTITIONS + b"\0\0")]) != [None]


def test_bug_two_forms_of_user_data_with_other_texts() -> None:
    """Texts of both were kept, more than there are bytes, until one did not fit.

    Sticky's user data is read from its start, and from byte 2; here, neither succeeds.
    """
    longest, topic = 32_767, struct.Struct(f">h{32_767}si")
    shifted = topic.pack(longest, b"\x7f" * longest, 0)
    user_data = b"\0\1\0\0" + shifted + topic.pack(longest, b"~" * longest, 0)
    subscription = Subscription(version=1, topics=(), user_data=user_data)
    group = group_of(encode_subscription(subscription), b"", "sticky")
    record = written(group)
    assert contents_on_tape([record]) == [content_of(*record)]
