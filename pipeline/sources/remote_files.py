"""Files of other machines: Spark brings their bytes to the tasks that read them.

Spark's reader of texts divides a file among tasks at line feeds, whatever it contains.
The bytes of files that are read together come to one task, in order; it keeps them in a
temporary folder and reads them as files of its machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
from pyspark import RDD, SparkContext
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.files import LOCAL, is_local
from pipeline.session import sql_session
from pipeline.sources.file_links import linked
from pipeline.sources.parcels import Parcel, parcels_of_table
from pipeline.sources.source_pieces import Pieces, SourcePiece

Batches: TypeAlias = Iterator[pa.RecordBatch]

BLOCK_BYTES: Final = 32 << 20
"""Bytes that one task brings."""
_OPTIONS: Final = {
    "lineSep": "\n",
    # Names of files can contain the characters of patterns.
    "__globPaths__": "false",
    # Folders such as date=2026-01-01 are not columns; by default Spark would take them
    # for columns, and then read each of several files as often as there are files.
    "recursiveFileLookup": "true",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}
_SETTINGS: Final = {
    "spark.sql.files.maxPartitionBytes": str(BLOCK_BYTES),
    # Tasks that list files; by default there is one per file, of milliseconds each.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "64",
}
_BYTES: Final = pa.schema(
    [
        ("pieces", pa.int64()),
        ("file", pa.string()),
        ("block", pa.int64()),
        ("part", pa.int64()),
        ("data", pa.binary()),
    ]
)
_PLACE: Final = _BYTES.names[:-1]


def remote_parcels(
    spark: SparkContext,
    found: Sequence[Pieces],
    tasks: int,
    read: Callable[[list[Pieces]], Batches],
) -> RDD[Parcel]:
    """Return the rows of files, some of which are on other machines, as parcels.

    ``read`` reads pieces of files of its machine.
    """
    places = {
        piece.file.uri: number
        for number, pieces in enumerate(found)
        for piece in pieces
        if not is_local(piece.file.uri)
    }
    located_at, links = linked(places)
    session = sql_session(spark)
    for name, value in {**_SETTINGS, **links}.items():
        session.conf.set(name, value)
    files = {location: (places[uri], uri) for uri, location in located_at.items()}
    lines = session.read.format("text").options(**_OPTIONS).load(list(files))
    located = lines.select(
        f.col("_metadata.file_path"),
        f.col("_metadata.file_block_start"),
        f.col("value").cast("binary"),
    )
    parts = located.mapInArrow(_joined(files), from_arrow_schema(_BYTES))
    gathered = parts.repartition(min(tasks, len(found)), _PLACE[0])

    def rows(batches: Batches) -> Batches:
        for number, of_pieces in groupby(_rows(batches), key=itemgetter(0)):
            with tempfile.TemporaryDirectory() as folder:
                here = _written(found[number], of_pieces, Path(folder))
                yield from read([here])

    return parcels_of_table(gathered.sortWithinPartitions(*_PLACE), tasks, rows)


def _joined(files: dict[str, tuple[int, str]]) -> Callable[[Batches], Batches]:
    """Join the lines of each block, a batch of them at a time."""

    def join(batches: Batches) -> Batches:
        numbers = count()
        for batch in batches:
            for (path, block), lines in groupby(_rows([batch]), key=itemgetter(0, 1)):
                data = b"".join(b"%b\n" % line for _, _, line in lines)
                row = (*files[unquote(path)], block, next(numbers), data)
                yield pa.RecordBatch.from_pylist(
                    [dict(zip(_BYTES.names, row, strict=True))], schema=_BYTES
                )

    return join


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _written(pieces: Pieces, rows: Iterator[tuple[Any, ...]], folder: Path) -> Pieces:
    """Write the files of pieces into a folder; return the pieces as they are there."""
    here: dict[str, SourcePiece] = {}
    for number, piece in enumerate(pieces):
        if is_local(piece.file.uri):
            here[piece.file.uri] = piece
        else:
            path = folder / str(number)
            path.touch()
            file = replace(piece.file, uri=f"{LOCAL}{path}")
            here[piece.file.uri] = replace(piece, file=file)
    for uri, of_file in groupby(rows, key=itemgetter(1)):
        file = here[uri].file
        with (folder / Path(file.uri).name).open("wb") as target:
            target.writelines(row[-1] for row in of_file)
            target.truncate(file.length)  # the last line need not end with a line feed
    return tuple(here.values())
