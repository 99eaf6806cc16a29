"""Rows that a night has saved with its cases, read from files of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.nights.continued import CHUNK_BYTES, carried_rows
from pipeline.sources.rows import (
    CARRIED,
    KEPT,
    OPENED,
    ROWS,
    ROWS_PER_BATCH,
    SPAN,
    Row,
    gathered,
)

_FACTS: Final = [name for name in ROWS.names if name != "key"]


def rows_of_night(paths: Iterable[Path]) -> list[Row]:
    """Return the offsets that were read, and the cases that can change or were kept."""
    kinds = (SPAN, OPENED, KEPT)
    return [
        row for batch in _of_kinds(paths, kinds, _FACTS) for row in batch.to_pylist()
    ]


def rows_to_carry(paths: Iterable[Path], judged: pa.Array) -> Iterator[pa.Table]:
    """Yield the records and the open cases as the next night reads them.

    ``judged`` are names of rebalances; it has to judge the others again.
    """
    found = carried_rows(_of_kinds(paths, (CARRIED, OPENED), ROWS.names))
    for some in gathered(found, lambda batch: int(batch.nbytes), CHUNK_BYTES):
        table = pa.Table.from_batches(some, ROWS)
        is_known = pc.or_(
            pc.not_equal(table["what"], OPENED), pc.is_in(table["record"], judged)
        )
        value = pc.if_else(is_known, table["value"], pa.scalar(None, pa.binary()))
        place = ROWS.get_field_index("value")
        yield table.set_column(place, ROWS.field(place), value)


def _of_kinds(
    paths: Iterable[Path], kinds: Sequence[str], columns: list[str]
) -> Iterator[pa.RecordBatch]:
    wanted = pa.array(kinds)
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS_PER_BATCH, columns=columns):
                found = batch.filter(pc.is_in(batch.column("what"), wanted))
                if len(found):
                    yield found
