"""Topics of members and targets of the new protocol, as arrays, compiled.

Topics are names where members subscribe, and ids in assignments; an id has a rank after
those of all names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.consumer_parts import Parts
from pipeline.history.participants import NUMBER_BITS, Keys, once
from pipeline.history.shown_walk import TopicCounts, largest_of, put_largest
from pipeline.history.targets import ASSIGNED, BEFORE, BY_REGEX, BY_ROSTER, Targets
from pipeline.records.record_tape import RecordTape
from pipeline.records.tape_layout import (
    MEMBER,
    MEMBER_TOPICS,
    REGEX,
    REGEX_TOPICS,
    START,
)
from rebalance import Int64, argument, borrowing_kernel, kernel

_BEFORE, _ASSIGNED = argument(BEFORE), argument(ASSIGNED)


class Subscriptions(NamedTuple):
    """Subscriptions of the P people of targets.

    Attributes
    ----------
    topics : Keys
        Of all subscriptions, by rank of name.
    of : int64 (P,)
        The subscription of each.
    """

    topics: Keys
    of: Int64


def subscriptions(records: RecordTape, targets: Targets, rank: Int64) -> Subscriptions:
    """Return the topics that are stated, with those that a regular expression matches.

    Parameters
    ----------
    rank : int64
        Of each name, among all of them in sorted order.
    """
    at, key = _stated(records.kind, records.at, records.tape, rank)
    people = targets.people
    of = people[:, BY_ROSTER].copy()
    with_regex = np.flatnonzero(people[:, BY_REGEX] >= 0)
    pairs, place = np.unique(
        people[with_regex][:, (BY_ROSTER, BY_REGEX)], axis=0, return_inverse=True
    )
    of[with_regex] = len(records.kind) + place.reshape(-1)
    joined = [
        np.union1d(key[at[row] : at[row + 1]], key[at[regex] : at[regex + 1]])
        for row, regex in pairs.tolist()
    ]
    ends = at[-1] + np.cumsum([*map(len, joined)], dtype=np.int64)
    topics = Keys(np.concatenate((at, ends)), np.concatenate((key[: at[-1]], *joined)))
    return Subscriptions(topics, of)


@kernel
def _stated(kind: Int64, at: Int64, tape: Int64, rank: Int64) -> Keys:
    """Return the topics of each record of a member, or of a regular expression."""
    size = 0
    for row in range(kind.size):
        size += tape[_topics_at(kind, at, row)] if kind[row] in (MEMBER, REGEX) else 0
    found = Keys(np.zeros(kind.size + 1, np.int64), np.empty(size, np.int64))
    for row in range(kind.size):
        begin = found.at[row]
        put = begin
        if kind[row] in (MEMBER, REGEX):
            topics = _topics_at(kind, at, row)
            for place in range(topics + 1, topics + 1 + tape[topics]):
                found.key[put] = rank[tape[place]] << NUMBER_BITS
                put += 1
            found.key[begin:put].sort()
        found.at[row + 1] = once(found.key, begin, put)
    return found


@borrowing_kernel
def _topics_at(kind: Int64, at: Int64, row: int) -> int:
    return int(at[row]) + (MEMBER_TOPICS if kind[row] == MEMBER else REGEX_TOPICS)


@kernel
def wanted_of_targets(targets: Targets, number: Int64, wanted: Subscriptions) -> Keys:
    """Return the topics to which the people of some targets subscribe, each once.

    Parameters
    ----------
    number : int64 (C,)
        Of the targets.
    """
    topics = wanted.topics
    size = 0
    for case in number:
        for person in range(targets.first[case], targets.first[case + 1]):
            one = wanted.of[person]
            size += topics.at[one + 1] - topics.at[one]
    found = Keys(np.zeros(number.size + 1, np.int64), np.empty(size, np.int64))
    for place in range(number.size):
        case, begin = number[place], found.at[place]
        put = begin
        for person in range(targets.first[case], targets.first[case + 1]):
            one = wanted.of[person]
            for topic in range(topics.at[one], topics.at[one + 1]):
                found.key[put] = topics.key[topic]
                put += 1
        found.key[begin:put].sort()
        found.at[place + 1] = once(found.key, begin, put)
    return found


@kernel
def all_of_targets(
    targets: Targets, number: Int64, named: Keys, parts: Parts, names: int
) -> Keys:
    """Return the topics of some targets: wanted by name, and in assignments by id.

    Parameters
    ----------
    named : Keys
        What `wanted_of_targets` returns for them.
    names
        Number of ranks of names.
    """
    found_size = named.key.size
    for case in number:
        found_size += _size(targets, parts, case, _BEFORE)
        found_size += _size(targets, parts, case, _ASSIGNED)
    found = Keys(np.zeros(number.size + 1, np.int64), np.empty(found_size, np.int64))
    for place in range(number.size):
        begin = found.at[place]
        listed = named.key[named.at[place] : named.at[place + 1]]
        put = begin + listed.size
        found.key[begin:put] = listed
        for column in (_BEFORE, _ASSIGNED):
            put = _put_topics(
                targets, parts, number[place], column, names, found.key, put
            )
        found.key[begin:put].sort()
        found.at[place + 1] = once(found.key, begin, put)
    return found


@borrowing_kernel
def _size(targets: Targets, parts: Parts, number: int, column: int) -> int:
    """Return how many partitions the people of a target have in a column's records."""
    size = 0
    for person in range(targets.first[number], targets.first[number + 1]):
        row = targets.people[person, column]
        size += parts.at[row + 1] - parts.at[row] if row >= 0 else 0
    return size


@borrowing_kernel
def _put_topics(
    targets: Targets,
    parts: Parts,
    number: int,
    column: int,
    names: int,
    keys: Int64,
    put: int,
) -> int:
    for person in range(targets.first[number], targets.first[number + 1]):
        row = targets.people[person, column]
        if row >= 0:
            for key in parts.key[parts.at[row] : parts.at[row + 1]]:
                keys[put] = ((key >> NUMBER_BITS) + names) << NUMBER_BITS
                put += 1
    return put


@kernel
def assigned_by_targets(
    targets: Targets, parts: Parts, names: int, records: int
) -> TopicCounts:
    """Return the largest partition of each topic of the targets, per record."""
    size = 0
    for number in range(targets.row.size):
        size += _size(targets, parts, number, _ASSIGNED)
    found = TopicCounts(
        np.zeros(records + 1, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    put = record = START
    for number in range(targets.row.size):
        while record <= targets.row[number]:
            found.at[record] = put
            record += 1
        put = _put_largest(targets, parts, names, number, found, put)
    found.at[record:] = put
    return found


@kernel
def _put_largest(
    targets: Targets,
    parts: Parts,
    names: int,
    number: int,
    found: TopicCounts,
    put: int,
) -> int:
    keys = np.empty(_size(targets, parts, number, _ASSIGNED), np.int64)
    size = START
    for person in range(targets.first[number], targets.first[number + 1]):
        row = targets.people[person, ASSIGNED]
        size = largest_of(parts.key, parts.at[row], parts.at[row + 1], keys, size)
    keys[:size].sort()
    return put_largest(keys, size, names, found, put)
