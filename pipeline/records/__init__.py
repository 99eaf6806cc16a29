"""Records of ``__consumer_offsets``: offset commits and groups of both protocols."""

from pipeline.records.consumer_model import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTombstone,
    TopicIdPartitions,
    TopicMetadata,
)
from pipeline.records.decode import OFFSETS_TOPIC, Record, decode_record
from pipeline.records.model import (
    GroupMember,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    OtherGroupRecord,
)
from pipeline.records.printed_records import (
    PrintedError,
    encode_printed_key,
    encode_printed_value,
)

__all__ = [
    "OFFSETS_TOPIC",
    "ClassicMemberMetadata",
    "ConsumerGroupCurrentMemberAssignment",
    "ConsumerGroupMemberMetadata",
    "ConsumerGroupMetadata",
    "ConsumerGroupPartitionMetadata",
    "ConsumerGroupRecord",
    "ConsumerGroupRegularExpression",
    "ConsumerGroupTargetAssignmentMember",
    "ConsumerGroupTargetAssignmentMetadata",
    "ConsumerGroupTombstone",
    "GroupMember",
    "GroupMetadata",
    "GroupTombstone",
    "OffsetCommit",
    "OffsetTombstone",
    "OtherGroupRecord",
    "PrintedError",
    "Record",
    "TopicIdPartitions",
    "TopicMetadata",
    "decode_record",
    "encode_printed_key",
    "encode_printed_value",
]
