"""Committed offsets of whole groups at their rebalances, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.key_lists import NUMBER_BITS, NUMBER_MASK, Keys
from pipeline.history.walked_records import Groups
from pipeline.records.tape_layout import (
    COMMITTED,
    FORGOTTEN,
    OFFSET,
    PARTITION,
    TOPIC,
)
from rebalance import ABSENT, Bools, Int64, kernel


class Slots(NamedTuple):
    """The K partitions of which groups have committed offsets.

    Attributes
    ----------
    of_row : int64 (n,)
        Of each record, its partition among the K; `ABSENT`: it commits nothing.
    at : int64 (G+1,)
        First partition of each group.
    key : int64 (K,)
        As `pipeline.history.participants.Keys`, ascending in each group.
    """

    of_row: Int64
    at: Int64
    key: Int64


class CaseCommits(NamedTuple):
    """Offsets per case: ``slot[at[i] : at[i + 1]]``, and the same of ``offset``."""

    at: Int64
    slot: Int64
    offset: Int64


class Offsets(NamedTuple):
    """Committed offsets at a record.

    Attributes
    ----------
    is_there : bool (K,)
    offset : int64 (K,)
    row : int64 (1,)
        The next record.
    """

    is_there: Bools
    offset: Int64
    row: Int64


def slots_of(groups: Groups, rank: Int64, number: Int64) -> Slots:
    """Return the partitions of commits, numbered.

    Parameters
    ----------
    number : int64 (n,)
        Group of each record; `ABSENT`: it is in none.
    """
    kind, at, tape = groups.kind, groups.at, groups.tape
    is_commit = (kind == COMMITTED) | (kind == FORGOTTEN)
    rows = np.flatnonzero(is_commit & (number != ABSENT))
    partition = tape[at[rows] + PARTITION] & NUMBER_MASK
    key = rank[tape[at[rows] + TOPIC]] << NUMBER_BITS | partition
    order = np.lexsort((key, number[rows]))
    of, key = number[rows][order], key[order]
    is_new = np.ones(rows.size, np.bool_)
    is_new[1:] = (of[1:] != of[:-1]) | (key[1:] != key[:-1])
    of_row = np.full(kind.size, ABSENT, np.int64)
    of_row[rows[order]] = np.cumsum(is_new) - 1
    first = np.searchsorted(of[is_new], np.arange(len(groups.begin) + 1))
    return Slots(of_row, first.astype(np.int64), key[is_new])


def no_offsets(slots: Slots) -> Offsets:
    """Return the committed offsets before the first record."""
    count = len(slots.key)
    is_there = np.zeros(count, np.bool_)
    return Offsets(is_there, np.zeros(count, np.int64), np.zeros(1, np.int64))


@kernel
def commits_at(
    groups: Groups, slots: Slots, now: Offsets, row: Int64, group: Int64, topics: Keys
) -> CaseCommits:
    """Return the committed offsets of the topics of C cases, and go on to the last one.

    Parameters
    ----------
    row, group : int64 (C,)
        Record and group of each case; records are ascending, from ``now`` on.
    topics : Keys
        Of each case.
    """
    room = 0
    for case in range(row.size):
        room += slots.at[group[case] + 1] - slots.at[group[case]]
    at = np.zeros(row.size + 1, np.int64)
    slot, offset = np.empty(room, np.int64), np.empty(room, np.int64)
    put = 0
    for case in range(row.size):
        for record in range(max(now.row[0], groups.begin[group[case]]), row[case]):
            place = slots.of_row[record]
            if groups.kind[record] == COMMITTED:
                now.is_there[place] = True
                now.offset[place] = groups.tape[groups.at[record] + OFFSET]
            elif groups.kind[record] == FORGOTTEN:
                now.is_there[place] = False
        now.row[0] = row[case]
        first, last = slots.at[group[case]], slots.at[group[case] + 1]
        keys = slots.key[first:last]
        for wanted in topics.key[topics.at[case] : topics.at[case + 1]]:
            place = np.searchsorted(keys, wanted)
            while place < keys.size and keys[place] & ~NUMBER_MASK == wanted:
                if now.is_there[first + place]:
                    slot[put], offset[put] = first + place, now.offset[first + place]
                    put += 1
                place += 1
        at[case + 1] = put
    return CaseCommits(at, slot[:put].copy(), offset[:put].copy())
