"""Between which numbers a member's load lies if no single transfer evens loads out.

Both limits hold for every assignment that KIP-54 calls balanced, hence for every
dec-min one without capacities. They make the big number of `kip54` small.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver.linear.kinds import Kinds


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
    """Bound the loads of KIP-54 balanced assignments.

    Who holds a partition of group g has at most one more than the least of its
    subscribers, and the least is at most their mean: load <= 1 + (partitions that any
    of them may take) // |g|. And who has n leaves the partitions of its groups to
    itself and to holders of at most n + 1: their number is at most
    n + (|subscribers| - 1)(n + 1), so n >= their number // |subscribers|.
    """
    sizes, most = group_sizes(kinds), reachable(kinds)
    wanted: list[list[int]] = [[] for _ in most]
    for group, takers in enumerate(kinds.groups):
        for member in takers:
            wanted[member].append(group)
    ceiling = []
    for takers in kinds.groups:
        near = {group for member in takers for group in wanted[member]}
        ceiling.append(1 + sum(sizes[group] for group in near) // len(takers))
    low, high = [], []
    for member, groups in enumerate(wanted):
        others = {other for group in groups for other in kinds.groups[group]}
        low.append(most[member] // len(others) if others else 0)
        high.append(min(most[member], max((ceiling[g] for g in groups), default=0)))
    return Windows(low=tuple(low), high=tuple(high))
