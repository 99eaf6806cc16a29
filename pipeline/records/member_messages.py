"""What the members of a classic group sent, on the tape: compiled.

Subscription, claim (`rebalance.protocol.reported_claims`), and assignment.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipeline.records.field_kernels import (
    REFUSED,
    Bytes,
    Names,
    number_at,
    read_message,
)
from pipeline.records.field_tables import Programs
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
from rebalance import ABSENT, Int64, kernel

_NEWEST: Final = 3
"""Version of the consumer protocol."""


@kernel
def read_members(
    programs: Programs,
    data: Bytes,
    tape: Int64,
    group: int,
    put: int,
    names: Names,
    ids: Names,
) -> int:
    """Read what the members of a generation sent; return where the tape goes on.

    `REFUSED`: a message cannot be read, or the group does not consist of consumers.
    """
    refused = np.int64(REFUSED)
    kind, count = tape[group + KIND_OF_GROUP], tape[group + MEMBERS]
    if not count:
        return put if kind in (CONSUMER, NOTHING) else refused
    assignor = tape[group + ASSIGNOR]
    if kind != CONSUMER or assignor == STREAM:
        return refused
    for number in range(count):
        member = group + HEAD + number * PER_MEMBER
        at, size = tape[member + MESSAGE_AT], tape[member + MESSAGE_SIZE]
        part_at, part_size = tape[member + PART_AT], tape[member + PART_SIZE]
        sent = put
        tape[member + SENT] = sent
        put += PER_SENT
        put = _read_subscription(
            programs, data, at, at + size, tape, sent, put, assignor, names, ids
        )
        if put < 0:
            return refused
        tape[sent + ASSIGNED] = ABSENT
        if part_size:
            tape[sent + ASSIGNED] = put
            put = _read_versioned(
                programs,
                OF_ASSIGNMENT,
                data,
                part_at,
                part_at + part_size,
                tape,
                put,
                names,
                ids,
            )
            if put < 0:
                return refused
    return put


@kernel
def _read_versioned(
    programs: Programs,
    message: int,
    data: Bytes,
    at: int,
    end: int,
    tape: Int64,
    put: int,
    names: Names,
    ids: Names,
) -> int:
    """Read a message of the consumer protocol; a newer version can have more bytes."""
    refused = np.int64(REFUSED)
    if end - at < 2:
        return refused
    version = number_at(data, at, 2)
    if version < 0:
        return refused
    known = min(version, _NEWEST)
    after, filled = read_message(
        programs, message, known, data, at, end, tape, put, names, ids
    )
    if after < 0 and version == 1:  # kafka-go ends it before the owned partitions
        after, filled = read_message(
            programs, message, 0, data, at, end, tape, put, names, ids
        )
    if after < 0 or (version <= _NEWEST and after != end):
        return refused
    return filled


@kernel
def _read_subscription(
    programs: Programs,
    data: Bytes,
    at: int,
    end: int,
    tape: Int64,
    sent: int,
    put: int,
    assignor: int,
    names: Names,
    ids: Names,
) -> int:
    """Read a subscription, and the claim in it under an assignor."""
    begin = put
    put = _read_versioned(
        programs, OF_SUBSCRIPTION, data, at, end, tape, put, names, ids
    )
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
        generation = np.int64(ABSENT)
        if end > at:
            after = _read_sticky(programs, data, at, end, tape, put, names, ids)
            tape[sent + REPORTS] = after >= 0
            if after >= 0:
                tape[sent + CLAIMED] = put
                generation = tape[after - 1]
                put = after
    elif assignor == IS_COOPERATIVE and generation < 0:
        if end - at == 4:
            generation = number_at(data, at, 4)
        elif end - at > 4:
            after = _read_sticky(programs, data, at, end, tape, put, names, ids)
            if after >= 0:
                generation = tape[after - 1]
                put = after
    tape[sent + CLAIM_GENERATION] = max(generation, ABSENT)
    return put


@kernel
def _read_sticky(
    programs: Programs,
    data: Bytes,
    at: int,
    end: int,
    tape: Int64,
    put: int,
    names: Names,
    ids: Names,
) -> int:
    """Read sticky's user data in one of its forms: partitions, then the generation."""
    for version in range(2):
        after, filled = read_message(
            programs, OF_STICKY, version, data, at, end, tape, put, names, ids
        )
        if after == end:
            return filled
    if data[at] == 0 and data[at + 1] == 1:
        after, filled = read_message(
            programs, OF_PREFIXED, 1, data, at, end, tape, put, names, ids
        )
        if after == end:
            return filled
    return np.int64(REFUSED)
