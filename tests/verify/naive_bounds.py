"""Terms of bounds, tried out the slow way: by all hands a member could be dealt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from math import ceil, lcm
from typing import Any

from tests.shapes import Document
from verify.room import Pool, Room

Term = Mapping[str, Any]
TP = tuple[str, int]


def largest_bound(document: Document, room: Room, term: Term) -> int | None:
    """Return the largest bound that a term proves, of those that work one out."""
    if term["kind"] == "average":
        return average(document, room, term)
    if term["kind"] == "company":
        return company(document, room, term)
    if term["kind"] == "packing":
        return packing(document, room, term)
    return duals(document, room, term)


def unit(document: Document, member: str) -> Fraction:
    """Return what a record of lag on a member adds to the value."""
    return Fraction(scale(document), capacity(document, member))


def scale(document: Document) -> int:
    full = {t for t, about in document["topics"].items() if about["partitions"]}
    members = document["members"].items()
    return lcm(
        *(m.get("capacity", 1) for _, m in members if full & {*m["subscription"]})
    )


def capacity(document: Document, member: str) -> int:
    found: int = document["members"][member].get("capacity", 1)
    return found


def lag(document: Document, tp: TP) -> int:
    about = document["topics"][tp[0]]
    found: int = about.get("lag", [0] * about["partitions"])[tp[1]]
    return found


def partitions(document: Document, room: Room) -> list[TP]:
    topics = document["topics"]
    return [(t, n) for t in room.seats for n in range(topics[t]["partitions"])]


def average(document: Document, room: Room, term: Term) -> int:
    seated = {name for seats in room.seats.values() for name in seats}
    members = set(term.get("members", seated))
    behind = sum(
        lag(document, tp)
        for tp in partitions(document, room)
        if set(room.seats[tp[0]]) <= members and tp[0] in term.get("topics", [tp[0]])
    )
    together = sum(capacity(document, m) for m in members)
    return ceil(Fraction(scale(document) * behind, together)) if together else 0


def crowd_of(document: Document, room: Room, term: Term) -> set[TP]:
    """Return the partitions that are at least so far behind."""
    topics = term.get("topics", list(document["topics"]))
    return {
        tp
        for tp in partitions(document, room)
        if tp[0] in topics and lag(document, tp) >= term.get("at_least", 0)
    }


def company(document: Document, room: Room, term: Term) -> int:
    """Try every set of partitions that can be what the argument is left with."""
    crowd = crowd_of(document, room, term)
    if not crowd:
        return 0
    takers = {name for topic, _ in crowd for name in room.seats[topic]}
    fewest = min(
        sum(pool.limits[name][0] for pool in room.pools if name in pool.limits)
        for name in takers
    )
    most = ceil(Fraction(len(crowd), len(takers)))
    full = len(crowd) - (most - 1) * len(takers)
    rank = (len(takers) - full) * (most - 1)
    above = sorted((lag(document, tp) for tp in crowd), reverse=True)[rank]
    left = []
    for hand in subsets(partitions(document, room)):
        mine = [lag(document, tp) for tp in crowd.intersection(hand)]
        with_one = len(mine) == most and max(mine) >= above
        if len(hand) >= fewest and (with_one or len(mine) > most):
            left.append(sum(lag(document, tp) for tp in hand))
    least: int = ceil(min(left) * min(unit(document, name) for name in takers))
    return least


def packing(document: Document, room: Room, term: Term) -> int:
    """Try every set of partitions that weighs as much as somebody has."""
    weight = dict.fromkeys(partitions(document, room), 0)
    for start, number in sorted(term["steps"]):
        for tp in weight:
            if tp[0] in term.get("topics", [tp[0]]) and lag(document, tp) >= start:
                weight[tp] = number
    heavy = [tp for tp in weight if weight[tp]]
    takers = {name for topic, _ in heavy for name in room.seats[topic]}
    if not takers:
        return 0
    share = Fraction(sum(weight.values()), len(takers))
    left = [
        sum(lag(document, tp) for tp in hand)
        for hand in subsets(heavy)
        if sum(weight[tp] for tp in hand) >= share
    ]
    least: int = ceil(min(left) * min(unit(document, name) for name in takers))
    return least


def crowd_holds(document: Document, room: Room, term: Term) -> bool:
    """Try every hand that each member could be dealt within its limits."""
    crowd = crowd_of(document, room, term)
    held = 0
    for member in {name for seats in room.seats.values() for name in seats}:
        mine = [tp for tp in partitions(document, room) if member in room.seats[tp[0]]]
        possible = [
            len(crowd.intersection(hand))
            for hand in subsets(mine)
            if all(keeps(hand, member, pool) for pool in room.pools)
            and unit(document, member) * sum(lag(document, tp) for tp in hand)
            <= term["bound"] - 1
        ]
        if not possible:
            return True
        held += max(possible)
    return held < len(crowd)


def subsets(items: Sequence[TP]) -> Iterator[tuple[TP, ...]]:
    sizes = range(len(items) + 1)
    return chain.from_iterable(combinations(items, size) for size in sizes)


def keeps(hand: Sequence[TP], member: str, pool: Pool) -> bool:
    """Tell whether a hand keeps to a member's limits in a pool."""
    least, most = pool.limits.get(member, (0, 0))
    return least <= sum(topic in pool.topics for topic, _ in hand) <= most


def duals(document: Document, room: Room, term: Term) -> int | None:
    """Add up; V by trying all loads. None: no weight, or prices that mean nothing."""
    weight, price = term.get("weight", {}), term.get("price", {})
    if not sum(weight.values()):
        return None

    def asks(member: str, topic: str) -> int:
        found = price.get(member, 0)
        return int(found.get(topic, 0) if isinstance(found, dict) else found)

    total = Fraction(0)
    for pool in room.pools:
        if len(pool.topics) > 1 and any(
            isinstance(price.get(m), dict) for m in pool.limits
        ):
            return None
        prices = {m: asks(m, pool.topics[0]) for m in pool.limits}
        total -= max(
            sum(prices[m] * n for m, n in zip(pool.limits, loads, strict=True))
            for loads in all_loads(pool)
        )
    for tp in partitions(document, room):
        total += min(
            weight.get(m, 0) * unit(document, m) * lag(document, tp) + asks(m, tp[0])
            for m in room.seats[tp[0]]
        )
    together: int = sum(weight.values())
    return ceil(total / together)


def all_loads(pool: Pool) -> Iterator[tuple[int, ...]]:
    ranges = (range(least, most + 1) for least, most in pool.limits.values())
    return (loads for loads in product(*ranges) if sum(loads) == pool.units)
