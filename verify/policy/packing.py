"""Bin-packing lower bound on peak lag, by weights and a knapsack (docs/bounds.md).

``packing``. Give each partition a weight, at least 0, by where its lag is among some
steps. Some member holds its share of all weight or more, that is U / m rounded up, of U
in all, m the members eligible for any of it. So its lag is no less than the least lag
of any partitions of that weight; how many it must hold does not matter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from verify.case import Case
from verify.policy.feasible_region import Region
from verify.policy.objectives import common_capacity
from verify.policy.pigeonhole import Reason, Term, lags_of_topic
from verify.policy.work import Work


def packing_fails(case: Case, region: Region, term: Term, work: Work) -> Reason | None:
    """Return why the least lag of a share of all weight is below a bound, or None."""
    steps = sorted((least, weight) for least, weight in term.get("steps", ()))
    starts = [least for least, _ in steps]
    topics = set(term.get("topics", region.eligible))
    items: list[tuple[int, int]] = []
    members: set[str] = set()
    for topic, eligible in region.eligible.items():
        lags = lags_of_topic(case, topic) if topic in topics else ()
        places = [(bisect_right(starts, lag), lag) for lag in lags]
        mine = [
            (steps[at - 1][1], lag) for at, lag in places if at and steps[at - 1][1]
        ]
        items += mine
        members |= set(eligible if mine else ())
    if not items:
        return compared(term, 0)
    share = -(-sum(weight for weight, _ in items) // len(members))
    refused = work.refuse(share * len(items))
    if refused is not None:
        return refused
    unit = common_capacity(case) // max(case.capacity[name] for name in members)
    return compared(term, unit * _lightest(items, share))


def compared(term: Term, found: int) -> Reason | None:
    """Return why a bound is not proved by what was found, if it is less."""
    return None if term["bound"] <= found else {"fails": "bound", "found": found}


def _lightest(items: Iterable[tuple[int, int]], share: int) -> int:
    """Return the least lag of partitions of weight ``share`` or more (a knapsack)."""
    items = sorted(items)
    beyond = 1 + sum(lag for _, lag in items)
    least = [0] + [beyond] * share  # by weight
    for weight, lag in items:
        first = min(weight, share) + 1
        pairs = zip(least[first:], least[1 : share - first + 2], strict=True)
        # Comparisons take a third of the time of min().
        least[1:] = [
            *[lag if lag < n else n for n in least[1:first]],  # noqa: FURB136
            *[n + lag if n + lag < known else known for known, n in pairs],  # noqa: FURB136
        ]
    return least[share]
