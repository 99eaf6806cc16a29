"""Histories of whole groups of the new protocol (KIP-848), compiled: their targets.

`pipeline.history.consumer_history` does the same record by record, and says why.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipeline.history.consumer_parts import Parts
from pipeline.history.group_state import (
    ACTIVE,
    TARGETED,
    new_state,
    replay,
    seat_of,
    start_again,
    start_epoch,
)
from pipeline.history.rosters import (
    MOST,
    Rosters,
    drop_rosters,
    no_rosters,
    roster_of,
    rows_of,
    with_roster,
)
from pipeline.history.target_people import (
    are_all,
    find_former,
    list_people,
    sort_people,
)
from pipeline.history.targets import (
    COLUMNS,
    FOUND,
    HAS_EPOCH,
    HAS_GAP,
    INTERRUPTED,
    LAST_EPOCH,
    MISSED,
    NO_MEMBERS,
    NO_PREVIOUS,
    NO_TARGET,
    NOT_IN_SOURCE,
    NOTHING,
    PREVIOUS,
    REBALANCED,
    UNCONFIRMED,
    UNKNOWN_TARGET,
    Targets,
    TargetWalk,
)
from pipeline.history.walked_records import Groups
from pipeline.records.tape_layout import (
    COMPUTED_AT,
    CURRENT,
    EPOCH,
    EPOCH_NUMBER,
    SUBJECT,
    TARGET_EPOCH,
)
from rebalance import ABSENT, INT64_MAX, Int64, argument, borrowing_kernel, kernel

_ALL: Final = argument(INT64_MAX)
"""Epochs."""
_FIRST: Final = 2
"""`consumer_history._FIRST`."""


def walk_targets(groups: Groups, parts: Parts, rank: Int64) -> Targets:
    """Replay groups, and find their complete targets.

    Parameters
    ----------
    rank : int64
        Of each name, among all of them in sorted order.
    """
    found = _no_targets(groups)
    walk = TargetWalk(
        groups,
        parts,
        rank,
        found,
        np.zeros(2, np.int64),
        new_state(rank.size, groups.kind.size),
        np.zeros(5, np.int64),
        np.full((2, 2 * rank.size), ABSENT, np.int64),
    )
    people = _walk(walk)
    number, missed = walk.done.tolist()
    return found._replace(
        missing=found.missing[:missed],
        row=found.row[:number],
        previous=found.previous[:number],
        is_case=found.is_case[:number],
        first=found.first[: number + 1],
        people=people[: found.first[number]],
    )


def _no_targets(groups: Groups) -> Targets:
    """Return room for all targets that the records can have."""
    records, targets = len(groups.kind), np.count_nonzero(groups.kind == TARGET_EPOCH)
    epochs = targets + np.count_nonzero(groups.kind == EPOCH)
    return Targets(
        np.ones(len(groups.begin), np.bool_),
        np.full(records, NOTHING, np.int64),
        np.zeros(records, np.int64),
        np.empty((epochs, 4), np.int64),
        np.empty(targets, np.int64),
        np.empty(targets, np.int64),
        np.zeros(targets, np.bool_),
        np.zeros(targets + 1, np.int64),
        np.empty((0, COLUMNS), np.int64),
    )


@kernel
def _walk(walk: TargetWalk) -> Int64:
    """Find the targets; return their people."""
    groups = walk.groups
    people = np.empty((1024, COLUMNS), np.int64)
    rosters = no_rosters()
    for group in range(groups.begin.size):
        begin, end = groups.begin[group], groups.end[group]
        _start_again(walk, rosters, begin, end)
        row = _replay(walk, begin, end)
        while row < end:
            kind = groups.kind[row]
            if kind == EPOCH:
                _take_epoch(walk, row)
                rosters = with_roster(rosters, walk.now[LAST_EPOCH], walk.state)
            elif kind == TARGET_EPOCH:
                people = _with_room(walk, people, rows_of(rosters))
                is_sound = _take_target(walk, rosters, people, begin, row)
                walk.found.is_sound[group] &= is_sound
                epoch = groups.tape[groups.at[row] + EPOCH_NUMBER]
                drop_rosters(rosters, epoch)
            else:
                walk.found.action[row] = INTERRUPTED
                _start_again(walk, rosters, begin, row)
            if rows_of(rosters) > MOST:
                walk.found.is_sound[group] = False
                break
            row = _replay(walk, row + 1, end)
    return people


@kernel
def _start_again(walk: TargetWalk, rosters: Rosters, begin: int, end: int) -> None:
    """Forget the records from ``begin`` to ``end``: of another group, or a new one."""
    groups = walk.groups
    start_again(walk.state, groups.kind, groups.at, groups.tape, begin, end)
    drop_rosters(rosters, _ALL)
    walk.now[:] = 0
    walk.now[PREVIOUS] = UNKNOWN_TARGET


@borrowing_kernel
def _replay(walk: TargetWalk, row: int, end: int) -> int:
    """Apply records of members and expressions; return the next one of an epoch."""
    kind, at, tape = walk.groups.kind, walk.groups.at, walk.groups.tape
    while row < end and kind[row] not in (EPOCH, -EPOCH, TARGET_EPOCH):
        replay(walk.state, kind[row], at, tape, row)
        if abs(kind[row]) == CURRENT:
            name = tape[at[row] + SUBJECT]
            member = walk.state.member[name]
            seat = seat_of(tape, at[member]) if member >= 0 else 2 * name
            walk.found.seat[row] = seat
        row += 1
    return row


@kernel
def _with_room(walk: TargetWalk, people: Int64, count: int) -> Int64:
    """Return the people, with room for so many more."""
    used = walk.found.first[walk.done[FOUND]]
    if used + count <= people.shape[0]:
        return people
    found = np.empty((2 * (used + count), COLUMNS), np.int64)
    found[:used] = people[:used]
    return found


@borrowing_kernel
def _miss(walk: TargetWalk, row: int, first: int, last: int, why: int) -> None:
    """End the episode; note the epochs that are not judged, if there are any."""
    walk.found.action[row] = INTERRUPTED
    if first <= last:
        missing = walk.found.missing[walk.done[MISSED]]
        missing[0], missing[1], missing[2], missing[3] = row, first, last, why
        walk.done[MISSED] += 1


@borrowing_kernel
def _take_epoch(walk: TargetWalk, row: int) -> None:
    """Apply a group epoch, as `ConsumerHistory._group` does."""
    now, state = walk.now, walk.state
    epoch = walk.groups.tape[walk.groups.at[row] + EPOCH_NUMBER]
    has_before, before = now[HAS_EPOCH], now[LAST_EPOCH]
    if not has_before and epoch <= _FIRST and not state.lengths[TARGETED]:
        now[PREVIOUS] = NO_TARGET
        now[UNCONFIRMED] = epoch == _FIRST
    elif not has_before or (epoch != before and epoch != before + 1):
        first = before + 1 if has_before else 1
        now[HAS_GAP], now[PREVIOUS] = True, UNKNOWN_TARGET
        _miss(walk, row, first, epoch - 1, NOT_IN_SOURCE)
    now[HAS_EPOCH], now[LAST_EPOCH] = True, epoch
    start_epoch(state)
    if not state.lengths[ACTIVE]:
        walk.found.action[row] = INTERRUPTED
        if now[PREVIOUS] != UNKNOWN_TARGET:
            now[PREVIOUS] = NO_TARGET


@kernel
def _take_target(
    walk: TargetWalk, rosters: Rosters, people: Int64, begin: int, row: int
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
    now, found, number = walk.now, walk.found, walk.done[FOUND]
    place = walk.groups.at[row]
    epoch = walk.groups.tape[place + EPOCH_NUMBER]
    if now[UNCONFIRMED] and not walk.groups.tape[place + COMPUTED_AT]:
        now[HAS_GAP], now[PREVIOUS] = True, UNKNOWN_TARGET
    now[UNCONFIRMED] = False
    previous = now[PREVIOUS]
    now[PREVIOUS] = UNKNOWN_TARGET
    used = found.first[number]
    count = list_people(walk, roster_of(rosters, epoch), rosters, people, used)
    if count >= 0 and not are_all(
        walk, people[used : used + count], begin, row, previous
    ):
        count = ABSENT
    is_incomplete = count < 0
    if not is_incomplete:
        sort_people(walk, people[used : used + count])
        found.row[number], found.previous[number] = row, previous
        found.first[number + 1] = used + count
        walk.done[FOUND] = number + 1
        find_former(walk, number, previous, people)
        now[PREVIOUS] = number
    start_epoch(walk.state)
    if is_incomplete:
        _miss(walk, row, epoch, epoch, NO_MEMBERS)
    elif previous == UNKNOWN_TARGET:
        _miss(walk, row, epoch, epoch, NO_PREVIOUS)
    elif count:
        found.is_case[number] = True
        found.action[row] = REBALANCED
    return count >= ABSENT
