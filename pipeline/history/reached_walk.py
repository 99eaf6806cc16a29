"""Progress of whole groups to their targets, compiled: their episodes.

Also the time in which partitions had no owner. `pipeline.history.reconciliation` and
`unowned` do the same record by record, and say why.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.consumer_parts import Parts, are_equal
from pipeline.history.group_state import seat_of
from pipeline.history.targets import (
    ASSIGNED,
    BEFORE,
    BY_MEMBER,
    INTERRUPTED,
    PRESENT,
    REBALANCED,
    Targets,
)
from pipeline.history.walked_records import (
    AT_REST,
    GOES_ON,
    IS_KNOWN,
    LEFT_OPEN,
    Groups,
    why_unknown,
)
from pipeline.records.tape_layout import CURRENT, START, SUBJECT
from rebalance import ABSENT, Int64, argument, borrowing_kernel


class Reached(NamedTuple):
    """Of T targets that are cases (the others have no meaning); P people.

    Attributes
    ----------
    round, first : int64 (T,)
        In the episode, and the target that it began with.
    end : int64 (T,)
        `GOES_ON` and so on.
    behind : int64 (T,)
        Members that had not reached the target when the next one was computed.
    took, took_why : int64 (T,)
        Milliseconds until all had, if they did; `IS_KNOWN` and so on.
    unowned, unowned_why : int64 (T,)
        Of an episode that ends: milliseconds times partitions.
    began_as : int64 (P,)
        The same one of the first target, where an episode of several rounds ends;
        `ABSENT`: none.
    """

    round: Int64
    first: Int64
    end: Int64
    behind: Int64
    took: Int64
    took_why: Int64
    unowned: Int64
    unowned_why: Int64
    began_as: Int64


class _Progress(NamedTuple):
    """The unfinished episode, and the partitions without an owner.

    Attributes
    ----------
    target : int64 (2*N,)
        By seat: record of its part of the latest target.
    of : int64 (2*N,)
        By seat: target that this is of.
    is_behind : int64 (2*N,)
    holds : int64 (N,)
        By member: record of its partitions; `ABSENT`: nothing.
    free : int64 (K,)
        Record since which a partition has no owner; `ABSENT`: it has one.
    wanted : int64 (K,)
        Latest target that gives the partition to a member.
    freed : int64
        Partitions of which ``free`` can be set.
    now : int64 (5,)
        `_NOW` and so on.
    """

    target: Int64
    of: Int64
    is_behind: Int64
    holds: Int64
    free: Int64
    wanted: Int64
    freed: Int64
    now: Int64


_NOW, _BEHIND, _FREED, _UNOWNED, _WHY = range(5)
"""Target of the episode, or `ABSENT`; members behind; length of ``freed``; and the time
without owner so far, with the reason why it is not known."""


_REST, _OPEN = argument(AT_REST), argument(LEFT_OPEN)


def walk_reached(groups: Groups, parts: Parts, targets: Targets, names: int) -> Reached:
    """Follow the members of groups to their targets.

    Parameters
    ----------
    names
        Number of distinct names.
    """
    count, people = len(targets.row), len(targets.people)
    found = Reached(
        round=np.ones(count, np.int64),
        first=np.arange(count),
        end=np.zeros(count, np.int64),
        behind=np.zeros(count, np.int64),
        took=np.zeros(count, np.int64),
        took_why=np.zeros(count, np.int64),
        unowned=np.zeros(count, np.int64),
        unowned_why=np.zeros(count, np.int64),
        began_as=np.full(people, ABSENT, np.int64),
    )
    slots = int(parts.slot.max(initial=-1)) + 1
    running = _Progress(
        target=np.full(2 * names, ABSENT, np.int64),
        of=np.full(2 * names, ABSENT, np.int64),
        is_behind=np.zeros(2 * names, np.int64),
        holds=np.full(names, ABSENT, np.int64),
        free=np.full(slots, ABSENT, np.int64),
        wanted=np.full(slots, ABSENT, np.int64),
        freed=np.empty(parts.slot.size, np.int64),
        now=np.zeros(5, np.int64),
    )
    _walk(groups, parts, targets, found, running)
    return found


@borrowing_kernel
def _walk(
    groups: Groups,
    parts: Parts,
    targets: Targets,
    found: Reached,
    running: _Progress,
) -> None:
    number = START  # of the next target
    for group in range(groups.begin.size):
        begin, end = groups.begin[group], groups.end[group]
        _start_again(running, groups, begin, end)
        for row in range(begin, end):
            if targets.action[row] == INTERRUPTED:
                _interrupt(found, running)
            elif targets.action[row] == REBALANCED:
                while targets.row[number] != row:
                    number += 1
                _add(found, running, groups, parts, targets, number, row)
            if abs(groups.kind[row]) == CURRENT:
                _move(found, running, groups, parts, targets, row)
        _interrupt(found, running)
    _find_begins(found, groups, targets, running.of)


@borrowing_kernel
def _start_again(running: _Progress, groups: Groups, begin: int, end: int) -> None:
    """Begin a group."""
    running.now[_NOW] = ABSENT
    for row in range(begin, end):
        if abs(groups.kind[row]) == CURRENT:
            running.holds[groups.tape[groups.at[row] + SUBJECT]] = ABSENT


@borrowing_kernel
def _interrupt(found: Reached, running: _Progress) -> None:
    """End the unfinished episode, if there is one: the group is empty or ends."""
    if running.now[_NOW] != ABSENT:
        _end(found, running, _OPEN)
    _reset(running)


@borrowing_kernel
def _end(found: Reached, running: _Progress, end: int) -> None:
    target = running.now[_NOW]
    found.end[target], found.behind[target] = end, running.now[_BEHIND]
    found.unowned[target] = running.now[_UNOWNED]
    found.unowned_why[target] = running.now[_WHY]
    running.now[_NOW] = ABSENT


@borrowing_kernel
def _reset(running: _Progress) -> None:
    for place in range(running.now[_FREED]):
        running.free[running.freed[place]] = ABSENT
    running.now[_FREED] = running.now[_UNOWNED] = 0
    running.now[_WHY] = IS_KNOWN


@borrowing_kernel
def _add(
    found: Reached,
    running: _Progress,
    groups: Groups,
    parts: Parts,
    targets: Targets,
    number: int,
    row: int,
) -> None:
    """Go on with a target; the one before was not reached."""
    last = running.now[_NOW]
    if last != ABSENT:
        found.behind[last] = running.now[_BEHIND]
        found.first[number] = found.first[last]
        found.round[number] = found.round[last] + 1
    running.now[_NOW], running.now[_BEHIND] = number, 0
    for person in range(targets.first[number], targets.first[number + 1]):
        of = targets.people[person]
        seat = seat_of(groups.tape, groups.at[of[BY_MEMBER]])
        running.target[seat], running.of[seat] = of[ASSIGNED], number
        is_behind = not _has_reached(parts, of[PRESENT], of[ASSIGNED])
        running.is_behind[seat] = is_behind
        running.now[_BEHIND] += is_behind
        for place in range(parts.at[of[ASSIGNED]], parts.at[of[ASSIGNED] + 1]):
            running.wanted[parts.slot[place]] = number
    for place in range(running.now[_FREED]):
        if running.wanted[running.freed[place]] != number:
            running.free[running.freed[place]] = ABSENT
    _end_if_reached(found, running, groups, targets, row)


@borrowing_kernel
def _has_reached(parts: Parts, present: int, target: int) -> bool:
    if present < 0:
        return bool(parts.at[target] == parts.at[target + 1])
    return bool(parts.is_settled[present]) and are_equal(parts, present, target)


@borrowing_kernel
def _end_if_reached(
    found: Reached, running: _Progress, groups: Groups, targets: Targets, row: int
) -> None:
    number = running.now[_NOW]
    if number == ABSENT or running.now[_BEHIND]:
        return
    began = targets.row[number]
    why = why_unknown(groups, began) or why_unknown(groups, row)
    found.took_why[number] = why
    found.took[number] = 0 if why else groups.time[row] - groups.time[began]
    _end(found, running, _REST)
    _reset(running)


@borrowing_kernel
def _move(
    found: Reached,
    running: _Progress,
    groups: Groups,
    parts: Parts,
    targets: Targets,
    row: int,
) -> None:
    """Apply the partitions of a member: nothing after a tombstone."""
    present = row if groups.kind[row] == CURRENT else ABSENT
    name = groups.tape[groups.at[row] + SUBJECT]
    former, running.holds[name] = running.holds[name], present
    _pass_on(running, groups, parts, former, present, row)
    number, seat = running.now[_NOW], targets.seat[row]
    if number == ABSENT or present < 0 or running.of[seat] != number:
        return
    is_behind = not _has_reached(parts, present, running.target[seat])
    running.now[_BEHIND] += is_behind - running.is_behind[seat]
    running.is_behind[seat] = is_behind
    _end_if_reached(found, running, groups, targets, row)


@borrowing_kernel
def _pass_on(
    running: _Progress,
    groups: Groups,
    parts: Parts,
    former: int,
    present: int,
    row: int,
) -> None:
    """Free the partitions that a member has no more; count the wait of the others."""
    place, end = parts.at[max(former, 0)], parts.at[max(former, 0) + (former >= 0)]
    other, stop = parts.at[max(present, 0)], parts.at[max(present, 0) + (present >= 0)]
    while place < end or other < stop:
        if other == stop or (place < end and parts.slot[place] < parts.slot[other]):
            running.free[parts.slot[place]] = row
            running.freed[running.now[_FREED]] = parts.slot[place]
            running.now[_FREED] += 1
            place += 1
        elif place == end or parts.slot[other] < parts.slot[place]:
            since = running.free[parts.slot[other]]
            running.free[parts.slot[other]] = ABSENT
            if since != ABSENT and not running.now[_WHY]:
                why = why_unknown(groups, since) or why_unknown(groups, row)
                running.now[_WHY] = why
                waited = 0 if why else groups.time[row] - groups.time[since]
                running.now[_UNOWNED] += waited
            other += 1
        else:
            place += 1
            other += 1


@borrowing_kernel
def _find_begins(
    found: Reached, groups: Groups, targets: Targets, at_seat: Int64
) -> None:
    """Find the members of ended episodes in their first targets."""
    at_seat[:] = ABSENT
    for number in range(targets.row.size):
        if found.end[number] == GOES_ON or found.round[number] == 1:
            continue
        first = found.first[number]
        begin, end = targets.first[first], targets.first[first + 1]
        for person in range(begin, end):
            if targets.people[person, BEFORE] >= 0:
                member = targets.people[person, BY_MEMBER]
                at_seat[seat_of(groups.tape, groups.at[member])] = person
        for person in range(targets.first[number], targets.first[number + 1]):
            member = targets.people[person, BY_MEMBER]
            seat = seat_of(groups.tape, groups.at[member])
            found.began_as[person] = at_seat[seat]
        for person in range(begin, end):
            member = targets.people[person, BY_MEMBER]
            at_seat[seat_of(groups.tape, groups.at[member])] = ABSENT
