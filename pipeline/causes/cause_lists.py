"""Causes as the lists of the table's column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.causes.coded_rows import NumberedNames
from pipeline.causes.kinds import KINDS, MOST_NAMES
from pipeline.tables.shared_columns import CAUSES
from rebalance import Bools, Int64

_TEXTS = pa.list_(pa.string())


class CauseLists:
    """Entries of N rebalances: a row, a kind, a count, and names."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._entries: list[tuple[Int64, int, Int64]] = []
        self._members: list[tuple[Int64, int, Int64]] = []
        self._topics: list[tuple[Int64, int, Int64]] = []

    def add(self, kind: str, row: Int64, count: Int64 | int = 1) -> None:
        """Add an entry to each of some rows."""
        counts = np.broadcast_to(np.asarray(count, np.int64), row.shape)
        self._entries.append((row, KINDS.index(kind), counts))

    def add_members(self, kind: str, row: Int64, member: Int64) -> None:
        """Add an entry to the rows of some members, which it counts and names."""
        self._add_counted(kind, row)
        self.name_members(kind, row, member)

    def name_members(self, kind: str, row: Int64, member: Int64) -> None:
        """Name members in entries that are added otherwise."""
        self._members.append((row, KINDS.index(kind), member))

    def add_topics(self, kind: str, row: Int64, topic: Int64) -> None:
        """Add an entry to the rows of some topics, which it counts and names."""
        self._add_counted(kind, row)
        self.name_topics(kind, row, topic)

    def name_topics(self, kind: str, row: Int64, topic: Int64) -> None:
        """Name topics in entries that are added otherwise."""
        self._topics.append((row, KINDS.index(kind), topic))

    def has_any(self) -> Bools:
        """Return which rows have an entry."""
        found = np.zeros(self._rows, np.bool_)
        for row, _, _ in self._entries:
            found[row] = True
        return found

    def lists(self, members: NumberedNames, topics: NumberedNames) -> pa.ListArray:
        """Return the list of each row, in the order of `KINDS`."""
        row, kind, count = _joined(self._entries)
        key = row * len(KINDS) + kind
        order = np.argsort(key, kind="stable")
        key = key[order]
        entries = pa.StructArray.from_arrays(
            [
                pa.array(KINDS).take(pa.array(kind[order])),
                pa.array(count[order]),
                _named(self._members, key, members),
                _named(self._topics, key, topics),
            ],
            fields=[*CAUSES.type.value_type],
        )
        sizes = np.bincount(row, minlength=self._rows)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), entries, type=CAUSES.type)

    def _add_counted(self, kind: str, row: Int64) -> None:
        found, count = np.unique(row, return_counts=True)
        self.add(kind, found, count)


def _joined(parts: list[tuple[Int64, int, Int64]]) -> tuple[Int64, Int64, Int64]:
    rows = [row for row, _, _ in parts]
    kinds = [np.full(len(row), kind, np.int64) for row, kind, _ in parts]
    values = [value for _, _, value in parts]
    none = np.empty(0, np.int64)
    row, kind, value = (np.concatenate([none, *of]) for of in (rows, kinds, values))
    return row, kind, value


def _named(
    parts: list[tuple[Int64, int, Int64]], keys: Int64, names: NumberedNames
) -> pa.ListArray:
    """Return the first names of each entry; ``keys`` ascend."""
    row, kind, number = _joined(parts)
    entry = np.searchsorted(keys, row * len(KINDS) + kind)
    order = np.lexsort((names.ranks(number), entry))
    entry, number = entry[order], number[order]
    begin = np.searchsorted(entry, np.arange(len(keys)))
    is_kept = np.arange(len(entry)) - begin[entry] < MOST_NAMES
    entry, number = entry[is_kept], number[is_kept]
    offsets = np.searchsorted(entry, np.arange(len(keys) + 1)).astype(np.int32)
    listed = pa.array(names.names_of(number), pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets), listed, type=_TEXTS)
