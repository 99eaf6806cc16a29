"""Records of ``__consumer_offsets``: offset commits and classic groups."""

from pipeline.records.decode import decode_record
from pipeline.records.model import (
    GroupMember,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    Record,
    SetAside,
)

__all__ = [
    "GroupMember",
    "GroupMetadata",
    "GroupTombstone",
    "OffsetCommit",
    "OffsetTombstone",
    "Record",
    "SetAside",
    "decode_record",
]
