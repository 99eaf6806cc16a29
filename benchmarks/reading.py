"""Rates of the audit's reading alone, per CPU second: ``python -m benchmarks.reading``.

Copies of the shipped recording are converted to cases in this process, without Spark:
by columns, as an audit does, and record by record. *Commits* are the offset commits
alone, of which most of a real topic consists.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.multiplied import Shape, multiplied
from pipeline.history.stream import ORDER, histories
from pipeline.history.whole_groups import histories_of_groups
from pipeline.rows import Row, batches_of
from pipeline.session import ROWS_PER_BATCH
from pipeline.sources.find import find_sources
from pipeline.sources.parquet_tables import with_our_columns
from pipeline.sources.record_batches import batches_of_records, rows_of_records
from pipeline.sources.source_file import SourceFile

RECORDING: Final = Path(__file__).resolve().parent.parent / "recordings" / "churn"

Batches = Iterator[pa.RecordBatch]


def main() -> None:
    """Print one line per kind of records, and way of reading them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=10, help="at most 20: one file")
    copies = parser.parse_args().copies
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python "
          f"{platform.python_version()}; records per CPU second")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        multiplied(RECORDING, source, Shape(copies=copies))
        (file,) = find_sources([source]).files
        records = pq.read_table(source / Path(file.name).name).combine_chunks()
        batches = [with_our_columns(b, file.written) for b in records.to_batches()]
    table = pa.Table.from_batches(batches)
    is_commit = pc.is_in(
        pc.binary_slice(table["key"], 0, 2),
        value_set=pa.array([b"\x00\x00", b"\x00\x01"], pa.binary()),
    )
    print(f"{'records':24}{'read':>12}{'reconstruct':>14}{'both':>12}")
    for name, some in (("all", table), ("commits", table.filter(is_commit))):
        _report(f"{name}, by columns", some, file, _by_columns, histories_of_groups)
        _report(f"{name}, one by one", some, file, _one_by_one, _single)


def _report(
    name: str,
    table: pa.Table,
    file: SourceFile,
    read: Callable[[Batches, SourceFile], Batches],
    reconstruct: Callable[[Batches], Iterable[Row]],
) -> None:
    few = pa.Table.from_batches(read(_batches(table.slice(0, ROWS_PER_BATCH)), file))
    list(reconstruct(_batches(few)))  # loads the kernels
    start = time.process_time()
    rows = pa.Table.from_batches(read(_batches(table), file))
    reading = time.process_time() - start
    ordered = rows.sort_by([(column, "ascending") for column in ORDER])
    start = time.process_time()
    for _ in batches_of(reconstruct(_batches(ordered))):
        pass
    history = time.process_time() - start
    rates = (len(table) / seconds for seconds in (reading, history, reading + history))
    columns = zip(rates, (12, 14, 12), strict=True)
    print(f"{name:24}" + "".join(f"{rate:{width},.0f}" for rate, width in columns))


def _batches(table: pa.Table) -> Batches:
    return iter(table.to_batches(max_chunksize=ROWS_PER_BATCH))


def _by_columns(batches: Batches, file: SourceFile) -> Batches:
    for batch in batches:
        yield from batches_of_records(batch, file, 1)


def _one_by_one(batches: Batches, file: SourceFile) -> Batches:
    return batches_of(
        row
        for batch in batches
        for row in rows_of_records(batch, file, range(len(batch)))
    )


def _single(batches: Batches) -> Iterable[Row]:
    return histories(row for batch in batches for row in batch.to_pylist())


if __name__ == "__main__":
    main()
