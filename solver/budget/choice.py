"""Choose a hand for each member: the least peak lag within a budget of moves.

A *hand* is what one member may hold. All members together can hold little more within a
peak than there is, so each holds nearly its share: where lags are large and differ, few
hands do, and fewer with few moves. So they are all listed (`halves`) and
dealt in all ways (`solver.budget.dealing`). A peak that no deal keeps to is proved out
of reach, by a search that nobody can check; what is found speaks for itself.

The peak to try starts near the bound, where hands are fewest, and goes up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rebalance import Instance
from rebalance.claims import Int32, Int64
from solver.budget.dealing import Deal, deal_on, first_deal
from solver.budget.hands import Hands, Listed, hands_of
from solver.budget.members import Member, members_of
from solver.peak_lag.bits import places_of
from solver.peak_lag.halves import Half, halves_of, joined, spans
from solver.peak_lag.room import FREE, place_of
from solver.peak_lag.rows import WORD
from solver.peak_lag.setting import setting_of
from solver.peak_lag.work import STEPS_A_UNIT, Work
from solver.policy import Balance

NAME: Final = "choice of hands"
_ITEMS: Final = 40  # of a member
_ALL_ITEMS: Final = 60  # of all members together
_PARTS: Final = 1 << _ITEMS // 2  # of them, a half
_HANDS: Final = 3_000_000  # of all members
_A_HAND: Final = 100  # steps to list one
_STEPS: Final = 50_000_000  # between two looks at the limits
_ALL_STEPS: Final = 100_000_000_000  # for one peak; then it gives up
_FIRST_STEP: Final = 16  # part of the way from bound to value that is tried first


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What is known of a budget.

    Attributes
    ----------
    value : int
        The least peak that was found.
    assignee : int32 (P,) or None
        What has it; None if it was known before.
    bound : int
        No peak within the budget is below it.
    """

    value: int
    assignee: Int32 | None
    bound: int


class Choice:
    """All hands of an instance under a balance, for any peak and budget.

    Attributes
    ----------
    is_small : bool
        Whether it can be tried: two members or more, and few partitions.
    """

    def __init__(self, instance: Instance, balance: Balance, most: int) -> None:
        """Lay out the members; no peak above ``most`` will be asked about."""
        self._instance = instance
        self._most = most
        setting = setting_of(instance, balance)
        self.is_small = setting is not None and setting.room.unit.size > 1
        if setting is None or not self.is_small:
            return
        self._setting = setting
        self._free = bool(np.all(setting.room.most == FREE))
        # What has no lag stays where it is, unless counts are limited.
        rows = np.arange(setting.room.lag.size)
        self._rows = rows[setting.room.lag > 0] if self._free else rows
        self._lag = setting.room.lag[self._rows]
        self.is_small = 0 < self._rows.size <= _ALL_ITEMS
        if not self.is_small:
            return  # more would not fit in the bits of a number
        self._members: list[Member] = members_of(setting, self._rows)
        self.is_small = all(len(one.items) <= _ITEMS for one in self._members)
        self._halves: dict[int, tuple[Half, Half]] = {}

    def least(self, budget: int, bound: int, value: int, work: Work) -> Reached:
        """Find the least peak within a budget, between a bound and a value that is had.

        Both in units of 1 ÷ scale. A limit that strikes leaves them apart.
        """
        assignee = None
        step = max(1, (value - bound) // _FIRST_STEP)
        while bound < value and work.exceeded() is None:
            peak = min(value - 1, bound + step)
            held, is_settled = self.within(budget, peak, work)
            if held is not None:
                assignee = self.column(held)
                value = self._peak(held)
            elif is_settled:
                bound = peak + 1
            else:
                break
            if assignee is None:
                step *= 4
            else:  # near the least by now: after a proof, the last one may be next
                step = (value - bound) // 2 if held is not None else value - bound
        return Reached(value=value, assignee=assignee, bound=bound)

    def within(self, budget: int, peak: int, work: Work) -> tuple[Int64 | None, bool]:
        """Find who holds what within a peak; tell whether it is settled."""
        most = [peak // one.unit for one in self._members]
        spare = sum(most) - int(self._lag.sum())
        if spare < 0:
            return None, True
        listed, is_settled = self._listed(most, spare, budget, work)
        if listed is None:
            return None, is_settled
        own = [one.own for one in self._members]
        hands = hands_of(listed, own, self._rows.size)
        work.spent += hands.mask.size * _A_HAND / STEPS_A_UNIT
        return self._dealt(hands, spare, budget, work)

    def _listed(
        self, most: list[int], spare: int, budget: int, work: Work
    ) -> tuple[list[list[Listed]] | None, bool]:
        """List all hands that may be dealt; None, and whether for want of any."""
        listed = []
        for c, heaviest in enumerate(most):
            if work.exceeded() is not None:
                return None, False
            fewest = self._fewest(c, heaviest, spare, budget)
            if fewest is None:
                return None, True
            listed.append([fewest])
        extra = budget - sum(some[0].moves for some in listed)
        count = sum(some[0].mask.size for some in listed)
        for c, some in enumerate(listed):
            for moves in range(some[0].moves + 1, some[0].moves + extra + 1):
                if count > _HANDS or work.exceeded() is not None:
                    return None, False
                more = self._with_moves(c, most[c], spare, moves)
                count += more.mask.size
                some.append(more)
        return (listed, True) if extra >= 0 else (None, True)

    def _fewest(self, c: int, most: int, spare: int, budget: int) -> Listed | None:
        """List a member's hands of the fewest moves there are."""
        for moves in range(budget + 1):
            some = self._with_moves(c, most, spare, moves)
            if some.mask.size:
                return some
        return None

    def _with_moves(self, c: int, most: int, spare: int, moves: int) -> Listed:
        """List a member's hands of so many moves."""
        halves = self._halves_of(c)
        low, high = spans(*halves, most - spare, most, moves)
        counts = self._members[c].counts
        mask, weight = joined(*halves, low, high, counts, _HANDS + 1)
        return Listed(mask=mask, spare=most - weight, moves=moves)

    def _halves_of(self, c: int) -> tuple[Half, Half]:
        if c not in self._halves:
            one = self._members[c]
            heaviest = self._most // one.unit
            halves = halves_of(
                self._lag, one.items, one.foreign, one.counts, heaviest, _PARTS
            )
            assert halves is not None  # noqa: S101 - a half has 20 items at most
            self._halves[c] = halves
        return self._halves[c]

    def _dealt(
        self, hands: Hands, spare: int, budget: int, work: Work
    ) -> tuple[Int64 | None, bool]:
        """Deal until it is settled."""
        whole = (1 << self._rows.size) - 1
        deal = first_deal(hands, whole, budget, 2 * budget, spare)
        for _ in range(_ALL_STEPS // _STEPS):
            if work.exceeded() is not None:
                break
            found, rest = deal_on(hands, deal, _STEPS)
            work.spent += (_STEPS - rest) / STEPS_A_UNIT
            if found:
                return self._held(hands, deal), True
            if rest:
                return None, True
        return None, False

    def _held(self, hands: Hands, deal: Deal) -> Int64:
        """Write who holds each partition of the setting."""
        room = self._setting.room
        held = self._setting.owner.astype(np.int64)
        for h in deal.hand.tolist():
            member = hands.member[h // WORD]
            held[self._rows[places_of(int(hands.mask[h]))]] = member
        for row in np.flatnonzero(held < 0).tolist():  # no lag, and nobody's so far
            held[row] = next(
                c
                for c in range(room.unit.size)
                if place_of(room, int(room.topic[row]), c) >= 0
            )
        return held

    def _peak(self, held: Int64) -> int:
        room = self._setting.room
        lag = np.zeros(room.unit.size, np.int64)
        np.add.at(lag, held, room.lag)
        return int((lag * room.unit).max())

    def column(self, held: Int64) -> Int32:
        """Write who holds what as a column of the instance."""
        return self._setting.column(self._instance, held.astype(np.int32))
