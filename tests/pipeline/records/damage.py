"""Damage of records, by a seed: bytes, lengths, and the messages within a group."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from pipeline.records import GroupMember, GroupMetadata
from rebalance.protocol import decode_subscription, encode_subscription
from tests.pipeline.records.consumer_writers import written
from tests.support.wire import RecordBytes


def damaged_record(
    rng: Random, records: Sequence[RecordBytes], groups: Sequence[GroupMetadata]
) -> RecordBytes:
    """Return one of the records with damage; of a group, that in its messages can be.

    Lengths around damage in a group are right, which chance hardly ever gets.
    """
    if rng.randrange(4) == 0:
        group = rng.choice(groups)
        members = [*group.members]
        place = rng.randrange(len(members))
        members[place] = _damaged_member(rng, members[place])
        group = group._replace(version=rng.randrange(5), members=tuple(members))
        return written(group)
    key, value = rng.choice(records)
    what = rng.randrange(12)
    if what == 0:
        return damaged(rng, key), value
    if what == 1:
        return key, rng.choice(records)[1]
    return key, None if value is None else damaged(rng, value)


def _damaged_member(rng: Random, member: GroupMember) -> GroupMember:
    what = rng.randrange(3)
    if what == 0:
        return member._replace(assignment=damaged(rng, member.assignment))
    if what == 1:
        return member._replace(subscription=damaged(rng, member.subscription))
    subscription = decode_subscription(member.subscription)
    user_data = damaged(rng, subscription.user_data or b"")
    subscription = replace(subscription, user_data=user_data)
    return member._replace(subscription=encode_subscription(subscription))


def damaged(rng: Random, sound: bytes) -> bytes:
    """Change, insert, remove, repeat, or cut bytes once or twice, lengths above all."""
    data = bytearray(sound)
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(8):
            case 0:
                data[at : at + 1] = rng.randbytes(1)
            case 1:
                data[at : at + 1] = rng.choice((b"\0", b"\1", b"\2", b"\x7f", b"\x80"))
            case 2:
                data[at:at] = rng.randbytes(rng.randint(1, 8))
            case 3:
                del data[at : at + rng.randint(1, 8)]
            case 4:
                number = rng.choice((-(2**31), -7, -1, 0, 1, 2**31 - 1, len(data)))
                data[at : at + 4] = struct.pack(">i", number)
            case 5:
                length = rng.choice((-2, -1, 0, 1, 3, 4, 32_767))
                data[at : at + 2] = struct.pack(">h", length)
            case 6:
                data[at:at] = data[at : at + rng.randint(1, 24)]
            case 7:
                del data[at:]
    return bytes(data)
