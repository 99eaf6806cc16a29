"""Choose a hand for each member: the least peak lag within a budget of moves.

A *hand* is what one member may hold. All members together can hold little more within a
peak than there is, so each holds nearly its share: where lags are large and differ, few
hands do, and fewer with few moves. So they are all listed (`solver.budget.halves`) and
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
from solver.budget.dealing import Bounds, Hands, deal, which_keep
from solver.budget.halves import Half, count_hands, half_of, list_hands
from solver.lag.kinds import limits_of
from solver.lag.room import FREE, place_of
from solver.lag.setting import Setting, setting_of
from solver.lag.work import STEPS_A_UNIT, Work
from solver.policy import Balance

NAME: Final = "choice of hands"
_ITEMS: Final = 40  # of a member; half as many make a million parts at most
_ALL_ITEMS: Final = 60  # of all members together
_HANDS: Final = 3_000_000  # of all members but the one with most
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
        self._members = _members(setting, self._rows)
        self.is_small = all(len(one.items) <= _ITEMS for one in self._members)
        self._halves: dict[int, tuple[Half, Half]] = {}

    def least(self, budget: int, bound: int, value: int, work: Work) -> Reached:
        """Find the least peak within a budget, between a bound and a value that is had.

        Both in units of 1 ÷ scale. A limit that strikes leaves them apart.
        """
        assignee = None
        step = max(1, (value - bound) // _FIRST_STEP)
        while bound < value and work.struck() is None:
            peak = min(value - 1, bound + step)
            held, is_settled = self.within(budget, peak, work)
            if held is not None:
                assignee = self.column(held)
                value = self._peak(held)
                step = max(1, (value - bound) // 2)
            elif is_settled:
                bound = peak + 1
                step *= 4
            else:
                break
        return Reached(value=value, assignee=assignee, bound=bound)

    def within(self, budget: int, peak: int, work: Work) -> tuple[Int64 | None, bool]:
        """Find who holds what within a peak; tell whether it is settled."""
        most = [peak // one.unit for one in self._members]
        spare = sum(most) - int(self._lag.sum())
        if spare < 0:
            return None, True
        counts = []
        for c, heaviest in enumerate(most):
            if work.struck() is not None:
                return None, False
            counts.append(self._counts(c, heaviest, spare, budget))
        fewest = [next((k for k, n in enumerate(some) if n), None) for some in counts]
        least = [k for k in fewest if k is not None]
        if len(least) < len(fewest) or sum(least) > budget:
            return None, True
        extra = budget - sum(least)
        sizes = [
            sum(some[: k + extra + 1]) for some, k in zip(counts, least, strict=True)
        ]
        order = sorted(range(len(most)), key=lambda c: (sizes[c], c))
        if sum(sizes) - sizes[order[-1]] > _HANDS:
            return None, False
        hands = self._hands(order, counts, least, extra, most, spare)
        return self._dealt(hands, order, budget, work)

    def _counts(self, c: int, most: int, spare: int, budget: int) -> list[int]:
        """Count a member's hands by moves."""
        one, other = self._halves_of(c)
        least = most - spare
        return [count_hands(one, other, least, most, k) for k in range(budget + 1)]

    def _halves_of(self, c: int) -> tuple[Half, Half]:
        if c not in self._halves:
            one = self._members[c]
            # Every other one: both halves have large ones and small ones.
            items = one.items[np.argsort(-self._lag[one.items], kind="stable")]
            heaviest = self._most // one.unit
            self._halves[c] = (
                half_of(self._lag, items[::2], one.foreign, heaviest),
                half_of(self._lag, items[1::2], one.foreign, heaviest),
            )
        return self._halves[c]

    def _hands(
        self,
        order: list[int],
        counts: list[list[int]],
        fewest: list[int],
        extra: int,
        most: list[int],
        spare: int,
    ) -> Hands:
        """List the hands of all members but the last."""
        masks, weights, moves, first = [], [], [], [0]
        for c in order[:-1]:
            for k in range(fewest[c], min(fewest[c] + extra + 1, len(counts[c]))):
                mask, weight = list_hands(
                    *self._halves_of(c), most[c] - spare, most[c], k, counts[c][k]
                )
                if not self._free:
                    kept = which_keep(mask, self._members[c].bounds)
                    mask, weight = mask[kept], weight[kept]
                masks.append(mask)
                weights.append(weight)
                moves.append(np.full(mask.size, k, np.int64))
            first.append(sum(map(len, masks)))
        members = [self._members[c] for c in order]
        return Hands(
            mask=np.concatenate(masks),
            weight=np.concatenate(weights),
            moves=np.concatenate(moves),
            first=np.array(first, np.int64),
            room=_sums([most[c] for c in order]),
            fewest=_sums([fewest[c] for c in order]),
            own=_unions([one.own for one in members]),
            seats=_unions([one.seats for one in members]),
            owned=self._owned,
        )

    @property
    def _owned(self) -> int:
        return _mask(np.flatnonzero(self._setting.owner[self._rows] >= 0))

    def _dealt(
        self, hands: Hands, order: list[int], budget: int, work: Work
    ) -> tuple[Int64 | None, bool]:
        """Deal until it is settled."""
        last = self._members[order[-1]]
        lag = int(self._lag.sum())
        at = np.zeros(len(order), np.int64)
        for _ in range(_ALL_STEPS // _STEPS):
            if work.struck() is not None:
                break
            found, rest = deal(hands, last.bounds, lag, budget, at, _STEPS)
            work.spent += (_STEPS - rest) / STEPS_A_UNIT
            if found:
                return self._held(hands, at, order), True
            if rest:
                return None, True
        return None, False

    def _held(self, hands: Hands, at: Int64, order: list[int]) -> Int64:
        """Write who holds each partition of the setting."""
        setting = self._setting
        held = setting.owner.astype(np.int64)
        taken = 0
        for c, k in zip(order, at.tolist(), strict=False):
            if c != order[-1]:
                mask = int(hands.mask[k])
                taken |= mask
                held[self._rows[_places(mask)]] = c
        rest = int(hands.seats[0]) & ~taken
        held[self._rows[_places(rest)]] = order[-1]
        for row in np.flatnonzero(held < 0).tolist():  # no lag, and nobody's so far
            held[row] = next(
                c
                for c in range(len(order))
                if place_of(setting.room, int(setting.room.topic[row]), c) >= 0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A member as the hands need it; partitions as bits.

    Attributes
    ----------
    items : int64
        Partitions that it may hold.
    seats, own, foreign : int
        The same; those it owns; those that others own.
    unit : int
        What a record weighs with it.
    """

    items: Int64
    seats: int
    own: int
    foreign: int
    unit: int
    bounds: Bounds


def _members(setting: Setting, rows: Int64) -> list[_Member]:
    room = setting.room
    topic, owner = room.topic[rows], setting.owner[rows]
    members = []
    for c in range(room.unit.size):
        takes = np.array([place_of(room, int(t), c) >= 0 for t in topic], np.bool_)
        items = np.flatnonzero(takes).astype(np.int64)
        members.append(
            _Member(
                items=items,
                seats=_mask(items),
                own=_mask(np.flatnonzero(takes & (owner == c))),
                foreign=_mask(np.flatnonzero(takes & (owner >= 0) & (owner != c))),
                unit=int(room.unit[c]),
                bounds=_bounds(setting, topic, items, c),
            )
        )
    return members


def _bounds(setting: Setting, topic: Int32, items: Int64, c: int) -> Bounds:
    room = setting.room
    cells = limits_of(room, c)
    k = int(room.member_class[c])
    groups = [_mask(items)]
    if room.by_topic:
        topics = room.open[room.first[k] : room.first[k + 1]].tolist()
        groups = [_mask(items[topic[items] == t]) for t in topics]
    return Bounds(np.array(groups, np.int64), room.least[cells], room.most[cells])


def _mask(places: Int64) -> int:
    return sum(1 << int(place) for place in places)


def _places(mask: int) -> list[int]:
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def _sums(numbers: list[int]) -> Int64:
    """Add up each number and all after it."""
    return np.cumsum([0, *reversed(numbers)], dtype=np.int64)[::-1].copy()


def _unions(masks: list[int]) -> Int64:
    """Join each mask and all after it."""
    joined = [0]
    for mask in reversed(masks):
        joined.append(joined[-1] | mask)
    return np.array(joined[::-1], np.int64)
