"""Split sorted rows into the histories of single groups.

Records that are not judged are counted by group and kind, and the first one is kept. A
record that is delivered again counts once, and the repetitions are counted. Of two
different records at one offset, the first by its bytes is used, and the other is
quarantined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from pipeline.cases import Case
from pipeline.history.commits import Commits
from pipeline.history.consumer_history import ConsumerHistory
from pipeline.history.generations import why_not_judged
from pipeline.history.lasting import GroupStates
from pipeline.history.missing import GenerationNumbers, Missing
from pipeline.history.reconstruct import GroupHistory
from pipeline.history.topics_seen import TopicsSeen
from pipeline.records import (
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupTombstone,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    OtherGroupRecord,
    decode_record,
)
from pipeline.records.place import Place, RecordClock
from pipeline.rows import (
    CARRIED,
    MISSING,
    RECORD,
    SET_ASIDE,
    TOPIC,
    UNREADABLE,
    WITHOUT_TOMBSTONES,
    Row,
    case_row,
    quarantine_row,
    record_quarantined,
    repeated_row,
    sighting_of,
)
from pipeline.sightings import GroupSightings, Sighting
from rebalance import WireError

ORDER: Final = (
    "group_id",
    "source_partition",
    "source_offset",
    "key",
    "value",
    "source",
)
"""Columns by which rows must be sorted, nulls first."""

NO_TOMBSTONES: Final = (
    "a group of the new protocol in files without tombstones, which Kafka Connect's "
    "sink leaves out: members that left are not known"
)

GroupKey: TypeAlias = tuple[str, int | None]
"""Group and partition of ``__consumer_offsets``."""


def histories(rows: Iterable[Row]) -> Iterator[Row]:
    """Convert records to cases; pass other rows on; yield topics at the end.

    The last row has the number of records that are repetitions, if there are any.
    """
    stream = RecordStream()
    for row in rows:
        yield from stream.take(row)
    yield from stream.finish()


class RecordStream:
    """Sorted rows, one by one."""

    def __init__(self) -> None:
        self._seen = TopicsSeen()
        self._group: _GroupRecords | None = None
        self._repeated = 0

    def take(self, row: Row) -> Iterator[Row]:
        """Process the next row; yield the rows that are now complete."""
        if row["what"] == TOPIC:
            self._seen.note([sighting_of(row)])
        elif row["what"] != RECORD:
            yield row
        else:
            key = row["group_id"], row["source_partition"]
            if self._group is None or self._group.key != key:
                yield from self._next(key)
            assert self._group is not None  # noqa: S101  # set by `_next`
            yield from self._group.take(row)

    def note_ids(self, ids: Iterable[tuple[str, bytes]]) -> None:
        """Note the names and ids of topics in offset commits."""
        for topic, topic_id in ids:
            self._seen.note_id(topic_id, topic)

    def note_shown(self, sightings: Iterable[tuple[str, Sighting]]) -> None:
        """Note partition counts that other groups show."""
        self._seen.note(sightings)

    def note_repeated(self, count: int) -> None:
        """Note records of other groups that are repetitions."""
        self._repeated += count

    def finish(self) -> Iterator[Row]:
        """Yield the pending case, the topics, and the number of repetitions."""
        yield from self._finish_group()
        yield from self._seen.rows()
        if self._repeated:
            yield repeated_row(self._repeated)

    def _next(self, key: GroupKey) -> Iterator[Row]:
        yield from self._finish_group()
        self._group = _GroupRecords(key, self._seen)

    def _finish_group(self) -> Iterator[Row]:
        if self._group is not None:
            yield from self._group.finish()
            self._repeated += self._group.repeated


class _GroupRecords:
    """The records of one group in one partition, in order."""

    def __init__(self, key: GroupKey, seen: TopicsSeen) -> None:
        self.key = key
        self.repeated = 0
        self._commits = Commits()
        self._clock = RecordClock()
        self._sightings = GroupSightings(self._clock)
        self._states = GroupStates()
        shared = self._commits, self._sightings, self._states
        self._history = GroupHistory(key[0], *shared)
        self._consumer = ConsumerHistory(key[0], *shared)
        self._numbers = GenerationNumbers()
        self._quarantined: dict[tuple[str, str], Row] = {}
        self._is_consumer_quarantined = False  # the last record is of the new protocol
        self._last: tuple[int, bytes, bytes | None] | None = None
        self._went_back = False  # the time of the last record
        self._seen = seen

    def take(self, row: Row) -> Iterator[Row]:
        """Process the next record."""
        now = row["source_offset"], row["key"], row["value"]
        self._went_back = self._clock.take(row["at"])
        last, self._last = self._last, now
        if last is not None and last[0] == now[0]:
            if last == now:
                self.repeated += 1
            else:
                yield record_quarantined(
                    UNREADABLE, row, "another record at an offset already read"
                )
            return
        try:
            yield from self._decoded(row)
        except WireError as error:
            yield record_quarantined(UNREADABLE, row, str(error))
            yield from self._lost(row)

    def finish(self) -> Iterator[Row]:
        """Yield the pending cases and the counted records."""
        self._states.finish()
        yield from self._found(self._history.finish())
        yield from self._found(self._consumer.finish())
        self._seen.note(self._sightings.all())
        for kind in sorted(self._quarantined):
            yield self._quarantined[kind]

    def _decoded(self, row: Row) -> Iterator[Row]:
        record = decode_record(row["key"], row["value"])
        if isinstance(record, OtherGroupRecord):
            self._quarantine(row, record.kind, record.reason)
        elif isinstance(record, ConsumerGroupRecord):
            yield from self._of_consumer_group(record, row)
        elif isinstance(record, GroupTombstone):
            self._numbers.restart()
            self._states.emptied(self._place(row), is_tombstone=True)
            yield from self._found(self._history.delete(record))
            self._consumer.upgraded()
        elif not isinstance(record, GroupMetadata):
            self._commit_or_forget(record, row["at"])
        elif (reason := why_not_judged(record)) is not None:
            self._quarantine(row, type(record).__name__, reason)
            yield from self._replaced(row)
        elif self._is_downgrade(record):
            self._states.converted()
            yield from self._found(self._number(record, row))
            self._history.downgraded(record)
        else:
            yield from self._found(self._number(record, row))
            yield from self._found(self._history.metadata(record, self._place(row)))

    def _commit_or_forget(
        self, record: OffsetCommit | OffsetTombstone, at: int | None
    ) -> None:
        self._history.commit(record)
        if isinstance(record, OffsetTombstone):
            self._sightings.forget(record.topic, at)
            return
        self._sightings.commit(record.topic, record.partition, at)
        self._states.commit(record.topic, record.partition, at)
        if record.topic_id is not None:
            self._seen.note_id(record.topic_id, record.topic)

    def _of_consumer_group(
        self, record: ConsumerGroupRecord, row: Row
    ) -> Iterator[Row]:
        if isinstance(record, ConsumerGroupPartitionMetadata):
            self._seen.note_topics(record.topics)
            self._sightings.recorded(
                (
                    (topic.name, topic.topic_id, topic.partitions)
                    for topic in record.topics
                ),
                row["at"],
            )
        self._numbers.lost()
        if row.get("record") == WITHOUT_TOMBSTONES:
            self._quarantine(row, type(record).__name__, NO_TOMBSTONES)
            self._is_consumer_quarantined = True
            self._states.replaced(self._place(row))
            yield from self._found(self._history.lost())
        else:
            yield from self._found(self._consumer.apply(record, self._place(row)))

    def _is_downgrade(self, record: GroupMetadata) -> bool:
        """Return whether a record is the copy of a target of the new protocol.

        A new classic group begins with a record without members.
        """
        ended = self._consumer.take_ended() == record.generation
        was_quarantined, self._is_consumer_quarantined = (
            self._is_consumer_quarantined,
            False,
        )
        return bool(record.members) and (ended or was_quarantined)

    def _lost(self, row: Row) -> Iterator[Row]:
        """Reset the record that an unreadable one has replaced."""
        if row["value"] is None:
            return
        replaced = decode_record(row["key"], None)
        if isinstance(replaced, GroupTombstone):
            yield from self._replaced(row)
        elif isinstance(replaced, ConsumerGroupTombstone):
            place = self._place(row)
            yield from self._found(self._consumer.lost(replaced, place))

    def _replaced(self, row: Row) -> Iterator[Row]:
        """Forget the classic group: a record replaces it with one that is not known."""
        self._numbers.lost()
        self._states.replaced(self._place(row))
        yield from self._found(self._history.lost())

    def _place(self, row: Row) -> Place:
        return Place(
            source=row["source"],
            partition=row["source_partition"],
            offset=row["source_offset"],
            at=row["at"],
            went_back=self._went_back,
        )

    def _number(self, record: GroupMetadata, row: Row) -> Iterator[Missing]:
        return self._numbers.take(record.generation, self._place(row))

    def _found(self, found: Iterable[Case | Missing]) -> Iterator[Row]:
        for case in found:
            if isinstance(case, Missing):
                yield missing_row(case, self.key[0])
                continue
            yield from map(case_row, self._states.complete(case))
        yield from map(case_row, self._states.ended())

    def _quarantine(self, row: Row, record: str, reason: str) -> None:
        if row.get("reason") == CARRIED:  # counted in an earlier night
            return
        counted = self._quarantined.get((record, reason))
        if counted is not None:
            counted["records"] += 1
        else:
            self._quarantined[record, reason] = record_quarantined(
                SET_ASIDE, row, reason, record=record
            )


def missing_row(missing: Missing, group_id: str) -> Row:
    """Return the row of quarantine for epochs or generations."""
    first, last, place = missing.first, missing.last, missing.place
    what = missing.record
    numbers = f"{what} {first}" if first == last else f"{what}s {first} to {last}"
    return quarantine_row(
        MISSING,
        missing.reason,
        source=place.source,
        line=place.offset,
        raw=numbers.encode(),
        group_id=group_id,
        source_partition=place.partition,
        at=place.at,
        record=what,
        records=last - first + 1,
    )
