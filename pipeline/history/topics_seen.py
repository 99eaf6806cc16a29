"""Topics that occur in records: partition counts over time, and names of ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.records import TopicMetadata
from pipeline.rows import Row, topic_id_row, topic_row
from pipeline.sightings import Sighting


class TopicsSeen:
    """Topics as several groups show them, and all names stated for each id."""

    def __init__(self) -> None:
        self._sightings: set[tuple[str, Sighting]] = set()
        self._names: set[tuple[bytes, str]] = set()

    def note(self, sightings: Iterable[tuple[str, Sighting]]) -> None:
        """Note lower bounds on partition counts; a topic is a name or an id.

        None is dropped for another one that is larger: between the two, the topic can
        have been deleted, as records of groups elsewhere may show.
        """
        self._sightings.update(sightings)

    def note_id(self, topic_id: bytes, topic: str) -> None:
        """Note the name of an id; an id of zeros is not an id."""
        if any(topic_id):
            self._names.add((topic_id, topic))

    def note_topics(self, topics: Iterable[TopicMetadata]) -> None:
        """Note the ids of the topics that a group of Kafka 4.0 recorded."""
        for topic in topics:
            self.note_id(topic.topic_id, topic.name)

    def rows(self) -> Iterator[Row]:
        """Yield all topics and ids, in order."""
        for topic, sighting in sorted(self._sightings, key=_place):
            yield topic_row(topic, sighting)
        for topic_id, name in sorted(self._names):
            yield topic_id_row(topic_id, name)


def _place(seen: tuple[str, Sighting]) -> tuple[str, int, int, bool, int]:
    topic, sighting = seen
    until = -1 if sighting.until is None else sighting.until
    return topic, sighting.since, sighting.count, sighting.is_commit, until
