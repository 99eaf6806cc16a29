"""Topics that occur in records: partition counts, and names of ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pipeline.records import TopicMetadata
from pipeline.sources.rows import Row, topic_id_row, topic_row

MOST_PARTITIONS: Final = 1 << 17
"""Largest partition count inferred from a record; a larger one is treated as damage.

Its instances would not fit into memory.
"""


class TopicsSeen:
    """Largest partition count of each topic, and all names stated for each id."""

    def __init__(self) -> None:
        self._partitions: dict[str, int] = {}
        self._names: set[tuple[bytes, str]] = set()

    def note(self, topic: str, partitions: int) -> None:
        """Note a lower bound on a partition count; the topic is a name or an id."""
        if partitions <= MOST_PARTITIONS:
            most = self._partitions.get(topic, 0)
            self._partitions[topic] = max(partitions, most)

    def note_id(self, topic_id: bytes, topic: str) -> None:
        """Note the name of an id; an id of zeros is none."""
        if any(topic_id):
            self._names.add((topic_id, topic))

    def note_topics(self, topics: Iterable[TopicMetadata]) -> None:
        """Note the topics that a group of Kafka 4.0 recorded."""
        for topic in topics:
            self.note(topic.name, topic.partitions)
            self.note_id(topic.topic_id, topic.name)

    def rows(self) -> Iterator[Row]:
        """Yield all topics and ids, in order."""
        for topic in sorted(self._partitions):
            yield topic_row(topic, self._partitions[topic])
        for topic_id, name in sorted(self._names):
            yield topic_id_row(topic_id, name)
