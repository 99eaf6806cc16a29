"""Regions that contain the balanced assignments: eligible members and load ranges.

The n-th partition of a member has the *key* (n / capacity, larger capacity first). An
assignment is dec-min exactly if no chain of transfers leads from a member to one whose
next key is less than the last key of the first. The *price* of a member is the least
next key that chains from it reach. By complementary slackness, the dec-min assignments
are those in which each partition is where the price is least, and each member holds all
of its keys below its price and none above. These ranges are often tighter than the
load bounds of `solver.exact`, which describe the same set of assignments.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Final

from solver.cpsat.cp_instance import CpInstance, CpTotals
from solver.policy import BalanceKind

Key = tuple[int, int]
Range = tuple[int, int]

EXACT_POOLS_MAX: Final = 11
"""Up to so many pools, all sets of them are enumerated to know ``need`` exactly."""

KIP54_RANGES_MAX: Final = 2_000_000
"""Product of members and pools above which KIP-54 ranges take longer than they save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpRegion:
    """Where partitions can be assigned, and how many a member can hold."""

    eligible: tuple[tuple[int, ...], ...]  # per pool: members that can hold of it
    loads: tuple[Range, ...]  # per member: (least, most)
    pool_loads: tuple[dict[int, Range], ...] = ()  # per pool: by member; or empty

    def contains(self, totals: CpTotals) -> bool:
        """Return whether loads and pool loads are within."""
        pools = totals.pool_loads
        eligible = zip(self.eligible, pools, strict=True)
        loads = zip(totals.loads, self.loads, strict=True)
        of_pools = zip(self.pool_loads, pools, strict=False)
        return (
            all(given.keys() <= set(members) for members, given in eligible)
            and all(least <= load <= most for load, (least, most) in loads)
            and all(
                least <= given.get(member, 0) <= most
                for ranges, given in of_pools
                for member, (least, most) in ranges.items()
            )
        )


def key_of(cp: CpInstance, member: int, n: int) -> Key:
    """Return the key of a member's n-th partition; less is better."""
    return n * cp.units[member], -cp.capacity[member]


def region_of(cp: CpInstance, kind: BalanceKind, dec_min: CpTotals) -> CpRegion:
    """Return the region of any balance but ``per-topic``."""
    match kind:
        case BalanceKind.DEC_MIN:
            return dec_min_region(cp, dec_min)
        case BalanceKind.KIP54:
            return kip54_region(cp, dec_min)
        case _:
            return open_region(cp)


def open_region(cp: CpInstance) -> CpRegion:
    """Return the region of all assignments."""
    sizes = [pool.size for pool in cp.pools]
    return CpRegion(
        eligible=tuple(pool.subscribers for pool in cp.pools),
        loads=tuple(
            (0, sum(sizes[g] for g in pools)) for pools in cp.pools_of_members()
        ),
    )


def dec_min_region(cp: CpInstance, totals: CpTotals) -> CpRegion:
    """Return the region of exactly the dec-min assignments, from totals of one."""
    price = _prices(cp, totals)
    eligible = []
    for pool in cp.pools:
        least = min(price[m] for m in pool.subscribers)
        eligible.append(tuple(m for m in pool.subscribers if price[m] == least))
    loads = tuple(_range_at(cp, m, price[m]) for m in range(len(price)))
    return CpRegion(eligible=tuple(eligible), loads=loads)


def _prices(cp: CpInstance, totals: CpTotals) -> list[Key]:
    """Compute the fixed point: holders of a pool reach all that its subscribers reach.

    Sweeps alternate in direction, so that chains along the order of pools take few.
    """
    price = [key_of(cp, m, load + 1) for m, load in enumerate(totals.loads)]
    pools = list(zip(cp.pools, totals.pool_loads, strict=True))
    is_stable = False
    while not is_stable:
        is_stable = True
        for pool, held in pools:
            least = min(price[m] for m in pool.subscribers)
            for holder in held:
                if price[holder] > least:
                    price[holder], is_stable = least, False
        pools.reverse()
    return price


def per_topic_region(cp: CpInstance, totals: CpTotals) -> CpRegion:
    """Return the region of exactly the assignments that are dec-min in each topic.

    ``totals`` are of one of them: the price of a topic is the largest of its keys. Each
    pool is one topic here.
    """
    pool_loads: list[dict[int, Range]] = []
    least, most = [0] * len(cp.members), [0] * len(cp.members)
    for pool, loads in zip(cp.pools, totals.pool_loads, strict=True):
        price = max(key_of(cp, m, load) for m, load in loads.items())
        ranges = {m: _range_at(cp, m, price) for m in pool.subscribers}
        for member, (low, high) in ranges.items():
            least[member] += low
            most[member] += high
        pool_loads.append(ranges)
    return CpRegion(
        eligible=tuple(
            tuple(m for m, (_, high) in ranges.items() if high) for ranges in pool_loads
        ),
        loads=tuple(zip(least, most, strict=True)),
        pool_loads=tuple(pool_loads),
    )


def _range_at(cp: CpInstance, member: int, price: Key) -> Range:
    """Count the keys of a member that are below a price, and those not above it."""
    amount, rank = price
    unit, own = cp.units[member], -cp.capacity[member]
    below = (amount - 1) // unit
    at = amount // unit - below
    return below + (at if own < rank else 0), below + (at if own <= rank else 0)


def kip54_region(cp: CpInstance, some: CpTotals) -> CpRegion:
    """Return a region that contains the assignments balanced by KIP-54, and more.

    Take an assignment balanced by KIP-54: whoever holds partitions of a pool has at
    most one more than each of its subscribers. Let P be the number of partitions, M of
    members, A(v) the members that hold v or more, and B(v) those that hold v or less.
    Let need(b) be the least number of partitions in the pools to which b members
    subscribe, whichever members these are: no less than the b smallest loads together
    of any assignment, such as that of ``some``. Even loads make the ranges tight.

    Upper bound: A(v) holds at least v · |A(v)| partitions, all of pools whose
    subscribers are all in A(v - 1); those pools hold at most P - need(M - |A(v - 1)|).
    So A(v - 1) cannot be small, nor can the sets below it; but their sizes sum to P.

    Lower bound: all partitions of the pools to which B(v) subscribes are held in
    B(v + 1), which holds at most (v + 1) · |B(v + 1)|. They are need(|B(v)|) or more,
    so B(v + 1) cannot be small; but no set is larger than M.
    """
    everything = open_region(cp)
    if len(cp.members) * len(cp.pools) > KIP54_RANGES_MAX:
        return everything
    pools_of = cp.pools_of_members()
    sizes = [pool.size for pool in cp.pools]
    reach = [most for _, most in everything.loads]
    smallest = accumulate(sorted(some.loads), initial=0)
    need = list(map(max, smallest, _needs(sizes, pools_of, reach)))
    bounds = _Kip54Bounds(sum(sizes), need)
    narrowest = [min(len(cp.pools[g].subscribers) for g in pools) for pools in pools_of]
    ranges = tuple(
        (bounds.least(own), min(own, bounds.most(width)))
        for own, width in zip(reach, narrowest, strict=True)
    )
    return CpRegion(eligible=everything.eligible, loads=ranges)


class _Kip54Bounds:
    """Both bounds for one group; ``need[b]`` for 0 to M members."""

    def __init__(self, whole: int, need: list[int]) -> None:
        self.whole, self.need = whole, need
        self.members = len(need) - 1
        # The most that pools hold whose subscribers are all among n members.
        self.inside = [whole - n for n in reversed(need)]
        self.least = cache(self._least)
        self.most = cache(self._most)

    def _most(self, width: int) -> int:
        """Return the largest load of a member whose pools have ``width`` subscribers.

        The more it holds, the larger are all sets below it: so bisect.
        """
        loads = range(self.whole + 1)
        return bisect_left(loads, True, key=lambda n: not self._can_hold(n, width)) - 1

    def _can_hold(self, load: int, width: int) -> bool:
        if load < 2:
            return True
        size, total = max(width, self._members_for(load)), 1
        for v in range(load - 1, 0, -1):
            total += size
            if size > self.members or total > self.whole:
                return False
            size = max(size, self._members_for(v * size))
        return True

    def _members_for(self, held: int) -> int:
        """Count the members that pools inside them need to hold so much."""
        return bisect_left(self.inside, held)

    def _least(self, own: int) -> int:
        """Return the smallest load of a member whose pools hold ``own`` partitions.

        The more it holds, the smaller are the sets above it: so bisect.
        """
        loads = range(self.whole + 1)
        return bisect_left(loads, True, key=lambda n: self._suffices(n, own))

    def _suffices(self, load: int, own: int) -> bool:
        v, size, held = load, 1, own
        while True:
            v += 1
            below = -(-held // v)
            if below > self.members:
                return False
            if below <= size and self.need[size] <= held:
                return True
            size = max(size, below)
            held = max(held, self.need[size])


def _needs(sizes: list[int], pools_of: list[list[int]], reach: list[int]) -> list[int]:
    """Return of each b, 0 to M, a number that is not above need(b).

    Of b members, one has the b-th smallest pools or larger ones. With few pools
    exactly: the smallest set of pools that contains all pools of b members.
    """
    if len(sizes) > EXACT_POOLS_MAX:
        return [0, *sorted(reach)]
    wants = Counter(sum(1 << g for g in pools) for pools in pools_of)
    need = [0] + [sum(sizes)] * len(pools_of)
    for chosen in range(1 << len(sizes)):
        content = sum(n for mask, n in wants.items() if mask & ~chosen == 0)
        weight = sum(size for g, size in enumerate(sizes) if chosen >> g & 1)
        need[content] = min(need[content], weight)
    for b in reversed(range(len(pools_of))):
        need[b] = min(need[b], need[b + 1])
    return need
