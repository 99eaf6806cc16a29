"""Partition counts that the records of whole groups show, compiled.

`pipeline.sightings` does the same record by record, and states the evidence for a
count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.commit_walk import Slots
from pipeline.history.key_lists import NUMBER_BITS, NUMBER_MASK, Keys
from pipeline.history.walked_records import UNKNOWN, Groups
from pipeline.records.tape_layout import COMMITTED, FORGOTTEN, START
from rebalance import ABSENT, Bools, Int64, borrowing_kernel


class ShownCounts(NamedTuple):
    """Counts that were shown, E of them.

    Attributes
    ----------
    subject : int64 (E,)
        Twice the rank of a topic; one more for committed offsets.
    since, until : int64 (E,)
        Milliseconds; ``until`` can be `UNKNOWN`.
    partitions : int64 (E,)
    before : int64 (E,)
        The one before of the same topic in the same group; `ABSENT`: none.
    """

    subject: Int64
    since: Int64
    until: Int64
    partitions: Int64
    before: Int64


class Undated(NamedTuple):
    """Per case, topics with a larger count than is known for its time: ``topic[at…]``.

    Either the records have no times, or their times have gone back.
    """

    at: Int64
    topic: Int64
    partitions: Int64


class _State(NamedTuple):
    """Sightings by the present group so far.

    Attributes
    ----------
    shown : ShownCounts
    used : int64 (1,)
        Of ``shown``.
    group, last, most : int64
        By subject: the group that this is of, the last of ``shown``, the largest count.
    is_shown : bool (K,)
        Of the partitions with commits.
    """

    shown: ShownCounts
    used: Int64
    group: Int64
    last: Int64
    most: Int64
    is_shown: Bools


def walk_shown(
    groups: Groups, slots: Slots, assigned: Keys, names: int, row: Int64, topics: Keys
) -> tuple[ShownCounts, Undated]:
    """Return the counts that groups show, and those without a time at their cases.

    Parameters
    ----------
    assigned : Keys
        The largest partition of each topic per record.
    names
        Number of ranks.
    row : int64 (C,)
        Records of the cases, ascending.
    topics : Keys
        Of each case.
    """
    size = groups.kind.size + assigned.key.size
    shown = ShownCounts(*(np.full(size, UNKNOWN, np.int64) for _ in range(5)))
    state = _State(
        shown,
        np.zeros(1, np.int64),
        np.full(2 * names, ABSENT, np.int64),
        np.full(2 * names, ABSENT, np.int64),
        np.zeros(2 * names, np.int64),
        np.zeros(slots.key.size, np.bool_),
    )
    undated = Undated(
        np.zeros(row.size + 1, np.int64),
        np.empty(topics.key.size, np.int64),
        np.empty(topics.key.size, np.int64),
    )
    _walk(groups, slots, assigned, row, topics, state, undated)
    return ShownCounts(*(column[: state.used[0]] for column in shown)), undated


@borrowing_kernel
def _walk(
    groups: Groups,
    slots: Slots,
    assigned: Keys,
    row: Int64,
    topics: Keys,
    state: _State,
    undated: Undated,
) -> None:
    case = START
    for group in range(groups.begin.size):
        latest = UNKNOWN
        for record in range(groups.begin[group], groups.end[group]):
            time = groups.time[record]
            if time != UNKNOWN and not groups.went_back[record]:
                latest = time
            if groups.kind[record] == FORGOTTEN:
                _forget(
                    state, slots, group, record, latest if time == UNKNOWN else time
                )
            since = latest if time != UNKNOWN else UNKNOWN
            if groups.kind[record] == COMMITTED:
                _show_commit(state, slots, group, record, since)
            if case < row.size and row[case] == record:
                _take_undated(state, undated, topics, case, group, time)
                case += 1
            for place in range(assigned.at[record], assigned.at[record + 1]):
                key = assigned.key[place]
                subject, count = (key >> NUMBER_BITS) * 2, (key & NUMBER_MASK) + 1
                _show(state, group, subject, count, since)


@borrowing_kernel
def _show_commit(
    state: _State, slots: Slots, group: int, record: int, since: int
) -> None:
    slot = slots.of_row[record]
    if not state.is_shown[slot]:
        state.is_shown[slot] = True
        key = slots.key[slot]
        subject = (key >> NUMBER_BITS) * 2 + 1
        _show(state, group, subject, (key & NUMBER_MASK) + 1, since)


@borrowing_kernel
def _show(state: _State, group: int, subject: int, count: int, since: int) -> None:
    """Add a count, as ``_Shown.add`` of `pipeline.sightings` does."""
    shown = state.shown
    if state.group[subject] != group:
        state.group[subject], state.last[subject] = group, ABSENT
        state.most[subject] = 0
    state.most[subject] = max(state.most[subject], count)
    last = state.last[subject]
    if since == UNKNOWN or (last >= 0 and shown.partitions[last] >= count):
        return
    if last >= 0 and shown.since[last] == since:
        shown.partitions[last] = count
        return
    place = state.used[0]
    state.used[0] = place + 1
    state.last[subject] = place
    shown.subject[place], shown.since[place] = subject, since
    shown.partitions[place], shown.before[place] = count, last


@borrowing_kernel
def _forget(state: _State, slots: Slots, group: int, record: int, until: int) -> None:
    """End the sightings of the topic of a commit that is deleted."""
    topic = slots.key[slots.of_row[record]] >> NUMBER_BITS
    for subject in range(2 * topic, 2 * topic + 2):
        if state.group[subject] == group:
            place = state.last[subject]
            while place >= 0:
                state.shown.until[place] = until
                place = state.shown.before[place]
            state.last[subject], state.most[subject] = ABSENT, 0
    for place in range(slots.at[group], slots.at[group + 1]):
        if slots.key[place] >> NUMBER_BITS == topic:
            state.is_shown[place] = False


@borrowing_kernel
def _take_undated(
    state: _State, undated: Undated, topics: Keys, case: int, group: int, time: int
) -> None:
    put = undated.at[case]
    for place in range(topics.at[case], topics.at[case + 1]):
        topic = topics.key[place] >> NUMBER_BITS
        count = _undated(state, group, topic, time)
        if count:
            undated.topic[put], undated.partitions[put] = topic, count
            put += 1
    undated.at[case + 1] = put


@borrowing_kernel
def _undated(state: _State, group: int, topic: int, time: int) -> int:
    """Return the largest count if it is not known for a time, else 0."""
    most = dated = 0
    for subject in range(2 * topic, 2 * topic + 2):
        if state.group[subject] != group:
            continue
        most = max(most, state.most[subject])
        place = state.last[subject] if time != UNKNOWN else ABSENT
        while place >= 0 and state.shown.since[place] > time:
            place = state.shown.before[place]
        if place >= 0:
            dated = max(dated, state.shown.partitions[place])
    return most if most > dated else 0
