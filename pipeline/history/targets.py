"""Targets of groups of the new protocol (KIP-848): results and state of kernels."""

from __future__ import annotations

from typing import Final, NamedTuple

from pipeline.history.consumer_parts import Parts
from pipeline.history.group_state import ReplayedGroup
from pipeline.history.walked_records import Groups
from rebalance import Bools, Int64, argument

NOTHING, INTERRUPTED, REBALANCED = range(3)
"""Effect of a record on the episode of its group."""
NOT_IN_SOURCE, NO_MEMBERS, NO_PREVIOUS = map(argument, range(3))
"""Why epochs are not judged."""
UNKNOWN_TARGET, NO_TARGET = -1, -2
"""Instead of the target before: it is not in the source; the group had no members."""
BY_MEMBER, BY_ROSTER, BY_REGEX, BEFORE, PRESENT, ASSIGNED, FORMER = range(7)
"""Columns of people: records of the member now and at the group epoch, of its regular
expression, of the target before, of its partitions, and of the target; and the same one
in the target before."""
COLUMNS: Final = 7
LACKING: Final = -2
"""Instead of the record of an expression: there is none."""
HAS_EPOCH, LAST_EPOCH, PREVIOUS, HAS_GAP, UNCONFIRMED = range(5)
"""State of a group beyond its members."""
FOUND, MISSED = range(2)
"""Numbers of targets so far, and of missing ones."""


class Targets(NamedTuple):
    """T complete targets with P people; n records of G groups.

    Attributes
    ----------
    is_sound : bool (G,)
        False: two members have one instance id; the results of the group are wrong.
    action : int64 (n,)
        `NOTHING` and so on.
    seat : int64 (n,)
        Of a record of a member's partitions: its seat (`group_state.seat_of`).
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


class TargetWalk(NamedTuple):
    """The records, and the state of the present group.

    Attributes
    ----------
    groups, parts : Groups, Parts
    rank : int64
        Of each name, among all of them in sorted order.
    found : Targets
    done : int64 (2,)
        `FOUND` and `MISSED`.
    state : ReplayedGroup
    now : int64 (5,)
        `HAS_EPOCH` and so on.
    at_seat : int64 (2, 2*N)
        Room for values by seat; `ABSENT`.
    """

    groups: Groups
    parts: Parts
    rank: Int64
    found: Targets
    done: Int64
    state: ReplayedGroup
    now: Int64
    at_seat: Int64
