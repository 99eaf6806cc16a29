"""Lower bound on peak lag where counts are balanced within each topic.

Each subscriber of a topic receives the floor or the ceiling of the topic's mean count.
Hence, with the lags of a topic sorted:

1. A member receives at least the smallest lags of each of its topics, as many as the
   floor.
2. A subscriber receives the largest lag of a topic, and with it at least the smallest
   others of that topic up to the floor, and of its other topics as in 1. At best this
   is the subscriber for which that sum is least.
3. Members of some subscription classes receive together all partitions of a topic,
   except as many as its other subscribers can receive at most: their number times the
   ceiling, or all that 1 leaves, whichever is less, with the largest lags. The peak is
   at least the mean over these members. Every set of classes is examined, unless there
   are more classes than the caller examines: then only all of them together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.group_columns import GroupColumns
from rebalance import Int32, Int64, borrowing_kernel, kernel


class LagSums(NamedTuple):
    """Topics with subscribers and partitions; T topics, of which the others are empty.

    Attributes
    ----------
    until : int64 (P + 1,)
        Sums of the lags from the first on, ascending within each topic.
    offsets : int64 (T + 1,)
        First partition of each topic.
    least : int64 (T,)
        Floor of the mean count.
    subscribers : int64 (T,)
    """

    until: Int64
    offsets: Int64
    least: Int64
    subscribers: Int64


class _Classes(NamedTuple):
    """Subscription classes, as in `rebalance.Instance`; ``size`` counts members."""

    size: Int64
    offsets: Int64
    topics: Int32


class ClassSets(NamedTuple):
    """Sets of subscription classes with members: set s has class i if bit i is set.

    Attributes
    ----------
    classes : int64 (K,)
        Classes with members.
    members : int64 (2**K,)
        Number of members of each set.
    total : int64 (2**K,)
        The least lag that they receive together.
    """

    classes: Int64
    members: Int64
    total: Int64


@kernel
def lowest_peak(
    group: GroupColumns, lag: Int64, least: Int64, wanted: Int64, most_classes: int
) -> int:
    """Return a lower bound on the peak lag, in records.

    Parameters
    ----------
    group : GroupColumns
    lag : int64 (P,)
    least : int64 (T,)
        Partitions that each subscriber of a topic has at least.
    wanted : int64 (T,)
        Subscribers of each topic.
    most_classes : int
        Subscription classes of which every set is examined: 2 to this power.
    """
    topics, classes = lag_sums(group, lag, least, wanted), _classes_of(group)
    bound = _by_member(topics, classes)
    if np.count_nonzero(classes.size) > most_classes:
        return max(bound, _mean_of_all(topics, classes))
    sets = _sets_of(topics, classes)
    for chosen in range(1, sets.members.size):
        bound = max(bound, -(-sets.total[chosen] // sets.members[chosen]))
    return bound


@kernel
def class_sets(group: GroupColumns, topics: LagSums) -> ClassSets:
    """Return all sets of subscription classes: 2 to the power of their number."""
    return _sets_of(topics, _classes_of(group))


@kernel
def lag_sums(group: GroupColumns, lag: Int64, least: Int64, wanted: Int64) -> LagSums:
    """Sort the lags of each topic, and sum them."""
    until = np.zeros(lag.size + 1, np.int64)
    for t in range(group.topics.size):
        start, end = group.topic_offsets[t], group.topic_offsets[t + 1]
        until[start + 1 : end + 1] = np.sort(lag[start:end])
    return LagSums(np.cumsum(until), group.topic_offsets, least, wanted)


@kernel
def _classes_of(group: GroupColumns) -> _Classes:
    size = np.zeros(group.class_offsets.size - 1, np.int64)
    for k in group.member_class:
        size[k] += 1
    return _Classes(size, group.class_offsets, group.class_topics)


@borrowing_kernel
def _sum(topics: LagSums, t: int, first: int, last: int) -> int:
    """Add up the lags of a topic from rank ``first`` up to ``last``, ascending."""
    start = topics.offsets[t]
    return int(topics.until[start + last] - topics.until[start + first])


@borrowing_kernel
def _is_served(topics: LagSums, t: int) -> bool:
    is_empty = topics.offsets[t + 1] == topics.offsets[t]
    return topics.subscribers[t] > 0 and not is_empty


@kernel
def _by_member(topics: LagSums, classes: _Classes) -> int:
    """Return the bound of arguments 1 and 2."""
    n_topics, bound = topics.least.size, 0
    cheapest = np.full(n_topics, -1, np.int64)  # for its best holder, without the topic
    for k in range(classes.size.size):
        if classes.size[k] == 0:
            continue
        listed = classes.topics[classes.offsets[k] : classes.offsets[k + 1]]
        floor = 0
        for t in listed:
            if _is_served(topics, t):
                floor += _sum(topics, t, 0, topics.least[t])
        bound = max(bound, floor)
        for t in listed:
            if _is_served(topics, t):
                others = floor - _sum(topics, t, 0, topics.least[t])
                if cheapest[t] < 0 or others < cheapest[t]:
                    cheapest[t] = others
    for t in range(n_topics):
        if _is_served(topics, t):
            count = topics.offsets[t + 1] - topics.offsets[t]
            more = max(topics.least[t] - 1, 0)
            with_largest = _sum(topics, t, count - 1, count) + _sum(topics, t, 0, more)
            bound = max(bound, with_largest + cheapest[t])
    return bound


@kernel
def _sets_of(topics: LagSums, classes: _Classes) -> ClassSets:
    """Apply argument 3 to every set of classes."""
    used = np.flatnonzero(classes.size)
    mask = np.zeros(topics.least.size, np.int64)
    members = np.zeros(1 << used.size, np.int64)
    for i in range(used.size):
        k, bit = used[i], 1 << i
        members[bit : 2 * bit] = members[:bit] + classes.size[k]
        for t in classes.topics[classes.offsets[k] : classes.offsets[k + 1]]:
            mask[t] |= bit
    total = np.zeros(members.size, np.int64)
    for chosen in range(1, members.size):
        for t in range(mask.size):
            inside = members[mask[t] & chosen]
            if inside > 0 and _is_served(topics, t):
                total[chosen] += _at_least(topics, t, inside)
    return ClassSets(used, members, total)


@borrowing_kernel
def _at_least(topics: LagSums, t: int, inside: int) -> int:
    """Return the least lag of a topic that so many of its subscribers receive."""
    count = topics.offsets[t + 1] - topics.offsets[t]
    ceiling = -(-count // topics.subscribers[t])
    outside = (topics.subscribers[t] - inside) * ceiling
    return _sum(topics, t, 0, count - min(outside, count - inside * topics.least[t]))


@borrowing_kernel
def _mean_of_all(topics: LagSums, classes: _Classes) -> int:
    total, members = 0, 0
    for t in range(topics.least.size):
        if _is_served(topics, t):
            total += _sum(topics, t, 0, topics.offsets[t + 1] - topics.offsets[t])
    for k in range(classes.size.size):
        for t in classes.topics[classes.offsets[k] : classes.offsets[k + 1]]:
            if _is_served(topics, t):
                members += classes.size[k]
                break
    return -(-total // members) if members else 0
