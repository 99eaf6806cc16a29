"""Last commit of each member of classic groups while a state lasts, by columns.

A member commits the partitions that it is assigned, so a commit is a sign of life. In
the new protocol, the former owner of a partition can still commit it.
`pipeline.history.lasting` does the same record by record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.commit_walk import Slots
from pipeline.history.key_lists import Keys
from pipeline.history.lasted_columns import StateEnds
from pipeline.history.read_groups import ReadGroups
from pipeline.history.walked_records import UNKNOWN
from pipeline.records.tape_layout import COMMITTED
from rebalance import ABSENT, Int64


class StateCommits(NamedTuple):
    """Commits while states last, by case, then by key: the last time of each pair.

    Attributes
    ----------
    case, key, time : int64 (n,)
        ``key`` is as in `pipeline.history.participants.Keys`; ``time`` in milliseconds,
        or `UNKNOWN`, which is the earliest.
    """

    case: Int64
    key: Int64
    time: Int64


def commits_of_states(
    read: ReadGroups, row: Int64, slots: Slots, ends: StateEnds
) -> StateCommits:
    """Return the commits between the records of cases and those that end their states.

    A state that is open has none.

    Parameters
    ----------
    row : int64 (C,)
        Records of the cases, ascending.
    """
    time = read.groups.time
    is_commit = (read.groups.kind == COMMITTED) & (slots.of_row != ABSENT)
    commit = np.flatnonzero(is_commit)
    case = np.searchsorted(row, commit) - 1
    commit, case = commit[case >= 0], case[case >= 0]
    place = np.searchsorted(ends.row, row, "right")
    end = np.append(ends.row, 0)[place]
    # An open state has no end in its group: its commits go on.
    end[(place == len(ends.row)) | (read.number[end] != read.number[row])] = 0
    is_during = commit < end[case]
    commit, case = commit[is_during], case[is_during]
    key = slots.key[slots.of_row[commit]]
    order = np.lexsort((time[commit], key, case))
    case, key, commit = case[order], key[order], commit[order]
    is_last = np.ones(len(case), np.bool_)
    is_last[:-1] = (case[1:] != case[:-1]) | (key[1:] != key[:-1])
    return StateCommits(case[is_last], key[is_last], time[commit[is_last]])


def last_commits(commits: StateCommits, begin: int, at: Int64, held: Keys) -> Int64:
    """Return the last commit of each member of some cases; `UNKNOWN`: none.

    Parameters
    ----------
    begin : int
        The first of the cases.
    at : int64 (C+1,)
        First member of each.
    held : Keys
        Partitions of the M members.
    """
    members, cases = len(held.at) - 1, len(at) - 1
    found = np.full(members, UNKNOWN, np.int64)
    first, last = np.searchsorted(commits.case, (begin, begin + cases))
    keys, place = np.unique(commits.key[first:last], return_inverse=True)
    if not len(keys):
        return found
    committed = (commits.case[first:last] - begin) * len(keys) + place
    member = np.repeat(np.arange(members), np.diff(held.at))
    key = held.key[: len(member)]
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    is_there = keys[place] == key
    member, place = member[is_there], place[is_there]
    wanted = np.repeat(np.arange(cases), np.diff(at))[member] * len(keys) + place
    place = np.minimum(np.searchsorted(committed, wanted), len(committed) - 1)
    is_there = committed[place] == wanted
    times = commits.time[first:last][place[is_there]]
    np.maximum.at(found, member[is_there], times)
    return found
