"""Members of a target of the new protocol, compiled."""

from __future__ import annotations

import numpy as np

from pipeline.history.group_state import (
    ACTIVE,
    NONE,
    TARGETED,
    ReplayedGroup,
    seat_of,
)
from pipeline.history.key_lists import NUMBER_MASK
from pipeline.history.rosters import Rosters
from pipeline.history.targets import (
    ASSIGNED,
    BEFORE,
    BY_MEMBER,
    BY_REGEX,
    BY_ROSTER,
    FORMER,
    HAS_GAP,
    LACKING,
    PRESENT,
    UNKNOWN_TARGET,
    TargetWalk,
)
from pipeline.records.tape_layout import (
    CURRENT,
    MEMBER_REGEX,
    MEMBER_TOPICS,
    SUBJECT,
    TARGET,
)
from rebalance import ABSENT, Int64, borrowing_kernel, kernel


@borrowing_kernel
def list_people(
    walk: TargetWalk, roster: int, rosters: Rosters, people: Int64, used: int
) -> int:
    """List the members of a roster as they are now; return how many.

    `ABSENT`: not all of them are there. Less: two have the same seat.
    """
    state, at_seat = walk.state, walk.at_seat
    tape, at = walk.groups.tape, walk.groups.at
    if roster < 0:
        return ABSENT
    begin, end = rosters.begin[roster], rosters.middle[roster]
    is_twice = False
    for place in range(state.lengths[ACTIVE]):
        name = state.active[place]
        seat = seat_of(tape, at[state.member[name]])
        is_twice |= at_seat[0, seat] != ABSENT
        at_seat[0, seat] = name
    count = 0
    for place in range(begin, end):
        seat = seat_of(tape, at[rosters.row[place]])
        is_twice |= at_seat[1, seat] != ABSENT
        at_seat[1, seat] = place
        if at_seat[0, seat] >= 0:
            person = people[used + count]
            _describe(state, at_seat[0, seat], person)
            person[BY_ROSTER] = rosters.row[place]
            person[BY_REGEX] = _regex_of(walk, rosters, roster, rosters.row[place])
            count += 1
    for place in range(state.lengths[ACTIVE]):
        at_seat[0, seat_of(tape, at[state.member[state.active[place]]])] = ABSENT
    for place in range(begin, end):
        at_seat[1, seat_of(tape, at[rosters.row[place]])] = ABSENT
    if is_twice:
        return ABSENT - 1
    return count if count == end - begin else ABSENT


@borrowing_kernel
def _describe(state: ReplayedGroup, name: int, person: Int64) -> None:
    """State the records of a member."""
    person[BY_MEMBER], person[PRESENT] = state.member[name], state.present[name]
    person[ASSIGNED], person[FORMER] = state.target[name], ABSENT
    person[BEFORE] = state.before[name]
    if state.before[name] == ABSENT:
        person[BEFORE] = state.target[name]
    elif state.before[name] == NONE:
        person[BEFORE] = ABSENT


@borrowing_kernel
def _regex_of(walk: TargetWalk, rosters: Rosters, roster: int, member: int) -> int:
    """Return the record of a member's expression, `ABSENT` if it has none.

    `LACKING`: there is no record of it.
    """
    tape, at = walk.groups.tape, walk.groups.at
    topics = at[member] + MEMBER_TOPICS
    regex = tape[topics + tape[topics] + MEMBER_REGEX]
    if regex <= 0:
        return ABSENT
    for place in range(rosters.middle[roster], rosters.end[roster]):
        if tape[at[rosters.row[place]] + SUBJECT] == regex:
            return int(rosters.row[place])
    return LACKING


@kernel
def are_all(
    walk: TargetWalk, people: Int64, begin: int, row: int, previous: int
) -> bool:
    """Return whether these are all who have a target, and no others are missing.

    Parameters
    ----------
    people : int64 (count, `COLUMNS`)
    begin
        First record of the group.
    previous
        As of `Targets`.
    """
    have_target = people.shape[0] == walk.state.lengths[TARGETED]
    for person in people:
        have_target &= person[ASSIGNED] >= 0
    if not have_target or not walk.now[HAS_GAP]:
        return bool(have_target)
    for person in people:
        if person[BY_REGEX] == LACKING:
            return False
    if _is_present_unknown(walk, begin, row):
        return False
    return previous != UNKNOWN_TARGET or not _have_holes(walk, begin, row)


@borrowing_kernel
def _is_present_unknown(walk: TargetWalk, begin: int, end: int) -> bool:
    """Return whether any partition of an unknown member is known."""
    state = walk.state
    for row in range(begin, end):
        if walk.groups.kind[row] == CURRENT:
            name = walk.groups.tape[walk.groups.at[row] + SUBJECT]
            if state.present[name] == row and state.member[name] < 0:
                return True
    return False


@kernel
def _have_holes(walk: TargetWalk, begin: int, end: int) -> bool:
    """Return whether a topic has partitions that the targets leave out."""
    at, key = walk.parts.at, walk.parts.key
    size = 0
    for row in range(begin, end):
        size += at[row + 1] - at[row] if _is_target(walk, row) else 0
    keys = np.empty(size, np.int64)
    put = 0
    for row in range(begin, end):
        if _is_target(walk, row):
            listed = key[at[row] : at[row + 1]]
            keys[put : put + listed.size] = listed
            put += listed.size
    keys.sort()
    due = 0  # the next number of the topic
    for place in range(size):
        if place and keys[place] & ~NUMBER_MASK != keys[place - 1] & ~NUMBER_MASK:
            due = 0
        number = keys[place] & NUMBER_MASK
        if number > due:
            return True
        due = number + 1
    return False


@borrowing_kernel
def _is_target(walk: TargetWalk, row: int) -> bool:
    """Return whether a record is the present target of a member."""
    if walk.groups.kind[row] != TARGET:
        return False
    name = walk.groups.tape[walk.groups.at[row] + SUBJECT]
    return bool(walk.state.target[name] == row)


@kernel
def sort_people(walk: TargetWalk, people: Int64) -> None:
    """Sort by member id."""
    ranks = np.empty(people.shape[0], np.int64)
    for place in range(ranks.size):
        member = people[place, BY_MEMBER]
        ranks[place] = walk.rank[walk.groups.tape[walk.groups.at[member] + SUBJECT]]
    people[:] = people[np.argsort(ranks)]


@borrowing_kernel
def find_former(walk: TargetWalk, number: int, previous: int, people: Int64) -> None:
    """Find the people of a target in the one before."""
    if previous < 0:
        return
    tape, at, first = walk.groups.tape, walk.groups.at, walk.found.first
    begin, end = first[previous], first[previous + 1]
    for person in range(begin, end):
        walk.at_seat[0, seat_of(tape, at[people[person, BY_MEMBER]])] = person
    for person in range(first[number], first[number + 1]):
        seat = seat_of(tape, at[people[person, BY_MEMBER]])
        people[person, FORMER] = walk.at_seat[0, seat]
    for person in range(begin, end):
        walk.at_seat[0, seat_of(tape, at[people[person, BY_MEMBER]])] = ABSENT
