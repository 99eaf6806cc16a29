"""The part of an instance that can be reduced: topics with supply and subscribers.

Flow runs on (topic, member), never on single partitions: the partitions of a topic
differ only in their owner. What nobody subscribes to, and members that can be given
nothing, stay outside the network.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance import Instance
from solver.exact.min_cost_flow import Int32, Int64

OUTSIDE = -1


class ReducedInstance(NamedTuple):
    """Topics, classes and members in play, renumbered densely; T topics, K classes.

    Attributes
    ----------
    topics : int32 (T,)
        Instance topic of each reduced topic.
    classes : int32 (K,)
        Class of the given ones that each class in play is.
    supply : int32 (T,)
        Partitions of each topic.
    first : int64 (K+1,)
        Class k may take the topics ``wanted[first[k]:first[k+1]]``.
    wanted : int32
        ReducedInstance topic numbers, ascending within a class.
    class_size : int32 (K,)
        Members of each class.
    member_class : int32 (M,)
        Class in play of each member of the instance; -1 when it can be given nothing.
    topic_number : int32
        ReducedInstance number of each topic of the instance; -1 outside.
    """

    topics: Int32
    classes: Int32
    supply: Int32
    first: Int64
    wanted: Int32
    class_size: Int32
    member_class: Int32
    topic_number: Int32


def reduce_instance(instance: Instance) -> ReducedInstance:
    """Pick what can be reduced out of an instance."""
    return ReducedInstance(
        *_served(
            instance.topic_sizes,
            instance.member_class,
            instance.class_offsets,
            instance.class_topics,
        )
    )


def reduce_by_capacity(instance: Instance) -> tuple[ReducedInstance, Int64]:
    """Pick what can be reduced, with members of one class alike in capacity, too.

    Returns
    -------
    ReducedInstance
    int64 (K,)
        Capacity of a member of each class; empty where all in play are equal, and
        then classes are those of `reduce_instance`.
    """
    reduced = reduce_instance(instance)
    if instance.capacity is None:
        return reduced, np.zeros(0, np.int64)
    play = reduced.member_class != OUTSIDE
    if np.unique(instance.capacity[play]).size < 2:
        return reduced, np.zeros(0, np.int64)
    distinct, rank = np.unique(instance.capacity, return_inverse=True)
    pair = instance.member_class.astype(np.int64) * distinct.size + rank
    pairs, member_class = np.unique(pair, return_inverse=True)
    first, topics = _repeated(instance, pairs // distinct.size)
    reduced = ReducedInstance(
        *_served(instance.topic_sizes, member_class.astype(np.int32), first, topics)
    )
    weight = np.zeros(reduced.class_size.size, np.int64)
    weight[reduced.member_class[play]] = instance.capacity[play]
    return reduced, weight


def _repeated(instance: Instance, classes: Int64) -> tuple[Int64, Int32]:
    """List the topics of classes one after the other, some of them several times."""
    starts = instance.class_offsets[classes]
    lengths = instance.class_offsets[classes + 1] - starts
    first = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    within = np.arange(first[-1]) - np.repeat(first[:-1], lengths)
    return first, instance.class_topics[np.repeat(starts, lengths) + within]


@njit(cache=True)
def _served(
    sizes: Int64, member_class: Int32, class_offsets: Int64, class_topics: Int32
) -> tuple[Int32, Int32, Int32, Int64, Int32, Int32, Int32, Int32]:
    people = np.zeros(class_offsets.size - 1, np.int32)
    for k in member_class:
        people[k] += 1
    topic_number = _number_topics(sizes, people, class_offsets, class_topics)
    topics = np.flatnonzero(topic_number != OUTSIDE).astype(np.int32)
    class_number = np.full(people.size, OUTSIDE, np.int32)
    first = np.zeros(people.size + 1, np.int64)
    wanted = np.empty(class_topics.size, np.int32)
    found = 0
    for k in np.flatnonzero(people):
        end = first[found]
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            if topic_number[t] != OUTSIDE:
                wanted[end] = topic_number[t]
                end += 1
        if end > first[found]:
            class_number[k] = found
            found += 1
            first[found] = end
    classes = np.flatnonzero(class_number != OUTSIDE).astype(np.int32)
    return (
        topics,
        classes,
        sizes[topics].astype(np.int32),
        first[: found + 1].copy(),
        wanted[: first[found]].copy(),
        people[classes],
        class_number[member_class],
        topic_number,
    )


@njit(cache=True)
def _number_topics(
    sizes: Int64, people: Int32, class_offsets: Int64, class_topics: Int32
) -> Int32:
    """Give topics that have partitions and a subscriber their numbers."""
    number = np.full(sizes.size, OUTSIDE, np.int32)
    for k in np.flatnonzero(people):
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            if sizes[t] > 0:
                number[t] = 0
    found = 0
    for t in range(sizes.size):
        if number[t] != OUTSIDE:
            number[t] = found
            found += 1
    return number
