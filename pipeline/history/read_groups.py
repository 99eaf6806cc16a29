"""Records of whole groups that were read together, for the walks of both protocols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.history.case_lists import sorted_names
from pipeline.history.commit_walk import (
    CaseCommits,
    Slots,
    commits_at,
    no_offsets,
    slots_of,
)
from pipeline.history.key_lists import Keys
from pipeline.history.missing import Missing
from pipeline.history.shown_walk import ShownCounts
from pipeline.history.stream import missing_row
from pipeline.history.walked_records import UNKNOWN, Groups, which_went_back
from pipeline.records.place import Place
from pipeline.records.record_tape import RecordTape
from pipeline.records.tape_layout import COMMITTED, TOPIC, TOPIC_ID
from pipeline.rows import Row
from pipeline.sightings import Sighting
from rebalance import ABSENT, Int64

NUMBERS_TOGETHER: Final = 1 << 16
"""Partitions and members of the cases that are written at once, about."""
PLACED: Final = ("group_id", "source", "source_partition", "source_offset", "at")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadGroups:
    """G groups of one protocol, among N records.

    Attributes
    ----------
    rows : pa.RecordBatch
        Where the records are: columns `PLACED`.
    records : RecordTape
    names, ranked : pa.StringArray
        By number, and in sorted order.
    rank : int64
        Of each name, in that order.
    groups : Groups
    number : int64 (N,)
        Group of each record; `ABSENT`: it is in none of them.
    """

    rows: pa.RecordBatch
    records: RecordTape
    names: pa.StringArray
    ranked: pa.StringArray
    rank: Int64
    groups: Groups
    number: Int64

    def only(self, kept: Int64) -> ReadGroups:
        """Return some of the groups."""
        begin, end = self.groups.begin[kept], self.groups.end[kept]
        return read_groups(self.rows, self.records, self.names, self.rank, begin, end)

    def slots(self) -> Slots:
        """Return the partitions of which the groups have committed offsets."""
        return slots_of(self.groups, self.rank, self.number)

    def commits(
        self, slots: Slots, row: Int64, topics: Keys, sizes: Int64
    ) -> Iterator[tuple[int, int, CaseCommits]]:
        """Yield the committed offsets of cases, many at a time, with their range.

        Parameters
        ----------
        row : int64 (C,)
            Records of the cases, ascending.
        topics : Keys
            Of each case.
        sizes : int64 (C,)
            Members and assigned partitions of each.
        """
        now, group = no_offsets(slots), self.number[row]
        ends = np.cumsum(sizes + np.diff(slots.at)[group])
        begin = 0
        while begin < len(row):
            before = ends[begin - 1] if begin else 0
            full = int(np.searchsorted(ends, before + NUMBERS_TOGETHER, "right"))
            end = max(full, begin + 1)
            wanted = Keys(topics.at[begin : end + 1], topics.key)
            part = slice(begin, end)
            found = commits_at(self.groups, slots, now, row[part], group[part], wanted)
            yield begin, end, found
            begin = end

    def topic_ids(self) -> Iterator[tuple[str, bytes]]:
        """Yield the names and ids of topics in offset commits, each pair once."""
        records, tape = self.records, self.records.tape
        rows = np.flatnonzero((records.kind == COMMITTED) & (self.number != ABSENT))
        name, topic_id = (tape[records.at[rows] + of] for of in (TOPIC, TOPIC_ID))
        count = max(int(records.ids.used[0]), 1)
        pairs = np.unique((name * count + topic_id)[topic_id != ABSENT])
        begins, text = records.ids.at, records.ids.text
        for pair in pairs.tolist():
            topic, number = self.names[pair // count].as_py(), pair % count
            yield topic, text[begins[number] : begins[number + 1]].tobytes()

    def missing(self, found: Int64, reasons: Iterable[str], what: str) -> Iterator[Row]:
        """Yield rows of quarantine for numbers that are not judged.

        Parameters
        ----------
        found : int64 (…, 3 or more)
            The record after them, the first, and the last.
        """
        rows = self.rows.take(pa.array(found[:, 0])).to_pylist()
        for row, numbers, reason in zip(rows, found.tolist(), reasons, strict=True):
            place = Place(
                source=row["source"],
                partition=row["source_partition"],
                offset=row["source_offset"],
                at=row["at"],
            )
            _, first, last, *_ = numbers
            missing = Missing(
                first=first, last=last, reason=reason, place=place, record=what
            )
            yield missing_row(missing, row["group_id"])


def read_groups(
    rows: pa.RecordBatch,
    records: RecordTape,
    names: pa.StringArray,
    rank: Int64,
    begin: Int64,
    end: Int64,
) -> ReadGroups:
    """Return groups by the ranges of their records."""
    time = pc.fill_null(rows["at"], UNKNOWN).to_numpy(zero_copy_only=False).copy()
    number = np.full(len(rows), ABSENT, np.int64)
    sizes = end - begin
    places = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
    number[places + np.arange(sizes.sum())] = np.repeat(np.arange(len(begin)), sizes)
    return ReadGroups(
        rows=rows,
        records=records,
        names=names,
        ranked=sorted_names(names),
        rank=rank,
        groups=Groups(
            begin,
            end,
            records.kind,
            records.at,
            records.tape,
            time,
            which_went_back(begin, end, time),
        ),
        number=number,
    )


def sightings(shown: ShownCounts, topics: list[str]) -> Iterator[tuple[str, Sighting]]:
    """Yield counts that were shown for some time; ``topics`` are by rank."""
    columns = (shown.subject, shown.since, shown.partitions, shown.until)
    for subject, since, count, until in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        known = None if until == UNKNOWN else until
        if known is None or since < known:
            yield topics[subject >> 1], Sighting(since, count, bool(subject & 1), known)
