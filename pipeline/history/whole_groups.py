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
from pipeline.history.read_groups import PLACED, read_groups
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
from pipeline.rows import (
    RECORD,
    ROWS,
    ROWS_PER_BATCH,
    WITHOUT_TOMBSTONES,
    Row,
)
from pipeline.sightings import MOST_PARTITIONS
from rebalance import Bools, Int64

_TOGETHER: Final = 2 << 20
"""Bytes of the records that are read at once, about."""
_LARGE: Final = 16 << 20
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
    for held, are_whole in _gathered(batches):
        if are_whole:
            yield from _histories(held, stream)
        else:
            yield from _one_by_one(held.taken()[0], stream)
    yield from stream.finish()


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[_Held, bool]]:
    """Yield rows of whole groups, and parts of a group that is too large for one."""
    whole, group = _Held(), _Held()  # the latter has the last group, so far
    is_part = False
    before: pa.RecordBatch | None = None
    for batch in batches:
        if not len(batch):
            continue
        begins = _begins(batch, before)
        before = batch.slice(len(batch) - 1)
        at = np.flatnonzero(begins)
        end = int(at[-1]) if len(at) else 0
        if len(at):
            first = int(at[0])
            group.add(batch, begins, 0, first)
            if is_part:
                yield group, False
                is_part = False
            whole.join(group)
            whole.add(batch, begins, first, end)
        group.add(batch, begins, end, len(batch))
        is_part = is_part or group.size > _LARGEST or group.records > _MOST_RECORDS
        if whole.size and (is_part or whole.size >= _TOGETHER):
            yield whole, True
        if is_part:
            yield group, False
    if not is_part:
        whole.join(group)
        if whole.size:
            yield whole, True


class _Held:
    """Batches that are gathered, which rows begin groups, bytes, and records."""

    def __init__(self) -> None:
        self._clear()

    def add(self, batch: pa.RecordBatch, begins: Bools, at: int, end: int) -> None:
        if at < end:
            part = batch.slice(at, end - at)
            self._batches.append(part)
            self._begins.append(begins[at:end])
            self.size += part.nbytes
            self.records += len(part)

    def join(self, other: _Held) -> None:
        self._batches += other._batches
        self._begins += other._begins
        self.size += other.size
        self.records += other.records
        other._clear()

    def taken(self) -> tuple[pa.Table, Bools]:
        """Return the rows, and which of them begin groups; hold them no more."""
        table = pa.Table.from_batches(self._batches, ROWS).combine_chunks()
        begins, size = np.concatenate(self._begins), self.size
        self._clear()
        _release(size)
        return table, begins

    def _clear(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._begins: list[Bools] = [np.empty(0, np.bool_)]
        self.size = self.records = 0


def _release(size: int) -> None:
    """Release the memory of so many bytes, which Arrow would keep for a while."""
    if size > _LARGE:
        pa.default_memory_pool().release_unused()


def _begins(batch: pa.RecordBatch, before: pa.RecordBatch | None) -> Bools:
    """Return which rows begin another group, or partition, than the row before has."""
    found = np.ones(len(batch), np.bool_)
    columns = [batch.column(name) for name in _KEY]
    found[1:] = np.logical_or.reduce([_differ(of[1:], of[:-1]) for of in columns])
    if before is not None:
        found[0] = any(before.column(name)[0] != batch.column(name)[0] for name in _KEY)
    return found


def _histories(held: _Held, stream: RecordStream) -> Iterator[Row]:
    """Reconstruct whole groups."""
    table, begins = held.taken()
    is_record = np.array(pc.equal(table["what"], RECORD))
    if not is_record.any():
        yield from _one_by_one(table, stream)
        return
    group = np.cumsum(begins) - 1
    rows = table
    if not is_record.all():
        rows = table.filter(pa.array(is_record)).combine_chunks()
        _, group = np.unique(group[is_record], return_inverse=True)
    (batch,) = rows.to_batches()
    records = record_tape(batch.column("key"), batch.column("value"))
    names, ids = name_array(records.names), id_texts(records.ids)
    rank = ranks_of(names)
    are_again, are_others = _again(batch, group)
    is_odd = (records.kind == OTHER) & ~are_again
    records.kind[are_again] = OTHER  # it shows no partitions at its own time
    people, parts = participants_of(records, rank), parts_of(records, ranks_of(ids))
    is_odd |= are_others | _is_damage(records) | ~people.is_sound | ~parts.is_sound
    count = int(group[-1]) + 1
    are_classic = _any(group, np.isin(records.kind, (GENERATION, DELETED)), count)
    is_new = np.abs(records.kind) >= EPOCH
    are_new = _any(group, is_new, count)
    without = np.array(
        pc.fill_null(pc.equal(batch.column("record"), WITHOUT_TOMBSTONES), False)
    )
    is_odd |= is_new & without
    if set(ids.to_pylist()) & set(names.to_pylist()):
        is_odd |= is_new  # a topic has the text of an id as its name
    is_left = _any(group, is_odd, count) | (are_classic & are_new)
    starts = np.searchsorted(group, np.arange(count + 1))
    can_be_left = bool((is_left | are_new).any()) or not is_record.all()
    rest, places = table if can_be_left else None, batch.select(PLACED)
    size = table.nbytes
    del table, rows, batch  # keys and values take most of the memory
    _release(size)
    for are_of, is_consumer in ((~are_new, False), (are_new, True)):
        kept = np.flatnonzero(are_of & ~is_left)
        read = read_groups(places, records, names, rank, starts[kept], starts[kept + 1])
        if is_consumer:
            for found in consumer_rows(read, parts, ids, stream):
                if isinstance(found, int):
                    is_left[kept[found]] = True
                else:
                    yield found
        elif len(kept):
            yield from classic_rows(read, people, stream)
    stream.note_repeated(int(np.count_nonzero(are_again & ~is_left[group])))
    left = ~is_record
    left[is_record] = is_left[group]
    if rest is not None and left.any():
        yield from _one_by_one(rest.filter(pa.array(left)), stream)


def _any(group: Int64, are: Bools, count: int) -> Bools:
    """Return of which groups any record is so."""
    found = np.zeros(count, np.bool_)
    found[group[are]] = True
    return found


def _again(batch: pa.RecordBatch, group: Int64) -> tuple[Bools, Bools]:
    """Return which records repeat the one before, and which contradict it."""
    offset = batch.column("source_offset")
    is_second = np.zeros(len(batch), np.bool_)
    is_second[1:] = (group[1:] == group[:-1]) & ~_differ(offset[1:], offset[:-1])
    is_other = np.zeros(len(batch), np.bool_)
    rows = np.flatnonzero(is_second)
    for name in ("key", "value"):
        column = batch.column(name)
        is_other[rows] |= _differ(
            column.take(pa.array(rows)), column.take(pa.array(rows - 1))
        )
    return is_second & ~is_other, is_other


def _is_damage(records: RecordTape) -> Bools:
    """Return which records have a partition that no topic can have, or epoch < 0."""
    found = np.zeros(len(records.kind), np.bool_)
    rows = np.flatnonzero(np.isin(records.kind, (COMMITTED, FORGOTTEN)))
    partition = records.tape[records.at[rows] + PARTITION]
    found[rows] = (partition < 0) | (partition >= MOST_PARTITIONS)
    rows = np.flatnonzero(np.isin(records.kind, (EPOCH, TARGET_EPOCH)))
    found[rows] = records.tape[records.at[rows] + EPOCH_NUMBER] < 0
    return found


def _differ(column: pa.Array, other: pa.Array) -> Bools:
    """Return where two columns have other values; two nulls are equal."""
    same = pc.fill_null(pc.equal(column, other), False)
    if column.null_count:
        same = pc.or_(same, pc.and_(column.is_null(), other.is_null()))
    return ~np.asarray(same)


def _one_by_one(table: pa.Table, stream: RecordStream) -> Iterator[Row]:
    """Pass sorted rows to a stream; yield the cases that are then complete."""
    for batch in table.to_batches(ROWS_PER_BATCH):
        for row in batch.to_pylist():
            yield from stream.take(row)
