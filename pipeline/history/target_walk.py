"""Histories of whole groups of the new protocol (KIP-848), compiled: their targets.

`pipeline.history.consumer_history` does the same record by record, and says why.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipeline.history.consumer_parts import Parts
from pipeline.history.generation_walk import Groups
from pipeline.history.group_state import (
    ACTIVE,
    NONE,
    TARGETED,
    ReplayedGroup,
    new_state,
    replay,
    seat_of,
    start_again,
    start_epoch,
)
from pipeline.history.participants import NUMBER_MASK
from pipeline.history.rosters import (
    MOST,
    Rosters,
    drop_rosters,
    no_rosters,
    roster_of,
    rows_of,
    with_roster,
)
from pipeline.records.tape_layout import (
    COMPUTED_AT,
    CURRENT,
    EPOCH,
    EPOCH_NUMBER,
    MEMBER,
    MEMBER_REGEX,
    MEMBER_TOPICS,
    REGEX,
    SUBJECT,
    TARGET,
    TARGET_EPOCH,
)
from rebalance import ABSENT, INT64_MAX, Bools, Int64, argument, kernel

NOTHING, INTERRUPTED, REBALANCED = range(3)
"""What a record does to the episode of its group."""
NOT_IN_SOURCE, NO_MEMBERS, NO_PREVIOUS = map(argument, range(3))
"""Why epochs are not judged."""
UNKNOWN_TARGET, NO_TARGET = -1, -2
"""Instead of the target before: it is not in the source; the group had no members."""
BY_MEMBER, BY_ROSTER, BY_REGEX, BEFORE, PRESENT, ASSIGNED, FORMER = range(7)
"""Columns of people: records of the member now and at the group epoch, of its regular
expression, of the target before, of what it has, and of the target; and the same one in
the target before."""
COLUMNS: Final = 7
_LACKING: Final = -2
_ALL: Final = argument(INT64_MAX)
"""Epochs."""
_FIRST: Final = 2
"""`consumer_history._FIRST`."""
_HAS_EPOCH, _LAST_EPOCH, _PREVIOUS, _HAS_GAP, _UNCONFIRMED = range(5)
"""What is known of a group besides its members."""
_TARGETS, _MISSING = range(2)


class Targets(NamedTuple):
    """T complete targets with P people; n records of G groups.

    Attributes
    ----------
    is_sound : bool (G,)
        False: two members have one instance id; what is found of the group is wrong.
    action : int64 (n,)
        `NOTHING` and so on.
    seat : int64 (n,)
        Of a record of what a member has: its seat (`group_state.seat_of`).
    missing : int64 (…, 4)
        Epochs that are not judged: record, first, last, and why.
    row, previous : int64 (T,)
        Record; target before, or `NO_TARGET`, or `UNKNOWN_TARGET`.
    is_case : bool (T,)
        Whether it is judged: the target before is known, and there are members.
    first : int64 (T+1,)
        People of a target, by member id.
    people : int64 (P, `COLUMNS`)
    """

    is_sound: Bools
    action: Int64
    seat: Int64
    missing: Int64
    row: Int64
    previous: Int64
    is_case: Bools
    first: Int64
    people: Int64


class _Walk(NamedTuple):
    """What is read, and the state of the present group.

    Attributes
    ----------
    groups, parts : Groups, Parts
    rank : int64
        Of each name, among all of them in sorted order.
    found : Targets
    done : int64 (2,)
        Targets so far, and `Targets.missing`.
    state : ReplayedGroup
    now : int64 (5,)
        `_HAS_EPOCH` and so on.
    at_seat : int64 (2, 2*N)
        Room for what is known by seat; `ABSENT`.
    """

    groups: Groups
    parts: Parts
    rank: Int64
    found: Targets
    done: Int64
    state: ReplayedGroup
    now: Int64
    at_seat: Int64


@kernel
def walk_targets(groups: Groups, parts: Parts, rank: Int64) -> Targets:
    """Replay groups, and find their complete targets.

    Parameters
    ----------
    rank : int64
        Of each name, among all of them in sorted order.
    """
    walk = _Walk(
        groups,
        parts,
        rank,
        _room(groups),
        np.zeros(2, np.int64),
        new_state(rank.size, groups.kind.size),
        np.zeros(5, np.int64),
        np.full((2, 2 * rank.size), ABSENT, np.int64),
    )
    people = np.empty((1024, COLUMNS), np.int64)
    rosters = no_rosters()
    for group in range(groups.begin.size):
        begin, end = groups.begin[group], groups.end[group]
        _start_again(walk, rosters, begin, end)
        for row in range(begin, end):
            kind = groups.kind[row]
            if kind == EPOCH:
                _take_epoch(walk, row)
                rosters = with_roster(rosters, walk.now[_LAST_EPOCH], walk.state)
            elif kind == TARGET_EPOCH:
                people = _with_room(walk, people, rows_of(rosters))
                is_sound = _take_target(walk, rosters, people, begin, row)
                walk.found.is_sound[group] &= is_sound
                epoch = groups.tape[groups.at[row] + EPOCH_NUMBER]
                drop_rosters(rosters, epoch)
            elif kind == -EPOCH:
                walk.found.action[row] = INTERRUPTED
                _start_again(walk, rosters, begin, row)
            elif abs(kind) in (MEMBER, TARGET, CURRENT, REGEX):
                _replay(walk, row)
            if rows_of(rosters) > MOST:
                walk.found.is_sound[group] = False
                break
    return _cut(walk, people)


@kernel
def _start_again(walk: _Walk, rosters: Rosters, begin: int, end: int) -> None:
    """Forget the records from ``begin`` to ``end``: of another group, or a new one."""
    groups = walk.groups
    start_again(walk.state, groups.kind, groups.at, groups.tape, begin, end)
    drop_rosters(rosters, _ALL)
    walk.now[:] = 0
    walk.now[_PREVIOUS] = UNKNOWN_TARGET


@kernel
def _replay(walk: _Walk, row: int) -> None:
    kind, at, tape = walk.groups.kind, walk.groups.at, walk.groups.tape
    replay(walk.state, kind[row], at, tape, row)
    if abs(kind[row]) == CURRENT:
        name = tape[at[row] + SUBJECT]
        member = walk.state.member[name]
        walk.found.seat[row] = seat_of(tape, at[member]) if member >= 0 else 2 * name


@kernel
def _with_room(walk: _Walk, people: Int64, count: int) -> Int64:
    """Return the people, with room for so many more."""
    used = walk.found.first[walk.done[_TARGETS]]
    if used + count <= people.shape[0]:
        return people
    found = np.empty((2 * (used + count), COLUMNS), np.int64)
    found[:used] = people[:used]
    return found


@kernel
def _room(groups: Groups) -> Targets:
    targets = missing = 0
    for row in range(groups.kind.size):
        targets += groups.kind[row] == TARGET_EPOCH
        missing += groups.kind[row] in (EPOCH, TARGET_EPOCH)
    return Targets(
        np.ones(groups.begin.size, np.bool_),
        np.full(groups.kind.size, NOTHING, np.int64),
        np.zeros(groups.kind.size, np.int64),
        np.empty((missing, 4), np.int64),
        np.empty(targets, np.int64),
        np.empty(targets, np.int64),
        np.zeros(targets, np.bool_),
        np.zeros(targets + 1, np.int64),
        np.empty((0, COLUMNS), np.int64),
    )


@kernel
def _cut(walk: _Walk, people: Int64) -> Targets:
    found, targets = walk.found, walk.done[_TARGETS]
    return Targets(
        found.is_sound,
        found.action,
        found.seat,
        found.missing[: walk.done[_MISSING]].copy(),
        found.row[:targets].copy(),
        found.previous[:targets].copy(),
        found.is_case[:targets].copy(),
        found.first[: targets + 1].copy(),
        people[: found.first[targets]].copy(),
    )


@kernel
def _miss(walk: _Walk, row: int, first: int, last: int, why: int) -> None:
    """End the episode; note the epochs that are not judged, if there are any."""
    walk.found.action[row] = INTERRUPTED
    if first <= last:
        missing = walk.found.missing[walk.done[_MISSING]]
        missing[0], missing[1], missing[2], missing[3] = row, first, last, why
        walk.done[_MISSING] += 1


@kernel
def _take_epoch(walk: _Walk, row: int) -> None:
    """Apply a group epoch, as `ConsumerHistory._group` does."""
    now, state = walk.now, walk.state
    epoch = walk.groups.tape[walk.groups.at[row] + EPOCH_NUMBER]
    has_before, before = now[_HAS_EPOCH], now[_LAST_EPOCH]
    if not has_before and epoch <= _FIRST and not state.lengths[TARGETED]:
        now[_PREVIOUS] = NO_TARGET
        now[_UNCONFIRMED] = epoch == _FIRST
    elif not has_before or (epoch != before and epoch != before + 1):
        first = before + 1 if has_before else 1
        now[_HAS_GAP], now[_PREVIOUS] = True, UNKNOWN_TARGET
        _miss(walk, row, first, epoch - 1, NOT_IN_SOURCE)
    now[_HAS_EPOCH], now[_LAST_EPOCH] = True, epoch
    start_epoch(state)
    if not state.lengths[ACTIVE]:
        walk.found.action[row] = INTERRUPTED
        if now[_PREVIOUS] != UNKNOWN_TARGET:
            now[_PREVIOUS] = NO_TARGET


@kernel
def _take_target(
    walk: _Walk, rosters: Rosters, people: Int64, begin: int, row: int
) -> bool:
    """Apply the epoch that completes a target, as `ConsumerHistory._target` does.

    Parameters
    ----------
    begin
        First record of the group.

    Returns
    -------
    bool
        False: two members have one instance id.
    """
    now, found, number = walk.now, walk.found, walk.done[_TARGETS]
    place = walk.groups.at[row]
    epoch = walk.groups.tape[place + EPOCH_NUMBER]
    if now[_UNCONFIRMED] and not walk.groups.tape[place + COMPUTED_AT]:
        now[_HAS_GAP], now[_PREVIOUS] = True, UNKNOWN_TARGET
    now[_UNCONFIRMED] = False
    previous = now[_PREVIOUS]
    now[_PREVIOUS] = UNKNOWN_TARGET
    used = found.first[number]
    count = _list_people(walk, roster_of(rosters, epoch), rosters, people, used)
    if count >= 0 and not _are_all(
        walk, people[used : used + count], begin, row, previous
    ):
        count = ABSENT
    is_incomplete = count < 0
    if not is_incomplete:
        _sort_people(walk, people[used : used + count])
        found.row[number], found.previous[number] = row, previous
        found.first[number + 1] = used + count
        walk.done[_TARGETS] = number + 1
        _find_former(walk, number, previous, people)
        now[_PREVIOUS] = number
    start_epoch(walk.state)
    if is_incomplete:
        _miss(walk, row, epoch, epoch, NO_MEMBERS)
    elif previous == UNKNOWN_TARGET:
        _miss(walk, row, epoch, epoch, NO_PREVIOUS)
    elif count:
        found.is_case[number] = True
        found.action[row] = REBALANCED
    return count >= ABSENT


@kernel
def _list_people(
    walk: _Walk, roster: int, rosters: Rosters, people: Int64, used: int
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


@kernel
def _describe(state: ReplayedGroup, name: int, person: Int64) -> None:
    """State the records of a member."""
    person[BY_MEMBER], person[PRESENT] = state.member[name], state.present[name]
    person[ASSIGNED], person[FORMER] = state.target[name], ABSENT
    person[BEFORE] = state.before[name]
    if state.before[name] == ABSENT:
        person[BEFORE] = state.target[name]
    elif state.before[name] == NONE:
        person[BEFORE] = ABSENT


@kernel
def _regex_of(walk: _Walk, rosters: Rosters, roster: int, member: int) -> int:
    """Return the record of a member's expression, `ABSENT` if it has none.

    `_LACKING`: there is no record of it.
    """
    tape, at = walk.groups.tape, walk.groups.at
    topics = at[member] + MEMBER_TOPICS
    regex = tape[topics + tape[topics] + MEMBER_REGEX]
    if regex <= 0:
        return ABSENT
    for place in range(rosters.middle[roster], rosters.end[roster]):
        if tape[at[rosters.row[place]] + SUBJECT] == regex:
            return int(rosters.row[place])
    return _LACKING


@kernel
def _are_all(walk: _Walk, people: Int64, begin: int, row: int, previous: int) -> bool:
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
    if not have_target or not walk.now[_HAS_GAP]:
        return bool(have_target)
    for person in people:
        if person[BY_REGEX] == _LACKING:
            return False
    if _is_present_unknown(walk, begin, row):
        return False
    return previous != UNKNOWN_TARGET or not _have_holes(walk, begin, row)


@kernel
def _is_present_unknown(walk: _Walk, begin: int, end: int) -> bool:
    """Return whether something is known of what an unknown member has."""
    state = walk.state
    for row in range(begin, end):
        if walk.groups.kind[row] == CURRENT:
            name = walk.groups.tape[walk.groups.at[row] + SUBJECT]
            if state.present[name] == row and state.member[name] < 0:
                return True
    return False


@kernel
def _have_holes(walk: _Walk, begin: int, end: int) -> bool:
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


@kernel
def _is_target(walk: _Walk, row: int) -> bool:
    """Return whether a record is the present target of a member."""
    if walk.groups.kind[row] != TARGET:
        return False
    name = walk.groups.tape[walk.groups.at[row] + SUBJECT]
    return bool(walk.state.target[name] == row)


@kernel
def _sort_people(walk: _Walk, people: Int64) -> None:
    """Sort by member id."""
    ranks = np.empty(people.shape[0], np.int64)
    for place in range(ranks.size):
        member = people[place, BY_MEMBER]
        ranks[place] = walk.rank[walk.groups.tape[walk.groups.at[member] + SUBJECT]]
    people[:] = people[np.argsort(ranks)]


@kernel
def _find_former(walk: _Walk, number: int, previous: int, people: Int64) -> None:
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
