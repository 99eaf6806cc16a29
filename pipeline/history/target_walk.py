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
    GroupState,
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
from rebalance import ABSENT, INT64_MAX, Bools, Int64, kernel

NOTHING, INTERRUPTED, REBALANCED = range(3)
"""What a record does to the episode of its group."""
NOT_IN_SOURCE, NO_MEMBERS, NO_PREVIOUS = range(3)
"""Why epochs are not judged."""
UNKNOWN_TARGET, NO_TARGET = -1, -2
"""Instead of the target before: it is not in the source; the group had no members."""
BY_MEMBER, BY_ROSTER, BY_REGEX, BEFORE, PRESENT, ASSIGNED, FORMER = range(7)
"""Columns of people: records of the member now and at the group epoch, of its regular
expression, of the target before, of what it has, and of the target; and the same one in
the target before."""
COLUMNS: Final = 7
_LACKING: Final = -2
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


@kernel
def walk_targets(groups: Groups, parts: Parts, rank: Int64) -> Targets:
    """Replay groups, and find their complete targets.

    Parameters
    ----------
    rank : int64
        Of each name, among all of them in sorted order.
    """
    kind, at, tape = groups.kind, groups.at, groups.tape
    found = _room(groups)
    state = new_state(rank.size, kind.size)
    at_seat = np.full((2, 2 * rank.size), ABSENT, np.int64)
    people = np.empty((1024, COLUMNS), np.int64)
    rosters = no_rosters()
    done = np.zeros(2, np.int64)
    now = np.zeros(5, np.int64)
    for group in range(groups.begin.size):
        begin, end = groups.begin[group], groups.end[group]
        start_again(state, kind, at, tape, begin, end)
        drop_rosters(rosters, INT64_MAX)
        now[:] = 0
        now[_PREVIOUS] = UNKNOWN_TARGET
        for row in range(begin, end):
            if kind[row] == EPOCH:
                _take_epoch(found, done, state, now, row, tape[at[row] + EPOCH_NUMBER])
                epoch = now[_LAST_EPOCH]
                rosters = with_roster(rosters, epoch, state)
                if rows_of(rosters) > MOST:
                    found.is_sound[group] = False
                    break
            elif kind[row] == TARGET_EPOCH:
                used = found.first[done[_TARGETS]]
                room = used + rows_of(rosters)
                if room > people.shape[0]:
                    more = np.empty((2 * room, COLUMNS), np.int64)
                    more[:used] = people[:used]
                    people = more
                if not _take_target(
                    found, done, groups, parts, state, now, rosters, people, at_seat,
                    rank, begin, row,
                ):  # fmt: skip
                    found.is_sound[group] = False
                    break
                drop_rosters(rosters, tape[at[row] + EPOCH_NUMBER])
            elif kind[row] == -EPOCH:
                found.action[row] = INTERRUPTED
                start_again(state, kind, at, tape, begin, row)
                drop_rosters(rosters, INT64_MAX)
                now[:] = 0
                now[_PREVIOUS] = UNKNOWN_TARGET
            elif abs(kind[row]) in (MEMBER, TARGET, CURRENT, REGEX):
                replay(state, kind[row], at, tape, row)
                if abs(kind[row]) == CURRENT:
                    name = tape[at[row] + SUBJECT]
                    member = state.member[name]
                    found.seat[row] = 2 * name
                    if member >= 0:
                        found.seat[row] = seat_of(tape, at[member])
    targets = done[_TARGETS]
    return Targets(
        found.is_sound,
        found.action,
        found.seat,
        found.missing[: done[_MISSING]].copy(),
        found.row[:targets].copy(),
        found.previous[:targets].copy(),
        found.is_case[:targets].copy(),
        found.first[: targets + 1].copy(),
        people[: found.first[targets]].copy(),
    )


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
def _miss(
    found: Targets, done: Int64, row: int, first: int, last: int, why: int
) -> None:
    """End the episode; note the epochs that are not judged, if there are any."""
    found.action[row] = INTERRUPTED
    if first <= last:
        missing = found.missing[done[_MISSING]]
        missing[0], missing[1], missing[2], missing[3] = row, first, last, why
        done[_MISSING] += 1


@kernel
def _take_epoch(
    found: Targets, done: Int64, state: GroupState, now: Int64, row: int, epoch: int
) -> None:
    """Apply a group epoch, as `ConsumerHistory._group` does."""
    before = now[_LAST_EPOCH]
    first = np.int64(1) if not now[_HAS_EPOCH] else before + 1
    is_first = not now[_HAS_EPOCH] and epoch <= _FIRST and not state.count[TARGETED]
    if is_first:
        now[_PREVIOUS] = NO_TARGET
        now[_UNCONFIRMED] = epoch == _FIRST
    elif not now[_HAS_EPOCH] or (epoch != before and epoch != before + 1):
        now[_HAS_GAP], now[_PREVIOUS] = True, UNKNOWN_TARGET
        _miss(found, done, row, first, epoch - 1, NOT_IN_SOURCE)
    now[_HAS_EPOCH], now[_LAST_EPOCH] = True, epoch
    start_epoch(state)
    if not state.count[ACTIVE]:
        found.action[row] = INTERRUPTED
        if now[_PREVIOUS] != UNKNOWN_TARGET:
            now[_PREVIOUS] = NO_TARGET


@kernel
def _take_target(
    found: Targets,
    done: Int64,
    groups: Groups,
    parts: Parts,
    state: GroupState,
    now: Int64,
    rosters: Rosters,
    people: Int64,
    at_seat: Int64,
    rank: Int64,
    begin: int,
    row: int,
) -> bool:
    """Apply the epoch that completes a target, as `ConsumerHistory._target` does.

    Returns
    -------
    bool
        False: two members have one instance id.
    """
    place = groups.at[row]
    epoch = groups.tape[place + EPOCH_NUMBER]
    if now[_UNCONFIRMED] and not groups.tape[place + COMPUTED_AT]:
        now[_HAS_GAP], now[_PREVIOUS] = True, UNKNOWN_TARGET
    now[_UNCONFIRMED] = False
    previous = now[_PREVIOUS]
    now[_PREVIOUS] = UNKNOWN_TARGET
    number = done[_TARGETS]
    used = found.first[number]
    roster = roster_of(rosters, epoch)
    count = np.int64(ABSENT)
    if roster >= 0:
        count = _list_people(groups, state, rosters, roster, people, used, at_seat)
        if count < ABSENT:
            return False
    if count != state.count[TARGETED] or not _have_targets(people, used, count):
        count = np.int64(ABSENT)
    if count >= 0 and now[_HAS_GAP]:
        is_first = previous == UNKNOWN_TARGET
        is_unsure = _is_unsure(groups, parts, state, begin, row, is_first)
        if is_unsure or (people[used : used + count, BY_REGEX] == _LACKING).any():
            count = np.int64(ABSENT)
    if count < 0:
        start_epoch(state)
        _miss(found, done, row, epoch, epoch, NO_MEMBERS)
        return True
    _sort_people(groups, people, used, count, rank)
    found.row[number], found.previous[number] = row, previous
    found.first[number + 1] = used + count
    done[_TARGETS] = number + 1
    _find_former(found, groups, number, previous, people, at_seat)
    start_epoch(state)
    now[_PREVIOUS] = number
    if previous == UNKNOWN_TARGET:
        _miss(found, done, row, epoch, epoch, NO_PREVIOUS)
    elif count:
        found.is_case[number] = True
        found.action[row] = REBALANCED
    return True


@kernel
def _list_people(
    groups: Groups,
    state: GroupState,
    rosters: Rosters,
    roster: int,
    people: Int64,
    used: int,
    at_seat: Int64,
) -> int:
    """List the members of a roster as they are now; return how many.

    `ABSENT`: not all of them are there. Less: two have the same seat.
    """
    tape, at = groups.tape, groups.at
    begin, end = rosters.begin[roster], rosters.middle[roster]
    is_twice = False
    for place in range(state.count[ACTIVE]):
        name = state.active[place]
        seat = seat_of(tape, at[state.member[name]])
        is_twice = is_twice or at_seat[0, seat] != ABSENT
        at_seat[0, seat] = name
    count = 0
    for place in range(begin, end):
        seat = seat_of(tape, at[rosters.row[place]])
        is_twice = is_twice or at_seat[1, seat] != ABSENT
        at_seat[1, seat] = place
        name = at_seat[0, seat]
        if name >= 0:
            person = people[used + count]
            person[BY_MEMBER], person[BY_ROSTER] = (
                state.member[name],
                rosters.row[place],
            )
            person[BEFORE] = state.before[name]
            if state.before[name] == ABSENT:
                person[BEFORE] = state.target[name]
            elif state.before[name] == NONE:
                person[BEFORE] = ABSENT
            person[PRESENT], person[ASSIGNED] = state.present[name], state.target[name]
            person[FORMER] = ABSENT
            person[BY_REGEX] = _regex_of(groups, rosters, roster, rosters.row[place])
            count += 1
    for place in range(state.count[ACTIVE]):
        at_seat[0, seat_of(tape, at[state.member[state.active[place]]])] = ABSENT
    for place in range(begin, end):
        at_seat[1, seat_of(tape, at[rosters.row[place]])] = ABSENT
    if is_twice:
        return ABSENT - 1
    return count if count == end - begin else ABSENT


@kernel
def _regex_of(groups: Groups, rosters: Rosters, roster: int, member: int) -> int:
    """Return the record of a member's expression, `ABSENT` if it has none.

    `_LACKING`: there is no record of it.
    """
    topics = groups.at[member] + MEMBER_TOPICS
    regex = groups.tape[topics + groups.tape[topics] + MEMBER_REGEX]
    if regex <= 0:
        return ABSENT
    for place in range(rosters.middle[roster], rosters.end[roster]):
        if groups.tape[groups.at[rosters.row[place]] + SUBJECT] == regex:
            return rosters.row[place]
    return _LACKING


@kernel
def _have_targets(people: Int64, used: int, count: int) -> bool:
    """Return whether each of the people has a target."""
    for person in range(used, used + count):
        if people[person, ASSIGNED] < 0:
            return False
    return True


@kernel
def _is_unsure(
    groups: Groups,
    parts: Parts,
    state: GroupState,
    begin: int,
    end: int,
    is_first: bool,
) -> bool:
    """Return whether records of members can be missing (`ConsumerHistory._is_unsure`).

    Parameters
    ----------
    begin, end
        Records of the group so far.
    is_first
        Whether no target before is known.
    """
    size = 0
    for row in range(begin, end):
        name = groups.tape[groups.at[row] + SUBJECT]
        if groups.kind[row] == CURRENT and state.present[name] == row:
            if state.member[name] < 0:
                return True
        if groups.kind[row] == TARGET and state.target[name] == row:
            size += parts.at[row + 1] - parts.at[row]
    if not is_first:
        return False
    keys = np.empty(size, np.int64)
    put = 0
    for row in range(begin, end):
        if groups.kind[row] == TARGET:
            if state.target[groups.tape[groups.at[row] + SUBJECT]] == row:
                for place in range(parts.at[row], parts.at[row + 1]):
                    keys[put] = parts.key[place]
                    put += 1
    keys.sort()
    due = np.int64(0)  # the next number of the topic
    for place in range(size):
        if place and keys[place] & ~NUMBER_MASK != keys[place - 1] & ~NUMBER_MASK:
            due = np.int64(0)
        number = keys[place] & NUMBER_MASK
        if number > due:
            return True
        due = number + 1
    return False


@kernel
def _sort_people(
    groups: Groups, people: Int64, used: int, count: int, rank: Int64
) -> None:
    """Sort by member id."""
    ranks = np.empty(count, np.int64)
    for place in range(count):
        member = people[used + place, BY_MEMBER]
        ranks[place] = rank[groups.tape[groups.at[member] + SUBJECT]]
    people[used : used + count] = people[used : used + count][np.argsort(ranks)]


@kernel
def _find_former(
    found: Targets,
    groups: Groups,
    number: int,
    previous: int,
    people: Int64,
    at_seat: Int64,
) -> None:
    if previous < 0:
        return
    begin, end = found.first[previous], found.first[previous + 1]
    for person in range(begin, end):
        seat = seat_of(groups.tape, groups.at[people[person, BY_MEMBER]])
        at_seat[0, seat] = person
    for person in range(found.first[number], found.first[number + 1]):
        seat = seat_of(groups.tape, groups.at[people[person, BY_MEMBER]])
        people[person, FORMER] = at_seat[0, seat]
    for person in range(begin, end):
        seat = seat_of(groups.tape, groups.at[people[person, BY_MEMBER]])
        at_seat[0, seat] = ABSENT
