"""Rows of all sources by Spark: one reader per form of file.

A file that breaks while Spark reads it would fail the whole job. Then the files are
checked in one more pass; of the damaged ones, what can be read is kept, and a row of
quarantine states how much is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline.sources.arrow_records import (
    UNREADABLE_BY_ARROW,
    arrow_parcels,
    is_for_arrow,
)
from pipeline.sources.documents import document_of_row
from pipeline.sources.file_links import linked
from pipeline.sources.numbering import first_numbers, numbered
from pipeline.sources.parcels import PARCELS, parcels_of, parcels_table
from pipeline.sources.read import TextPiece
from pipeline.sources.record_batches import on_records
from pipeline.sources.rows import (
    UNREADABLE,
    Row,
    batches_of,
    quarantine_row,
)
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from pipeline.sources.spark_tables import (
    FIRST,
    LARGEST_PART,
    PART_BYTES,
    PATH,
    TEXT,
    by_schema,
    documents_table,
    line_texts,
    quoted,
    reading_session,
    records_table,
    whole_texts,
)
from pipeline.sources.texts_together import place_of, rows_of_texts
from rebalance import SourceError

Batches = Iterator[pa.RecordBatch]

SPARK_ERRORS: Final = (PySparkException, Py4JError)
"""What a failed job raises: PySpark converts some of Java's exceptions, not all."""

_UNREADABLE_FILE: Final = "FAILED_READ_FILE"
_NAMED_FILE: Final = re.compile(r"reading file (\S+)\.\s")
_PLACE: Final = ("set", "name")


class SourceReader:
    """Reads files into a table of `PARCELS`, with rows as in `ROWS`.

    Parameters
    ----------
    spark
        A session, of which a new one with other settings is made.
    files
        Files to read.
    tasks
        Number of tasks that the rows are for, and the largest number of parts by which
        small sources are divided.
    max_partitions
        Largest instance.
    """

    def __init__(
        self,
        spark: SparkSession,
        files: Sequence[SourceFile],
        *,
        tasks: int,
        max_partitions: int,
    ) -> None:
        self._files, self._links = linked(files)
        self._tasks = tasks
        self._most = max_partitions
        length = sum(file.length for file in files)
        parts = min(tasks, length // PART_BYTES)
        self._spark = reading_session(spark, parts=parts, links=self._links)
        self._is_by_arrow = True
        self._damaged: dict[str, str] = {}  # location to reason
        self._unread: set[str] = set()  # of those, what is not read at all

    def parcels(self) -> DataFrame:
        """Return the rows of all files; nothing is read yet, except to number lines."""
        sound = [file for file in self._files if file.uri not in self._damaged]
        tables = [*self._parquet(sound), *self._texts(sound)]
        tables += self._damaged_tables()
        return reduce(DataFrame.unionByName, tables)

    def finds_damage(self, error: Exception) -> bool:
        """Return whether a failed job was due to a file; then `parcels` avoids it."""
        if self._is_by_arrow and UNREADABLE_BY_ARROW in str(error):
            self._is_by_arrow = False  # Spark's readers find what is damaged
            return True
        if _UNREADABLE_FILE not in str(error):
            return False
        try:
            broken = self._broken_parquet() | self._broken_gzip()
        except SPARK_ERRORS as other:
            broken, error = {}, other
        if broken.keys() - self._damaged.keys():
            self._damaged |= broken
            return True
        # Not damaged, or not in a way that can be left out: give up the file.
        named = _NAMED_FILE.search(str(error))
        uri = unquote(named[1]).replace(":///", ":/") if named else ""
        known = {file.uri for file in self._files} - self._unread
        if uri not in known:
            return False
        self._damaged.setdefault(uri, "the file cannot be read")
        self._unread.add(uri)
        return True

    def _parquet(
        self, files: Sequence[SourceFile], *, is_lenient: bool = False
    ) -> Iterator[DataFrame]:
        tables = [file for file in files if file.layout is FileLayout.PARQUET]
        if self._is_by_arrow and not is_lenient:
            plain = {
                file.uri: file for file in tables if is_for_arrow(self._spark, file)
            }
            if plain:
                yield arrow_parcels(self._spark, [*plain.values()], self._tasks)
            tables = [file for file in tables if file.uri not in plain]
        for group in by_schema(tables):
            named = _by_uri(group)
            if group[0].kind is SourceKind.RECORDS:
                read = records_table(self._spark, group, is_lenient=is_lenient)
                convert = on_records(named)
            else:
                read = documents_table(self._spark, group, is_lenient=is_lenient)
                convert = _on_documents(named, self._most)
            yield parcels_table(read, self._tasks, convert)

    def _texts(
        self, files: Sequence[SourceFile], *, is_lenient: bool = False
    ) -> Iterator[DataFrame]:
        texts = [file for file in files if file.layout is not FileLayout.PARQUET]
        for is_set in (False, True):
            read = [file for file in texts if bool(place_of(file)[0]) is is_set]
            if read:
                pieces = self._pieces(read, is_lenient=is_lenient)
                pieces = self._in_order(pieces, read) if is_set else pieces
                convert = _on_pieces(_by_uri(read), self._most)
                yield parcels_table(pieces, self._tasks, convert)

    def _pieces(self, files: Sequence[SourceFile], *, is_lenient: bool) -> DataFrame:
        """Return the pieces of texts; the lines of large ones are counted first."""
        tables: list[DataFrame] = []
        small = [file for file in files if not file.is_large]
        packed = [file for file in files if file.is_large and file.packed]
        plain = [file for file in files if file.is_large and not file.packed]
        if small:
            tables.append(whole_texts(self._spark, small))
        if packed:
            lines = line_texts(self._spark, packed, is_lenient=is_lenient)
            tables.append(numbered(lines, {}))  # a compressed file is one block
        if plain:
            lines = line_texts(self._spark, plain, is_lenient=is_lenient)
            tables.append(numbered(lines, first_numbers(lines)))
        return reduce(DataFrame.unionByName, tables)

    def _in_order(self, pieces: DataFrame, files: Sequence[SourceFile]) -> DataFrame:
        """Bring the texts of one set together, in the order of their lines."""
        placed = pieces.mapInArrow(
            _with_places(_by_uri(files)),
            f"{PATH} string, {FIRST} bigint, {TEXT} binary, "
            + ", ".join(f"{name} string" for name in _PLACE),
        )
        sets = len({place_of(file)[0] for file in files})
        ordered = placed.repartition(min(self._tasks, sets), _PLACE[0])
        return ordered.sortWithinPartitions(*_PLACE, FIRST)

    def _broken_parquet(self) -> dict[str, str]:
        """Compare the rows that can be read of each file with those of its footer."""
        tables = [file for file in self._files if file.layout is FileLayout.PARQUET]
        counts = _readable_rows(self._spark, tables)
        broken = [file for file in tables if counts.get(file.uri, 0) < _rows_of(file)]
        counts = _readable_rows(self._by_row_group(broken), broken) if broken else {}
        return {
            file.uri: f"breaks off here: {_rows_of(file) - counts.get(file.uri, 0):,}"
            f" of {_rows_of(file):,} rows cannot be read"
            for file in broken
        }

    def _broken_gzip(self) -> dict[str, str]:
        """Read each large compressed file by itself."""
        found = {}
        for file in self._files:
            if file.is_large and file.packed:
                try:
                    line_texts(self._spark, [file]).agg(f.count(TEXT)).collect()
                except SPARK_ERRORS:
                    found[file.uri] = "breaks off here: damaged gzip"
        return found

    def _damaged_tables(self) -> Iterator[DataFrame]:
        """Yield what can be read of damaged files, one row group per task."""
        damaged = [file for file in self._files if file.uri in self._damaged]
        if not damaged:
            return
        files = [file for file in damaged if file.uri not in self._unread]
        whole = self._spark
        self._spark = self._by_row_group(files)
        try:
            yield from self._parquet(files, is_lenient=True)
            yield from self._texts(files, is_lenient=True)
        finally:
            self._spark = whole
        reasons = [
            quarantine_row(UNREADABLE, self._damaged[file.uri], source=file.name)
            for file in damaged
        ]
        yield parcels_of_rows(whole, reasons, self._tasks)

    def _by_row_group(self, files: Sequence[SourceFile]) -> SparkSession:
        """Return a session whose parts have at most one row group of these files."""
        sizes = [file.footer.least_group for file in files if file.footer is not None]
        part = max(1, min([LARGEST_PART, *sizes]))
        return reading_session(self._spark, part=part, links=self._links)


def _readable_rows(spark: SparkSession, files: Sequence[SourceFile]) -> dict[str, int]:
    """Count the rows of each file that can be read completely."""
    counts: dict[str, int] = {}
    for group in by_schema(files):
        is_records = group[0].kind is SourceKind.RECORDS
        table = records_table if is_records else documents_table
        read = table(spark, group, is_lenient=True)
        path, _, *columns = read.columns
        # All columns are read: damage in any of them is damage.
        touched = [
            f.count(quoted(name)).alias(f"c{i}") for i, name in enumerate(columns)
        ]
        counted = read.groupBy(path).agg(f.count("*").alias("rows"), *touched)
        counts |= {unquote(row[path]): row["rows"] for row in counted.collect()}
    return counts


def _rows_of(file: SourceFile) -> int:
    return 0 if file.footer is None else file.footer.rows


def parcels_of_rows(spark: SparkSession, rows: list[Row], tasks: int) -> DataFrame:
    """Return a few rows as a table of `PARCELS`."""
    batches = parcels_of(batches_of(rows), tasks)
    table: Any = pa.Table.from_batches(batches, schema=PARCELS)
    return spark.createDataFrame(table)


def unknown_rows(errors: Sequence[SourceError]) -> list[Row]:
    """Return one row of quarantine per file that is not a source."""
    return [
        quarantine_row(UNREADABLE, error.reason, source=error.source, record="file")
        for error in errors
    ]


def _by_uri(files: Sequence[SourceFile]) -> dict[str, SourceFile]:
    """Return files by location, without what workers do not need."""
    return {file.uri: replace(file, footer=None) for file in files}


def _on_documents(
    files: dict[str, SourceFile], most: int
) -> Callable[[Batches], Batches]:
    def rows(batches: Batches) -> Iterator[Row]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            paths, numbers = (table.column(i).to_pylist() for i in range(2))
            documents = table.drop_columns(["_path", "_number"])
            for at, (path, number) in enumerate(zip(paths, numbers, strict=True)):
                one = documents.slice(at, 1)
                name = files[unquote(path)].name
                yield document_of_row(one, name, number, most)

    return lambda batches: batches_of(rows(batches))


def _on_pieces(files: dict[str, SourceFile], most: int) -> Callable[[Batches], Batches]:
    def convert(batches: Batches) -> Batches:
        return batches_of(rows_of_texts(_text_pieces(batches, files), most))

    return convert


def _with_places(files: dict[str, SourceFile]) -> Callable[[Batches], Batches]:
    def with_places(batches: Batches) -> Batches:
        for batch in batches:
            paths = batch.column(PATH).to_pylist()
            places = [place_of(files[unquote(path)]) for path in paths]
            columns = [
                pa.array([place[at] for place in places], pa.string())
                for at in range(len(_PLACE))
            ]
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, *columns], [*batch.schema.names, *_PLACE]
            )

    return with_places


def _text_pieces(batches: Batches, files: dict[str, SourceFile]) -> Iterator[TextPiece]:
    for batch in batches:
        columns = (batch.column(name) for name in (PATH, FIRST, TEXT))
        for path, first, text in zip(*columns, strict=True):
            yield TextPiece(
                file=files[unquote(path.as_py())],
                first=first.as_py(),
                text=text.as_py(),
            )
