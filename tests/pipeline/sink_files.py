"""Files as Kafka Connect's S3 sink writes them, with ``ByteArrayConverter``.

The layout, names, and contents are those of ``TopicPartitionWriter``,
``KeyValueHeaderRecordWriterProvider``, and the writers of each format in
kafka-connect-storage-cloud, with the default partitioner and ``store.kafka.keys=true``.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.rows import RECORD, Row
from tests.pipeline.recorded import CHURN
from tests.pipeline.test_sources import LOG

Record: TypeAlias = dict[str, Any]
"""Partition, offset, timestamp, and key and value as bytes."""

LOGGED: list[Record] = [
    {**row, "key": bytes.fromhex(row["key"]), "value": bytes.fromhex(row["value"])}
    for row in LOG.records
]
"""A commit and two generations, at offsets 0 to 2 of partition 0."""
STEM = "__consumer_offsets+0+0000000000"
FORMS = ["json", "json.gz", "avro"]
BYTES = ["null", "bytes"]  # the schema of ByteArrayConverter is optional
WRAPPED = {
    "type": "record",
    "name": "ConnectDefault",
    "fields": [
        {"name": "value", "type": BYTES},
        {"name": "partition", "type": ["null", "int"]},
        {"name": "offset", "type": ["null", "long"]},
        {
            "name": "timestamp",
            "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}],
        },
    ],
}


def written_as(form: str, items: Sequence[Any]) -> bytes:
    """Return the content of a file of keys or values, or of wrapped values."""
    if form == "avro":
        file = io.BytesIO()
        schema = WRAPPED if isinstance(items[0], dict) else BYTES
        fastavro.writer(file, schema, items)
        return file.getvalue()
    if form == "parquet":  # keys are wrapped
        rows = [item if isinstance(item, dict) else {"key": item} for item in items]
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        return sink.getvalue()
    lines = [json.dumps(_plain(item), separators=(",", ":")) + "\n" for item in items]
    text = "".join(lines).encode()
    return gzip.compress(text) if form == "json.gz" else text


def _plain(item: Any) -> Any:
    """Return bytes as Jackson and ``JsonConverter`` write them."""
    if isinstance(item, bytes):
        return base64.b64encode(item).decode()
    if isinstance(item, dict):
        return {name: _plain(value) for name, value in item.items()}
    return item


def write_sink(
    folder: Path,
    records: Sequence[Record],
    *,
    form: str = "json",
    keys_form: str | None = None,
    flush_size: int = 1_000_000,
    is_wrapped: bool = False,
) -> list[Record]:
    """Write ``topics/``; return the records with the offsets that files show.

    Without wrapped values (``HoistField`` and ``InsertField``), tombstones are left out
    (``behavior.on.null.values=ignore``), and neither offset nor time is written.
    """
    shown: list[Record] = []
    kept = [record for record in records if is_wrapped or record["value"] is not None]
    kept.sort(key=lambda record: (record["partition"], record["offset"]))
    for partition, group in groupby(kept, key=lambda record: record["partition"]):
        log = list(group)
        for first in range(0, len(log), flush_size):
            part = log[first : first + flush_size]
            start = part[0]["offset"]
            stem = f"__consumer_offsets+{partition}+{start:010}"
            place = folder / "topics" / "__consumer_offsets" / f"partition={partition}"
            place.mkdir(parents=True, exist_ok=True)
            values = [
                _wrapped(record) if is_wrapped else record["value"] for record in part
            ]
            (place / f"{stem}.{form}").write_bytes(written_as(form, values))
            keys = keys_form or form
            content = written_as(keys, [record["key"] for record in part])
            (place / f"{stem}.keys.{keys}").write_bytes(content)
            shown += part if is_wrapped else _positions(part)
    return shown


def _wrapped(record: Record) -> Record:
    return {
        name: record[name] for name in ("value", "partition", "offset", "timestamp")
    }


def _positions(part: Sequence[Record]) -> list[Record]:
    start = part[0]["offset"]
    return [
        {**record, "offset": start + at, "timestamp": None}
        for at, record in enumerate(part)
    ]


def parquet_of(path: Path, records: Sequence[Record]) -> Path:
    """Write records in the columns of Spark's Kafka source."""
    columns = {
        "key": pa.array([record["key"] for record in records], pa.binary()),
        "value": pa.array([record["value"] for record in records], pa.binary()),
        "partition": pa.array([record["partition"] for record in records], pa.int32()),
        "offset": pa.array([record["offset"] for record in records], pa.int64()),
        "timestamp": pa.array([record["timestamp"] for record in records], pa.int64()),
    }
    pq.write_table(pa.table(columns), path)
    return path


def place_of(folder: Path, partition: int = 0) -> Path:
    return folder / "topics" / "__consumer_offsets" / f"partition={partition}"


def records(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["what"] == RECORD]


def damage(rows: list[Row]) -> list[tuple[str, str, int, str, int]]:
    """Return kind, source, line, reason, and number of each row of quarantine."""
    return [
        (
            row["what"],
            row["source"].rpartition("/")[2],
            row["source_offset"],
            row["reason"],
            row["records"],
        )
        for row in rows
        if row["what"] != RECORD
    ]


def churn() -> list[Record]:
    """Return the records of the long recording."""
    rows: list[Record] = pq.read_table(CHURN / "consumer_offsets.parquet").to_pylist()
    return rows
