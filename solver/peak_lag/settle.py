"""Bring every member's lag under its cap, by exchanges of two and three members.

The search walks over assignments that keep to seats and limits, and never lets the lag
above the caps, summed up, grow, but for a kick when it is stuck. Its effort is counted
in steps of work, not in seconds, so the same seed gives the same walk; the clock is
looked at between calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int32, Int64
from solver.peak_lag.chance import Chance, below, is_one_in, shuffle
from solver.peak_lag.exchange import excess_of, lay_out, split, split_three
from solver.peak_lag.hands import END, Hands, peak_of
from solver.peak_lag.room import Room

SMALL, MIDDLE, LARGE, WIDE = 12, 18, 24, 30  # partitions on the table
TURN = 4000  # what an exchange costs besides
MANY = 200  # of so many a few on the table rarely do


class Settled(NamedTuple):
    """How far it went.

    Attributes
    ----------
    over : int
        Lag above the caps, summed up, at the end; 0: settled.
    peak : int
        Least peak among the resting points on the way.
    holder : int32 (P,)
        The assignment that has it.
    spent : int
        Elementary steps, about.
    """

    over: int
    peak: int
    holder: Int32
    spent: int


@njit(cache=True)
def settle(
    room: Room, hands: Hands, owner: Int32, cap: Int64, seed: int, effort: int
) -> Settled:
    """Exchange until nothing is above its cap, or the effort is spent.

    Parameters
    ----------
    owner : int32 (P,)
        Empty, unless as many as now must stay with their owners; then also the counts
        of members stay as they are.
    cap : int64 (M,)
        Lag that each member may hold.
    effort : int
        Elementary steps, of about a nanosecond each.
    """
    chance = np.array([seed], np.uint64)
    members = room.unit.size
    over = _over(hands, cap)
    peak, holder = peak_of(room, hands), hands.holder.copy()
    least, idle, spent = over, 0, 0
    while over > 0 and spent < effort:
        c = _giver(hands, cap, chance)
        d = _partner(room, hands, cap, c, chance)
        spent += members + TURN
        if d == END:
            idle += 1
            continue
        spent += hands.load[c] + hands.load[d]
        phase = idle // (2 * members + 10)
        before = _pair_excess(hands, cap, c, d)
        if phase < 3 or owner.size or is_one_in(chance, 2):
            items = SMALL if phase == 0 else MIDDLE if phase == 1 else LARGE
            if hands.load[c] + hands.load[d] > MANY:
                items = LARGE
            spent += _share(room, hands, owner, cap, c, d, items, chance)
            over += _pair_excess(hands, cap, c, d) - before
        else:
            e = _partner(room, hands, cap, d if is_one_in(chance, 2) else c, chance)
            if e not in (END, c, d):
                before += excess_of(hands.total[e], cap[e])
                spent += _share_three(
                    room, hands, cap, np.array([c, d, e]), phase, chance
                )
                over += _pair_excess(hands, cap, c, d) - before
                over += excess_of(hands.total[e], cap[e])
        idle += 1
        if over < least:
            least, idle = over, 0
        if phase > 8:
            if peak_of(room, hands) < peak:
                peak = peak_of(room, hands)
                holder[:] = hands.holder
            _kick(room, hands, owner, cap, chance)
            over = _over(hands, cap)
            least, idle = over, 0
    if peak_of(room, hands) < peak:
        peak = peak_of(room, hands)
        holder[:] = hands.holder
    return Settled(over, peak, holder, spent)


@njit(cache=True)
def _over(hands: Hands, cap: Int64) -> int:
    over = 0
    for c in range(cap.size):
        over += excess_of(hands.total[c], cap[c])
    return over


@njit(cache=True)
def _pair_excess(hands: Hands, cap: Int64, c: int, d: int) -> int:
    return excess_of(hands.total[c], cap[c]) + excess_of(hands.total[d], cap[d])


@njit(cache=True)
def _giver(hands: Hands, cap: Int64, chance: Chance) -> int:
    """Choose a member above its cap, the furthest above or any; now and then another.

    Two that are both below their caps may pool the room that each has.
    """
    start = below(chance, cap.size)
    turn = below(chance, 10)
    if turn == 0:
        return start
    best, worst = start, 0
    for i in range(cap.size):
        c = (start + i) % cap.size
        above = hands.total[c] - cap[c]
        if above > worst:
            best, worst = c, above
            if turn < 5:
                return best
    return best


@njit(cache=True)
def _partner(room: Room, hands: Hands, cap: Int64, c: int, chance: Chance) -> int:
    """Choose who may take some partition of c: the one with most room, or any."""
    if hands.load[c] == 0:
        d = below(chance, cap.size)
        return d if d != c else END
    p = hands.head[c]
    for _ in range(below(chance, hands.load[c])):
        p = hands.after[p]
    t = room.topic[p]
    classes = room.topic_classes[room.topic_first[t] : room.topic_first[t + 1]]
    if is_one_in(chance, 2):
        k = classes[below(chance, classes.size)]
        start, end = room.class_first[k], room.class_first[k + 1]
        d = room.class_members[start + below(chance, end - start)]
        return d if d != c else END
    best, most = END, 0
    for k in classes:
        for d in room.class_members[room.class_first[k] : room.class_first[k + 1]]:
            free = cap[d] - hands.total[d]
            if d != c and (best == END or free > most):
                best, most = d, free
    return best


@njit(cache=True)
def _share(
    room: Room,
    hands: Hands,
    owner: Int32,
    cap: Int64,
    c: int,
    d: int,
    items: int,
    chance: Chance,
) -> int:
    """Let two share out anew, one of them up to its cap; return what it cost."""
    table = lay_out(room, hands, owner, np.array([c, d]), items, chance)
    if is_one_in(chance, 2):
        c, d = d, c
    aim = cap[c]
    slack = cap[c] - hands.total[c] - hands.total[d] + cap[d]
    if is_one_in(chance, 4):
        aim -= below(chance, abs(slack) + 1)
    split(room, hands, cap, table, c, d, aim)
    return 8 << ((table.item.size + 1) // 2)


@njit(cache=True)
def _share_three(
    room: Room, hands: Hands, cap: Int64, people: Int64, phase: int, chance: Chance
) -> int:
    shuffle(chance, people)
    items = LARGE if phase < 6 else WIDE
    slack = 0
    for m in people:
        slack += cap[m] - hands.total[m]
    aim = cap[people[0]]
    if is_one_in(chance, 2):
        aim -= below(chance, abs(slack) + 1)
    split_three(room, hands, cap, people, items, aim, chance)
    laid = min(items, hands.load[people].sum())
    return int(16 << ((laid + 1) // 2))


@njit(cache=True)
def _kick(room: Room, hands: Hands, owner: Int32, cap: Int64, chance: Chance) -> None:
    """Swap a few partitions by chance where that keeps all limits."""
    for _ in range(3):
        c = below(chance, cap.size)
        d = _partner(room, hands, cap, c, chance)
        if d == END or hands.load[c] == 0 or hands.load[d] == 0:
            continue
        table = lay_out(room, hands, owner, np.array([c, d]), 4, chance)
        total = hands.total[c] + hands.total[d]
        loose = np.full(cap.size, total)
        split(room, hands, loose, table, c, d, below(chance, total))
