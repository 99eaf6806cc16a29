"""Offset commit records: ``OffsetCommitKey.json`` and ``OffsetCommitValue.json``.

Only version 1 of the value has an expiry, 3 added the leader epoch, 4 made the encoding
flexible; Kafka 4.1 added the topic's id as tag 0.
"""

from __future__ import annotations

from typing import Final

from pipeline.records.model import UNKNOWN, OffsetCommit, OffsetTombstone
from pipeline.records.version import value_version
from rebalance.protocol import Cursor

_TOPIC_ID: Final = 0
_TAG_SIZES: Final = {_TOPIC_ID: 16}  # bytes


def decode_offset(key: Cursor, value: bytes | None) -> OffsetCommit | OffsetTombstone:
    """Decode an offset commit; ``key`` is positioned after the record type.

    Raises
    ------
    WireError
        If key or value is not such a message.
    """
    group_id = key.string("key: group")
    topic = key.string("key: topic")
    partition = key.int32("key: partition")
    key.end("key")
    if value is None:
        return OffsetTombstone(group_id=group_id, topic=topic, partition=partition)
    return _commit(group_id, topic, partition, Cursor(value))


def _commit(group_id: str, topic: str, partition: int, value: Cursor) -> OffsetCommit:
    version = value_version(value)
    offset = value.int64("value: offset")
    epoch = value.int32("value: leader epoch") if version >= 3 else UNKNOWN
    flexible = version >= 4
    text = value.compact_string if flexible else value.string
    metadata = text("value: metadata")
    committed = value.int64("value: commit timestamp")
    expires = value.int64("value: expire timestamp") if version == 1 else UNKNOWN
    tags = value.tagged("value", _TAG_SIZES) if flexible else {}
    value.end("value")
    return OffsetCommit(
        group_id=group_id,
        topic=topic,
        partition=partition,
        version=version,
        offset=offset,
        leader_epoch=epoch,
        metadata=metadata,
        commit_timestamp=committed,
        expire_timestamp=expires,
        topic_id=tags.get(_TOPIC_ID),
    )
