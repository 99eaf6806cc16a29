"""Members and regular expressions at group epochs, until their targets: for kernels."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipeline.history.group_state import ACTIVE, EXPRESSIONS, ReplayedGroup
from rebalance import ABSENT, Int64, borrowing_kernel, kernel

_COUNT, _USED = range(2)
MOST: Final = 1 << 22
"""Members of all rosters of a group; there are never so many, but in damaged files."""


class Rosters(NamedTuple):
    """Rosters of one group.

    Attributes
    ----------
    epoch, begin, middle, end : int64
        Of each: its epoch, `ABSENT` if it is not used any more, and its rows.
    row : int64
        Records of members and then, from the middle on, of expressions.
    lengths : int64 (2,)
        Rosters and rows.
    """

    epoch: Int64
    begin: Int64
    middle: Int64
    end: Int64
    row: Int64
    lengths: Int64


@kernel
def no_rosters() -> Rosters:
    """Return room for some."""
    return Rosters(
        np.empty(16, np.int64),
        np.empty(16, np.int64),
        np.empty(16, np.int64),
        np.empty(16, np.int64),
        np.empty(1024, np.int64),
        np.zeros(2, np.int64),
    )


@kernel
def grown(values: Int64, size: int) -> Int64:
    """Return an array with the same begin and room for so many or more."""
    if size <= values.size:
        return values
    found = np.empty(max(size, 2 * values.size), np.int64)
    found[: values.size] = values
    return found


@kernel
def with_roster(rosters: Rosters, epoch: int, state: ReplayedGroup) -> Rosters:
    """Add those that are now; they replace those of the same epoch."""
    number, used = rosters.lengths[_COUNT], rosters.lengths[_USED]
    middle = used + state.lengths[ACTIVE]
    size = middle + state.lengths[EXPRESSIONS]
    rosters.epoch[:number][rosters.epoch[:number] == epoch] = ABSENT
    found = Rosters(
        grown(rosters.epoch, number + 1),
        grown(rosters.begin, number + 1),
        grown(rosters.middle, number + 1),
        grown(rosters.end, number + 1),
        grown(rosters.row, size),
        rosters.lengths,
    )
    found.epoch[number], found.begin[number] = epoch, used
    for place in range(state.lengths[ACTIVE]):
        found.row[used + place] = state.member[state.active[place]]
    end = middle
    for place in range(state.lengths[EXPRESSIONS]):
        if state.regex[state.expressions[place]] >= 0:
            found.row[end] = state.regex[state.expressions[place]]
            end += 1
    found.middle[number], found.end[number] = middle, end
    found.lengths[_COUNT], found.lengths[_USED] = number + 1, end
    return found


@borrowing_kernel
def roster_of(rosters: Rosters, epoch: int) -> int:
    """Return the number of the roster of an epoch; `ABSENT` if there is none."""
    for number in range(rosters.lengths[_COUNT]):
        if rosters.epoch[number] == epoch:
            return number
    return ABSENT


@kernel
def drop_rosters(rosters: Rosters, epoch: int) -> None:
    """Drop those of epochs up to one."""
    is_any = False
    for number in range(rosters.lengths[_COUNT]):
        if rosters.epoch[number] <= epoch:
            rosters.epoch[number] = ABSENT
        else:
            is_any = True
    if not is_any:
        rosters.lengths[:] = 0


@borrowing_kernel
def rows_of(rosters: Rosters) -> int:
    """Return how many members they have in all."""
    return int(rosters.lengths[_USED])
