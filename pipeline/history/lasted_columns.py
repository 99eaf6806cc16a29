"""How long the states of whole groups last, by columns.

`pipeline.history.lasting` does the same record by record, and says why.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipeline.cases import EMPTY, NEXT, OPEN
from pipeline.history.case_lists import Columns, reason_of
from pipeline.history.participants import Participants
from pipeline.history.read_groups import ReadGroups
from pipeline.history.walked_records import NO_TIME, UNKNOWN, WENT_BACK, Groups
from pipeline.records.tape_layout import (
    DELETED,
    EPOCH,
    GENERATION,
    MEMBER,
    NUMBER,
    SUBJECT,
    TARGET_EPOCH,
)
from rebalance import Bools, Int64

_ENDS: Final = (NEXT, EMPTY, OPEN)
_IS_OPEN: Final = _ENDS.index(OPEN)


class StateEnds(NamedTuple):
    """Records that end states; ``is_empty``: the group then has no members.

    Attributes
    ----------
    row : int64 (E,)
        Ascending.
    is_empty : bool (E,)
    """

    row: Int64
    is_empty: Bools


def lasted_columns(read: ReadGroups, row: Int64, ends: StateEnds) -> Columns:
    """Return the columns of the time that cases last; ``row`` are their records."""
    groups = read.groups
    place = np.searchsorted(ends.row, row, "right")
    padded = np.append(ends.row, 0)
    is_ended = (place < len(ends.row)) & (
        read.number[padded[place]] == read.number[row]
    )
    end = np.where(is_ended, padded[place], row)
    how = np.where(is_ended, np.append(ends.is_empty, False)[place], _IS_OPEN)
    why = _why_unknown(groups, row)
    why = np.where(why == 0, _why_unknown(groups, end), why)
    until = groups.time[end]
    return {
        "until": pa.array(until, mask=~is_ended | (until == UNKNOWN)),
        "ended": pa.array(_ENDS).take(pa.array(how)),
        "lasted_unknown": reason_of(why),
    }


def ends_of_generations(read: ReadGroups, people: Participants) -> StateEnds:
    """Return the records of classic groups that end states.

    A generation ends the state before, unless it has the number of the record before: a
    static member has returned.
    """
    groups = read.groups
    row = _of_kinds(read, GENERATION, DELETED)
    is_generation = groups.kind[row] == GENERATION
    number = np.where(is_generation, groups.tape[groups.at[row] + NUMBER], 0)
    is_same = np.zeros(len(row), np.bool_)
    is_same[1:] = number[1:] == number[:-1]  # the first of a group ends no state
    is_empty = ~is_generation | (people.first[row] == people.first[row + 1])
    is_end = is_empty | ~is_same
    return StateEnds(row[is_end], is_empty[is_end])


def ends_of_targets(read: ReadGroups) -> StateEnds:
    """Return the records of groups of the new protocol that end states.

    These are the epochs of target assignments, group epochs without members, and the
    tombstones of groups.
    """
    kind = read.groups.kind
    row = _of_kinds(read, EPOCH, -EPOCH, TARGET_EPOCH)
    is_target = kind[row] == TARGET_EPOCH
    is_empty = ~is_target
    epoch = np.flatnonzero(kind[row] == EPOCH)
    is_empty[epoch] = _count_members(read, row[epoch]) == 0
    is_end = is_empty | is_target
    return StateEnds(row[is_end], is_empty[is_end])


def _of_kinds(read: ReadGroups, *kinds: int) -> Int64:
    return np.flatnonzero((read.number >= 0) & np.isin(read.groups.kind, kinds))


def _count_members(read: ReadGroups, row: Int64) -> Int64:
    """Count the members of groups of the new protocol at some records."""
    groups = read.groups
    begins = np.sort(np.append(groups.begin, _of_kinds(read, -EPOCH)))
    record = _of_kinds(read, MEMBER, -MEMBER)
    life = np.searchsorted(begins, record, "right")
    name = groups.tape[groups.at[record] + SUBJECT]
    order = np.lexsort((record, name, life))
    is_there = groups.kind[record[order]] == MEMBER
    is_same = np.zeros(len(record), np.bool_)
    is_same[1:] = (np.diff(life[order]) == 0) & (np.diff(name[order]) == 0)
    was_there = np.zeros(len(record), np.bool_)
    was_there[1:] = is_same[1:] & is_there[:-1]
    change = np.zeros(len(record), np.int64)
    change[order] = is_there.astype(np.int64) - was_there
    count = np.concatenate(([0], np.cumsum(change)))
    began = begins[np.searchsorted(begins, row, "right") - 1]
    members: Int64 = (
        count[np.searchsorted(record, row)] - count[np.searchsorted(record, began)]
    )
    return members


def _why_unknown(groups: Groups, row: Int64) -> Int64:
    """Return why the times of records are not used for durations."""
    why: Int64 = np.where(groups.went_back[row], WENT_BACK, 0)
    why[groups.time[row] == UNKNOWN] = NO_TIME
    return why
