"""Numbers of the lines of large files, which Spark reads in blocks.

A first pass counts the lines of each block; the first number of a block follows from
the blocks before it. The second pass reads the same blocks and numbers their lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from pipeline.sources.lines import LINE_LIMIT
from pipeline.sources.spark_tables import FIRST, PATH, TEXT

Block: TypeAlias = tuple[str, int]
"""Location of a file, and a block's first byte."""

PIECES = pa.schema([(PATH, pa.string()), (FIRST, pa.int64()), (TEXT, pa.binary())])


def first_numbers(lines: DataFrame) -> dict[Block, int]:
    """Count the lines of each block; return the number of its first line."""
    counted = lines.groupBy(PATH, "block").agg(f.count("*").alias("lines"))
    blocks: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in counted.collect():
        blocks[unquote(row[PATH])].append((row["block"], row["lines"]))
    first: dict[Block, int] = {}
    for uri, counts in blocks.items():
        number = 1
        for start, count in sorted(counts):
            first[uri, start] = number
            number += count
    return first


def numbered(lines: DataFrame, first: dict[Block, int]) -> DataFrame:
    """Add line numbers to blocks: `PATH`, `FIRST`, `TEXT`; a compressed file is one."""

    def number(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        block: Block | None = None
        following = 1
        for batch in batches:
            paths, starts, texts = (batch.column(i).to_pylist() for i in range(3))
            numbers = []
            for path, start in zip(paths, starts, strict=True):
                if (path, start) != block:
                    block = path, start
                    following = first.get((unquote(path), start), 1)
                numbers.append(following)
                following += 1
            ended = [text + _end_of(text) for text in texts]
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), pa.array(numbers, pa.int64()), pa.array(ended)],
                schema=PIECES,
            )

    return lines.mapInArrow(number, f"{PATH} string, {FIRST} bigint, {TEXT} binary")


def _end_of(text: bytes) -> bytes:
    """Return what follows a line; Spark cuts a line off at the limit."""
    return b"\n" if len(text) < LINE_LIMIT else b"...\n"
