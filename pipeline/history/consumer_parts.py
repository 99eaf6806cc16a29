"""Assignments in records of the new protocol: targets, and members' partitions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.key_lists import NUMBER_BITS, NUMBER_MASK
from pipeline.records.record_tape import RecordTape
from pipeline.records.tape_layout import (
    CURRENT,
    CURRENT_PARTITIONS,
    START,
    TARGET,
    TARGET_PARTITIONS,
)
from pipeline.sightings import MOST_PARTITIONS
from rebalance import Bools, Int64, borrowing_kernel, kernel


class Parts(NamedTuple):
    """Partitions per record, n of them: ``key[at[i] : at[i + 1]]``, ascending.

    Attributes
    ----------
    at : int64 (n+1,)
    key : int64
        Rank of the topic's id, shifted by 32 bits, and number of the partition.
    slot : int64
        The same, numbered in each group in that order (`numbered`).
    is_sound : bool (n,)
        False: the partitions cannot be those of an assignment.
    is_settled : bool (n,)
        Whether no partition is left to be revoked.
    """

    at: Int64
    key: Int64
    slot: Int64
    is_sound: Bools
    is_settled: Bools


def parts_of(records: RecordTape, id_rank: Int64) -> Parts:
    """Return the partitions of all records; ``slot`` is not set."""
    return _parts(records.kind, records.at, records.tape, records.used, id_rank)


def numbered(parts: Parts, group: Int64) -> Parts:
    """Return the same with `Parts.slot`.

    Parameters
    ----------
    group : int64 (n,)
        Of each record.
    """
    of = np.repeat(group, np.diff(parts.at))
    order = np.lexsort((parts.key, of))
    of, key = of[order], parts.key[order]
    is_new = np.ones(of.size, np.bool_)
    is_new[1:] = (of[1:] != of[:-1]) | (key[1:] != key[:-1])
    slot = np.empty(of.size, np.int64)
    slot[order] = np.cumsum(is_new) - 1
    return parts._replace(slot=slot)


@kernel
def _parts(kind: Int64, at: Int64, tape: Int64, used: int, id_rank: Int64) -> Parts:
    first = np.zeros(kind.size + 1, np.int64)
    key = np.empty(used, np.int64)
    is_sound = np.ones(kind.size, np.bool_)
    is_settled = np.ones(kind.size, np.bool_)
    put = START
    for row in range(kind.size):
        first[row] = put
        if kind[row] == TARGET:
            put, _ = _put(tape, at[row] + TARGET_PARTITIONS, id_rank, key, put)
        elif kind[row] == CURRENT:
            put, place = _put(tape, at[row] + CURRENT_PARTITIONS, id_rank, key, put)
            after, _ = _put(tape, place, id_rank, key, put)
            is_settled[row] = after == put
            put = after
        if put > first[row] + 1:
            key[first[row] : put].sort()
        for place in range(first[row], put):
            is_twice = place > first[row] and key[place - 1] == key[place]
            if is_twice or key[place] & NUMBER_MASK >= MOST_PARTITIONS:  # or negative
                is_sound[row] = False
    first[kind.size] = put
    return Parts(first, key[:put], np.empty(0, np.int64), is_sound, is_settled)


@borrowing_kernel
def _put(tape: Int64, at: int, id_rank: Int64, key: Int64, put: int) -> tuple[int, int]:
    """Put listed partitions; return where keys and list end."""
    topics = tape[at]
    at += 1
    for _ in range(topics):
        topic, count = id_rank[tape[at]] << NUMBER_BITS, tape[at + 1]
        at += 2
        for place in range(at, at + count):
            key[put] = topic | (tape[place] & NUMBER_MASK)
            put += 1
        at += count
    return put, at


@borrowing_kernel
def are_equal(parts: Parts, row: int, other: int) -> bool:
    """Return whether two records have the same partitions; -1 has none."""
    begin, end = parts.at[max(row, 0)], parts.at[max(row, 0) + (row >= 0)]
    start, stop = parts.at[max(other, 0)], parts.at[max(other, 0) + (other >= 0)]
    if end - begin != stop - start:
        return False
    for place in range(end - begin):
        if parts.key[begin + place] != parts.key[start + place]:
            return False
    return True
