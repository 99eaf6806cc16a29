"""Between which numbers a member's load lies if no single transfer evens loads out.

All limits hold for every assignment that KIP-54 calls balanced, hence for each dec-min
one without capacities. They make the big number of `no_transfer_evens` small.

Two facts are counted out. Who holds a partition has at most one more than any other
subscriber of it: with load h, all of these have h - 1 or more. And who has load n
leaves all partitions of its topics to itself and to members with n + 1 or less.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from solver.milp.kinds import Kinds

ROUNDS: Final = 8
STEPS_MAX: Final = 500_000
"""Steps of a round, roughly; beyond it the first bounds have to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Least and most load of each member."""

    low: tuple[int, ...]
    high: tuple[int, ...]


def reachable(kinds: Kinds) -> list[int]:
    """Count the partitions that each member may be given at all."""
    most = [0] * kinds.members
    for takers, size in zip(kinds.groups, group_sizes(kinds), strict=True):
        for member in takers:
            most[member] += size
    return most


def group_sizes(kinds: Kinds) -> list[int]:
    """Count the partitions of each group of subscribers."""
    sizes = [0] * len(kinds.groups)
    for kind in kinds.kinds:
        sizes[kind.group] += kind.count
    return sizes


def windows_of(kinds: Kinds) -> Windows:
    """Bound the loads of KIP-54 balanced assignments."""
    narrowing = _Narrowing(kinds)
    rounds = ROUNDS if sum(len(g) ** 2 for g in kinds.groups) < STEPS_MAX else 0
    for _ in range(rounds):
        before = [*narrowing.low], [*narrowing.high]
        for member in range(kinds.members):
            if narrowing.wanted[member]:
                narrowing.lower_high(member)
        for member in range(kinds.members):
            if narrowing.wanted[member]:
                narrowing.raise_low(member)
        if before == (narrowing.low, narrowing.high):
            break
    return Windows(low=tuple(narrowing.low), high=tuple(narrowing.high))


class _Narrowing:
    """Windows that get narrower, one member after the other."""

    def __init__(self, kinds: Kinds) -> None:
        self.groups = kinds.groups
        self.sizes = sizes = group_sizes(kinds)
        self.reach = reachable(kinds)
        self.wanted: list[list[int]] = [[] for _ in self.reach]
        for group, takers in enumerate(kinds.groups):
            for member in takers:
                self.wanted[member].append(group)
        self.near: list[int] = []
        for takers in kinds.groups:
            around = {group for member in takers for group in self.wanted[member]}
            self.near.append(sum(sizes[group] for group in around))
        self.low, self.high = self._first()
        self.part = _components(self.wanted, kinds.groups)
        self.total: Counter[int] = Counter()
        for group, takers in enumerate(kinds.groups):
            self.total[self.part[takers[0]]] += sizes[group]
        self.peers: dict[int, list[int]] = defaultdict(list)
        for member, part in enumerate(self.part):
            self.peers[part].append(member)

    def _first(self) -> tuple[list[int], list[int]]:
        """Bound by means: n + (s - 1)(n + 1) >= reach, h <= 1 + near // |group|."""
        low, high = [], []
        for groups, reach in zip(self.wanted, self.reach, strict=True):
            sharing = {d for group in groups for d in self.groups[group]}
            means = [1 + self.near[g] // len(self.groups[g]) for g in groups]
            low.append(reach // len(sharing) if sharing else 0)
            high.append(min(reach, max(means, default=0)))
        return low, high

    def lower_high(self, member: int) -> None:
        """Cut a load for which the topics that may be held have too few partitions."""
        most = {g: self._most_with(member, g) for g in self.wanted[member]}

        def is_too_much(load: int) -> bool:
            return sum(self.sizes[g] for g, fits in most.items() if fits >= load) < load

        self.high[member] = _last(self.high[member], is_too_much)

    def _most_with(self, member: int, group: int) -> int:
        """Return the most that a member may have while it holds one of a group.

        With load h the others of the group have h - 1 or more: these loads are at most
        the partitions near the group, and with the least of all others, at most all.
        """
        lows = [self.low[d] for d in self.groups[group] if d != member]
        part = self.part[member]
        rest = sum(self.low[d] for d in self.peers[part])
        rest -= self.low[member] + sum(lows)
        room = min(self.near[group], self.total[part] - rest)

        def is_too_much(load: int) -> bool:
            return load + sum(max(low, load - 1) for low in lows) > room

        return _last(self.high[member], is_too_much)

    def raise_low(self, member: int) -> None:
        """Raise a load with which the group could not hold all its partitions."""
        while self.low[member] < self.high[member] and not self._fits(member):
            self.low[member] += 1

    def _fits(self, member: int) -> bool:
        """Tell whether the least load of a member may be attained.

        With load n, holders of its topics' partitions have n + 1 or less. They must be
        enough to hold them, and each of them keeps the group's total below the sum of
        all highs; the fewest and cheapest are counted, the last one in part.
        """
        least = self.low[member]
        due = self.reach[member] - least
        others = {d for g in self.wanted[member] for d in self.groups[g]} - {member}
        carry = {d: min(self.high[d], least + 1) for d in others}
        part = self.part[member]
        spare = sum(self.high[d] for d in self.peers[part])
        spare -= self.total[part] + self.high[member] - least
        for d in sorted(others, key=lambda d: (self.high[d] / max(1, carry[d]), d)):
            if due <= 0:
                break
            lost = self.high[d] - carry[d]
            if due < carry[d]:
                lost = -(-lost * due // carry[d])
            due -= carry[d]
            spare -= lost
        return due <= 0 and spare >= 0


def _last(most: int, is_too_much: Callable[[int], bool]) -> int:
    """Return the largest load of 0 to ``most`` that is not, nor any below it."""
    return bisect_left(range(1, most + 1), True, key=is_too_much)


def _components(
    wanted: list[list[int]], groups: tuple[tuple[int, ...], ...]
) -> list[int]:
    """Give members that are linked by topics the same number."""
    part = list(range(len(wanted)))
    for start in range(len(wanted)):
        if part[start] != start:
            continue
        reached = [start]
        while reached:
            for group in wanted[reached.pop()]:
                for member in groups[group]:
                    if part[member] != start:
                        part[member] = start
                        reached.append(member)
    return part
