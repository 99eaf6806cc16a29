"""JSON of an assignment from its column, byte by byte, without objects per partition.

The bytes are those that `rebalance.to_json` writes of `rebalance.members_of`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, Self

import numpy as np
import orjson

from rebalance.assignment import Assignment
from rebalance.claims import NOBODY, Int32, Int64
from rebalance.compiled import borrowing_kernel, kernel
from rebalance.instance import Instance
from rebalance.tape.json_tape import Bytes

_COMMA, _OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY, _ZERO = map(
    ord, ",{}[]0"
)
_PUNCTUATION: Final = len(b",[]")
"""Bytes per list of numbers, beyond its name and the numbers."""


class Texts(NamedTuple):
    """Texts, one after another.

    Attributes
    ----------
    text : uint8
        All of them.
    at : int64 (N+1,)
        Where each text begins, and the last one ends.
    """

    text: Bytes
    at: Int64

    @classmethod
    def of(cls, texts: list[bytes]) -> Self:
        """Join texts."""
        at = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(texts), dtype=np.uint8), at)

    @classmethod
    def keys(cls, names: Iterable[str]) -> Self:
        """Write names as keys of JSON, with colons."""
        return cls.of([orjson.dumps(name) + b":" for name in names])


def members_text(instance: Instance, assignment: Assignment) -> bytes:
    """Write an assignment as member → topic → numbers, with every member present."""
    members, topics = Texts.keys(instance.members), Texts.keys(instance.topics)
    order, ends = by_member(assignment.assignee, len(instance.members))
    size = members_size(order, ends, instance.partition_topic, members, topics)
    text = np.empty(size, dtype=np.uint8)
    written = write_members(
        text,
        order,
        ends,
        instance.partition_topic,
        instance.topic_offsets,
        members,
        topics,
    )
    return text[:written].tobytes()


@kernel
def by_member(assignee: Int32, members: int) -> tuple[Int64, Int64]:
    """Sort the assigned partitions by member: a counting sort.

    Returns
    -------
    int64
        Partitions, ascending within a member.
    int64 (M,)
        Where those of each member end.
    """
    ends = np.zeros(members + 1, dtype=np.int64)
    for member in assignee:
        if member != NOBODY:
            ends[member + 1] += 1
    for member in range(members):
        ends[member + 1] += ends[member]
    order = np.empty(ends[members], dtype=np.int64)
    for partition in range(assignee.size):
        member = assignee[partition]
        if member != NOBODY:
            order[ends[member]] = partition
            ends[member] += 1
    return order, ends[:members]


@borrowing_kernel
def members_size(
    order: Int64, ends: Int64, topic: Int32, members: Texts, topics: Texts
) -> int:
    """Return at least the bytes that `write_members` writes."""
    digits, rest = 2, topic.size  # and a comma
    while rest >= 10:
        digits, rest = digits + 1, rest // 10
    size, first = order.size * digits + 2, 0
    for member in range(ends.size):
        size += members.at[member + 1] - members.at[member] + _PUNCTUATION
        for at in range(first, ends[member]):
            t = topic[order[at]]
            if at == first or t != topic[order[at - 1]]:
                size += topics.at[t + 1] - topics.at[t] + _PUNCTUATION
        first = ends[member]
    return int(size)


@borrowing_kernel
def write_members(
    text: Bytes,
    order: Int64,
    ends: Int64,
    topic: Int32,
    offsets: Int64,
    members: Texts,
    topics: Texts,
) -> int:
    """Write the object of all members; return the number of bytes."""
    text[0] = _OPEN_OBJECT
    at, first = 1, 0
    for member in range(ends.size):
        if member > 0:
            text[at] = _COMMA
            at += 1
        at = copy_text(text, at, members, member)
        text[at] = _OPEN_OBJECT
        at += 1
        for row in range(first, ends[member]):
            partition = order[row]
            t = topic[partition]
            if row > first and topic[order[row - 1]] == t:
                text[at] = _COMMA
                at += 1
            else:
                if row > first:
                    text[at], text[at + 1] = _CLOSE_ARRAY, _COMMA
                    at += 2
                at = copy_text(text, at, topics, t)
                text[at] = _OPEN_ARRAY
                at += 1
            at = write_number(text, at, partition - offsets[t])
        if ends[member] > first:
            text[at] = _CLOSE_ARRAY
            at += 1
        text[at] = _CLOSE_OBJECT
        at += 1
        first = ends[member]
    text[at] = _CLOSE_OBJECT
    return at + 1


@borrowing_kernel
def copy_text(text: Bytes, at: int, keys: Texts, number: int) -> int:
    """Copy one of several texts to a place; return where it ends."""
    for place in range(keys.at[number], keys.at[number + 1]):
        text[at] = keys.text[place]
        at += 1
    return at


@borrowing_kernel
def write_number(text: Bytes, at: int, number: int) -> int:
    """Write a number, not negative, in decimal digits; return where it ends."""
    end, rest = at + 1, number // 10
    while rest > 0:
        end += 1
        rest //= 10
    rest = number
    for place in range(end - 1, at - 1, -1):
        text[place] = _ZERO + rest % 10
        rest //= 10
    return end
