"""How much a member can hold when no single transfer improves: bounds before a search.

Take an assignment balanced by KIP-54: whoever holds of a pool has at most one more than
each of its subscribers. Let P be all partitions, M the members, A(v) those that hold v
or more and B(v) those that hold v or less. Let need(b) be the least number of
partitions in the pools that b members subscribe to, whichever members these are.

From above. A(v) holds at least v · |A(v)| partitions, all of pools whose subscribers
are all in A(v - 1); those hold at most P - need(M - |A(v - 1)|). So A(v - 1) cannot be
small, and nor can the sets below it; but their sizes add up to P.

From below. All partitions of the pools that B(v) subscribes to sit in B(v + 1), which
holds at most (v + 1) · |B(v + 1)|. They are need(|B(v)|) or more, so B(v + 1) cannot be
small; but no set is larger than M.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cache
from typing import Final

from solver.cpsat.problem import Problem

EXACT_POOLS: Final = 11
"""With so many pools all sets of them are looked at, to know ``need`` exactly."""

WORTH_IT: Final = 2_000_000
"""Larger than this, members times pools, nobody waits for bounds."""


def load_ranges(problem: Problem) -> tuple[tuple[int, int], ...]:
    """Return the least and the most that each member can hold."""
    pools_of = problem.pools_of()
    sizes = [pool.size for pool in problem.pools]
    reach = [sum(sizes[g] for g in pools) for pools in pools_of]
    if len(reach) * len(sizes) > WORTH_IT:
        return tuple((0, n) for n in reach)
    bounds = _Bounds(sum(sizes), _needs(sizes, pools_of, reach))
    narrowest = [
        min(len(problem.pools[g].subscribers) for g in pools) for pools in pools_of
    ]
    return tuple(
        (bounds.least(own), min(own, bounds.most(width)))
        for own, width in zip(reach, narrowest, strict=True)
    )


class _Bounds:
    """Both arguments, for one group; ``need[b]`` for 0 to M members."""

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
        level, size = load - 1, max(width, self._room(load))
        total = 1
        while level >= 1:
            total += size
            if size > self.members or total > self.whole:
                return False
            size = max(size, self._room(level * size))
            level -= 1
        return True

    def _room(self, held: int) -> int:
        """Count the members it takes for pools inside them to hold so much."""
        return bisect_left(self.inside, held)

    def _least(self, own: int) -> int:
        """Return the smallest load of a member whose pools hold ``own`` partitions.

        The more it holds, the smaller are the sets above it: so bisect.
        """
        loads = range(self.whole + 1)
        return bisect_left(loads, True, key=lambda n: self._can_do_with(n, own))

    def _can_do_with(self, load: int, own: int) -> bool:
        level, size, held = load, 1, own
        while True:
            level += 1
            below = -(-held // level)
            if below > self.members:
                return False
            if below <= size and self.need[size] <= held:
                return True
            size = max(size, below)
            held = max(held, self.need[size])


def _needs(sizes: list[int], pools_of: list[list[int]], reach: list[int]) -> list[int]:
    """Return of each b, 0 to M, a number that is not above need(b).

    Of b members one has the b-th smallest pools or larger ones. With few pools exactly:
    the smallest set of pools that b members are content with.
    """
    if len(sizes) > EXACT_POOLS:
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
