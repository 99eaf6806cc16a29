"""Assignments of all members as consumer-protocol bytes, straight from the column.

The bytes are those of `rebalance.protocol.encode_assignment`, version 0 without user
data, topics by name.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rebalance.assignment import Assignment
from rebalance.assignment_text import Texts, by_member
from rebalance.claims import Int32, Int64
from rebalance.compiled import borrowing_kernel, kernel
from rebalance.errors import WireError
from rebalance.instance import Instance
from rebalance.tape.json_tape import Bytes

MOST_TEXT: Final = 2**15 - 1
_FIXED: Final = 2 + 4 + 4
"""Bytes per member: version, number of topics, length of the user data."""
_PER_TOPIC: Final = 2 + 4
"""Bytes per topic beyond its name: two lengths."""


def encode_assignments(instance: Instance, assignment: Assignment) -> dict[str, bytes]:
    """Encode the assignment of each member, with every member present.

    Raises
    ------
    WireError
        If a topic's name has more than 32,767 bytes.
    """
    names = Texts.of([name.encode() for name in instance.topics])
    lengths = np.diff(names.at)
    if lengths.max(initial=0) > MOST_TEXT:
        reason = f"topic: {lengths.max()} bytes, {MOST_TEXT} at most"
        raise WireError(reason, offset=0)
    order, ends = by_member(assignment.assignee, len(instance.members))
    topic, offsets = instance.partition_topic, instance.topic_offsets
    bounds = message_bounds(order, ends, topic, lengths)
    out = np.empty(bounds[-1], dtype=np.uint8)
    write_messages(out, order, ends, topic, offsets, names, bounds)
    data, places = out.tobytes(), bounds.tolist()
    return {
        member: data[places[m] : places[m + 1]]
        for m, member in enumerate(instance.members)
    }


@kernel
def message_bounds(order: Int64, ends: Int64, topic: Int32, lengths: Int64) -> Int64:
    """Return where the message of each member begins, int64 (M+1,)."""
    bounds = np.zeros(ends.size + 1, dtype=np.int64)
    first = 0
    for member in range(ends.size):
        size = _FIXED + 4 * (ends[member] - first)
        for at in range(first, ends[member]):
            if at == first or topic[order[at]] != topic[order[at - 1]]:
                size += _PER_TOPIC + lengths[topic[order[at]]]
        bounds[member + 1] = bounds[member] + size
        first = ends[member]
    return bounds


@kernel
def write_messages(
    out: Bytes,
    order: Int64,
    ends: Int64,
    topic: Int32,
    offsets: Int64,
    names: Texts,
    bounds: Int64,
) -> None:
    """Write the message of each member from its bound on."""
    first = 0
    for member in range(ends.size):
        start = bounds[member]
        out[start] = out[start + 1] = 0
        at, topics, row = start + 6, 0, first
        while row < ends[member]:
            t, run = topic[order[row]], row
            while row < ends[member] and topic[order[row]] == t:
                row += 1
            topics += 1
            begin, end = names.at[t], names.at[t + 1]
            length = end - begin
            out[at], out[at + 1] = length >> 8, length & 0xFF
            at += 2
            for place in range(begin, end):
                out[at] = names.text[place]
                at += 1
            _write_int32(out, at, row - run)
            at += 4
            for i in range(run, row):
                _write_int32(out, at, order[i] - offsets[t])
                at += 4
        _write_int32(out, start + 2, topics)
        out[at : at + 4] = 0xFF  # no user data
        first = ends[member]


@borrowing_kernel
def _write_int32(out: Bytes, at: int, value: int) -> None:
    out[at] = value >> 24
    out[at + 1] = (value >> 16) & 0xFF
    out[at + 2] = (value >> 8) & 0xFF
    out[at + 3] = value & 0xFF
