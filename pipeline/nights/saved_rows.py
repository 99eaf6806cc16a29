"""Rows that a night has saved with its cases, read from files of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.known_counts import KnownCounts
from pipeline.nights.continued import CHUNK_BYTES
from pipeline.rows import (
    CARRIED,
    KEPT,
    OPENED,
    ROWS,
    SPAN,
    Row,
    gathered,
    topic_id_row,
    topic_row,
)
from pipeline.sightings import Sighting
from pipeline.table_bytes import from_bytes
from pipeline.topic_ids import bytes_of_id

_AT_ONCE: Final = 32
"""Rows that are read at once: each can have megabytes."""
_COLUMNS: Final = [name for name in ROWS.names if name != "key"]


def rows_of_night(paths: Iterable[Path]) -> list[Row]:
    """Return the offsets that were read, and the cases that can change or were kept."""
    found: list[Row] = []
    for row in _of_kinds(paths, (SPAN, OPENED, KEPT)):
        is_packed = row["what"] == OPENED
        found += from_bytes(row["value"]).to_pylist() if is_packed else [row]
    return found


def rows_to_carry(paths: Iterable[Path], judged: pa.Array) -> Iterator[pa.Table]:
    """Yield the records and the open cases as the next night reads them.

    ``judged`` are names of rebalances; it has to judge the others again.
    """
    packed = _of_kinds(paths, (CARRIED, OPENED))
    tables = (from_bytes(row["value"]) for row in packed)
    for some in gathered(tables, lambda table: int(table.nbytes), CHUNK_BYTES):
        table = pa.concat_tables(some)
        is_known = pc.or_(
            pc.not_equal(table["what"], OPENED), pc.is_in(table["record"], judged)
        )
        value = pc.if_else(is_known, table["value"], pa.scalar(None, pa.binary()))
        place = ROWS.get_field_index("value")
        yield table.set_column(place, ROWS.field(place), value)


def _of_kinds(paths: Iterable[Path], kinds: Sequence[str]) -> Iterator[Row]:
    wanted = pa.array(kinds)
    for path in paths:
        for batch in _batches(path):
            found = batch.filter(pc.is_in(batch.column("what"), wanted))
            yield from found.to_pylist()


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Read a file of cases, of Arrow, or of Parquet as Spark's SQL writes it."""
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as source:
            file = pa.ipc.open_file(source)
            for number in range(file.num_record_batches):
                yield file.get_batch(number).select(_COLUMNS)
    else:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_AT_ONCE, columns=_COLUMNS)


def topic_rows(counts: KnownCounts, names: Mapping[str, str]) -> list[Row]:
    """Return the counts of topics over time, and the names of ids, as rows."""
    ids = (topic_id_row(bytes_of_id(topic_id), names[topic_id]) for topic_id in names)
    return [*_counts(counts), *ids]


def _counts(counts: KnownCounts) -> Iterator[Row]:
    for topic, steps in counts.steps.items():
        since = count = 0
        for at, step in steps:
            if step:
                since, count = at, step
                yield topic_row(topic, Sighting(at, step))
            else:
                yield topic_row(topic, Sighting(since, count, until=at))
