"""Rows between workers: one per record, case, topic, id, or item of quarantine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.cases import Case, pack
from pipeline.records import decode_record
from pipeline.sightings import Sighting
from pipeline.table_bytes import as_bytes
from rebalance import WireError

Row: TypeAlias = dict[str, Any]
_T = TypeVar("_T")

OFFSETS: Final = "consumer-offsets"
"""``source_kind`` of cases from records."""
RECORD: Final = "record"
CASE: Final = "case"
CASES: Final = "cases"
"""Several cases in one row."""
CONTEXT_CASE: Final = "context-case"
"""A case that is not judged, but that others are compared with."""
CONTEXT_CASES: Final = "context-cases"
"""Several of them in one row."""
TOPIC: Final = "topic"
TOPIC_ID: Final = "topic-id"
READ: Final = "read"
REPEATED: Final = "repeated"
LEFT_OUT: Final = "left-out"
"""A number of cases that are not judged because others were asked for."""
MATCHED: Final = "matched"
"""A name of groups that was asked for, and that occurs."""
CARRIED: Final = "carried"
"""Records that the next night needs, packed; as a ``reason`` of a RECORD: of an earlier
night (`pipeline.nights`)."""
OPENED: Final = "opened"
"""Rebalances that later records can change, packed, or one (`pipeline.nights`)."""
KEPT: Final = "kept"
"""Such rebalances that an earlier night has judged as they are now."""
SPAN: Final = "span"
"""The offsets that a task has read of a partition (`pipeline.nights`)."""
UNREADABLE: Final = "unreadable"
SET_ASIDE: Final = "set-aside"
FAILED: Final = "failed"
MISSING: Final = "missing"
QUARANTINED: Final = (UNREADABLE, SET_ASIDE, FAILED, MISSING)
COMMIT: Final = "commit"
ASSIGNMENT: Final = "assignment"
WITHOUT_TOMBSTONES: Final = "without tombstones"
"""``record`` of a RECORD whose source leaves tombstones out."""

RAW_LIMIT: Final = 65_536
"""Bytes of a key, a value, or a line that quarantine keeps."""

ROWS: Final = pa.schema(
    [
        ("what", pa.string()),  # one of the names above
        ("group_id", pa.string()),
        ("source", pa.string()),
        ("source_partition", pa.int32()),
        ("source_offset", pa.int64()),  # or the number of a line
        ("at", pa.int64()),  # milliseconds; of a TOPIC: since when; of READ: the last
        ("until", pa.int64()),  # of a TOPIC: when its offsets were deleted
        ("key", pa.binary()),  # of a TOPIC_ID: the id
        ("value", pa.binary()),  # of a CASE: the packed case
        ("raw_bytes", pa.int64()),
        ("reason", pa.string()),  # of a TOPIC: COMMIT or ASSIGNMENT
        ("record", pa.string()),  # kind of record; of a TOPIC or TOPIC_ID: its name
        ("records", pa.int64()),  # how many; of a TOPIC: partitions seen
        ("instance", pa.string()),
    ]
)
BEGIN_OF_DATES: Final = -62_135_596_800_000
END_OF_DATES: Final = 253_402_300_800_000
"""Milliseconds until the years 1 and 10,000: dates cannot state other times."""

ROWS_PER_BATCH: Final = 2_000
BYTES_PER_BATCH: Final = 16 << 20


def record_row(
    source: str, fields: Mapping[str, Any], *, key: bytes, value: bytes | None
) -> Row:
    """Return a record as read; ``fields`` has its partition, offset and time."""
    return {"what": RECORD, "source": source, **fields, "key": key, "value": value}


def bytes_row(
    source: str,
    *,
    partition: int,
    offset: int,
    at: int | None,
    key: bytes | None,
    value: bytes | None,
) -> Row:
    """Return a record as a broker has it; one without a key is quarantined."""
    if key is None:
        return quarantine_row(
            UNREADABLE,
            "key: a record without one",
            source=source,
            line=offset,
            raw=value,
            source_partition=partition,
            at=at,
        )
    place = {"source_partition": partition, "source_offset": offset, "at": at}
    return record_row(source, place, key=key, value=value)


def case_row(case: Case) -> Row:
    """Return a case, packed.

    Rows of rebalances whose partition is not known come after those of snapshots.
    """
    partition = case.source_partition
    if partition is None and case.source_kind == OFFSETS:
        partition = -1
    return {
        "what": CASE,
        "group_id": case.group_id,
        "source": case.source,
        "source_partition": partition,
        "source_offset": case.source_offset,
        "at": case.at,
        "value": pack(case),
    }


def cases_row(cases: pa.Table, what: str = CASES) -> Row:
    """Return a row of several cases as in `pipeline.case_table.CASES`, packed."""
    return {"what": what, "records": len(cases), "value": as_bytes(cases, None)}


def topic_row(topic: str, sighting: Sighting) -> Row:
    """Return a row with a lower bound on a topic's partition count, and its time."""
    return {
        "what": TOPIC,
        "record": topic,
        "records": sighting.count,
        "at": sighting.since,
        "until": sighting.until,
        "reason": COMMIT if sighting.is_commit else ASSIGNMENT,
    }


def sighting_of(row: Mapping[str, Any]) -> tuple[str, Sighting]:
    """Return the topic and the lower bound of a row of `topic_row`."""
    is_commit = row["reason"] == COMMIT
    sighting = Sighting(row["at"], row["records"], is_commit, row["until"])
    return row["record"], sighting


def read_row(count: int, latest: int | None) -> Row:
    """Return a row with the number of rows that a task has read, and the last time."""
    return {"what": READ, "records": count, "at": latest}


def latest_time(batch: pa.RecordBatch) -> int | None:
    """Return the latest time of records that a date can state; None: there is none."""
    at = batch.column("at")
    is_record = pc.is_in(batch.column("what"), pa.array([RECORD, UNREADABLE]))
    is_dated = pc.and_(is_record, pc.less(at, END_OF_DATES))
    latest: int | None = pc.max(at.filter(is_dated)).as_py()
    return latest


def repeated_row(count: int) -> Row:
    """Return a row with the number of records that were delivered once more."""
    return {"what": REPEATED, "records": count}


def left_out_row(reason: str, count: int) -> Row:
    """Return a row with the number of cases that are left out for a reason."""
    return {"what": LEFT_OUT, "reason": reason, "records": count}


def matched_row(name: str) -> Row:
    """Return a row with a name of groups that was asked for, and that occurs."""
    return {"what": MATCHED, "record": name}


def topic_id_row(topic_id: bytes, topic: str) -> Row:
    """Return a row with the name that a record states for a topic's id."""
    return {"what": TOPIC_ID, "record": topic, "key": topic_id}


def quarantine_row(
    what: str,
    reason: str,
    *,
    source: str,
    line: int | None = None,
    raw: bytes | None = None,
    group_id: str | None = None,
    **more: Any,
) -> Row:
    """Return a row of input that is not judged, with at most `RAW_LIMIT` bytes."""
    row: Row = {
        "what": what,
        "reason": reason,
        "source": source,
        "source_offset": line,
        "value": raw,
        "group_id": group_id,
        "records": 1,
        **more,
    }
    parts = [row.get(part) for part in ("key", "value")]
    row["raw_bytes"] = sum(len(part) for part in parts if part is not None)
    for name, part in zip(("key", "value"), parts, strict=True):
        row[name] = None if part is None else part[:RAW_LIMIT]
    return row


def record_quarantined(
    what: str, row: Row, reason: str, record: str | None = None
) -> Row:
    """Return a row of quarantine for a record, with its place and its bytes."""
    return quarantine_row(
        what,
        reason,
        source=row["source"],
        line=row["source_offset"],
        raw=row["value"],
        key=row["key"],
        group_id=row.get("group_id"),
        source_partition=row["source_partition"],
        at=row["at"],
        record=record,
    )


def keyed(row: Row) -> Row:
    """Add the group of a record, from its key; return other rows as they are."""
    if row["what"] != RECORD:
        return row
    try:
        group_id = decode_record(row["key"], None).group_id
    except WireError as error:
        return record_quarantined(UNREADABLE, row, str(error))
    return row | {"group_id": group_id}


def message_of(error: Exception) -> str:
    """Return the first line of an error's message, or its class."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def broken_off_row(error: Exception, source: str, line: int | None = None) -> Row:
    """Return a row for a source that cannot be read to its end."""
    reason = f"breaks off here: {message_of(error)}"
    return quarantine_row(UNREADABLE, reason, source=source, line=line)


def gathered(
    items: Iterable[_T], length: Callable[[_T], int], most: int | None = None
) -> Iterator[list[_T]]:
    """Gather items into lists of a bounded number, and of ``most`` bytes or one more.

    By default, they are `BYTES_PER_BATCH`.
    """
    most = BYTES_PER_BATCH if most is None else most
    found: list[_T] = []
    size = 0
    for item in items:
        found.append(item)
        size += length(item)
        if len(found) >= ROWS_PER_BATCH or size >= most:
            yield found
            found, size = [], 0
    if found:
        yield found


def batches_of(
    rows: Iterable[Row], most: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Gather rows into Arrow batches of bounded size; ``most`` is as in `gathered`."""
    for part in gathered(rows, _data_length, most):
        yield pa.RecordBatch.from_pylist(part, schema=ROWS)


def _data_length(row: Row) -> int:
    return len(row.get("value") or b"") + len(row.get("key") or b"")
