"""Evidence of partition counts: the partitions in a group's records, with times.

Records of a group do not state how many partitions a topic has (Kafka 4.0 excepted, in
the new protocol). They show partitions: in assignments, and in offset commits, which
the broker accepts for existing partitions only. A topic to which partition 4 belongs
has at least 5 partitions from then on, until it is deleted. Kafka deletes the committed
offsets of a deleted topic in all groups (``OffsetMetadataManager.onPartitionsDeleted``,
Kafka 4.3), and also those that expire, so their tombstones end the sightings of a
group.

Times are those of the records, in milliseconds. A broker's clock can go back, so the
time of a record counts as at least that of the group's records before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from pipeline.records.place import RecordClock

MOST_PARTITIONS: Final = 1 << 17
"""Largest partition count that a record shows; a larger one is treated as damage.

Its instances would not fit into memory.
"""


@dataclass(frozen=True, slots=True)
class Sighting:
    """At least ``count`` partitions of a topic, since ``since``.

    ``until`` is the time at which the group's committed offsets of the topic were
    deleted, or the group recorded another topic of this name; None if neither was.
    """

    since: int
    count: int
    is_commit: bool = False
    until: int | None = None


@dataclass(slots=True)
class _Shown:
    """Sightings of a topic by a group, in the order of its records.

    ``most`` is the largest count; ``dated`` are times and counts, both ascending.
    """

    most: int = 0
    dated: list[tuple[int, int]] = field(default_factory=list)

    def add(self, count: int, since: int | None) -> None:
        """Add a count that a record shows; ``since`` is None without a time."""
        self.most = max(self.most, count)
        if since is None or (self.dated and self.dated[-1][1] >= count):
            return
        if self.dated and self.dated[-1][0] == since:
            self.dated.pop()
        self.dated.append((since, count))

    def most_at(self, at: int | None) -> int:
        """Return the largest count of which the time is at most ``at``."""
        if at is None or not self.dated:
            return 0
        if self.dated[-1][0] <= at:  # as always, unless times have gone back
            return self.dated[-1][1]
        place = bisect_right(self.dated, at, key=itemgetter(0))
        return self.dated[place - 1][1] if place else 0


class GroupSightings:
    """Sightings in the records of a group, in their order; topics are names or ids."""

    def __init__(self, clock: RecordClock | None = None) -> None:
        self._clock = RecordClock() if clock is None else clock
        self._shown: dict[tuple[str, bool], _Shown] = {}  # by topic and is_commit
        self._committed: dict[str, set[int]] = {}
        self._recorded: dict[str, tuple[bytes, int]] = {}
        self._past: set[tuple[str, Sighting]] = set()

    def commit(self, topic: str, partition: int, at: int | None) -> None:
        """Apply an offset commit; ``at`` is the time of its record."""
        self._clock.take(at)
        numbers = self._committed.setdefault(topic, set())
        if partition not in numbers:
            numbers.add(partition)
            self._show(topic, partition + 1, at, is_commit=True)

    def assigned(
        self, held: Iterable[Mapping[str, Sequence[int]]], at: int | None
    ) -> None:
        """Apply an assignment: the partitions of each member, ascending, none empty."""
        self._clock.take(at)
        most: dict[str, int] = {}
        for topics in held:
            for topic, numbers in topics.items():
                count = numbers[-1] + 1
                if most.get(topic, 0) < count <= MOST_PARTITIONS:
                    most[topic] = count
        for topic, count in most.items():
            self._show(topic, count, at)

    def recorded(
        self, topics: Iterable[tuple[str, bytes, int]], at: int | None
    ) -> None:
        """Apply names, ids, and partition counts of topics as a group recorded them.

        A topic with another id or with fewer partitions was deleted and created again.
        """
        self._clock.take(at)
        for topic, topic_id, count in topics:
            before = self._recorded.get(topic, (topic_id, 0))
            if before[0] != topic_id or count < before[1]:
                self.forget(topic, at)
            self._recorded[topic] = topic_id, count
            self._show(topic, count, at)

    def forget(self, topic: str, at: int | None) -> None:
        """Apply the tombstone of a committed offset: the topic may be deleted."""
        until = self._clock.latest if at is None else at
        for is_commit in (False, True):
            shown = self._shown.pop((topic, is_commit), None)
            if shown is not None:
                self._past.update(_sightings(topic, shown, is_commit, until))
        self._committed.pop(topic, None)
        self._clock.take(at)

    def undated(self, topics: Iterable[str], at: int | None) -> dict[str, int]:
        """Return the counts that were shown before, but not at a time until ``at``.

        Either the records have no times, or their times have gone back.
        """
        found: dict[str, int] = {}
        for topic in topics:
            most = dated = 0
            for kind in (False, True):
                shown = self._shown.get((topic, kind))
                if shown is not None:
                    most = max(most, shown.most)
                    dated = max(dated, shown.most_at(at))
            if most > dated:
                found[topic] = most
        return found

    def all(self) -> Iterator[tuple[str, Sighting]]:
        """Yield each topic with a time at which the group showed more of it."""
        yield from self._past
        for (topic, is_commit), shown in self._shown.items():
            yield from _sightings(topic, shown, is_commit, None)

    def _show(
        self, topic: str, count: int, at: int | None, *, is_commit: bool = False
    ) -> None:
        if count <= MOST_PARTITIONS:
            shown = self._shown.get((topic, is_commit))
            if shown is None:
                shown = self._shown[topic, is_commit] = _Shown()
            shown.add(count, None if at is None else self._clock.latest)


def _sightings(
    topic: str, shown: _Shown, is_commit: bool, until: int | None
) -> Iterator[tuple[str, Sighting]]:
    for since, count in shown.dated:
        if until is None or since < until:
            yield topic, Sighting(since, count, is_commit, until)
