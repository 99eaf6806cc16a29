"""Split sorted rows into the histories of single groups.

Records that are not judged are counted by group and kind, and the first one is kept. A
record that overlapping files contain twice counts once. Of two different records at one
offset, the first by its bytes is used, and the other is quarantined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.cases import Case
from pipeline.history.generations import why_not_judged
from pipeline.history.reconstruct import GroupHistory, Place
from pipeline.records import (
    GroupMetadata,
    GroupTombstone,
    SetAside,
    decode_record,
)
from pipeline.sources.rows import (
    RECORD,
    SET_ASIDE,
    TOPIC,
    UNREADABLE,
    Row,
    case_row,
    quarantine_row,
    topic_row,
)
from rebalance import WireError

ORDER = ("group_id", "source_partition", "source_offset", "key", "value", "source")
"""Columns by which rows must be sorted, nulls first."""

MOST_PARTITIONS = 1 << 17
"""Largest partition count inferred from a record; a larger one is treated as damage.

Its instances would not fit into memory.
"""


def histories(rows: Iterable[Row]) -> Iterator[Row]:
    """Convert records to cases; pass other rows on; yield topics at the end."""
    seen: dict[str, int] = {}
    group: _Group | None = None
    for row in rows:
        if row["what"] == TOPIC:
            _note(seen, row["record"], row["records"])
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
    for topic in sorted(seen):
        yield topic_row(topic, seen[topic])


class _Group:
    """The records of one group in one partition, in order."""

    def __init__(self, row: Row, seen: dict[str, int]) -> None:
        self._key = row["group_id"], row["source_partition"]
        self._history = GroupHistory(row["group_id"])
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
            if row["value"] is not None and _is_metadata(row["key"]):
                yield from self._cases(self._history.lost())

    def finish(self) -> Iterator[Row]:
        """Yield the pending case and the counted records."""
        yield from self._cases(self._history.finish())
        for kind in sorted(self._aside):
            yield self._aside[kind]

    def _decoded(self, row: Row) -> Iterator[Row]:
        record = decode_record(row["key"], row["value"])
        if isinstance(record, SetAside):
            self._set_aside(row, record.kind, record.reason)
        elif isinstance(record, GroupTombstone):
            yield from self._cases(self._history.delete(record))
        elif not isinstance(record, GroupMetadata):
            self._history.commit(record)
            _note(self._seen, record.topic, record.partition + 1)
        elif (reason := why_not_judged(record)) is not None:
            self._set_aside(row, type(record).__name__, reason)
            yield from self._cases(self._history.lost())
        else:
            place = Place(
                source=row["source"],
                partition=row["source_partition"],
                offset=row["source_offset"],
                at=row["at"],
            )
            yield from self._cases(self._history.metadata(record, place))

    def _cases(self, cases: Iterable[Case]) -> Iterator[Row]:
        for case in cases:
            for member in (case.members or {}).values():
                for topic, numbers in (member.assigned or {}).items():
                    _note(self._seen, topic, max(numbers) + 1)
            yield case_row(case)

    def _set_aside(self, row: Row, record: str, reason: str) -> None:
        counted = self._aside.get((record, reason))
        if counted is not None:
            counted["records"] += 1
        else:
            self._aside[record, reason] = _quarantined(
                SET_ASIDE, row, reason, record=record
            )


def _note(seen: dict[str, int], topic: str, partitions: int) -> None:
    if partitions <= MOST_PARTITIONS:
        seen[topic] = max(partitions, seen.get(topic, 0))


def _is_metadata(key: bytes) -> bool:
    return isinstance(decode_record(key, None), GroupTombstone)


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
