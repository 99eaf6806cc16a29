"""Members that left and returned: leaves and joins of one identity, matched in order.

Of each identity, the first leave that is not too old is matched with the next join
(earliest deadline first, which matches as many as possible).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from pipeline.causes.coded_rows import NumberedNames
from pipeline.causes.compared import MemberRows, Predecessors
from pipeline.causes.group_rows import NO_TIME, GroupRows
from pipeline.causes.kinds import RETURN_MS
from rebalance import ABSENT, Bools, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Returns:
    """Members that a rebalance lists as joined or left.

    Attributes
    ----------
    has_returned : bool (M,)
        Members that returned in their rebalance.
    left_briefly, is_away : bool (M,)
        Members that the next rebalance lacks, and which return in a later one, or not.
    """

    has_returned: Bools
    left_briefly: Bools
    is_away: Bools


def returns_of(
    groups: GroupRows, members: MemberRows, before: Predecessors, names: NumberedNames
) -> Returns:
    """Match the members that left with those that joined.

    The time of a leave is that of the rebalance that lacks the member, or of the record
    by which the group is empty. If that is not in the source, it counts as the time of
    the last rebalance with the member, so that nothing counts as a return that can have
    taken longer.
    """
    is_listed = before.is_known
    after = np.minimum(members.row + 1, len(groups) - 1)
    is_next_start = np.append(before.is_start[1:] & before.is_next[1:], False)
    has_left = members.is_gone | is_next_start[members.row]
    is_dated = members.is_gone & is_listed[after]
    left_at = np.where(is_dated, groups.at[after], groups.empty_at[members.row])
    events = _LeavesAndJoins(groups, members, has_left, left_at, is_dated)
    matched_left, matched_joined = events.matched(names)
    size = len(members.row)
    has_returned, came_back, at_once = (np.zeros(size, np.bool_) for _ in range(3))
    has_returned[matched_joined], came_back[matched_left] = True, True
    is_same = after[matched_left] == members.row[matched_joined]
    at_once[matched_left[is_same]] = True
    return Returns(
        has_returned=has_returned,
        left_briefly=is_dated & came_back & ~at_once,
        is_away=is_dated & ~came_back,
    )


class _LeavesAndJoins:
    """Leaves and joins; of a leave, its member is the one that is gone."""

    def __init__(
        self,
        groups: GroupRows,
        members: MemberRows,
        has_left: Bools,
        left_at: Int64,
        is_dated: Bools,
    ) -> None:
        left, joined = np.flatnonzero(has_left), np.flatnonzero(members.is_joined)
        place = np.concatenate((left, joined))
        is_join = np.arange(len(place)) >= len(left)
        row = members.row[place]
        _, identity = np.unique(members.identity[place], return_inverse=True)
        key = identity * (groups.group.max() + 1) + groups.group[row]
        _, key = np.unique(key, return_inverse=True)
        counts = (
            np.bincount(key[of], minlength=len(key)) for of in (is_join, ~is_join)
        )
        joins, leaves = counts
        is_kept = (joins[key] > 0) & (leaves[key] > 0)
        self._place, self._key = place[is_kept], key[is_kept]
        self._is_join = is_join[is_kept]
        # A leave is seen in the next row.
        self._row = (row + ~is_join)[is_kept]
        self._at = np.where(is_join, groups.at[row], left_at[place])[is_kept]
        self._is_dated = is_dated[place][is_kept]
        self._member = members.member[self._place]

    def matched(self, names: NumberedNames) -> tuple[Int64, Int64]:
        """Return places of members that left, and of those that they returned as."""
        by_name = names.ranks(self._member)
        order = np.lexsort((by_name, self._is_join, self._row, self._key))
        columns = (self._key, self._is_join, self._at, self._row, self._is_dated)
        pairs = _first_in_time(*(column[order].tolist() for column in columns))
        found = np.array(pairs, np.int64).reshape(-1, 2)
        place = self._place[order]
        return place[found[:, 0]], place[found[:, 1]]


def _first_in_time(
    keys: list[int],
    is_join: list[bool],
    times: list[int],
    rows: list[int],
    is_dated: list[bool],
) -> list[tuple[int, int]]:
    """Match events of each key, which follow one another in order."""
    found: list[tuple[int, int]] = []
    waiting: deque[int] = deque()
    last = ABSENT

    def took(leave: int, join: int) -> int | None:
        """Return the time from a leave to a join, ms; None: not known."""
        if rows[leave] == rows[join] and is_dated[leave]:
            return 0
        if NO_TIME in (times[leave], times[join]):
            return None
        return times[join] - times[leave]

    for event, key in enumerate(keys):
        if key != last:
            waiting.clear()
            last = key
        if not is_join[event]:
            waiting.append(event)
            continue
        while waiting and (took(waiting[0], event) or 0) > RETURN_MS:
            waiting.popleft()
        for leave in waiting:
            time = took(leave, event)
            if time is not None and 0 <= time <= RETURN_MS:
                found.append((leave, event))
                waiting.remove(leave)
                break
    return found
