"""JSON of an assignment from its column, byte by byte, without objects per partition.

The bytes are those that `rebalance.to_json` writes of `rebalance.members_of`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import orjson

from rebalance.assignment import Assignment
from rebalance.claims import NOBODY, Int32, Int64
from rebalance.compiled import kernel
from rebalance.instance import Instance
from rebalance.tape.json_tape import Bytes

_COMMA, _OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY, _ZERO = map(
    ord, ",{}[]0"
)
PUNCTUATION: Final = len(b",[]")
"""Bytes per list of numbers, besides its name and the numbers."""


class Texts(NamedTuple):
    """Texts, one after another.

    Attributes
    ----------
    text : uint8
        All of them.
    ends : int64
        Where each text ends.
    """

    text: Bytes
    ends: Int64

    @classmethod
    def of(cls, texts: list[bytes]) -> Texts:
        """Join texts."""
        ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
        return cls(np.frombuffer(b"".join(texts), dtype=np.uint8), ends)


def members_text(instance: Instance, assignment: Assignment) -> bytes:
    """Write an assignment as member → topic → numbers, with every member present."""
    members, topics = _keys(instance.members), _keys(instance.topics)
    order, ends = by_member(assignment.assignee, len(instance.members))
    lengths = np.diff(topics.ends, prepend=0) + PUNCTUATION
    digits = len(str(instance.n_partitions)) + 1  # and a comma
    size = text_size(order, ends, instance.partition_topic, lengths, digits)
    size += members.text.size + PUNCTUATION * len(instance.members) + 2
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


def _keys(names: tuple[str, ...]) -> Texts:
    """Write names as keys of JSON, with colons."""
    return Texts.of([orjson.dumps(name) + b":" for name in names])


@kernel
def members_texts(
    assignees: Int32, sizes: Int64, members: Texts, topics: Texts
) -> tuple[Bytes, Int64]:
    """Write many assignments to one group, each as `members_text` writes it.

    Parameters
    ----------
    assignees : int32 (A, P)
        Member of each partition; -1: none.
    sizes : int64 (T,)
        Partitions of each topic.
    members, topics
        Names as keys of JSON, with colons.

    Returns
    -------
    uint8, int64 (A,)
        The texts, one after another, and where each ends.
    """
    n_topics, n_members = sizes.size, members.ends.size
    offsets = np.zeros(n_topics + 1, np.int64)
    offsets[1:] = np.cumsum(sizes)
    topic = np.empty(offsets[n_topics], np.int32)
    lengths = np.empty(n_topics, np.int64)
    for t in range(n_topics):
        topic[offsets[t] : offsets[t + 1]] = t
        before = topics.ends[t - 1] if t > 0 else 0
        lengths[t] = topics.ends[t] - before + PUNCTUATION
    digits, rest = 2, topic.size
    while rest >= 10:
        digits, rest = digits + 1, rest // 10
    ends = np.zeros(assignees.shape[0], np.int64)
    text = np.empty(0, np.uint8)
    at = 0
    for a in range(assignees.shape[0]):
        order, last = by_member(assignees[a], n_members)
        size = text_size(order, last, topic, lengths, digits)
        size += members.text.size + PUNCTUATION * n_members + 2
        if at + size > text.size:
            longer = np.empty((at + size) * 2, np.uint8)
            longer[:at] = text[:at]
            text = longer
        at += write_members(text[at:], order, last, topic, offsets, members, topics)
        ends[a] = at
    return text[:at], ends


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


@kernel
def text_size(
    order: Int64, ends: Int64, topic: Int32, lengths: Int64, digits: int
) -> int:
    """Return at least the bytes of all lists of numbers, with their names."""
    size, first = order.size * digits, 0
    for end in ends:
        for at in range(first, end):
            if at == first or topic[order[at]] != topic[order[at - 1]]:
                size += lengths[topic[order[at]]]
        first = end
    return size


@kernel
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
        at = _copy(text, at, members, member)
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
                at = _copy(text, at, topics, t)
                text[at] = _OPEN_ARRAY
                at += 1
            at = _write_number(text, at, partition - offsets[t])
        if ends[member] > first:
            text[at] = _CLOSE_ARRAY
            at += 1
        text[at] = _CLOSE_OBJECT
        at += 1
        first = ends[member]
    text[at] = _CLOSE_OBJECT
    return at + 1


@kernel
def _copy(text: Bytes, at: int, keys: Texts, number: int) -> int:
    begin = keys.ends[number - 1] if number > 0 else 0
    for place in range(begin, keys.ends[number]):
        text[at] = keys.text[place]
        at += 1
    return at


@kernel
def _write_number(text: Bytes, at: int, number: int) -> int:
    end, rest = at + 1, number // 10
    while rest > 0:
        end += 1
        rest //= 10
    rest = number
    for place in range(end - 1, at - 1, -1):
        text[place] = _ZERO + rest % 10
        rest //= 10
    return end
