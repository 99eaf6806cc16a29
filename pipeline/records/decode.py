"""Decoder of one record of ``__consumer_offsets``, by the type in its key.

Follows ``CoordinatorRecordType`` of Apache Kafka 4.4. Only 4.0 wrote types 4 and 9; 18
is from before the first release with streams groups, 24 from after 4.4.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from pipeline.records.consumer_model import ConsumerGroupRecord
from pipeline.records.consumer_records import KINDS, decode_consumer_group
from pipeline.records.group_records import decode_group
from pipeline.records.model import (
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    OtherGroupRecord,
)
from pipeline.records.offsets import decode_offset
from rebalance import WireError
from rebalance.protocol import Cursor

Record: TypeAlias = (
    OffsetCommit
    | OffsetTombstone
    | GroupMetadata
    | GroupTombstone
    | ConsumerGroupRecord
    | OtherGroupRecord
)

OFFSETS_TOPIC: Final = "__consumer_offsets"

_OFFSET_COMMITS: Final = (0, 1)
_CLASSIC_GROUP: Final = 2

_SHARE: Final = "share group (KIP-932)"
_STREAMS: Final = "streams group (KIP-1071)"

_OTHERS: Final = {
    9: ("ShareGroupPartitionMetadata", _SHARE),
    10: ("ShareGroupMemberMetadata", _SHARE),
    11: ("ShareGroupMetadata", _SHARE),
    12: ("ShareGroupTargetAssignmentMetadata", _SHARE),
    13: ("ShareGroupTargetAssignmentMember", _SHARE),
    14: ("ShareGroupCurrentMemberAssignment", _SHARE),
    15: ("ShareGroupStatePartitionMetadata", _SHARE),
    17: ("StreamsGroupMetadata", _STREAMS),
    18: ("StreamsGroupPartitionMetadata", _STREAMS),
    19: ("StreamsGroupMemberMetadata", _STREAMS),
    20: ("StreamsGroupTargetAssignmentMetadata", _STREAMS),
    21: ("StreamsGroupTargetAssignmentMember", _STREAMS),
    22: ("StreamsGroupCurrentMemberAssignment", _STREAMS),
    23: ("StreamsGroupTopology", _STREAMS),
    24: ("StreamsGroupTargetAssignmentResolvedTopicIds", _STREAMS),
}


def decode_record(key: bytes | None, value: bytes | None) -> Record:
    """Read one record; a value of None is a tombstone.

    Of share and streams groups, only the name is decoded, for the quarantine.

    Parameters
    ----------
    key, value
        As Kafka stores them, version first.

    Raises
    ------
    WireError
        If there is no key, its type is unknown, or key or value is not that message.
        The reason states whether the offset is in the key or in the value.
    """
    if key is None:
        raise WireError("key: a record without one", offset=0)
    cursor = Cursor(key)
    record_type = cursor.int16("key: record type")
    if record_type in _OFFSET_COMMITS:
        return decode_offset(cursor, value)
    if record_type == _CLASSIC_GROUP:
        return decode_group(cursor, value)
    if record_type in KINDS:
        return decode_consumer_group(record_type, key, value)
    if record_type not in _OTHERS:
        raise WireError(f"key: unknown record type {record_type}", offset=0)
    kind, reason = _OTHERS[record_type]
    group_id = cursor.string("key: group")
    return OtherGroupRecord(
        kind=kind, group_id=group_id, reason=reason, tombstone=value is None
    )
