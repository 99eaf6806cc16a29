"""Sorted records as Arrow batches, split into histories of single groups.

Offset commits, the most frequent records, are decoded by columns and applied in runs
(`pipeline.records.commit_values`); all other records take the way of single rows. The
result is that of `pipeline.history.stream.histories` for the same rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.history.stream import CommitRun, GroupKey, RecordStream
from pipeline.records import commit_key, commit_values
from pipeline.sources.rows import RECORD, Row

Bools = npt.NDArray[np.bool_]


_LEAST_ROWS: Final = 4_096
"""Rows that are decoded at once: each batch has a fixed cost."""
_MOST_BYTES: Final = 8 << 20


def histories_of_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Convert records to cases; pass other rows on; yield counts at the end.

    Parameters
    ----------
    batches
        Rows as in `ROWS`, sorted by `ORDER` over all batches.
    """
    stream = RecordStream()
    for batch in _joined(batches):
        yield from _Batch(batch, stream).through(stream)
    yield from stream.finish()


def rows_through(table: pa.Table, stream: RecordStream) -> Iterator[Row]:
    """Pass sorted rows to a stream; yield what is then complete."""
    for batch in _joined(table.to_batches()):
        yield from _Batch(batch, stream).through(stream)


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join batches until they have `_LEAST_ROWS` rows or `_MOST_BYTES` bytes."""
    found: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        found.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _LEAST_ROWS or size >= _MOST_BYTES:
            yield pa.concat_batches(found)
            found, rows, size = [], 0, 0
    if rows:
        yield pa.concat_batches(found)


class _Batch:
    """One batch: columns of the offset commits, and rows of the others."""

    def __init__(self, batch: pa.RecordBatch, stream: RecordStream) -> None:
        self._groups = _values(batch.column("group_id"))
        self._partitions = _values(batch.column("source_partition"))
        self._places = _values(batch.column("source_offset"))
        self._times = _values(batch.column("at"))
        self._keys = batch.column("key")
        self._records = batch.column("value")
        keys = self._keys.dictionary_encode()
        decoded = [*map(commit_key, keys.dictionary.to_pylist()), None]
        codes = np.asarray(pc.fill_null(keys.indices, -1))  # the last one, None
        self._commit_keys: list[Any] = [decoded[code] for code in codes.tolist()]
        values = commit_values(self._records)
        self._offsets = values.offset.tolist()
        self._is_new = changes(batch, "group_id") | changes(batch, "source_partition")
        is_key = np.array([key is not None for key in decoded], np.bool_)[codes]
        is_first = changes(batch, "source_offset")
        is_first[0] = stream.is_after(self._key(0), self._places[0])
        is_record = np.asarray(pc.equal(batch.column("what"), RECORD))
        self._is_commit = is_record & is_key & values.sound & is_first
        if values.topic_id is not None:
            ids = itertools.compress(values.topic_id, self._is_commit)
            found = set(zip(codes[self._is_commit].tolist(), ids, strict=True))
            stream.note_ids((decoded[code][0], id_) for code, id_ in found if id_)
        self._others = _rows(batch.filter(pa.array(~self._is_commit)))

    def through(self, stream: RecordStream) -> Iterator[Row]:
        """Pass the batch to a stream; yield what is then complete."""
        for start, end in self._runs():
            if not self._is_commit[start]:
                for row in itertools.islice(self._others, end - start):
                    yield from stream.take(row)
                continue
            yield from stream.commit(self._key(start), self._run(start, end))

    def _key(self, row: int) -> GroupKey:
        return self._groups[row], self._partitions[row]

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of commits of one group, and those of other rows."""
        kind = self._is_commit
        begins = (self._is_new & kind) | np.concatenate(([True], kind[1:] != kind[:-1]))
        starts = np.flatnonzero(begins).tolist()
        yield from zip(starts, [*starts[1:], len(kind)], strict=True)

    def _run(self, start: int, end: int) -> CommitRun:
        last = end - 1
        return CommitRun(
            keys=self._commit_keys[start:end],
            offsets=self._offsets[start:end],
            times=self._times[start:end],
            last=(
                self._places[last],
                self._keys[last].as_py(),
                self._records[last].as_py(),
            ),
        )


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """Yield the rows; by columns, which takes a fifth of the time of ``to_pylist``."""
    names = batch.schema.names
    for values in zip(*map(_values, batch.columns), strict=True):
        yield dict(zip(names, values, strict=True))


def _values(column: pa.Array) -> list[Any]:
    """Return a column's values; ``to_pylist`` makes an Arrow object of each first."""
    if column.null_count == len(column):
        return [None] * len(column)
    if column.null_count and pa.types.is_integer(column.type):
        return list(column.to_pylist())
    return list(column.to_numpy(zero_copy_only=False).tolist())


def changes(
    batch: pa.RecordBatch, name: str, *, are_nulls_equal: bool = False
) -> Bools:
    """Return which rows have another value than the row before; True for the first."""
    column = batch.column(name)
    if len(column) <= 1:
        return np.ones(len(column), np.bool_)
    same = pc.fill_null(pc.equal(column[1:], column[:-1]), False)
    if are_nulls_equal and column.null_count:
        same = pc.or_(same, pc.and_(column[1:].is_null(), column[:-1].is_null()))
    return np.concatenate(([True], np.asarray(pc.invert(same))))
