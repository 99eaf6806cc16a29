"""Records of ``__consumer_offsets`` as Parquet, in the columns of Spark's Kafka source.

``key`` and ``value`` are binary, ``partition`` and ``offset`` integers; optional
columns are ``timestamp`` (a timestamp, in UTC unless it has a zone, or milliseconds)
and ``topic``. Row groups are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.sources.record_lines import OFFSETS_TOPIC, REQUIRED, milliseconds
from pipeline.sources.rows import UNREADABLE, Row, quarantine_row, record_row

_OPTIONAL: Final = ("timestamp", "topic")
_BATCH: Final = 8_192


def missing_columns(schema: pa.Schema) -> str | None:
    """Return why a schema is not that of records; None if it is."""
    missing = [name for name in REQUIRED if name not in schema.names]
    if missing:
        return f"Parquet without column {', '.join(missing)}"
    for name in ("key", "value"):
        kind = schema.field(name).type
        if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
            return f"Parquet whose column {name} is {kind}, not binary"
    for name in ("partition", "offset"):
        kind = schema.field(name).type
        if not pa.types.is_integer(kind):
            return f"Parquet whose column {name} is {kind}, not an integer"
    return None


def read_records(path: Path, row_group: int, source: str) -> Iterator[Row]:
    """Yield one row group's records; an unreadable row becomes quarantine.

    Raises
    ------
    OSError, pyarrow.ArrowException
        If the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        columns = [*REQUIRED, *(name for name in _OPTIONAL if name in names)]
        first = sum(file.metadata.row_group(i).num_rows for i in range(row_group))
        for batch in file.iter_batches(
            batch_size=_BATCH, row_groups=[row_group], columns=columns
        ):
            for fields in _in_milliseconds(batch).to_pylist():
                first += 1
                yield _row(fields, source, first)


def _in_milliseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Convert a column of timestamps to integers."""
    at = batch.schema.get_field_index("timestamp")
    if at < 0 or not pa.types.is_timestamp(batch.schema.field(at).type):
        return batch
    zone = batch.schema.field(at).type.tz
    column = pc.cast(batch.column(at), pa.timestamp("ms", tz=zone), safe=False)
    return batch.set_column(at, "timestamp", pc.cast(column, pa.int64()))


def _row(fields: dict[str, Any], source: str, number: int) -> Row:
    topic = fields.get("topic", OFFSETS_TOPIC)
    reason = None
    if topic != OFFSETS_TOPIC:
        reason = f"a record of topic {topic!r}, not {OFFSETS_TOPIC}"
    elif fields["key"] is None:
        reason = "key: a record without one"
    elif not all(_sound(fields[name], bits) for name, bits in _BITS.items()):
        reason = "partition or offset missing or out of range"
    try:
        at = milliseconds(fields.get("timestamp"))
    except ValueError as error:
        reason, at = f"not a time: {error}", None
    if reason is not None:
        raw = {"key": fields["key"]}
        return quarantine_row(
            UNREADABLE, reason, source=source, line=number, raw=fields["value"], **raw
        )
    place = {
        "source_partition": fields["partition"],
        "source_offset": fields["offset"],
        "at": at,
    }
    return record_row(source, place, key=fields["key"], value=fields["value"])


_BITS: Final = {"partition": 31, "offset": 63}


def _sound(value: int | None, bits: int) -> bool:
    return value is not None and 0 <= value < 1 << bits
