"""Metadata of the members of a classic group, on the tape: compiled.

Subscription, claim (`rebalance.protocol.reported_claims`), and assignment.
"""

from __future__ import annotations

from typing import Final

from pipeline.records.field_kernels import (
    REFUSED,
    MessageReader,
    number_at,
    read_message,
    version_at,
)
from pipeline.records.tape_layout import (
    ASSIGNED,
    ASSIGNOR,
    CLAIM_GENERATION,
    CLAIMED,
    CONSUMER,
    HEAD,
    IS_COOPERATIVE,
    IS_STICKY,
    KIND_OF_GROUP,
    MEMBERS,
    MESSAGE_AT,
    MESSAGE_SIZE,
    NOTHING,
    OF_ASSIGNMENT,
    OF_PREFIXED,
    OF_STICKY,
    OF_SUBSCRIPTION,
    PART_AT,
    PART_SIZE,
    PER_MEMBER,
    PER_SENT,
    RACK,
    REPORTS,
    SENT,
    STREAM,
    TOPICS,
)
from rebalance import ABSENT, argument, borrowing_kernel, inlined_kernel

_NEWEST: Final = 3
"""Version of the consumer protocol."""
_ONE_NUMBER: Final = 4  # bytes
_PREFIXED: Final = argument(1)  # version


@borrowing_kernel
def read_members(reader: MessageReader, group: int, put: int) -> int:
    """Read the metadata of the members of a generation; return where the tape goes on.

    Parameters
    ----------
    group
        Where the generation is on the tape.

    Returns
    -------
    int
        `REFUSED`: a message cannot be read, or the group does not consist of consumers.
    """
    tape = reader.tape
    kind, count = tape[group + KIND_OF_GROUP], tape[group + MEMBERS]
    if not count:
        return put if kind in (CONSUMER, NOTHING) else REFUSED
    assignor = tape[group + ASSIGNOR]
    if kind != CONSUMER or assignor == STREAM:
        return REFUSED
    for number in range(count):
        member = group + HEAD + number * PER_MEMBER
        at, size = tape[member + MESSAGE_AT], tape[member + MESSAGE_SIZE]
        part_at, part_size = tape[member + PART_AT], tape[member + PART_SIZE]
        sent = put
        tape[member + SENT] = sent
        put += PER_SENT
        put = _read_subscription(reader, at, at + size, sent, put, assignor)
        if put < 0:
            break
        tape[sent + ASSIGNED] = ABSENT
        if part_size:
            tape[sent + ASSIGNED] = put
            end = part_at + part_size
            put = _read_versioned(reader, OF_ASSIGNMENT, part_at, end, put)
        if put < 0:
            break
    return put


@inlined_kernel
def _read_versioned(
    reader: MessageReader, message: int, at: int, end: int, put: int
) -> int:
    """Read a message of the consumer protocol; a newer version can have more bytes."""
    version = version_at(reader.data, at, end)
    if version < 0:
        return REFUSED
    known = min(version, _NEWEST)
    after, filled = read_message(reader, message, known, at, end, put)
    if after < 0 and version == 1:  # kafka-go ends it before the owned partitions
        after, filled = read_message(reader, message, version - 1, at, end, put)
    if after < 0 or (version <= _NEWEST and after != end):
        return REFUSED
    return filled


@inlined_kernel
def _read_subscription(
    reader: MessageReader, at: int, end: int, sent: int, put: int, assignor: int
) -> int:
    """Read a subscription, and the claim in it under an assignor."""
    tape, begin = reader.tape, put
    put = _read_versioned(reader, OF_SUBSCRIPTION, at, end, put)
    if put < 0:
        return put
    version, topics = tape[begin], tape[begin + 1]
    user_data = begin + 2 + topics
    at, end = tape[user_data], tape[user_data] + max(tape[user_data + 1], 0)
    tape[sent + TOPICS] = begin + 1
    tape[sent + CLAIMED] = user_data + 2
    tape[sent + REPORTS] = version >= 1
    tape[sent + RACK] = tape[put - 1]
    generation = tape[put - 2]
    if assignor == IS_STICKY:
        tape[sent + CLAIMED] = ABSENT
        tape[sent + REPORTS] = True
        generation = ABSENT
        if end > at:
            after = _read_sticky(reader, at, end, put)
            tape[sent + REPORTS] = after >= 0
            if after >= 0:
                tape[sent + CLAIMED] = put
                generation = tape[after - 1]
                put = after
    elif assignor == IS_COOPERATIVE and generation < 0:
        if end - at == _ONE_NUMBER:
            generation = number_at(reader.data, at, end - at)
        elif end - at > _ONE_NUMBER:
            after = _read_sticky(reader, at, end, put)
            generation = tape[after - 1] if after >= 0 else generation
    tape[sent + CLAIM_GENERATION] = max(generation, ABSENT)
    return put


@borrowing_kernel
def _read_sticky(reader: MessageReader, at: int, end: int, put: int) -> int:
    """Read sticky's user data in one of its forms: partitions, then the generation."""
    for version in range(2):
        after, filled = read_message(reader, OF_STICKY, version, at, end, put)
        if after == end:
            return filled
    if reader.data[at] == 0 and reader.data[at + 1] == 1:
        after, filled = read_message(reader, OF_PREFIXED, _PREFIXED, at, end, put)
        if after == end:
            return filled
    return REFUSED
