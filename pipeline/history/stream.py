"""Split sorted rows into the histories of single groups.

Records that are not judged are counted by group and kind, and the first one is kept. A
record that overlapping files contain twice counts once. Of two different records at one
offset, the first by its bytes is used, and the other is quarantined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.cases import Case
from pipeline.history.commits import Commits
from pipeline.history.consumer_history import ConsumerHistory
from pipeline.history.generations import why_not_judged
from pipeline.history.missing import GenerationNumbers, Missing
from pipeline.history.place import Place
from pipeline.history.reconstruct import GroupHistory
from pipeline.history.topics_seen import TopicsSeen
from pipeline.records import (
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupTombstone,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    SetAside,
    decode_record,
)
from pipeline.sources.rows import (
    MISSING,
    RECORD,
    SET_ASIDE,
    TOPIC,
    UNREADABLE,
    Row,
    case_row,
    quarantine_row,
)
from rebalance import WireError

ORDER = ("group_id", "source_partition", "source_offset", "key", "value", "source")
"""Columns by which rows must be sorted, nulls first."""


def histories(rows: Iterable[Row]) -> Iterator[Row]:
    """Convert records to cases; pass other rows on; yield topics at the end."""
    seen = TopicsSeen()
    group: _Group | None = None
    for row in rows:
        if row["what"] == TOPIC:
            seen.note(row["record"], row["records"])
        elif row["what"] != RECORD:
            yield row
        else:
            if group is None or not group.has(row):
                if group is not None:
                    yield from group.finish()
                group = _Group(row, seen)
            yield from group.take(row)
    if group is not None:
        yield from group.finish()
    yield from seen.rows()


class _Group:
    """The records of one group in one partition, in order."""

    def __init__(self, row: Row, seen: TopicsSeen) -> None:
        self._key = row["group_id"], row["source_partition"]
        commits = Commits()
        self._history = GroupHistory(row["group_id"], commits)
        self._consumer = ConsumerHistory(row["group_id"], commits)
        self._numbers = GenerationNumbers()
        self._aside: dict[tuple[str, str], Row] = {}
        self._last: Row | None = None
        self._seen = seen

    def has(self, row: Row) -> bool:
        """Return whether a record belongs to this group."""
        return self._key == (row["group_id"], row["source_partition"])

    def take(self, row: Row) -> Iterator[Row]:
        """Process the next record."""
        last, self._last = self._last, row
        if last is not None and last["source_offset"] == row["source_offset"]:
            if (last["key"], last["value"]) != (row["key"], row["value"]):
                yield _unreadable(row, "another record at an offset already read")
            return
        try:
            yield from self._decoded(row)
        except WireError as error:
            yield _unreadable(row, str(error))
            yield from self._lost(row)

    def finish(self) -> Iterator[Row]:
        """Yield the pending cases and the counted records."""
        yield from self._found(self._history.finish())
        yield from self._found(self._consumer.finish())
        for kind in sorted(self._aside):
            yield self._aside[kind]

    def _decoded(self, row: Row) -> Iterator[Row]:
        record = decode_record(row["key"], row["value"])
        if isinstance(record, SetAside):
            self._set_aside(row, record.kind, record.reason)
        elif isinstance(record, ConsumerGroupRecord):
            if isinstance(record, ConsumerGroupPartitionMetadata):
                self._seen.note_topics(record.topics)
            self._numbers.lost()
            yield from self._found(self._consumer.apply(record, _place(row)))
        elif isinstance(record, GroupTombstone):
            self._numbers.restart()
            yield from self._found(self._history.delete(record))
            self._consumer.upgraded()
        elif not isinstance(record, GroupMetadata):
            self._history.commit(record)
            self._seen.note(record.topic, record.partition + 1)
            if isinstance(record, OffsetCommit) and record.topic_id is not None:
                self._seen.note_id(record.topic_id, record.topic)
        elif (reason := why_not_judged(record)) is not None:
            self._set_aside(row, type(record).__name__, reason)
            self._numbers.lost()
            yield from self._found(self._history.lost())
        elif self._consumer.take_ended() == record.generation and record.members:
            yield from self._found(self._number(record, row))
            self._history.downgraded(record)
        else:
            yield from self._found(self._number(record, row))
            yield from self._found(self._history.metadata(record, _place(row)))

    def _lost(self, row: Row) -> Iterator[Row]:
        """Reset what a record that cannot be read has replaced."""
        if row["value"] is None:
            return
        replaced = decode_record(row["key"], None)
        if isinstance(replaced, GroupTombstone):
            self._numbers.lost()
            yield from self._found(self._history.lost())
        elif isinstance(replaced, ConsumerGroupTombstone):
            yield from self._found(self._consumer.lost(replaced))

    def _number(self, record: GroupMetadata, row: Row) -> Iterator[Missing]:
        return self._numbers.take(record.generation, _place(row))

    def _found(self, found: Iterable[Case | Missing]) -> Iterator[Row]:
        for one in found:
            if isinstance(one, Missing):
                yield _missing(one, self._key[0])
                continue
            for member in (one.members or {}).values():
                for topic, numbers in (member.assigned or {}).items():
                    self._seen.note(topic, max(numbers) + 1)
            yield case_row(one)

    def _set_aside(self, row: Row, record: str, reason: str) -> None:
        counted = self._aside.get((record, reason))
        if counted is not None:
            counted["records"] += 1
        else:
            self._aside[record, reason] = _quarantined(
                SET_ASIDE, row, reason, record=record
            )


def _place(row: Row) -> Place:
    return Place(
        source=row["source"],
        partition=row["source_partition"],
        offset=row["source_offset"],
        at=row["at"],
    )


def _missing(missing: Missing, group_id: str) -> Row:
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


def _unreadable(row: Row, reason: str) -> Row:
    return _quarantined(UNREADABLE, row, reason, record=None)


def _quarantined(what: str, row: Row, reason: str, *, record: str | None) -> Row:
    return quarantine_row(
        what,
        reason,
        source=row["source"],
        line=row["source_offset"],
        raw=row["value"],
        key=row["key"],
        group_id=row["group_id"],
        source_partition=row["source_partition"],
        at=row["at"],
        record=record,
    )
