"""Records as Parquet, read by Arrow in the workers on this machine.

Of files whose columns need no rule of Spark's; all others, those on other machines, and
what Arrow cannot read are read by Spark (`pipeline.sources.spark_tables`), row by row
in Java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from pipeline.files import is_local, local_path
from pipeline.session import is_local as is_local_master
from pipeline.sources.parcels import parcels_table
from pipeline.sources.record_batches import batches_of_records
from pipeline.sources.record_parquet import is_bytes, record_columns
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from pipeline.sources.spark_tables import NUMBER, PATH

Batches = Iterator[pa.RecordBatch]

UNREADABLE_BY_ARROW: Final = "a worker could not read a file by Arrow"
"""Begin of the error of a job that fails for this reason."""

BATCH_BYTES: Final = 4 << 20
"""Bytes of a batch, by the mean of its row group."""
MOST_ROWS: Final = 8_192
_PIECES: Final = pa.schema(
    [(PATH, pa.string()), ("group", pa.int32()), (NUMBER, pa.int64())]
)
_INTEGERS: Final = (pa.int16(), pa.int32(), pa.int64())
_PER_MILLISECOND: Final = {"ms": 1, "us": 1_000, "ns": 1_000_000}


def is_for_arrow(spark: SparkSession, file: SourceFile) -> bool:
    """Return whether workers read a file by Arrow."""
    if file.kind is not SourceKind.RECORDS or file.layout is not FileLayout.PARQUET:
        return False
    if file.footer is None or not is_local(file.uri) or not _is_text(file.uri):
        return False
    kinds = {
        ours: file.footer.schema.field(name).type
        for ours, name in record_columns(file.footer.schema, file.written).items()
    }
    time = kinds.get("timestamp", pa.int64())
    return (
        is_local_master(spark.sparkContext.master or "")
        and all(is_bytes(kinds[name]) for name in ("key", "value"))
        and all(kinds[name] in _INTEGERS for name in ("partition", "offset"))
        and (time in _INTEGERS or _is_fine_time(time))
        and kinds.get("topic", pa.string()) == pa.string()
    )


def arrow_parcels(
    spark: SparkSession, files: Sequence[SourceFile], tasks: int
) -> DataFrame:
    """Return the rows of files as `PARCELS`, one row group after another."""
    named = {file.uri: file for file in files}
    pieces: Any = pa.Table.from_pylist(
        [
            {PATH: quote(file.uri), "group": group, NUMBER: first}
            for file in files
            for group, first in _groups_of(file)
        ],
        schema=_PIECES,
    )
    return parcels_table(spark.createDataFrame(pieces), tasks, _on_pieces(named))


def _is_text(uri: str) -> bool:
    """Return whether a name is Unicode; names of files need not be."""
    try:
        uri.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_fine_time(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.unit in _PER_MILLISECOND


def _groups_of(file: SourceFile) -> Iterator[tuple[int, int]]:
    """Yield the row groups of a file, and the number of the first row of each."""
    first = 1
    for group, rows in enumerate(() if file.footer is None else file.footer.group_rows):
        yield group, first
        first += rows


def _on_pieces(files: dict[str, SourceFile]) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        for batch in batches:
            for piece in batch.to_pylist():
                file = files[unquote(piece[PATH])]
                for records in _records(file, piece):
                    yield from batches_of_records(records, files)

    return read


def _records(file: SourceFile, piece: dict[str, Any]) -> Batches:
    """Yield a row group as `records_table` has it."""
    number = piece[NUMBER]
    try:
        with pq.ParquetFile(local_path(file.uri)) as parquet:
            columns = record_columns(parquet.schema_arrow, file.written)
            group = parquet.metadata.row_group(piece["group"])
            mean = group.total_byte_size // max(1, group.num_rows)
            for batch in parquet.iter_batches(
                max(1, min(MOST_ROWS, BATCH_BYTES // max(1, mean))),
                row_groups=[piece["group"]],
                columns=[*columns.values()],
            ):
                yield _with_our_columns(batch, columns, piece[PATH], number)
                number += batch.num_rows
    except (OSError, pa.ArrowException) as error:
        raise RuntimeError(f"{UNREADABLE_BY_ARROW}: {error}") from error


def _with_our_columns(
    batch: pa.RecordBatch, columns: dict[str, str], path: str, number: int
) -> pa.RecordBatch:
    found = {ours: batch.column(name) for ours, name in columns.items()}
    kinds = {"key": pa.binary(), "value": pa.binary()}
    kinds |= {"partition": pa.int64(), "offset": pa.int64()}
    kinds |= {"timestamp": pa.string(), "topic": pa.string()}
    if "timestamp" in found:
        found["timestamp"] = _milliseconds(found["timestamp"])
    rows = batch.num_rows
    return pa.RecordBatch.from_arrays(
        [
            pa.repeat(path, rows),
            pa.array(np.arange(number, number + rows)),
            *(
                found[ours].cast(kind) if ours in found else pa.nulls(rows, kind)
                for ours, kind in kinds.items()
            ),
        ],
        [PATH, NUMBER, *kinds],
    )


def _milliseconds(times: pa.Array) -> pa.Array:
    """Return times as milliseconds, rounded down as Spark's ``unix_millis`` does."""
    if pa.types.is_integer(times.type):
        return times
    units = _PER_MILLISECOND[times.type.unit]
    counts = times.cast(pa.int64())
    rest = pc.subtract(counts, pc.multiply(pc.divide(counts, units), units))
    down = pc.if_else(pc.less(rest, 0), 1, 0)
    return pc.subtract(pc.divide(counts, units), down)
