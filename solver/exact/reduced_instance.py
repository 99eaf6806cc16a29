"""Reduce an instance to the topics, classes and members that an assignment concerns.

The partitions of one topic differ only in their owner, so the flows run on (topic,
class) and (topic, member), never on single partitions. Topics without partitions or
subscribers, and members without a topic that has partitions, are outside.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import NOBODY, Instance, Int32, Int64, kernel

OUTSIDE: Final = -1


class ReducedInstance(NamedTuple):
    """Topics, classes and members in play, renumbered densely: T topics, K classes."""

    topics: Int32  # (T,): topic of the instance that each reduced topic is
    supply: Int32  # (T,): partitions of each topic
    first: Int64  # (K+1,): class k subscribes to wanted[first[k]:first[k+1]]
    wanted: Int32  # topics, ascending in a class: one *entry* per (class, topic)
    class_size: Int32  # (K,): members of each class
    member_class: Int32  # (M,): reduced class of each member; -1 outside
    topic_number: Int32  # reduced topic of each topic of the instance; -1 outside


class OwnedCounts(NamedTuple):
    """Pairs (topic, owner), grouped by topic."""

    first: Int64  # (T+1,): pairs of reduced topic t are first[t]:first[t+1]
    member: Int32  # owner, in order of its first partition of the topic
    amount: Int32  # partitions of the topic that it owns


def reduce_instance(instance: Instance) -> ReducedInstance:
    """Reduce an instance."""
    return reduce_columns(
        instance.topic_offsets,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
    )


def reduce_by_capacity(instance: Instance) -> tuple[ReducedInstance, Int64]:
    """Reduce an instance, with members of one class equal in capacity as well.

    Returns
    -------
    ReducedInstance
    int64 (K,)
        Capacity of a member of each class. Empty if all members in play have the same
        capacity; classes are then those of `reduce_instance`.
    """
    if instance.capacity is None or distinct_capacities(instance) < 2:
        return reduce_instance(instance), np.zeros(0, np.int64)
    distinct, rank = np.unique(instance.capacity, return_inverse=True)
    pair = instance.member_class.astype(np.int64) * distinct.size + rank
    pairs, member_class = np.unique(pair, return_inverse=True)
    first, topics = take_rows(
        instance.class_offsets, instance.class_topics, pairs // distinct.size
    )
    columns = member_class.astype(np.int32), first, topics
    for column in columns:
        column.setflags(write=False)  # one signature of the kernel
    reduced = reduce_columns(instance.topic_offsets, *columns)
    inside = reduced.member_class != OUTSIDE
    capacity = np.zeros(reduced.class_size.size, np.int64)
    capacity[reduced.member_class[inside]] = instance.capacity[inside]
    return reduced, capacity


def distinct_capacities(instance: Instance) -> int:
    """Count the capacities of members in play; 0 where no member states one."""
    if instance.capacity is None:
        return 0
    return np.unique(instance.capacity[instance.in_play]).size


def take_rows(
    offsets: Int64, values: Int32, rows: Int32 | Int64
) -> tuple[Int64, Int32]:
    """Return the given rows of a matrix in CSR form, offsets and values."""
    starts = offsets[rows]
    lengths = offsets[rows + 1] - starts
    first = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    within = np.arange(first[-1]) - np.repeat(first[:-1], lengths)
    return first, values[np.repeat(starts, lengths) + within]


def subscribed_pairs(instance: Instance) -> tuple[Int64, Int64]:
    """Return topic and member of each subscription, by topic, then by member."""
    offsets, topic = take_rows(
        instance.class_offsets, instance.class_topics, instance.member_class
    )
    member = np.repeat(np.arange(len(instance.members)), np.diff(offsets))
    order = np.lexsort((member, topic))
    return topic[order].astype(np.int64), member[order]


@kernel
def group_by_key(key: Int32, n_keys: int) -> tuple[Int64, Int64]:
    """Sort positions by key, stably: those of k are ``order[first[k]:first[k+1]]``."""
    first = np.zeros(n_keys + 1, np.int64)
    for k in key:
        first[k + 1] += 1
    first = np.cumsum(first)
    free = first[:-1].copy()
    order = np.empty(key.size, np.int64)
    for i in range(key.size):
        order[free[key[i]]] = i
        free[key[i]] += 1
    return first, order


@kernel
def row_of_entry(first: Int64) -> Int32:
    """Return the row of each entry of a matrix in CSR form."""
    row = np.empty(first[-1], np.int32)
    for k in range(first.size - 1):
        row[first[k] : first[k + 1]] = k
    return row


@kernel
def reduce_columns(
    topic_offsets: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
) -> ReducedInstance:
    """Assign numbers to topics, then to the classes that subscribe to one of them."""
    sizes = topic_offsets[1:] - topic_offsets[:-1]
    class_size = np.zeros(class_offsets.size - 1, np.int32)
    for k in member_class:
        class_size[k] += 1
    topic_number = _number_topics(sizes, class_size, class_offsets, class_topics)
    topics = np.flatnonzero(topic_number != OUTSIDE).astype(np.int32)
    class_number = np.full(class_size.size, OUTSIDE, np.int32)
    first = np.zeros(class_size.size + 1, np.int64)
    wanted = np.empty(class_topics.size, np.int32)
    found = 0
    for k in np.flatnonzero(class_size):
        end = first[found]
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            if topic_number[t] != OUTSIDE:
                wanted[end] = topic_number[t]
                end += 1
        if end > first[found]:
            class_number[k] = found
            found += 1
            first[found] = end
    return ReducedInstance(
        topics,
        sizes[topics].astype(np.int32),
        first[: found + 1].copy(),
        wanted[: first[found]].copy(),
        class_size[class_number != OUTSIDE],
        class_number[member_class],
        topic_number,
    )


@kernel
def _number_topics(
    sizes: Int64, class_size: Int32, class_offsets: Int64, class_topics: Int32
) -> Int32:
    """Assign numbers to the topics that have partitions and a subscriber."""
    number = np.full(sizes.size, OUTSIDE, np.int32)
    for k in np.flatnonzero(class_size):
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            if sizes[t] > 0:
                number[t] = 0
    found = 0
    for t in range(sizes.size):
        if number[t] != OUTSIDE:
            number[t] = found
            found += 1
    return number


@kernel
def owned_counts(
    owner: Int32, topic_offsets: Int64, topics: Int32, n_members: int
) -> OwnedCounts:
    """Count the pairs in one pass over the partitions of the given topics."""
    first = np.zeros(topics.size + 1, np.int64)
    member = np.empty(owner.size, np.int32)
    count = np.empty(owner.size, np.int32)
    pair_of = np.full(n_members, NOBODY, np.int64)
    end = 0
    for t in range(topics.size):
        start = end
        for p in range(topic_offsets[topics[t]], topic_offsets[topics[t] + 1]):
            c = owner[p]
            if c == NOBODY:
                continue
            # A pair before ``start`` is of an earlier topic.
            if pair_of[c] < start:
                pair_of[c] = end
                member[end] = c
                count[end] = 0
                end += 1
            count[pair_of[c]] += 1
        first[t + 1] = end
    return OwnedCounts(first, member[:end].copy(), count[:end].copy())


@kernel
def by_member(reduced: ReducedInstance, of_class: Int32, outside: int) -> Int32:
    """Return the number of each member's class; ``outside`` for members outside."""
    of_member = np.full(reduced.member_class.size, outside, np.int32)
    for m in range(of_member.size):
        k = reduced.member_class[m]
        if k != OUTSIDE:
            of_member[m] = of_class[k]
    return of_member
