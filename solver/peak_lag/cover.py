"""Cover a few partitions by as many hands as there are members, or prove one cannot.

A *hand* is what one member may hold. With peak T - 1 and m members all alike, the
others hold (m - 1) · (T - 1) at most, so a hand holds the rest at least: near the mean
few hands are neither too heavy nor too light. They are listed, the sums of two halves
of the partitions met in the middle, and tried: the partition that is in the fewest of
the hands left goes with each of them. If no choice covers everything, no peak is below
T.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int32, Int64
from solver.peak_lag.bits import counts_of, places_of
from solver.peak_lag.halves import halves_of, joined, spans
from solver.peak_lag.kinds import alike_members
from solver.peak_lag.rows import (
    NEVER,
    Sparing,
    UInt64,
    count_shared,
    next_shared,
    padded,
    row_for,
    rows_with,
    sparing_of,
)
from solver.peak_lag.setting import Setting
from solver.peak_lag.work import STEPS_A_UNIT, Work

NAME: Final = "cover of hands"
_MOST: Final = 60  # partitions, a bit each
_PARTS: Final = 1 << 21  # of hands, a half
_PAIRS: Final = 10_000_000  # of them, looked at for one peak
_HANDS: Final = 1_000_000
_STEPS: Final = 1_000_000_000  # words to look at for one peak, about a second
_A_LOOK: Final = 50_000_000  # words between two looks at the limits
_A_HAND: Final = 64  # words that cost as much as to try one


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
        self.lags = room.lag
        self.counts = counts_of(room, 0, np.arange(self.lags.size))
        items = np.arange(self.lags.size)
        heaviest = int(self.lags.sum())
        self.halves = halves_of(self.lags, items, 0, self.counts, heaviest, _PARTS)
        self.is_small = self.halves is not None

    def holder(self, peak: int, work: Work) -> tuple[Int32 | None, bool]:
        """Find who holds what within a peak, in records; tell whether it is settled."""
        least = int(self.lags.sum()) - (self.members - 1) * peak
        if least <= 0 and not self.counts.least.any():
            return None, False  # hands may be empty, which are none here
        hands = self._hands(least, peak)
        work.spent += _PAIRS / STEPS_A_UNIT / 10
        if hands is None:
            return None, False
        mask, weight = hands
        if mask.size == 0:
            return None, True
        laid_out = _laid_out(mask, peak - weight, self.lags.size)
        return self._covered(laid_out, peak, work)

    def _hands(self, least: int, peak: int) -> tuple[Int64, Int64] | None:
        """List the hands between two sums, and these; None if there are too many."""
        if self.halves is None:
            return None
        low, high = spans(*self.halves, least, peak, 0)
        if int((high - low).sum()) > _PAIRS:
            return None
        mask, weight = joined(*self.halves, low, high, self.counts, _HANDS + 1)
        return None if mask.size > _HANDS else (mask, weight)

    def _covered(
        self, hands: _Hands, peak: int, work: Work
    ) -> tuple[Int32 | None, bool]:
        """Cover until it is settled, or given up."""
        steps = _STEPS
        spare = self.members * peak - int(self.lags.sum())
        at = _begun(hands, self.members, spare)
        while steps > 0 and work.exceeded() is None:
            found, rest = _cover_on(hands, at, _A_LOOK)
            work.spent += (_A_LOOK - rest) / STEPS_A_UNIT
            steps -= _A_LOOK - rest
            if found:
                return self._holder(hands.mask[at.hand]), True
            if rest:
                return None, True
        return None, False

    def _holder(self, chosen: Int64) -> Int32:
        holder = np.empty(self.lags.size, np.int32)
        for c, hand in enumerate(chosen.tolist()):
            holder[places_of(hand)] = c
        return holder


class _Hands(NamedTuple):
    """Hands that are neither too heavy nor too light; H in W words, P partitions.

    Attributes
    ----------
    mask : int64 (H,)
        Partitions as bits; 0 to fill a word.
    spare : int64 (H,)
        Lag that it could have more within the peak.
    has : uint64 (P, W)
        Hands with a partition, as bits.
    sparing : Sparing
    """

    mask: Int64
    spare: Int64
    has: UInt64
    sparing: Sparing


def _laid_out(mask: Int64, spare: Int64, places: int) -> _Hands:
    mask, spare = padded(mask), padded(spare, NEVER)
    return _Hands(
        mask=mask,
        spare=spare,
        has=rows_with(mask, places),
        sparing=sparing_of(spare),
    )


class _Covering(NamedTuple):
    """Hands chosen so far, and what is left for others; a row for each depth.

    Attributes
    ----------
    depth : int64 (1,)
        Hands that are chosen; -1: all is tried.
    place, next, hand : int64 (M,)
        Partition that is covered next, hand to try next, and the one chosen.
    left, spare : int64 (M,)
        Partitions, as bits; what those that are left may spare.
    alive : uint64 (M, W)
        Hands that go with those chosen.
    """

    depth: Int64
    place: Int64
    next: Int64
    hand: Int64
    left: Int64
    spare: Int64
    alive: UInt64


def _begun(hands: _Hands, members: int, spare: int) -> _Covering:
    places, _ = hands.has.shape
    at = _Covering(
        depth=np.zeros(1, np.int64),
        place=np.zeros(members, np.int64),
        next=np.zeros(members, np.int64),
        hand=np.zeros(members, np.int64),
        left=np.full(members, (1 << places) - 1, np.int64),
        spare=np.full(members, spare, np.int64),
        alive=np.tile(hands.sparing.rows[-1], (members, 1)),
    )
    if not _choose(hands, at, 0)[0]:
        at.depth[0] = -1
    return at


@njit(cache=True)
def _cover_on(hands: _Hands, at: _Covering, steps: int) -> tuple[bool, int]:
    """Go on until all is covered, all is tried, or steps are spent.

    Returns
    -------
    bool, int
        Whether it is covered, and the words that are left to look at, 0 if they ran
        out.
    """
    depth, words = at.depth[0], hands.has.shape[1]
    while depth >= 0 and steps > 0:
        row = hands.has[at.place[depth]]
        h = next_shared(at.alive[depth], row, at.next[depth], words)
        if h < 0:
            depth -= 1
            continue
        at.next[depth], at.hand[depth] = h + 1, h
        steps -= _A_HAND
        if hands.spare[h] > at.spare[depth]:
            continue
        if depth == at.hand.size - 1:
            if hands.mask[h] == at.left[depth]:
                at.depth[0] = depth
                return True, max(steps, 1)
            continue
        steps -= _strike(hands, at, depth, h)
        goes, seen = _choose(hands, at, depth + 1)
        steps -= seen
        depth += goes
    at.depth[0] = depth
    return False, max(steps, 1) if depth < 0 else 0


@njit(cache=True)
def _strike(hands: _Hands, at: _Covering, depth: int, h: int) -> int:
    """Choose a hand: write those that are left; return words looked at."""
    after = depth + 1
    at.left[after] = at.left[depth] ^ hands.mask[h]
    at.spare[after] = at.spare[depth] - hands.spare[h]
    alive = at.alive[after]
    alive[:] = at.alive[depth]
    alive &= hands.sparing.rows[row_for(hands.sparing, at.spare[after])]
    rows = 2
    for place in range(hands.has.shape[0]):
        if hands.mask[h] >> place & 1:
            row = hands.has[place]
            for w in range(alive.size):
                alive[w] &= ~row[w]
            rows += 1
    return rows * int(alive.size)


@njit(cache=True)
def _choose(hands: _Hands, at: _Covering, depth: int) -> tuple[bool, int]:
    """Find the partition that the fewest hands are left with.

    Returns
    -------
    bool, int
        Whether each that is left is in some; words looked at.
    """
    fewest, words = 2**62, 0
    alive = at.alive[depth]
    for place in range(hands.has.shape[0]):
        if at.left[depth] >> place & 1:
            count, seen = count_shared(alive, hands.has[place], 0, alive.size, fewest)
            words += seen
            if count < fewest:
                fewest, at.place[depth] = count, place
            if count == 0:
                return False, words
    at.next[depth] = 0
    return fewest < 2**62, words
