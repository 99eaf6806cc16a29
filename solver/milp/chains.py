"""Dec-min in integers: no chain of transfers improves, and what that says of all.

Giving member c its n-th partition has the key (n ÷ capacity, larger capacity first).
An assignment is dec-min iff no chain of transfers, each partition going to another of
its subscribers, leads from c to d with key_d(load_d + 1) < key_c(load_c).

The *price* of c is the least key_d(load_d + 1) over all d that a chain from c reaches,
c itself among them. Then every partition sits where the price is least among its
subscribers, and c holds all its keys below its price and none above: complementary
slackness for the convex flow whose costs are the keys' ranks. So the dec-min
assignments are exactly those of the `Face` that the prices spell out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

Key = tuple[Fraction, int]
"""Load ÷ capacity after the gift, and minus the capacity."""

Held = Mapping[int, Mapping[int, int]]
"""Group of subscribers, then member: how many partitions."""


def key_of(number: int, capacity: int) -> Key:
    """Return what it costs to give a member its ``number``-th partition."""
    return Fraction(number, capacity), -capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """All dec-min assignments.

    Attributes
    ----------
    seats : tuple of tuple of int
        For each group of subscribers, those that may be given its partitions.
    low, high : tuple of int
        Limits of each member's load.
    """

    seats: tuple[tuple[int, ...], ...]
    low: tuple[int, ...]
    high: tuple[int, ...]


def face_of(
    groups: Sequence[tuple[int, ...]], held: Held, capacity: Sequence[int]
) -> Face | None:
    """Return the face that a dec-min assignment lies on; None if it is not dec-min."""
    loads = [0] * len(capacity)
    for by_member in held.values():
        for member, count in by_member.items():
            loads[member] += count
    price = _prices(groups, held, loads, capacity)
    for member, load in enumerate(loads):
        if load and key_of(load, capacity[member]) > price[member]:
            return None
    seats = []
    for takers in groups:
        least = min(price[member] for member in takers)
        seats.append(tuple(m for m in takers if price[m] == least))
    limits = [_limits(p, w) for p, w in zip(price, capacity, strict=True)]
    return Face(
        seats=tuple(seats),
        low=tuple(low for low, _ in limits),
        high=tuple(high for _, high in limits),
    )


def _prices(
    groups: Sequence[tuple[int, ...]],
    held: Held,
    loads: Sequence[int],
    capacity: Sequence[int],
) -> list[Key]:
    """Find the least next key that chains from each member reach.

    From the cheapest taker backwards: whoever holds a partition that it subscribes to
    reaches it, and so on; who is reached once has its price.
    """
    own = [key_of(n + 1, w) for n, w in zip(loads, capacity, strict=True)]
    price: list[Key | None] = [None] * len(loads)
    wanted: list[list[int]] = [[] for _ in loads]
    for group, takers in enumerate(groups):
        for member in takers:
            wanted[member].append(group)
    open_groups = set(range(len(groups)))
    for start in sorted(range(len(loads)), key=lambda m: (own[m], m)):
        if price[start] is not None:
            continue
        price[start] = own[start]
        reached = [start]
        while reached:
            for group in wanted[reached.pop()]:
                if group not in open_groups:
                    continue
                open_groups.discard(group)
                for holder, count in held.get(group, {}).items():
                    if count and price[holder] is None:
                        price[holder] = own[start]
                        reached.append(holder)
    return [own[m] if p is None else p for m, p in enumerate(price)]


def _limits(price: Key, capacity: int) -> tuple[int, int]:
    """Count a member's keys below its price, and those not above it."""
    ratio, tie = price
    number = floor(ratio * capacity)
    if number != ratio * capacity:
        return number, number
    return number - (tie <= -capacity), number - (tie < -capacity)
