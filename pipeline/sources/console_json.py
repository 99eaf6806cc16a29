"""Records that the formatters of Kafka's console consumer print as JSON.

``GroupMetadataMessageFormatter`` and ``OffsetsMessageFormatter`` of Kafka 3.9 and newer
print records of classic groups, or offset commits, one object after the other without
a line feed in between::

    {"key":{"type":2,"data":{…}},"value":{"version":3,"data":{…}}}{"key":…

Kafka 3.9 states the type as ``version``. Subscriptions and assignments are the bytes in
base64, so that the records can be encoded again, except fields that the tool does not
know. Offset, partition, and time of a record are not printed:

- The time is the one that the value states: that of the last change of the group's
  state, or of the commit. A tombstone has none.
- The records of one group, and those of its commits, are in the order of the file;
  those of several files are put together by their times. A record that is in several
  files, or in one that contains a second run of the tool, counts once.
- The number of a record, in this order, takes the place of its offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import orjson

from pipeline.files.lines import Line
from pipeline.records import (
    GroupMetadata,
    OffsetCommit,
    PrintedError,
    decode_record,
    encode_printed_key,
    encode_printed_value,
)
from pipeline.rows import (
    UNREADABLE,
    Row,
    quarantine_row,
    record_row,
    repeated_row,
)
from pipeline.sources.console_lines import is_remark
from rebalance import INT64_MAX, WireError

START: Final = re.compile(rb'\{\s*"key"\s*:\s*\{\s*"(?:type|version)"\s*:\s*"?\d')
"""The start of an object; quotes within a text are escaped, so no text contains it."""
_UNKNOWN: Final = "unknown"
"""Text that the tool prints for a key or a value that it does not know."""
_CLASSIC_GROUP: Final = 2
_BEFORE_ALL: Final = -1
_AFTER_ALL: Final = INT64_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class _Printed:
    """A record; ``at`` is in milliseconds, None for a tombstone."""

    source: str
    group_id: str
    kind: str
    key: bytes
    value: bytes | None
    at: int | None


def _in_order(records: Iterable[_Printed]) -> list[_Printed]:
    """Return the records of all files in order, each once."""
    sequences: dict[tuple[str, str, str], list[_Printed]] = {}
    for record in records:
        name = record.source, record.group_id, record.kind
        sequences.setdefault(name, []).append(record)
    seen: set[_Printed] = set()
    timed: list[tuple[int, _Printed]] = []
    for sequence in sequences.values():
        for at, record in _with_times(sequence):
            same = replace(record, source="", at=at if record.at is None else record.at)
            if same not in seen:
                seen.add(same)
                timed.append((at, record))
    timed.sort(key=lambda pair: pair[0])
    return [record for _, record in timed]


def _with_times(sequence: Iterable[_Printed]) -> Iterator[tuple[int, _Printed]]:
    """Yield the records of a sequence with times that never go back.

    A tombstone has the time of the record before it. Without one, it has that of the
    record behind it, as where the tool was run again and prints the first ones again.
    """
    latest = _BEFORE_ALL
    here: set[_Printed] = set()
    waiting: list[_Printed] = []
    for record in sequence:
        if record.at is None:
            waiting.append(record)
            continue
        is_again = record in here
        here.add(record)
        now = record.at if is_again else max(latest, record.at)
        before = now if is_again or latest == _BEFORE_ALL else latest
        yield from ((before, undated) for undated in waiting)
        yield now, record
        waiting, latest = [], max(latest, now)
    end = _AFTER_ALL if latest == _BEFORE_ALL else latest
    yield from ((end, undated) for undated in waiting)


def is_console_json(lines: Iterable[Line]) -> bool:
    """Return whether the first lines of a file are of a formatter."""
    return START.search(b"\n".join(line.text for line in lines)) is not None


def rows_of_console_json(texts: Iterable[tuple[str, bytes]]) -> Iterator[Row]:
    """Yield the records of all files, given as names and texts, sorted by name.

    An object that cannot be read goes to quarantine, with the number of its line.
    """
    found: list[_Printed] = []
    for source, text in texts:
        for entry in _records(source, text):
            if isinstance(entry, _Printed):
                found.append(entry)
            else:
                yield entry
    ordered = _in_order(found)
    for number, record in enumerate(ordered, start=1):
        place = {"source_partition": None, "source_offset": number, "at": record.at}
        row = record_row(record.source, place, key=record.key, value=record.value)
        yield row | {"group_id": record.group_id}
    if len(ordered) < len(found):
        yield repeated_row(len(found) - len(ordered))


def _records(source: str, text: bytes) -> Iterator[_Printed | Row]:
    """Yield the contents of the objects of a text, and lines that are not objects."""
    places = [found.start() for found in START.finditer(text)] + [len(text)]
    yield from _remarks(text[: places[0]], source, 1)
    line = 1 + text.count(b"\n", 0, places[0])
    for start, end in pairwise(places):
        yield from _objects(text[start:end], source, line)
        line += text.count(b"\n", start, end)


def _objects(piece: bytes, source: str, line: int) -> Iterator[_Printed | Row]:
    """Yield the object that a piece begins with, and lines behind it."""
    try:
        printed = orjson.loads(piece)
    except orjson.JSONDecodeError as error:
        end = piece.rfind(b"}") + 1
        try:
            printed = orjson.loads(piece[:end])
        except orjson.JSONDecodeError:
            yield _unreadable(f"not JSON: {error.msg}", piece, source, line)
            return
        below = line + piece.count(b"\n", 0, end)
        yield from _remarks(piece[end:], source, below)
    try:
        yield _printed(printed, source)
    except (PrintedError, WireError) as error:
        yield _unreadable(str(error), piece, source, line)


def _remarks(text: bytes, source: str, line: int) -> Iterator[Row]:
    for number, part in enumerate(text.split(b"\n"), start=line):
        if not is_remark(part):
            yield _unreadable("no record of a formatter", part, source, number)


def _printed(printed: dict[str, Any], source: str) -> _Printed:
    shown: dict[str, Any] = printed["key"]
    if shown.get("data") == _UNKNOWN:
        raise PrintedError("key: the tool does not know this type of record")
    try:
        number = shown.get("type", shown.get("version"))
        record_type, key = encode_printed_key(number, shown.get("data"))
    except PrintedError as error:
        raise PrintedError(f"key: {error}") from None
    if "value" not in printed:
        raise PrintedError("no value")
    value = _value(record_type, printed["value"])
    record = decode_record(key, value)
    at = None
    if isinstance(record, GroupMetadata):
        at = record.state_timestamp
    elif isinstance(record, OffsetCommit):
        at = record.commit_timestamp
    return _Printed(
        source=source,
        group_id=record.group_id,
        kind="group" if record_type == _CLASSIC_GROUP else "commit",
        key=key,
        value=value,
        at=None if at is None or at < 0 else at,
    )


def _value(record_type: int, shown: Any) -> bytes | None:
    if shown is None:
        return None
    if not isinstance(shown, dict):
        raise PrintedError("value: no JSON object")
    if shown.get("data") == _UNKNOWN:
        raise PrintedError("value: the tool does not know this version")
    try:
        return encode_printed_value(
            record_type, shown.get("version"), shown.get("data")
        )
    except PrintedError as error:
        raise PrintedError(f"value: {error}") from None


def _unreadable(reason: str, raw: bytes, source: str, line: int) -> Row:
    return quarantine_row(
        UNREADABLE, reason, source=source, line=line, raw=raw, record="line"
    )
