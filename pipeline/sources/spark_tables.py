"""Spark's readers for the files of an audit: Parquet, small texts, and large ones.

Every reader gets the files of one form at once, however many they are. Paths are not
patterns, and a file's name in Spark's tables is its location (`pipeline.files`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import (
    DataType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pipeline.files import is_local
from pipeline.sources.file_links import is_link
from pipeline.sources.lines import LINE_LIMIT
from pipeline.sources.record_parquet import record_columns
from pipeline.sources.source_file import SourceFile

BLOCK_BYTES: Final = 32 << 20
"""Bytes of a large file that one task reads."""
PART_BYTES: Final = 2 << 20
"""Bytes of small sources per part."""
LARGEST_PART: Final = 1 << 20
"""Bytes per part of damaged files."""
_RAW: Final = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}
"""The default, with checksum files, cannot read names that contain a colon."""

_NO_OPTIONS: Final[Mapping[str, str]] = {}
_OPEN_BYTES: Final = 64 << 10
_LONGEST_LINE: Final = "mapreduce.input.linerecordreader.line.maxlength"

_LISTING: Final = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_LISTING_TASKS: Final = 64
"""Tasks that list files; by default there is one per file, of milliseconds each."""

PATH: Final = "path"
FIRST: Final = "first"
TEXT: Final = "text"
NUMBER: Final = "number"


def reading_session(
    spark: SparkSession,
    *,
    parts: int = 1,
    part: int | None = None,
    links: Mapping[str, str] = MappingProxyType({}),
) -> SparkSession:
    """Return a session whose readers divide files the same way every time.

    Files are divided into ``parts`` at least, and into parts of at most ``part`` bytes
    (by default `BLOCK_BYTES`). ``links`` are the settings of links to files.

    By default the division depends on how many cores there are at the moment, and line
    numbers need two passes over the same blocks.
    """
    session = spark.newSession()
    settings = {
        "spark.sql.files.maxPartitionBytes": part or BLOCK_BYTES,
        "spark.sql.files.openCostInBytes": _OPEN_BYTES,
        "spark.sql.files.minPartitionNum": max(1, parts),
        _LISTING: _LISTING_TASKS,
        "spark.sql.caseSensitive": "true",
        "spark.sql.legacy.parquet.nanosAsLong": "true",
        "spark.sql.adaptive.enabled": "false",
        # The session's time zone is UTC, so days are not moved between calendars.
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    }
    for name, value in {**settings, **links}.items():
        session.conf.set(name, str(value))
    return session


def whole_texts(spark: SparkSession, files: Sequence[SourceFile]) -> DataFrame:
    """Read files as one piece each: `PATH`, `FIRST`, `TEXT`."""
    table = _loaded(spark, "binaryFile", files)
    return table.select(_path(), f.lit(1).cast("bigint").alias(FIRST), _text("content"))


def line_texts(
    spark: SparkSession, files: Sequence[SourceFile], *, is_lenient: bool = False
) -> DataFrame:
    """Read lines: `PATH`, the block's start in the file, and the line in `TEXT`.

    The lines of a block are in order. ``is_lenient`` keeps what can be read of a
    damaged file.
    """
    options = {"lineSep": "\n"}
    if not any(file.packed for file in files):
        options[_LONGEST_LINE] = str(LINE_LIMIT)
    table = _loaded(spark, "text", files, is_lenient=is_lenient, options=options)
    start = f.col("_metadata.file_block_start").alias("block")
    return table.select(_path(), start, _text("value"))


def records_table(
    spark: SparkSession, files: Sequence[SourceFile], *, is_lenient: bool = False
) -> DataFrame:
    """Read records as Parquet: `PATH`, row `NUMBER` from 1, and our columns."""
    schema = _schema(files[0])
    columns = record_columns(_footer_schema(files[0]), files[0].written)
    table = _loaded(spark, "parquet", files, schema=schema, is_lenient=is_lenient)
    fields = {
        ours: _field(schema[name], ours) if name is not None else f.lit(None)
        for ours, name in _all_columns(columns).items()
    }
    casts = {"key": "binary", "value": "binary", "partition": "bigint"}
    casts |= {"offset": "bigint", "timestamp": "string", "topic": "string"}
    return table.select(
        _path(),
        _row_number(),
        *(fields[name].cast(kind).alias(name) for name, kind in casts.items()),
    )


def documents_table(
    spark: SparkSession, files: Sequence[SourceFile], *, is_lenient: bool = False
) -> DataFrame:
    """Read documents as Parquet: `PATH`, row `NUMBER` from 1, and all columns."""
    schema = _schema(files[0])
    table = _loaded(spark, "parquet", files, schema=schema, is_lenient=is_lenient)
    names = [f.col(quoted(name)) for name in schema.names]
    return table.select(_path("_path"), _row_number("_number"), *names)


def by_schema(files: Iterable[SourceFile]) -> list[list[SourceFile]]:
    """Group Parquet files that one reader can read."""
    groups: dict[str, list[SourceFile]] = {}
    for file in files:
        groups.setdefault(f"{file.kind} {_schema(file).json()}", []).append(file)
    return [groups[key] for key in sorted(groups)]


def _loaded(
    spark: SparkSession,
    form: str,
    files: Sequence[SourceFile],
    *,
    schema: StructType | None = None,
    is_lenient: bool = False,
    options: Mapping[str, str] = _NO_OPTIONS,
) -> DataFrame:
    reader = spark.read.format(form).options(**options)
    # Names of files can contain the characters of patterns.
    reader = reader.option("__globPaths__", "false")
    # Folders such as date=2026-01-01 are no columns; by default Spark would take them
    # for columns, and then read each of several files as often as there are files.
    reader = reader.option("recursiveFileLookup", "true")
    reader = reader.option("ignoreCorruptFiles", str(is_lenient).lower())
    reader = reader.option("ignoreMissingFiles", "false")
    if any(is_local(file.uri) or is_link(file.uri) for file in files):
        reader = reader.options(**_RAW)
    if schema is not None:
        reader = reader.schema(schema)
    return reader.load([file.uri for file in files])


def _path(name: str = PATH) -> Column:
    return f.col("_metadata.file_path").alias(name)


def _row_number(name: str = NUMBER) -> Column:
    return (f.col("_metadata.row_index") + 1).alias(name)


def _text(name: str) -> Column:
    return f.col(name).cast("binary").alias(TEXT)


def _all_columns(columns: dict[str, str]) -> dict[str, str | None]:
    wanted = ("key", "value", "partition", "offset", "timestamp", "topic")
    return {name: columns.get(name) for name in wanted}


def _field(field: StructField, ours: str) -> Column:
    """Return a column, numbers as bigint and times as milliseconds."""
    column = f.col(quoted(field.name))
    kind = field.dataType
    if isinstance(kind, TimestampType | TimestampNTZType):
        return f.unix_millis(column.cast("timestamp"))
    if field.metadata.get("unit") == "ns":
        return f.floor(column / f.lit(1_000_000)).cast("bigint")
    if ours in ("partition", "offset"):
        return column.try_cast("bigint")
    return column


def _schema(file: SourceFile) -> StructType:
    schema = _footer_schema(file)
    if file.kind.value == "consumer-offsets":
        names: Iterable[str] = record_columns(schema, file.written).values()
    else:
        names = schema.names
    return StructType([_struct_field(schema.field(name)) for name in names])


def _footer_schema(file: SourceFile) -> pa.Schema:
    if file.footer is None:
        raise ValueError(f"not Parquet: {file.name}")
    return file.footer.schema


def _struct_field(field: pa.Field) -> StructField:
    is_nanos = pa.types.is_timestamp(field.type) and field.type.unit == "ns"
    metadata: dict[str, Any] = {"unit": "ns"} if is_nanos else {}
    return StructField(field.name, _spark_type(field.type), metadata=metadata)


def _spark_type(kind: pa.DataType) -> DataType:
    """Return the type as which Spark reads a column of Parquet."""
    if pa.types.is_dictionary(kind):
        return _spark_type(kind.value_type)
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return LongType()  # spark.sql.legacy.parquet.nanosAsLong
    unsigned: dict[pa.DataType, DataType] = {
        pa.uint8(): ShortType(),
        pa.uint16(): IntegerType(),
        pa.uint32(): LongType(),
        pa.uint64(): DecimalType(20, 0),
    }
    return unsigned.get(kind) or from_arrow_type(kind)


def quoted(name: str) -> str:
    """Return the name of a column as Spark parses it."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
