"""Give partitions back to their owners where the peak allows it.

Two ways, and the better of them: from the assignment with the least peak, swap moved
partitions home; or start with everything at home that balance allows, and bring that
below the peak by exchanges, which disturb little.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rebalance.claims import NOBODY, Int32, Int64
from solver.peak_lag.hands import END, Hands, hand_over, hands_of
from solver.peak_lag.room import Room, cell_of, place_of
from solver.peak_lag.setting import Setting
from solver.peak_lag.settle import settle
from solver.peak_lag.work import STEPS_A_UNIT, Work
from solver.result import Result

_PIECE = 50_000_000
_PIECES = 8
_LOOKED_AT = 5_000_000  # partitions, between two looks at the clock


def regained(
    setting: Setting, holder: Int32, core: Result | None, peak: int, work: Work
) -> Int32:
    """Return an assignment within the peak that keeps more, or the same.

    Parameters
    ----------
    holder : int32 (P,)
        Within the peak.
    core : Answer or None
        The one that keeps most of all, whatever its peak.
    """
    room = setting.room
    cap = np.minimum(peak // room.unit, int(room.lag.sum()))
    starts = [holder]
    if core is not None:
        start = _settled(
            setting, setting.holders(core.require_assignment().assignee), cap, work
        )
        starts += [] if start is None else [start]
    best, most = holder, -1
    for start in starts:
        hands = hands_of(room, start)
        while _brought_home(room, hands, setting.owner, cap, work):
            pass
        kept = int((hands.holder == setting.owner).sum())
        if kept > most:
            best, most = hands.holder, kept
    return best


def _settled(setting: Setting, start: Int32, cap: Int64, work: Work) -> Int32 | None:
    room = setting.room
    hands = hands_of(room, start)
    anything = np.zeros(0, np.int32)
    for turn in range(_PIECES):
        if work.exceeded() is not None:
            return None
        found = settle(room, hands, anything, cap, turn, _PIECE + 50_000 * cap.size)
        work.spent += int(found.spent) / STEPS_A_UNIT
        if found.over == 0:
            return hands.holder
    return None


def _brought_home(
    room: Room, hands: Hands, owner: Int32, cap: Int64, work: Work
) -> int:
    """Pass over the moved partitions once; return how many more are kept."""
    gained = 0
    each = max(1, owner.size // max(1, cap.size))  # what an exchange looks through
    step = max(1, _LOOKED_AT // each)
    for start in range(0, owner.size, step):
        if work.exceeded() is not None:
            return 0
        gained += _bring_home(room, hands, owner, cap, start, start + step)
    return gained


@njit(cache=True)
def _bring_home(
    room: Room, hands: Hands, owner: Int32, cap: Int64, start: int, end: int
) -> int:
    """Pass over some partitions; return how many more are kept."""
    gained = 0
    for p in range(start, min(end, owner.size)):
        home, here = owner[p], hands.holder[p]
        at_home = home == here
        if home == NOBODY or at_home or place_of(room, room.topic[p], home) < 0:
            continue
        if _moves_home(room, hands, cap, p, home):
            hand_over(room, hands, p, home)
            gained += 1
            continue
        back = _exchange(room, hands, owner, cap, p, home)
        if back == END:
            continue
        gained += 2 if owner[back] == here else 1
        hand_over(room, hands, p, home)
        hand_over(room, hands, back, here)
    return gained


@njit(cache=True)
def _moves_home(room: Room, hands: Hands, cap: Int64, p: int, home: int) -> bool:
    t, here = room.topic[p], hands.holder[p]
    mine, theirs = cell_of(room, t, home), cell_of(room, t, here)
    fits = hands.total[home] <= cap[home] - room.lag[p]
    return bool(
        fits
        and hands.counts[mine] < room.most[mine]
        and hands.counts[theirs] > room.least[theirs]
    )


@njit(cache=True)
def _exchange(
    room: Room, hands: Hands, owner: Int32, cap: Int64, p: int, home: int
) -> int:
    """Find what the owner may give for p, not its own; -1 if there is nothing."""
    t, here = room.topic[p], hands.holder[p]
    found = END
    q = hands.head[home]
    while q != END:
        same = not room.by_topic or room.topic[q] == t
        if owner[q] != home and same and place_of(room, room.topic[q], here) >= 0:
            change = room.lag[p] - room.lag[q]
            fits = hands.total[home] <= cap[home] - change
            if fits and hands.total[here] <= cap[here] + change:
                if owner[q] == here:
                    return int(q)
                found = q
        q = hands.after[q]
    return int(found)
