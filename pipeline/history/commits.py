"""A group's committed offsets at one moment of its history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.cases import Offsets
from pipeline.records import CommitKey, OffsetCommit, OffsetTombstone


class Commits:
    """Committed offsets by topic and partition, updated record by record.

    Those of runs are kept until they are wanted: of several for a partition, only the
    last one matters.
    """

    def __init__(self) -> None:
        self._offsets: dict[str, dict[int, int]] = {}
        self._pending: dict[CommitKey, int | None] = {}

    def apply(self, record: OffsetCommit | OffsetTombstone) -> None:
        """Apply one record."""
        key = record.topic, record.partition
        offset = record.offset if isinstance(record, OffsetCommit) else None
        self._pending[key] = offset

    def put(self, keys: Sequence[CommitKey], offsets: Sequence[int]) -> None:
        """Apply committed offsets, in order."""
        self._pending.update(zip(keys, offsets, strict=True))

    def of(self, topics: Iterable[str]) -> Offsets:
        """Return the commits of these topics; topics without commits are absent."""
        for (topic, partition), offset in self._pending.items():
            known = self._offsets.setdefault(topic, {})
            if offset is None:
                known.pop(partition, None)
            else:
                known[partition] = offset
        self._pending.clear()
        return {
            topic: sorted(self._offsets[topic].items())
            for topic in sorted(topics)
            if self._offsets.get(topic)
        }
