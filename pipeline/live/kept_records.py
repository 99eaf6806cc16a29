"""Records of the log of groups as Arrow batches, in the columns in which they are kept.

The columns are those of a source of `pipeline.sources.record_parquet`, so that a folder
of kept records can be audited like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from pipeline.live.offsets_log import LogRecord
from pipeline.rows import gathered

RECORDS: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),  # milliseconds since 1970, null if unknown
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)


def batches_of_records(records: Iterable[LogRecord]) -> Iterator[pa.RecordBatch]:
    """Gather records into batches of `RECORDS` of bounded size."""
    for part in gathered(
        records, lambda record: len(record.key or b"") + len(record.value or b"")
    ):
        columns = zip(*part, strict=True)
        arrays = [
            pa.array(column, field.type)
            for column, field in zip(columns, RECORDS, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=RECORDS)


def records_of_batch(batch: pa.RecordBatch) -> Iterator[LogRecord]:
    """Yield the records of a batch of `RECORDS`."""
    columns = (batch.column(name).to_pylist() for name in RECORDS.names)
    for fields in zip(*columns, strict=True):
        yield LogRecord(*fields)
