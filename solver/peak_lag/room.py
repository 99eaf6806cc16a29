"""Where partitions may sit and how many each member takes, as columns for kernels.

A balance leaves every partition some seats, and counts between limits. Counts are kept
in *cells*: one a member, or under ``per-topic`` one a member and topic. Some cells may
hold one more than their least; cells that share out such extras form a *pool* (a level
of the dec-min loads; a topic). Partitions and members in play are numbered densely.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import njit

from rebalance.claims import Int32, Int64

FREE = 2**31 - 1  # no limit on a count


class Room(NamedTuple):
    """Seats and limits; P partitions, T topics, M members, K classes, C cells.

    Attributes
    ----------
    lag : int64 (P,)
    topic : int32 (P,)
        Ascending.
    first : int64 (K+1,)
        Members of class k may take the topics ``open[first[k]:first[k+1]]``.
    open : int32
        Topics, ascending within a class.
    member_class : int32 (M,)
    class_first : int64 (K+1,)
    class_members : int32 (M,)
        Members class by class.
    topic_first : int64 (T+1,)
    topic_classes : int32
        Classes that may take a topic, topic by topic.
    unit : int64 (M,)
        What a record of lag weighs on the member: scale ÷ capacity.
    by_topic : bool
        Whether counts are limited topic by topic.
    cell : int64 (M,)
        First cell of the member; by topic in the order of its class's topics.
    least, most : int64 (C,)
        Limits of a cell's count.
    pool : int32 (C,)
    extra : int64
        By pool: so many of its cells hold one more than their least.
    """

    lag: Int64
    topic: Int32
    first: Int64
    open: Int32
    member_class: Int32
    class_first: Int64
    class_members: Int32
    topic_first: Int64
    topic_classes: Int32
    unit: Int64
    by_topic: bool
    cell: Int64
    least: Int64
    most: Int64
    pool: Int32
    extra: Int64


@njit(cache=True)
def place_of(room: Room, topic: int, member: int) -> int:
    """Return the place of a topic among those the member may take, or -1."""
    k = room.member_class[member]
    start, end = room.first[k], room.first[k + 1]
    if start + topic < end and room.open[start + topic] == topic:
        return int(topic)  # nothing before it is left out
    left, right = start, min(end, start + topic + 1)
    while left < right:
        middle = (left + right) // 2
        if room.open[middle] < topic:
            left = middle + 1
        else:
            right = middle
    if left < end and room.open[left] == topic:
        return int(left - start)
    return -1


@njit(cache=True)
def cell_of(room: Room, topic: int, member: int) -> int:
    """Return the cell that counts a topic's partitions with a member."""
    if not room.by_topic:
        return int(room.cell[member])
    return int(room.cell[member]) + place_of(room, topic, member)
