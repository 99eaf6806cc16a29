"""Owned partitions of members of classic groups, from their claims: compiled.

`pipeline.history.ownership` and `episodes` do the same for single records, and say why.
"""

from __future__ import annotations

import numpy as np

from pipeline.history.key_lists import NUMBER_MASK, is_in, wants
from pipeline.history.participants import Participants
from pipeline.history.walked_records import Groups
from pipeline.records.tape_layout import (
    CLAIM_GENERATION,
    MEMBER_ID,
    NUMBER,
    REPORTS,
    START,
)
from rebalance import Int64, inlined_kernel, kernel


@inlined_kernel
def want_the_same(people: Participants, member: int, other: int) -> bool:
    """Return whether two members have the same subscription."""
    at, key = people.wanted
    size = at[member + 1] - at[member]
    if at[other + 1] - at[other] != size:
        return False
    for place in range(size):
        if key[at[member] + place] != key[at[other] + place]:
            return False
    return True


@inlined_kernel
def is_eager(groups: Groups, people: Participants, row: int, owner: Int64) -> bool:
    """Return whether all that owned partitions report none.

    Parameters
    ----------
    row
        Record of a cooperative generation.
    owner : int64
        Its members in the generation before.
    """
    before = groups.tape[groups.at[row] + NUMBER] - 1
    is_eager = False
    for place in range(owner.size):
        member = people.first[row] + place
        if owner[place] >= 0 and _still_holds(people, member, owner[place]):
            dated = groups.tape[people.sent[member] + CLAIM_GENERATION]
            claims = people.claimed.at[member + 1] > people.claimed.at[member]
            if claims or 0 <= dated < before:
                return False
            is_eager = True
    return is_eager


@inlined_kernel
def _still_holds(people: Participants, member: int, former: int) -> bool:
    for place in range(people.held.at[former], people.held.at[former + 1]):
        if wants(people.wanted, member, people.held.key[place]):
            return True
    return False


@inlined_kernel
def disagrees(
    groups: Groups,
    people: Participants,
    member: int,
    former: int,
    is_cooperative: bool,
) -> bool:
    """Return whether a claim differs from the member's partitions of its topics."""
    if former < 0 or not groups.tape[people.sent[member] + REPORTS]:
        return False
    identity = groups.tape[people.place[member] + MEMBER_ID]
    came_back = groups.tape[people.place[former] + MEMBER_ID] != identity
    if came_back and not is_cooperative:
        return False
    claimed, held = people.claimed, people.held
    place, end = claimed.at[member], claimed.at[member + 1]
    other, other_end = held.at[former], held.at[former + 1]
    while True:
        while place < end and not wants(people.wanted, member, claimed.key[place]):
            place += 1
        while other < other_end and not wants(people.wanted, member, held.key[other]):
            other += 1
        if place == end or other == other_end:
            return bool(place < end or other < other_end)
        if claimed.key[place] != held.key[other]:
            return True
        place += 1
        other += 1


@kernel
def withheld(
    people: Participants,
    row: int,
    owner: Int64,
    is_by_claims: bool,
) -> int:
    """Count owned partitions that no member receives, of topics that some one wants."""
    begin, end = people.first[row], people.first[row + 1]
    listed = people.claimed if is_by_claims else people.held
    source = owner
    if is_by_claims:
        source = np.arange(begin, end)
    size = 0
    for member in source:
        if member >= 0:
            size += listed.at[member + 1] - listed.at[member]
    owned = np.empty(size, np.int64)
    put = 0
    for member in source:
        if member >= 0:
            for place in range(listed.at[member], listed.at[member + 1]):
                owned[put] = listed.key[place]
                put += 1
    owned.sort()
    given = people.held.key[people.held.at[begin] : people.held.at[end]].copy()
    given.sort()
    topics = people.wanted.key[people.wanted.at[begin] : people.wanted.at[end]].copy()
    topics.sort()
    count = 0
    for place in range(size):
        key = owned[place]
        if place == 0 or owned[place - 1] != key:
            topic = key & ~NUMBER_MASK
            is_given = is_in(given, START, given.size, key)
            count += not is_given and is_in(topics, START, topics.size, topic)
    return count
