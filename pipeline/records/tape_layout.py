"""Entries of records on the tape, and their places (`pipeline.records.record_tape`)."""

from __future__ import annotations

from typing import Final

from pipeline.records.field_tables import (
    ASSIGNMENT,
    CLASSIC_MEMBER,
    GROUP_KEY,
    GROUP_VALUE,
    OFFSET_KEY,
    OFFSET_VALUE,
    PREFIXED_STICKY_DATA,
    STICKY_DATA,
    SUBJECT_KEY,
    SUBSCRIPTION,
    VALUES_BY_TYPE,
    Programs,
    programs_of,
)
from rebalance import ABSENT, argument
from rebalance.protocol import COOPERATIVE_STICKY, STICKY

START: Final = argument(0)
NO_ROW: Final = argument(ABSENT)

# Kinds of records.
OTHER: Final = 0
"""Another record, or one that is not sound."""
COMMITTED, FORGOTTEN = 1, 2
"""An offset commit, and its tombstone."""
GENERATION, DELETED = 3, 4
"""A classic group, and its tombstone."""
EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT, REGEX = range(5, 11)
"""Records of the new protocol; their tombstones have the negative number."""

# Numbers of names that every tape has.
KNOWN_NAMES: Final = ("", "consumer", "stream", STICKY, COOPERATIVE_STICKY)
NOTHING, CONSUMER, STREAM, IS_STICKY, IS_COOPERATIVE = range(5)

# A commit has these; its tombstone has the first two.
TOPIC, PARTITION, OFFSET, TOPIC_ID = range(4)

# A generation has these numbers, and then its members.
KIND_OF_GROUP, NUMBER, ASSIGNOR, LEADER, MEMBERS = range(5)
HEAD: Final = 5
# A member has these; the place of its metadata replaces that of its message.
MEMBER_ID, INSTANCE_ID, CLIENT_ID, CLIENT_HOST, MESSAGE_AT, MESSAGE_SIZE = range(6)
PART_AT, PART_SIZE = 6, 7
SENT: Final = MESSAGE_AT
PER_MEMBER: Final = 8
# Metadata of a member: places of the topics of its subscription, and of partitions.
TOPICS, CLAIMED, ASSIGNED, CLAIM_GENERATION, REPORTS, RACK = range(6)
PER_SENT: Final = 6

# Records of the new protocol begin with the member, or the regular expression; those of
# a whole group, with its epoch.
SUBJECT: Final = 0
EPOCH_NUMBER: Final = 0
COMPUTED_AT: Final = 1
"""Of a target epoch."""
MEMBER_INSTANCE, MEMBER_RACK, MEMBER_CLIENT, MEMBER_HOST, MEMBER_TOPICS = range(1, 6)
"""Of a member; the next ones follow its topics."""
MEMBER_REGEX, MEMBER_ASSIGNOR, MEMBER_CLASSIC = 1, 2, 3
"""The last one is whether it uses the classic protocol."""
TARGET_PARTITIONS: Final = 1
REGEX_TOPICS: Final = 1
CURRENT_EPOCH, CURRENT_PARTITIONS = 1, 2
"""After the partitions follow those that are revoked."""

_TYPES: Final = {
    0: COMMITTED,
    1: COMMITTED,
    2: GENERATION,
    3: EPOCH,
    5: MEMBER,
    6: TARGET_EPOCH,
    7: TARGET,
    8: CURRENT,
    16: REGEX,
}
KIND_OF_TYPE: Final = tuple(_TYPES.get(number, OTHER) for number in range(17))
"""By record type."""

_MESSAGES: Final = (
    OFFSET_KEY,
    OFFSET_VALUE,
    GROUP_KEY,
    GROUP_VALUE,
    SUBSCRIPTION,
    ASSIGNMENT,
    STICKY_DATA,
    PREFIXED_STICKY_DATA,
    SUBJECT_KEY,
    CLASSIC_MEMBER,
    *VALUES_BY_TYPE.values(),
)
OF_OFFSET_KEY, OF_OFFSET, OF_GROUP_KEY, OF_GROUP = map(argument, range(4))
OF_SUBSCRIPTION, OF_ASSIGNMENT, OF_STICKY, OF_PREFIXED = map(argument, range(4, 8))
OF_SUBJECT_KEY, OF_CLASSIC_MEMBER, OF_EPOCH = map(argument, range(8, 11))
"""Places in `PROGRAMS`; the others of the new protocol follow, by their kinds."""
PROGRAMS: Final[Programs] = programs_of(_MESSAGES)
