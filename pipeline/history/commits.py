"""A group's committed offsets at one moment of its history."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.cases import Offsets
from pipeline.records import OffsetCommit, OffsetTombstone


class Commits:
    """Committed offsets by topic and partition, updated record by record."""

    def __init__(self) -> None:
        self._offsets: dict[str, dict[int, int]] = {}

    def apply(self, record: OffsetCommit | OffsetTombstone) -> None:
        """Apply one record."""
        known = self._offsets.setdefault(record.topic, {})
        if isinstance(record, OffsetCommit):
            known[record.partition] = record.offset
        else:
            known.pop(record.partition, None)

    def of(self, topics: Iterable[str]) -> Offsets:
        """Return the commits of these topics; topics without commits are absent."""
        return {
            topic: sorted(self._offsets[topic].items())
            for topic in sorted(topics)
            if self._offsets.get(topic)
        }
