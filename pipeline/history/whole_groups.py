"""Histories of whole groups by columns; of all others, record by record.

A group of which every record is sound is reconstructed by kernels. All other records
(damage, other kinds of groups, groups that changed their protocol, two records at one
offset) are left to `pipeline.history.stream`, which states the fault of a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.history.case_lists import name_array, ranks_of
from pipeline.history.consumer_parts import parts_of
from pipeline.history.participants import participants_of
from pipeline.history.read_groups import read_groups
from pipeline.history.stream import RecordStream
from pipeline.history.walked_groups import classic_rows, consumer_rows, id_texts
from pipeline.records.record_tape import RecordTape, record_tape
from pipeline.records.tape_layout import (
    COMMITTED,
    DELETED,
    EPOCH,
    EPOCH_NUMBER,
    FORGOTTEN,
    GENERATION,
    OTHER,
    PARTITION,
    TARGET_EPOCH,
)
from pipeline.sightings import MOST_PARTITIONS
from pipeline.sources.rows import (
    RECORD,
    ROWS,
    ROWS_PER_BATCH,
    WITHOUT_TOMBSTONES,
    Row,
)
from rebalance import Bools, Int64

_TOGETHER: Final = 2 << 20
"""Bytes of the records that are read at once, about."""
_LARGEST: Final = 256 << 20
_MOST_RECORDS: Final = 1 << 18
"""Of a group that is read at once, which takes several times its bytes of memory."""
_KEY: Final = ("group_id", "source_partition")


def histories_of_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Convert records to cases; pass other rows on; yield counts at the end.

    Parameters
    ----------
    batches
        Rows as in `ROWS`, sorted by `pipeline.history.stream.ORDER` over all batches.
    """
    stream = RecordStream()
    for table, are_whole in _gathered(batches):
        if are_whole:
            yield from _histories(table, stream)
        else:
            yield from _one_by_one(table, stream)
    yield from stream.finish()


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.Table, bool]]:
    """Yield tables of whole groups, and parts of a group that is too large for one."""
    whole, group = _Held(), _Held()  # the latter has the last group, so far
    is_part = False
    before: pa.RecordBatch | None = None
    for batch in batches:
        if not len(batch):
            continue
        begins = np.flatnonzero(_begins(batch, before))
        before = batch.slice(len(batch) - 1)
        if len(begins):
            first, end = int(begins[0]), int(begins[-1])
            group.add(batch.slice(0, first))
            if is_part:
                yield group.taken(), False
                is_part = False
            whole.join(group)
            whole.add(batch.slice(first, end - first))
            group.add(batch.slice(end))
        else:
            group.add(batch)
        is_part = is_part or group.size > _LARGEST or group.records > _MOST_RECORDS
        if whole.size and (is_part or whole.size >= _TOGETHER):
            yield whole.taken(), True
        if is_part:
            yield group.taken(), False
    if not is_part:
        whole.join(group)
        if whole.size:
            yield whole.taken(), True


class _Held:
    """Batches that are gathered, their bytes, and their records."""

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self.size = self.records = 0

    def add(self, batch: pa.RecordBatch) -> None:
        if len(batch):
            self._batches.append(batch)
            self.size += batch.nbytes
            self.records += len(batch)

    def join(self, other: _Held) -> None:
        self._batches += other._batches
        self.size += other.size
        self.records += other.records
        other._batches, other.size, other.records = [], 0, 0

    def taken(self) -> pa.Table:
        table = pa.Table.from_batches(self._batches, ROWS)
        self._batches, self.size, self.records = [], 0, 0
        return table.combine_chunks()


def _begins(batch: pa.RecordBatch, before: pa.RecordBatch | None) -> Bools:
    """Return which rows begin another group, or partition, than the row before has."""
    found: Bools = np.logical_or.reduce(
        [_changes(batch, name, are_nulls_equal=True) for name in _KEY]
    )
    if before is not None and len(batch):
        found[0] = any(before.column(name)[0] != batch.column(name)[0] for name in _KEY)
    return found


def _histories(table: pa.Table, stream: RecordStream) -> Iterator[Row]:
    """Reconstruct whole groups."""
    is_record = np.array(pc.equal(table["what"], RECORD))
    if not is_record.any():
        yield from _one_by_one(table, stream)
        return
    rows = table
    if not is_record.all():
        rows = table.filter(pa.array(is_record)).combine_chunks()
    (batch,) = rows.to_batches()
    records = record_tape(batch.column("key"), batch.column("value"))
    names, ids = name_array(records.names), id_texts(records.ids)
    rank = ranks_of(names)
    group = np.cumsum(_begins(batch, None)) - 1
    are_again, are_others = _again(batch, group)
    is_odd = (records.kind == OTHER) & ~are_again
    records.kind[are_again] = OTHER  # it shows no partitions at its own time
    people = participants_of(records, rank)
    is_odd |= are_others | ~people.is_sound | _is_damage(records)
    is_odd |= ~parts_of(records, ranks_of(ids)).is_sound
    count = int(group[-1]) + 1
    are_classic = _any(group, np.isin(records.kind, (GENERATION, DELETED)), count)
    is_new = np.abs(records.kind) >= EPOCH
    are_new = _any(group, is_new, count)
    without = np.array(
        pc.fill_null(pc.equal(rows["record"], WITHOUT_TOMBSTONES), False)
    )
    is_odd |= is_new & without
    if set(ids.to_pylist()) & set(names.to_pylist()):
        is_odd |= is_new  # a topic has the text of an id as its name
    is_left = _any(group, is_odd, count) | (are_classic & are_new)
    starts = np.searchsorted(group, np.arange(count + 1))
    for are_of, is_consumer in ((~are_new, False), (are_new, True)):
        kept = np.flatnonzero(are_of & ~is_left)
        read = read_groups(rows, records, names, rank, starts[kept], starts[kept + 1])
        if is_consumer:
            for found in consumer_rows(read, ids, stream):
                if isinstance(found, int):
                    is_left[kept[found]] = True
                else:
                    yield found
        elif len(kept):
            yield from classic_rows(read, people, stream)
    stream.note_repeated(int(np.count_nonzero(are_again & ~is_left[group])))
    left = ~is_record
    left[is_record] = is_left[group]
    if left.any():
        yield from _one_by_one(table.filter(pa.array(left)), stream)


def _any(group: Int64, are: Bools, count: int) -> Bools:
    """Return of which groups any record is so."""
    found = np.zeros(count, np.bool_)
    found[group[are]] = True
    return found


def _again(batch: pa.RecordBatch, group: Int64) -> tuple[Bools, Bools]:
    """Return which records repeat the one before, and which contradict it."""
    is_first = np.ones(len(batch), np.bool_)
    is_first[1:] = group[1:] != group[:-1]
    is_second = ~is_first & ~_changes(batch, "source_offset")
    is_other = _changes(batch, "key") | _changes(batch, "value", are_nulls_equal=True)
    return is_second & ~is_other, is_second & is_other


def _is_damage(records: RecordTape) -> Bools:
    """Return which records have a partition that no topic can have, or epoch < 0."""
    found = np.zeros(len(records.kind), np.bool_)
    rows = np.flatnonzero(np.isin(records.kind, (COMMITTED, FORGOTTEN)))
    partition = records.tape[records.at[rows] + PARTITION]
    found[rows] = (partition < 0) | (partition >= MOST_PARTITIONS)
    rows = np.flatnonzero(np.isin(records.kind, (EPOCH, TARGET_EPOCH)))
    found[rows] = records.tape[records.at[rows] + EPOCH_NUMBER] < 0
    return found


def _changes(
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


def _one_by_one(table: pa.Table, stream: RecordStream) -> Iterator[Row]:
    """Pass sorted rows to a stream; yield the cases that are then complete."""
    for batch in table.to_batches(ROWS_PER_BATCH):
        for row in batch.to_pylist():
            yield from stream.take(row)
