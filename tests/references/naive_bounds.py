"""Terms of bounds, the slow way: by all subsets that a member could hold.

Reaches into `verify.policy` for its regions; the bounds are counted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import ceil, lcm
from typing import Any

from tests.support.shapes import Document
from verify.certificate import Pool
from verify.policy.feasible_region import Region

Term = Mapping[str, Any]
TP = tuple[str, int]


def largest_bound(document: Document, region: Region, term: Term) -> int:
    """Return the largest bound that a term proves, of those that work one out."""
    by_kind = {"average": average, "packing": packing}
    return by_kind[term["kind"]](document, region, term)


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


def partitions(document: Document, region: Region) -> list[TP]:
    topics = document["topics"]
    return [(t, n) for t in region.eligible for n in range(topics[t]["partitions"])]


def average(document: Document, region: Region, term: Term) -> int:
    seated = {name for seats in region.eligible.values() for name in seats}
    members = set(term.get("members", seated))
    behind = sum(
        lag(document, tp)
        for tp in partitions(document, region)
        if set(region.eligible[tp[0]]) <= members
        and tp[0] in term.get("topics", [tp[0]])
    )
    together = sum(capacity(document, m) for m in members)
    return ceil(Fraction(scale(document) * behind, together)) if together else 0


def crowd_of(document: Document, region: Region, term: Term) -> set[TP]:
    """Return the partitions with at least that lag."""
    topics = term.get("topics", list(document["topics"]))
    return {
        tp
        for tp in partitions(document, region)
        if tp[0] in topics and lag(document, tp) >= term.get("at_least", 0)
    }


def packing(document: Document, region: Region, term: Term) -> int:
    """Try every set of partitions of the weight that some member holds."""
    weight = dict.fromkeys(partitions(document, region), 0)
    for start, number in sorted(term["steps"]):
        for tp in weight:
            if tp[0] in term.get("topics", [tp[0]]) and lag(document, tp) >= start:
                weight[tp] = number
    heavy = [tp for tp in weight if weight[tp]]
    takers = {name for topic, _ in heavy for name in region.eligible[topic]}
    if not takers:
        return 0
    share = Fraction(sum(weight.values()), len(takers))
    left = [
        sum(lag(document, tp) for tp in subset)
        for subset in subsets(heavy)
        if sum(weight[tp] for tp in subset) >= share
    ]
    least: int = ceil(min(left) * min(unit(document, name) for name in takers))
    return least


def crowd_holds(document: Document, region: Region, term: Term) -> bool:
    """Try every subset that each member could hold within its load bounds."""
    crowd = crowd_of(document, region, term)
    held = 0
    for member in {name for seats in region.eligible.values() for name in seats}:
        mine = [
            tp
            for tp in partitions(document, region)
            if member in region.eligible[tp[0]]
        ]
        possible = [
            len(crowd.intersection(subset))
            for subset in subsets(mine)
            if all(keeps(subset, member, pool) for pool in region.pools)
            and unit(document, member) * sum(lag(document, tp) for tp in subset)
            <= term["bound"] - 1
        ]
        if not possible:
            return True
        held += max(possible)
    return held < len(crowd)


def subsets(items: Sequence[TP]) -> Iterator[tuple[TP, ...]]:
    sizes = range(len(items) + 1)
    return chain.from_iterable(combinations(items, size) for size in sizes)


def keeps(subset: Sequence[TP], member: str, pool: Pool) -> bool:
    """Return whether a subset is within a member's load bounds in a pool."""
    least, most = pool.limits.get(member, (0, 0))
    return least <= sum(topic in pool.topics for topic, _ in subset) <= most
