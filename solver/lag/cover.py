"""Cover a few partitions by as many hands as there are members, or prove one cannot.

A *hand* is what one member may hold. With peak T - 1 and m members all alike, the
others hold (m - 1) · (T - 1) at most, so a hand holds the rest at least: near the mean
few hands are neither too heavy nor too light. They are listed, the sums of two halves
of the partitions met in the middle, and tried: the first partition that is left goes
with each hand whose first it is. If no choice covers everything, no peak is below T.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rebalance.claims import Int32, Int64
from solver.lag.kinds import alike_members, limits_of
from solver.lag.room import Room
from solver.lag.setting import Setting
from solver.lag.work import STEPS_A_UNIT, Work

NAME: Final = "cover of hands"
_MOST: Final = 60  # partitions, a bit each
_HALVES: Final = 50_000  # parts of hands
_PAIRS: Final = 10_000_000  # of them, looked at for one peak
_HANDS: Final = 300_000
_STEPS: Final = 100_000_000  # for one first hand; then it gives up

Places = NDArray[np.int64]


class Limits(NamedTuple):
    """What a hand holds of each topic, or of all together.

    Attributes
    ----------
    group : int64 (G,)
        Partitions, as bits.
    least, most : int64 (G,)
    """

    group: Int64
    least: Int64
    most: Int64


class Cover:
    """The hands of a setting, for any peak.

    Attributes
    ----------
    is_small : bool
        Whether it is worth trying: members all alike, and few partitions.
    """

    def __init__(self, setting: Setting) -> None:
        room = setting.room
        self.members, self.is_small = room.unit.size, False
        if not 1 < self.members <= room.lag.size <= _MOST:
            return
        if [len(alike) for alike in alike_members(room)] != [self.members]:
            return
        self.order = np.argsort(-room.lag, kind="stable")
        self.lags = room.lag[self.order]
        self.limits = _limits(room, self.order)
        # Evens and odds: both halves have large ones and small ones.
        halves = (np.arange(start, self.lags.size, 2) for start in (0, 1))
        self.halves = [_parts(self.lags, half, self.limits) for half in halves]
        self.is_small = all(sums.size for sums, _ in self.halves)

    def holder(self, peak: int, work: Work) -> tuple[Int32 | None, bool]:
        """Find who holds what within a peak, in records; tell whether it is settled."""
        least = int(self.lags.sum()) - (self.members - 1) * peak
        if least <= 0 and not self.limits.least.any():
            return None, False  # hands may be empty, which are none here
        hands = _hands(*self.halves[0], *self.halves[1], self.limits, least, peak)
        work.spent += _PAIRS / STEPS_A_UNIT / 10
        if hands.size == 0:
            return None, True
        if hands[0] == 0:
            return None, False
        return self._covered(hands, least, peak, work)

    def _covered(
        self, hands: Int64, least: int, peak: int, work: Work
    ) -> tuple[Int32 | None, bool]:
        """Try the hands with the first partition one after the other."""
        first = hands & -hands
        order = np.lexsort((hands, first))
        hands, first = hands[order], first[order]
        places = np.searchsorted(first, np.int64(1) << np.arange(_MOST + 1))
        chosen = np.zeros(self.members, np.int64)
        for hand in hands[places[0] : places[1]]:
            if work.struck() is not None:
                return None, False
            chosen[0] = hand
            found, steps = _complete(
                hands, places, self.lags, self.limits, least, peak, chosen
            )
            work.spent += int(steps) / STEPS_A_UNIT
            if found:
                return self._holder(chosen), True
            if steps >= _STEPS:
                return None, False
        return None, True

    def _holder(self, chosen: Int64) -> Int32:
        holder = np.empty(self.lags.size, np.int32)
        bits = np.arange(self.lags.size)
        for c, hand in enumerate(chosen):
            holder[self.order[(hand >> bits) & 1 == 1]] = c
        return holder


def _limits(room: Room, order: Int64) -> Limits:
    cells = limits_of(room, 0)
    topic = room.topic[order] if room.by_topic else np.zeros(order.size, np.int64)
    bits = np.int64(1) << np.arange(order.size)
    group = [int(bits[topic == t].sum()) for t in range(room.least[cells].size)]
    return Limits(np.array(group), room.least[cells], room.most[cells])


@njit(cache=True)
def _bits(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@njit(cache=True)
def _fits(mask: int, limits: Limits, is_whole: bool) -> bool:
    """Tell whether a hand, or what may become one, keeps to the limits."""
    for g in range(limits.group.size):
        count = _bits(mask & limits.group[g])
        if count > limits.most[g] or (is_whole and count < limits.least[g]):
            return False
    return True


@njit(cache=True)
def _parts(lags: Int64, items: Int64, limits: Limits) -> tuple[Int64, Int64]:
    """List the choices from some partitions by sum; empty if there are too many."""
    total = np.zeros(_HALVES, np.int64)
    mask = np.zeros(_HALVES, np.int64)
    end = 1
    for i in items:
        for k in range(end):
            more = mask[k] | (np.int64(1) << i)
            if not _fits(more, limits, False):
                continue
            if end == _HALVES:
                return total[:0], mask[:0]
            total[end], mask[end] = total[k] + lags[i], more
            end += 1
    order = np.argsort(total[:end])
    return total[order], mask[order]


@njit(cache=True)
def _hands(
    total: Int64,
    mask: Int64,
    others: Int64,
    other_mask: Int64,
    limits: Limits,
    least: int,
    peak: int,
) -> Int64:
    """List the hands between two sums; a 0 first if there are too many."""
    found = np.empty(_HANDS, np.int64)
    end, looked = 0, 0
    low = high = others.size  # others[low:high] fit; both go down as totals go up
    for i in range(total.size):
        while low > 0 and others[low - 1] >= least - total[i]:
            low -= 1
        while high > 0 and others[high - 1] > peak - total[i]:
            high -= 1
        looked += max(high - low, 0)
        if looked > _PAIRS:
            return np.zeros(1, np.int64)
        for j in range(low, high):
            hand = mask[i] | other_mask[j]
            if hand == 0 or not _fits(hand, limits, True):
                continue
            if end == _HANDS:
                return np.zeros(1, np.int64)
            found[end] = hand
            end += 1
    return found[:end].copy()


@njit(cache=True)
def _weight(mask: int, lags: Int64) -> int:
    total = 0
    while mask:
        low = mask & -mask
        total += lags[_bits(low - 1)]
        mask ^= low
    return total


@njit(cache=True)
def _complete(
    hands: Int64,
    places: Places,
    lags: Int64,
    limits: Limits,
    least: int,
    peak: int,
    chosen: Int64,
) -> tuple[bool, int]:
    """Find the other hands to a first one, depth first; tell so, and the steps."""
    members = chosen.size
    left = (np.int64(1) << lags.size) - 1 - chosen[0]
    at = np.zeros(members + 1, np.int64)
    depth, steps = 1, 0
    at[1] = places[_bits((left & -left) - 1)]
    while depth > 0 and steps < _STEPS:
        if depth == members - 1:  # what is left is the last one's
            heavy = _weight(left, lags)
            steps += 10
            if least <= heavy <= peak and _fits(left, limits, True):
                chosen[depth] = left
                return True, steps
            depth -= 1
            left |= chosen[depth] if depth > 0 else 0
            continue
        k, end = at[depth], np.int64(0)
        if left:
            end = places[_bits((left & -left) - 1) + 1]
        while k < end and hands[k] & ~left:
            k += 1
        steps += max(k - at[depth], 0) + 1
        if k >= end:
            depth -= 1
            left |= chosen[depth] if depth > 0 else 0
            continue
        chosen[depth] = hands[k]
        at[depth] = k + 1
        left ^= hands[k]
        depth += 1
        at[depth] = places[_bits((left & -left) - 1)] if left else 0
    return False, steps
