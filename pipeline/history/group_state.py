"""State of one group of the new protocol (KIP-848), replayed by kernels.

`pipeline.history.consumer_state` does the same record by record, and says why. A value
is the record that states it; members, instances, and expressions are numbers of names.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipeline.records.tape_layout import (
    CURRENT,
    MEMBER,
    MEMBER_INSTANCE,
    REGEX,
    SUBJECT,
    TARGET,
)
from rebalance import ABSENT, Bools, Int64, borrowing_kernel, inlined_kernel, kernel

NONE: Final = -2
"""A member had no target before."""
ACTIVE, REPLACED, GONE, TARGETED, EXPRESSIONS = range(5)
"""Places in ``lengths`` of a `ReplayedGroup`."""


class ReplayedGroup(NamedTuple):
    """Records by name (N of them), and lists of names.

    Attributes
    ----------
    member, target, present, regex : int64 (N,)
        Records of a member, or of a regular expression; `ABSENT`: none.
    before : int64 (N,)
        Target that was replaced since the last epoch; `NONE`: there was none;
        `ABSENT`: it was not replaced.
    left : int64 (N,)
        By instance: target of a member that is gone since the last epoch.
    active, place : int64 (N,)
        The members, in any order, and where each is among them.
    expressions : int64 (N,)
        All regular expressions that had a record.
    is_listed : bool (N,)
        Whether a name is among them.
    replaced, gone : int64
        NameTable of which ``before`` and ``left`` can be set.
    lengths : int64 (5,)
        How many members are active, the lengths of the other lists, and how many
        members have a target.
    """

    member: Int64
    target: Int64
    present: Int64
    regex: Int64
    before: Int64
    left: Int64
    active: Int64
    place: Int64
    expressions: Int64
    is_listed: Bools
    replaced: Int64
    gone: Int64
    lengths: Int64


def new_state(names: int, records: int) -> ReplayedGroup:
    """Return the state before any record."""
    return ReplayedGroup(
        member=np.full(names, ABSENT, np.int64),
        target=np.full(names, ABSENT, np.int64),
        present=np.full(names, ABSENT, np.int64),
        regex=np.full(names, ABSENT, np.int64),
        before=np.full(names, ABSENT, np.int64),
        left=np.full(names, ABSENT, np.int64),
        active=np.zeros(names, np.int64),
        place=np.full(names, ABSENT, np.int64),
        expressions=np.zeros(names, np.int64),
        is_listed=np.zeros(names, np.bool_),
        replaced=np.zeros(records, np.int64),
        gone=np.zeros(records, np.int64),
        lengths=np.zeros(5, np.int64),
    )


@borrowing_kernel
def seat_of(tape: Int64, place: int) -> int:
    """Return a number for the instance of a member on the tape, else for its id.

    The instance id identifies a static member (KIP-345).
    """
    instance = tape[place + MEMBER_INSTANCE]
    return int(2 * instance + 1 if instance > 0 else 2 * tape[place + SUBJECT])


@kernel
def start_again(
    state: ReplayedGroup, kind: Int64, at: Int64, tape: Int64, begin: int, end: int
) -> None:
    """Forget the values that some records have set."""
    start_epoch(state)
    for place in range(state.lengths[ACTIVE]):
        state.place[state.active[place]] = ABSENT
    for row in range(begin, end):
        if abs(kind[row]) in (MEMBER, TARGET, CURRENT, REGEX):
            name = tape[at[row] + SUBJECT]
            state.member[name] = state.target[name] = state.present[name] = ABSENT
            state.regex[name], state.is_listed[name] = ABSENT, False
    state.lengths[:] = 0


@borrowing_kernel
def start_epoch(state: ReplayedGroup) -> None:
    """Begin the next assignment: earlier records do not belong to it."""
    for place in range(state.lengths[REPLACED]):
        state.before[state.replaced[place]] = ABSENT
    for place in range(state.lengths[GONE]):
        state.left[state.gone[place]] = ABSENT
    state.lengths[REPLACED] = state.lengths[GONE] = 0


@inlined_kernel
def replay(state: ReplayedGroup, kind: int, at: Int64, tape: Int64, row: int) -> None:
    """Apply a record of a member or an expression, or its tombstone."""
    name = tape[at[row] + SUBJECT]
    if kind == MEMBER:
        _activate(state, name)
        state.member[name] = row
    elif kind == -MEMBER:
        _deactivate(state, name)
        state.member[name] = ABSENT
    elif kind == TARGET:
        _replace_target(state, at, tape, name, row)
    elif kind == -TARGET:
        _forget_target(state, at, tape, name)
    elif kind == CURRENT:
        state.present[name] = row
    elif kind == -CURRENT:
        state.present[name] = ABSENT
    elif kind == -REGEX:
        state.regex[name] = ABSENT
    elif kind == REGEX:
        state.regex[name] = row
        if not state.is_listed[name]:
            state.is_listed[name] = True
            state.expressions[state.lengths[EXPRESSIONS]] = name
            state.lengths[EXPRESSIONS] += 1


@inlined_kernel
def _activate(state: ReplayedGroup, name: int) -> None:
    if state.place[name] == ABSENT:
        state.place[name] = state.lengths[ACTIVE]
        state.active[state.lengths[ACTIVE]] = name
        state.lengths[ACTIVE] += 1


@inlined_kernel
def _deactivate(state: ReplayedGroup, name: int) -> None:
    place = state.place[name]
    if place != ABSENT:
        state.lengths[ACTIVE] -= 1
        last = state.active[state.lengths[ACTIVE]]
        state.active[place], state.place[last] = last, place
        state.place[name] = ABSENT


@inlined_kernel
def _replace_target(
    state: ReplayedGroup, at: Int64, tape: Int64, name: int, row: int
) -> None:
    """Keep the target before: a member that returns takes over that of its instance."""
    if state.before[name] == ABSENT:
        state.before[name] = state.target[name] if state.target[name] >= 0 else NONE
        state.replaced[state.lengths[REPLACED]] = name
        state.lengths[REPLACED] += 1
    instance = _instance(state, at, tape, name)
    if instance and state.left[instance] != ABSENT:
        state.before[name], state.left[instance] = state.left[instance], ABSENT
    state.lengths[TARGETED] += state.target[name] < 0
    state.target[name] = row


@inlined_kernel
def _forget_target(state: ReplayedGroup, at: Int64, tape: Int64, name: int) -> None:
    held, state.target[name] = state.target[name], ABSENT
    state.lengths[TARGETED] -= held >= 0
    state.before[name] = ABSENT
    instance = _instance(state, at, tape, name)
    if held >= 0 and instance:
        state.left[instance] = held
        state.gone[state.lengths[GONE]] = instance
        state.lengths[GONE] += 1


@inlined_kernel
def _instance(state: ReplayedGroup, at: Int64, tape: Int64, name: int) -> int:
    """Return the instance of a member; 0 if it has none, or is not known."""
    row = state.member[name]
    return max(tape[at[row] + MEMBER_INSTANCE], 0) if row >= 0 else 0
