"""Partition counts that the records of whole groups show, compiled.

`pipeline.sightings` does the same record by record, and says what shows a count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.commit_walk import Slots
from pipeline.history.generation_walk import UNKNOWN, Groups
from pipeline.history.participants import NUMBER_BITS, NUMBER_MASK, Keys
from pipeline.records.tape_layout import COMMITTED, FORGOTTEN
from rebalance import ABSENT, Int64, kernel


class Assigned(NamedTuple):
    """The largest partition of each topic per record: ``subject[at[i] : at[i + 1]]``.

    ``at`` is int64 (n+1,); ``count`` is one more than the number.
    """

    at: Int64
    subject: Int64
    count: Int64


class Shown(NamedTuple):
    """Counts that were shown, E of them.

    Attributes
    ----------
    subject : int64 (E,)
        Twice the rank of a topic; one more for committed offsets.
    since, until : int64 (E,)
        Milliseconds; ``until`` can be `UNKNOWN`.
    count : int64 (E,)
    before : int64 (E,)
        The one before of the same topic in the same group; `ABSENT`: none.
    """

    subject: Int64
    since: Int64
    until: Int64
    count: Int64
    before: Int64


class Undated(NamedTuple):
    """Per case, topics with a larger count than is known for its time: ``topic[at…]``.

    Either the records have no times, or their times have gone back.
    """

    at: Int64
    topic: Int64
    count: Int64


class _State(NamedTuple):
    """By subject: the group that it is of, the last of `Shown`, the largest count.

    ``used`` is int64 (1,): the number of `Shown` so far.
    """

    group: Int64
    last: Int64
    most: Int64
    used: Int64


@kernel
def walk_shown(
    groups: Groups,
    slots: Slots,
    assigned: Assigned,
    names: int,
    row: Int64,
    topics: Keys,
) -> tuple[Shown, Undated]:
    """Return the counts that groups show, and those without a time at their cases.

    Parameters
    ----------
    names
        Number of ranks.
    row : int64 (C,)
        Records of the cases, ascending.
    topics : Keys
        Of each case.
    """
    size = groups.kind.size + assigned.subject.size
    shown = Shown(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.full(size, UNKNOWN, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    state = _State(
        np.full(2 * names, ABSENT, np.int64),
        np.full(2 * names, ABSENT, np.int64),
        np.zeros(2 * names, np.int64),
        np.zeros(1, np.int64),
    )
    undated = Undated(
        np.zeros(row.size + 1, np.int64),
        np.empty(topics.key.size, np.int64),
        np.empty(topics.key.size, np.int64),
    )
    is_shown = np.zeros(slots.key.size, np.bool_)
    case = put = 0
    for group in range(groups.begin.size):
        latest = np.int64(UNKNOWN)
        for record in range(groups.begin[group], groups.end[group]):
            time = groups.time[record]
            if time != UNKNOWN and not groups.went_back[record]:
                latest = time
            since = latest if time != UNKNOWN else np.int64(UNKNOWN)
            slot = slots.of_row[record]
            if groups.kind[record] == COMMITTED:
                if not is_shown[slot]:
                    is_shown[slot] = True
                    key = slots.key[slot]
                    subject, count = key >> NUMBER_BITS << 1 | 1, key & NUMBER_MASK
                    _show(shown, state, group, subject, count + 1, since)
            elif groups.kind[record] == FORGOTTEN:
                until = latest if time == UNKNOWN else time
                of = slots.key[slot] >> NUMBER_BITS
                _forget(shown, state, group, 2 * of, until)
                _forget(shown, state, group, 2 * of + 1, until)
                for place in range(slots.at[group], slots.at[group + 1]):
                    if slots.key[place] >> NUMBER_BITS == of:
                        is_shown[place] = False
            if case < row.size and row[case] == record:
                for place in range(topics.at[case], topics.at[case + 1]):
                    of = topics.key[place] >> NUMBER_BITS
                    count = _undated(shown, state, group, of, time)
                    if count:
                        undated.topic[put], undated.count[put] = of, count
                        put += 1
                case += 1
                undated.at[case] = put
            for place in range(assigned.at[record], assigned.at[record + 1]):
                subject, count = assigned.subject[place], assigned.count[place]
                _show(shown, state, group, subject, count, since)
    used = state.used[0]
    return (
        Shown(
            shown.subject[:used].copy(),
            shown.since[:used].copy(),
            shown.until[:used].copy(),
            shown.count[:used].copy(),
            shown.before[:used].copy(),
        ),
        Undated(undated.at, undated.topic[:put].copy(), undated.count[:put].copy()),
    )


@kernel
def _show(
    shown: Shown, state: _State, group: int, subject: int, count: int, since: int
) -> None:
    """Add a count, as ``_Shown.add`` of `pipeline.sightings` does."""
    if state.group[subject] != group:
        state.group[subject], state.last[subject] = group, ABSENT
        state.most[subject] = 0
    state.most[subject] = max(state.most[subject], count)
    last = state.last[subject]
    if since == UNKNOWN or (last >= 0 and shown.count[last] >= count):
        return
    if last >= 0 and shown.since[last] == since:
        shown.count[last] = count
        return
    place = state.used[0]
    state.used[0] = place + 1
    state.last[subject] = place
    shown.subject[place], shown.since[place] = subject, since
    shown.count[place], shown.before[place] = count, last


@kernel
def _forget(shown: Shown, state: _State, group: int, subject: int, until: int) -> None:
    if state.group[subject] != group:
        return
    place = state.last[subject]
    while place >= 0:
        shown.until[place] = until
        place = shown.before[place]
    state.last[subject] = ABSENT
    state.most[subject] = 0


@kernel
def _undated(shown: Shown, state: _State, group: int, topic: int, time: int) -> int:
    """Return the largest count if it is not known for a time, else 0."""
    most = dated = 0
    for subject in range(2 * topic, 2 * topic + 2):
        if state.group[subject] != group:
            continue
        most = max(most, state.most[subject])
        place = state.last[subject] if time != UNKNOWN else np.int64(ABSENT)
        while place >= 0 and shown.since[place] > time:
            place = shown.before[place]
        if place >= 0:
            dated = max(dated, shown.count[place])
    return most if most > dated else 0


@kernel
def assigned_topics(at: Int64, keys: Keys) -> Assigned:
    """Return the largest partition of each topic per record.

    Parameters
    ----------
    at : int64 (n+1,)
        First row of ``keys`` of each of n records.
    """
    size = keys.key.size
    found = Assigned(
        np.zeros(at.size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    )
    put = 0
    for record in range(at.size - 1):
        listed = keys.key[keys.at[at[record]] : keys.at[at[record + 1]]].copy()
        listed.sort()
        for place in range(listed.size):
            topic = listed[place] >> NUMBER_BITS
            if place + 1 == listed.size or listed[place + 1] >> NUMBER_BITS != topic:
                found.subject[put] = 2 * topic
                found.count[put] = (listed[place] & NUMBER_MASK) + 1
                put += 1
        found.at[record + 1] = put
    return found
