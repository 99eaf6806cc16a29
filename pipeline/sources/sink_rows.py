"""Records of ``__consumer_offsets`` from pairs of files of Kafka Connect's S3 sink.

The n-th key belongs to the n-th value. Neither file states an offset: it is taken to be
that of the first record, which the name states, plus the position. Where compaction or
a tombstone that the sink left out makes a gap, the real one is higher; the order of the
records is the same. A transform can write the offset next to the value.

Kafka Connect's sink never writes a null: it leaves tombstones out, or writes their keys
into other files, where their offsets are lost. A value that a transform has wrapped is
not null, and such files have tombstones in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pipeline.rows import (
    RECORD,
    SET_ASIDE,
    UNREADABLE,
    WITHOUT_TOMBSTONES,
    Row,
    broken_off_row,
    keyed,
    quarantine_row,
)
from pipeline.sources.record_format import Encoding, RecordFormat, decoded
from pipeline.sources.record_parquet import record_of_fields
from pipeline.sources.sink_content import Item, SinkContent, Unsound, content_of
from pipeline.sources.sink_names import SinkPart, SinkRole
from pipeline.sources.source_file import SourceFile

TOMBSTONES: Final = (
    "keys without values: tombstones, whose offsets the sink does not write, or the "
    "file of values is missing"
)
NOT_CERTAIN: Final = (
    "values whose keys are not certain: a line before is damaged, and there are "
    "{keys:,} keys and {values:,} values"
)
NO_KEY: Final = "values without keys: the file of keys ends here"
NO_VALUE: Final = "keys without values: the file of values ends here"
_SHOWN: Final = 200  # characters of names in a message


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a pair, read."""

    file: SourceFile
    sink: SinkPart
    content: SinkContent

    @property
    def length(self) -> int:
        """Number of items."""
        return len(self.content.items)

    def stated(self, value: Mapping[str, Any], column: str) -> Any:
        """Return a column of a wrapped value, None if it is not there."""
        return value.get(self.file.written.name(column))


def rows_of_pair(files: Iterable[tuple[SourceFile, bytes]]) -> Iterator[Row]:
    """Yield the records of a pair; a record without key or value is quarantined.

    Items that have the same fault form one row, with their number and the first
    position, from 1.
    """
    read: dict[SinkRole, _File] = {}
    for file, data in files:
        if (sink := file.sink) is not None:
            content = content_of(data, sink.form)
            read[sink.name.role] = _File(file, sink, content)
    keys = read.get(SinkRole.KEYS)
    values = read.get(SinkRole.VALUES)
    if keys is not None and values is not None:
        yield from _joined(keys, values)
    elif keys is not None and keys.length:
        yield _counted(SET_ASIDE, TOMBSTONES, keys, 0)
    for side in read.values():
        if side.content.broken is not None:
            yield broken_off_row(side.content.broken, side.file.name, side.length + 1)


def _joined(keys: _File, values: _File) -> Iterator[Row]:
    both = _joinable(keys, values)
    items = zip(keys.content.items, values.content.items, strict=False)
    overlapping: list[Row] = []
    for at, (key, value) in enumerate(islice(items, both)):
        row = _row(at, key, value, keys, values)
        if _is_past_the_end(row, value, values):
            overlapping.append(row)
        else:
            yield keyed(row)
    if overlapping:
        yield _overlap(overlapping, values)
    if both < min(keys.length, values.length):
        reason = NOT_CERTAIN.format(keys=keys.length, values=values.length)
        yield _counted(UNREADABLE, reason, values, both)
    elif values.length > both:
        yield _counted(UNREADABLE, NO_KEY, values, both)
    elif keys.length > both:
        yield _counted(UNREADABLE, NO_VALUE, keys, both)


def _joinable(keys: _File, values: _File) -> int:
    """Return how many of the first items belong together.

    Damage can join or split lines. If the files differ in length, records after the
    first damage can therefore be displaced.
    """
    both = min(keys.length, values.length)
    if keys.length == values.length:
        return both
    damage = (keys.content.first_unsound, values.content.first_unsound)
    return min([both, *(at + 1 for at in damage if at is not None)])


def _row(at: int, key: Item, value: Item, keys: _File, values: _File) -> Row:
    """Return the record at a position from 0, or a row of quarantine."""

    def unreadable(reason: str, file: _File, raw: bytes | None = None) -> Row:
        return quarantine_row(
            UNREADABLE, reason, source=file.file.name, line=at + 1, raw=raw
        )

    for item, side in ((key, keys), (value, values)):
        if isinstance(item, Unsound):
            return unreadable(item.reason, side, item.raw)
    wanted = values.file.written.name("value")
    if isinstance(value, Mapping) and wanted not in value:
        there = ", ".join(map(str, value))[:_SHOWN] or "nothing"
        return unreadable(f"{wanted} is not there: the object has {there}", values)
    fields = _fields(at, value, values)
    if isinstance(key, Mapping):  # as Parquet has it
        key = key.get(keys.file.written.name("key"), key.get("key"))
    fields["key"] = key
    for column, side in (("key", keys), ("value", values)):
        try:
            fields[column] = _bytes(fields[column], side.file.written)
        except ValueError as error:
            reason = f"{column} is {error} (is it of ByteArrayConverter?)"
            raw = str(fields[column]).encode(errors="replace")
            return unreadable(reason, side, raw)
    row = record_of_fields(fields, values.file.name, at + 1, None)
    if row["what"] == RECORD and not isinstance(value, Mapping):
        row["record"] = WITHOUT_TOMBSTONES
    return row


def _fields(at: int, value: Item, values: _File) -> dict[str, Any]:
    """Return the columns of a record but its key; a wrapped value can state all."""
    place = values.sink.name
    fields: dict[str, Any] = {
        "value": value,
        "partition": place.partition,
        "offset": place.start + at,
    }
    if isinstance(value, Mapping):
        given = {
            column: values.stated(value, column)
            for column in ("partition", "offset", "timestamp", "topic")
        }
        fields |= {name: stated for name, stated in given.items() if stated is not None}
        fields["value"] = values.stated(value, "value")
    return fields


def _bytes(item: Any, written: RecordFormat) -> bytes | None:
    """Return a key or a value.

    Raises
    ------
    ValueError
        If it is not of the encoding, which is base64 unless another one is given.
    """
    if item is None or isinstance(item, bytes):
        return item
    encoding = written.encoding or Encoding.BASE64
    try:
        if isinstance(item, str):
            return decoded(item, encoding)
    except ValueError:
        pass
    raise ValueError(f"not {encoding.value}")


def _is_past_the_end(row: Row, value: Item, values: _File) -> bool:
    """Return whether the next file of the partition begins before this record.

    Then files overlap, and positions show no offsets.
    """
    until = values.sink.until
    if row["what"] != RECORD or until is None:
        return False
    if isinstance(value, Mapping) and values.stated(value, "offset") is not None:
        return False
    return bool(row["source_offset"] >= until)


def _overlap(rows: Sequence[Row], values: _File) -> Row:
    reason = (
        f"more records than offsets before {values.sink.until}, at which another file "
        "of the partition begins: their order is not known"
    )
    first = rows[0]
    row = quarantine_row(
        UNREADABLE,
        reason,
        source=values.file.name,
        line=first["source_offset"] - values.sink.name.start + 1,
        raw=first["value"],
        key=first["key"],
        source_partition=first["source_partition"],
    )
    return row | {"records": len(rows)}


def _counted(what: str, reason: str, file: _File, first: int) -> Row:
    """Return a row for all items of a file from a position on."""
    row = quarantine_row(what, reason, source=file.file.name, line=first + 1)
    return row | {"records": file.length - first, "record": file.sink.name.role.value}
