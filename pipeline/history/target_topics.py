"""Topics of members and targets of the new protocol, as arrays, compiled.

Topics are names where members subscribe, and ids in assignments; an id has a rank after
those of all names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.consumer_parts import Parts
from pipeline.history.key_lists import (
    NUMBER_BITS,
    Keys,
    joined,
    largest,
    once,
    ranges,
    united,
)
from pipeline.history.targets import ASSIGNED, BEFORE, BY_REGEX, BY_ROSTER, Targets
from pipeline.records.record_tape import RecordTape
from pipeline.records.tape_layout import (
    MEMBER,
    MEMBER_TOPICS,
    REGEX,
    REGEX_TOPICS,
)
from rebalance import ABSENT, Int64, borrowing_kernel, kernel


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
    both = [
        np.union1d(key[at[row] : at[row + 1]], key[at[regex] : at[regex + 1]])
        for row, regex in pairs.tolist()
    ]
    ends = at[-1] + np.cumsum([*map(len, both)], dtype=np.int64)
    topics = Keys(np.concatenate((at, ends)), np.concatenate((key[: at[-1]], *both)))
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


def wanted_of_targets(targets: Targets, number: Int64, wanted: Subscriptions) -> Keys:
    """Return the topics to which the people of some targets subscribe, each once.

    Parameters
    ----------
    number : int64 (C,)
        Of the targets.
    """
    people = ranges(targets.first, number)
    return united(wanted.topics, wanted.of[people.key], people.at)


def all_of_targets(
    targets: Targets, number: Int64, wanted: Subscriptions, parts: Parts, names: int
) -> Keys:
    """Return the topics of some targets: wanted by name, and in assignments by id.

    Parameters
    ----------
    names
        Number of ranks of names.
    """
    of_id = ((parts.key >> NUMBER_BITS) + names) << NUMBER_BITS
    topics = joined(wanted.topics, Keys(parts.at, of_id))
    people, named = ranges(targets.first, number), len(wanted.topics.at) - 1
    rows = targets.people[people.key][:, (BEFORE, ASSIGNED)]
    rows = np.where(rows == ABSENT, ABSENT, rows + named)
    source = np.column_stack((wanted.of[people.key], rows))
    return united(topics, source.reshape(-1), people.at * source.shape[1])


def assigned_by_targets(
    targets: Targets, parts: Parts, names: int, records: int
) -> Keys:
    """Return the largest partition of each topic of the targets, per record."""
    at = targets.first[np.searchsorted(targets.row, np.arange(records + 1))]
    source = targets.people[:, ASSIGNED].copy()
    found = largest(united(largest(Keys(parts.at, parts.key)), source, at))
    return Keys(found.at, found.key + (names << NUMBER_BITS))
