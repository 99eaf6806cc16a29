"""Judged rows on their way to the tables: one Arrow batch per table, as bytes.

Spark carries them from the stage that judges to those that write as opaque values, so
that the columns of a table are converted once, where the table is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.history.place import UNKNOWN_DURATIONS
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS

Batches = Iterator[pa.RecordBatch]

PART: Final = "part"
"""Column with the number of the part of the work that a row belongs to."""

JUDGED: Final = pa.schema(
    [
        (PART, pa.int32()),
        *((f"{name}_rows", pa.int64()) for name in SCHEMAS),
        *((name, pa.binary()) for name in SCHEMAS),
        *((reason, pa.int64()) for reason in UNKNOWN_DURATIONS),
    ]
)
"""Rows per table, and the rows: a batch in Arrow's IPC format, without its schema.

Then, the number of durations that are not known, per reason.
"""

MOST_ROWS: Final = 500
MOST_BYTES: Final = 8 << 20
"""Bounds on the rows of one value; the bytes are those of the documents in them."""

_DOCUMENTS: Final = ("instance", "assignment", "value")
_DURATIONS: Final = (
    ("rebalances", "reached_unknown"),
    ("episodes", "unowned_unknown"),
)


def judged_batches(
    part: int, found: Iterable[tuple[str, Mapping[str, Any] | pa.RecordBatch]]
) -> Batches:
    """Yield the rows of the tables as batches of `JUDGED`."""
    gathered: dict[str, list[Mapping[str, Any]]] = {}
    rows = size = 0
    for name, row in found:
        if isinstance(row, pa.RecordBatch):
            one = {
                PART: part,
                name: row.serialize().to_pybytes(),
                f"{name}_rows": row.num_rows,
            }
            yield pa.RecordBatch.from_pylist(
                [one | dict.fromkeys(UNKNOWN_DURATIONS, 0)], schema=JUDGED
            )
            continue
        gathered.setdefault(name, []).append(row)
        rows += 1
        size += sum(len(row.get(column) or "") for column in _DOCUMENTS)
        if rows >= MOST_ROWS or size >= MOST_BYTES:
            yield _batch(part, gathered)
            gathered, rows, size = {}, 0, 0
    if gathered:
        yield _batch(part, gathered)


def _batch(part: int, gathered: dict[str, list[Mapping[str, Any]]]) -> pa.RecordBatch:
    row: dict[str, Any] = {PART: part}
    for name, rows in gathered.items():
        batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMAS[name])
        row |= {name: batch.serialize().to_pybytes(), f"{name}_rows": len(rows)}
    for reason in UNKNOWN_DURATIONS:
        row[reason] = sum(
            found.get(column) == reason
            for name, column in _DURATIONS
            for found in gathered.get(name, ())
        )
    return pa.RecordBatch.from_pylist([row], schema=JUDGED)


def count_rows(judged: DataFrame) -> dict[str, int]:
    """Count the rows of each table."""
    sums = (f.sum(f"{name}_rows").alias(name) for name in SCHEMAS)
    counted = judged.agg(*sums).first()
    found = {} if counted is None else counted.asDict()
    return {name: found.get(name) or 0 for name in SCHEMAS}


def count_unknown_durations(judged: DataFrame) -> dict[str, int]:
    """Count the durations that are not known, per reason that occurs."""
    sums = (f.sum(f"`{reason}`").alias(reason) for reason in UNKNOWN_DURATIONS)
    counted = judged.agg(*sums).first()
    found = {} if counted is None else counted.asDict()
    return {reason: found[reason] for reason in UNKNOWN_DURATIONS if found.get(reason)}


def count_quarantine(judged: DataFrame) -> dict[str, int]:
    """Count the records per reason, most frequent first."""
    rows = _rows_of(judged, "quarantine")
    counted = rows.groupBy("kind", "reason").agg(f.sum("records").alias("records"))
    counts = {f"{r['kind']}: {r['reason']}": r["records"] for r in counted.collect()}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def table_of(judged: DataFrame, name: str, *, parts: int) -> DataFrame:
    """Extract one table, sorted by cluster, day, and `ORDER`.

    A table of one part is written by one task, and a larger one is divided by ranges of
    its order, so that a day with many rows has several files. The rows of a day, read
    file after file, are the same in the same order.
    """
    rows = _rows_of(judged, name)
    order = (*PARTITION_COLUMNS, *ORDER[name])
    whole = rows.coalesce(1) if parts <= 1 else rows.repartitionByRange(parts, *order)
    return whole.sortWithinPartitions(*order)


def _rows_of(judged: DataFrame, name: str) -> DataFrame:
    schema = SCHEMAS[name]

    def unpack(batches: Batches) -> Batches:
        for batch in batches:
            for data in batch.column(0):
                yield pa.ipc.read_record_batch(data.as_buffer(), schema)

    packed = judged.where(f.col(name).isNotNull()).select(name)
    return packed.mapInArrow(unpack, from_arrow_schema(schema))
