"""All dec-min assignments, from one: prices of chains, checked in integers.

Assigning member c its n-th partition has the key (n ÷ capacity, larger capacity first).
An assignment is dec-min if and only if no chain of transfers leads from a member c to a
member d with key_d(load_d + 1) < key_c(load_c).

The *price* of c is the least key_d(load_d + 1) over all d that a chain from c reaches,
c itself included. Then every partition is assigned to an eligible member with the
lowest price, and c holds all of its keys below its price and none above: complementary
slackness of the convex flow whose costs are the ranks of the keys (Frank and Murota,
Decreasing minimization on M-convex sets). Hence the dec-min assignments are exactly
those within the limits that the prices give.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, count, islice, repeat
from math import floor

Key = tuple[Fraction, int]
"""Load ÷ capacity after the assignment, and minus the capacity."""

HeldCounts = Sequence[Mapping[int, int]]
"""Per group of eligible members: member to number of partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecMinFace:
    """All dec-min assignments."""

    groups: tuple[tuple[int, ...], ...]  # per group, the members with the lowest price
    low: tuple[int, ...]  # (M,): least load
    high: tuple[int, ...]  # (M,): largest load


def key_of(number: int, capacity: int) -> Key:
    """Return the key of the ``number``-th partition of a member."""
    return Fraction(number, capacity), -capacity


def dec_min_face(
    groups: Sequence[Sequence[int]], held: HeldCounts, capacity: Sequence[int]
) -> DecMinFace | None:
    """Return the face of an assignment; None if the assignment is not dec-min."""
    loads = [0] * len(capacity)
    for by_member in held:
        for member, number in by_member.items():
            loads[member] += number
    price = _prices(groups, held, loads, capacity)
    for member, load in enumerate(loads):
        if load and key_of(load, capacity[member]) > price[member]:
            return None
    lowest = [min(price[member] for member in members) for members in groups]
    limits = [_load_limits(p, w) for p, w in zip(price, capacity, strict=True)]
    return DecMinFace(
        groups=tuple(
            tuple(m for m in members if price[m] == least)
            for members, least in zip(groups, lowest, strict=True)
        ),
        low=tuple(low for low, _ in limits),
        high=tuple(high for _, high in limits),
    )


def topic_load_limits(
    capacity: Sequence[int], partitions: int
) -> list[tuple[int, int]]:
    """Return the least and largest dec-min load per member in one topic (KIP-169).

    The greedy algorithm takes the least keys; the last one is the price of all members.
    It gives everyone the share of its capacity, rounded down: if a member had less, its
    next key would be no larger than partitions ÷ total capacity, while somebody else
    has more than its share, hence a larger key. So it starts from these shares.
    """
    total = sum(capacity)
    shares = [partitions * w // total for w in capacity]
    places = list(zip(shares, capacity, strict=True))
    keys = heapq.merge(*(map(key_of, count(n + 1), repeat(w)) for n, w in places))
    held = (key_of(n, w) for n, w in places if n)
    price = max(chain(held, islice(keys, partitions - sum(shares))))
    return [_load_limits(price, w) for w in capacity]


def _prices(
    groups: Sequence[Sequence[int]],
    held: HeldCounts,
    loads: Sequence[int],
    capacity: Sequence[int],
) -> list[Key]:
    """Return the least next key that chains from each member reach.

    Search backwards from the member with the least key: every holder of a partition for
    which it is eligible reaches it, and so on. The first price found is the least.
    """
    own = [key_of(n + 1, w) for n, w in zip(loads, capacity, strict=True)]
    price: list[Key | None] = [None] * len(loads)
    groups_of: list[list[int]] = [[] for _ in loads]
    for group, members in enumerate(groups):
        for member in members:
            groups_of[member].append(group)
    unvisited = set(range(len(groups)))
    for start in sorted(range(len(loads)), key=lambda m: (own[m], m)):
        if price[start] is not None:
            continue
        price[start] = own[start]
        reached = [start]
        while reached:
            for group in unvisited.intersection(groups_of[reached.pop()]):
                unvisited.discard(group)
                for holder, number in held[group].items():
                    if number and price[holder] is None:
                        price[holder] = own[start]
                        reached.append(holder)
    return [own[m] if p is None else p for m, p in enumerate(price)]


def _load_limits(price: Key, capacity: int) -> tuple[int, int]:
    """Return the number of a member's keys below its price, and of those not above."""
    ratio, tie = price
    number = floor(ratio * capacity)
    if number != ratio * capacity:
        return number, number
    return number - (tie <= -capacity), number - (tie < -capacity)
