"""Members of all generations of a batch of records, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.key_lists import (
    NUMBER_BITS,
    NUMBER_MASK,
    Keys,
    largest,
    once,
    ranges,
    united,
)
from pipeline.records.record_tape import RecordTape
from pipeline.records.tape_layout import (
    ASSIGNED,
    CLAIMED,
    GENERATION,
    HEAD,
    INSTANCE_ID,
    MEMBER_ID,
    MEMBERS,
    PER_MEMBER,
    SENT,
    TOPICS,
)
from pipeline.sightings import MOST_PARTITIONS
from rebalance import ABSENT, Bools, Int64, inlined_kernel, kernel


class Participants(NamedTuple):
    """M members; those of a generation follow one another.

    Attributes
    ----------
    first : int64 (n+1,)
        Of n records: the first member of each.
    is_sound : bool (n,)
        False: the members of a generation cannot be those of a group.
    seat : int64 (M,)
        Twice the number of the instance id, and one; or twice that of the member id.
    place : int64 (M,)
        On the tape.
    sent : int64 (M,)
        Place on the tape of the member's metadata.
    wanted : Keys
        Topics of the subscription, each once.
    claimed : Keys
        Each partition once; negative numbers are not partitions.
    assigned : Keys
        A partition that is assigned twice is there twice.
    held : Keys
        The same, each once.
    """

    first: Int64
    is_sound: Bools
    seat: Int64
    place: Int64
    sent: Int64
    wanted: Keys
    claimed: Keys
    assigned: Keys
    held: Keys


def participants_of(records: RecordTape, rank: Int64) -> Participants:
    """Return the members of all generations.

    Parameters
    ----------
    rank : int64
        Of each name, among all of them in sorted order.
    """
    return _participants(records.kind, records.at, records.tape, records.used, rank)


def topics_of(people: Participants, row: Int64) -> Keys:
    """Return the topics to which the members of some generations subscribe."""
    members = ranges(people.first, row)
    return united(people.wanted, members.key, members.at)


def assigned_topics(people: Participants) -> Keys:
    """Return the largest assigned partition of each topic per record."""
    members = np.arange(len(people.seat))
    return largest(united(largest(people.held), members, people.first))


@inlined_kernel
def _partitions(tape: Int64, at: int, rank: Int64, keys: Int64, put: int) -> int:
    """Put the keys of listed partitions, ascending; return where they end."""
    begin = put
    topics = tape[at]
    at += 1
    for _ in range(topics):
        topic, count = rank[tape[at]] << NUMBER_BITS, tape[at + 1]
        at += 2
        for place in range(at, at + count):
            keys[put] = topic | (tape[place] & NUMBER_MASK)
            put += 1
        at += count
    keys[begin:put].sort()
    return put


@kernel
def _firsts(kind: Int64, at: Int64, tape: Int64) -> Int64:
    first = np.zeros(kind.size + 1, np.int64)
    for row in range(kind.size):
        first[row + 1] = first[row]
        if kind[row] == GENERATION:
            first[row + 1] += tape[at[row] + MEMBERS]
    return first


@kernel
def _keys(members: int, size: int) -> Keys:
    return Keys(np.zeros(members + 1, np.int64), np.empty(size, np.int64))


@kernel
def _cut(keys: Keys) -> Keys:
    """Return the keys without the room after them, which was never touched."""
    return Keys(keys.at, keys.key[: keys.at[-1]])


@kernel
def _participants(
    kind: Int64, at: Int64, tape: Int64, used: int, rank: Int64
) -> Participants:
    first = _firsts(kind, at, tape)
    count = first[-1]
    is_sound = np.ones(kind.size, np.bool_)
    seat = np.empty(count, np.int64)
    on_tape = np.empty(count, np.int64)
    sent = np.empty(count, np.int64)
    wanted, claimed = _keys(count, used), _keys(count, used)
    assigned, held = _keys(count, used), _keys(count, used)
    seen = np.full(2 * rank.size, ABSENT, np.int64)
    for row in range(kind.size):
        for member in range(first[row], first[row + 1]):
            place = at[row] + HEAD + (member - first[row]) * PER_MEMBER
            identity, instance = tape[place + MEMBER_ID], tape[place + INSTANCE_ID]
            on_tape[member], sent[member] = place, tape[place + SENT]
            seat[member] = 2 * identity
            if seen[2 * identity] == row:
                is_sound[row] = False
            seen[2 * identity] = row
            if instance > 0:  # 0 is the empty name: none
                seat[member] = 2 * instance + 1
                if seen[2 * instance + 1] == row:
                    is_sound[row] = False
                seen[2 * instance + 1] = row
            _take_topics(tape, sent[member], rank, wanted, member)
            begin, end = claimed.at[member], claimed.at[member]
            if tape[sent[member] + CLAIMED] >= 0:
                listed = tape[sent[member] + CLAIMED]
                end = _partitions(tape, listed, rank, claimed.key, begin)
            claimed.at[member + 1] = once(claimed.key, begin, end)
            if not _take_part(tape, sent[member], rank, assigned, held, member):
                is_sound[row] = False
    return Participants(
        first,
        is_sound,
        seat,
        on_tape,
        sent,
        _cut(wanted),
        _cut(claimed),
        _cut(assigned),
        _cut(held),
    )


@inlined_kernel
def _take_topics(
    tape: Int64, sent: int, rank: Int64, wanted: Keys, member: int
) -> None:
    listed = tape[sent + TOPICS]
    begin = wanted.at[member]
    put = begin
    for place in range(listed + 1, listed + 1 + tape[listed]):
        wanted.key[put] = rank[tape[place]] << NUMBER_BITS
        put += 1
    wanted.key[begin:put].sort()
    wanted.at[member + 1] = once(wanted.key, begin, put)


@inlined_kernel
def _take_part(
    tape: Int64, sent: int, rank: Int64, assigned: Keys, held: Keys, member: int
) -> bool:
    """Put the assignment of a member; return whether the numbers can be partitions."""
    begin, put = assigned.at[member], held.at[member]
    end = begin
    if tape[sent + ASSIGNED] >= 0:
        end = _partitions(tape, tape[sent + ASSIGNED], rank, assigned.key, begin)
    assigned.at[member + 1] = end
    held.key[put : put + end - begin] = assigned.key[begin:end]
    held.at[member + 1] = once(held.key, put, put + end - begin)
    for place in range(begin, end):
        if assigned.key[place] & NUMBER_MASK >= MOST_PARTITIONS:  # or negative
            return False
    return True
