"""Pigeonhole lower bound on peak lag from the k largest lags (docs/bounds.md, crowd).

``crowd``, ``topic-crowd``. Let K be the partitions, of some topics or all, with lag at
least x. A member that holds i of them in a pool holds the i smallest of K for which it
is eligible and, if it must hold more, that many of the smallest of the others. One more
of K takes the place of one of the others, if any; the first adds least and each next
one no less. So over all its pools a member that holds j has at least the lag that it
starts with and the j smallest steps that it can add. With peak lag T - 1 it may not
have more than (T - 1) / unit, so it holds at most the largest j for which that sum is
not more. If these come to fewer than K, or some member has no such j, peak lag is at
least T.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from verify.case import Case
from verify.policy.feasible_region import Region
from verify.policy.objectives import common_capacity
from verify.policy.work import STEPS_PER_ITEM, Work

Reason = dict[str, Any]
Term = Mapping[str, Any]
Slots = tuple[tuple[str, ...], int, int]  # topics, least and most of their partitions


def crowd_fails(case: Case, region: Region, term: Term, work: Work) -> Reason | None:
    """Return why members with less than a bound could hold all of K, or None."""
    classes = _member_classes(case, region)
    items = sum(case.partitions[t] for _, held in classes for s in held for t in s[0])
    refused = work.refuse(STEPS_PER_ITEM * items)
    if refused is not None:
        return refused
    at_least, topics = term.get("at_least", 0), set(term.get("topics", region.eligible))
    inside: dict[str, list[int]] = {}
    outside: dict[str, list[int]] = {}
    for topic in region.eligible:
        lags = sorted(lags_of_topic(case, topic))
        first = bisect_left(lags, at_least) if topic in topics else len(lags)
        inside[topic], outside[topic] = lags[first:], lags[:first]
    fitting = 0
    for (capacity, slots), members in classes.items():
        limit = (term["bound"] - 1) * capacity // common_capacity(case)
        number = _most_within(limit, slots, inside, outside)
        if number is None:
            return None
        fitting += members * number
    size = sum(map(len, inside.values()))
    if fitting < size:
        return None
    return {"fails": "bound", "crowd": size, "fitting": fitting}


def lags_of_topic(case: Case, topic: str) -> Sequence[int]:
    """Return the lag of each partition of a topic, 0 where it states none."""
    return case.lag.get(topic) or [0] * case.partitions[topic]


def compared(term: Term, found: int) -> Reason | None:
    """Return why a found bound does not prove the stated one, if it is less."""
    return None if term["bound"] <= found else {"fails": "bound", "found": found}


def _most_within(
    limit: int,
    slots: Iterable[Slots],
    inside: Mapping[str, Sequence[int]],
    outside: Mapping[str, Sequence[int]],
) -> int | None:
    """Return how many of K a member may hold with a lag within a limit; None: none."""
    fewest = start = 0
    steps: list[int] = []
    for topics, least, most in slots:
        crowd = sorted(lag for topic in topics for lag in inside[topic])
        others = sorted(lag for topic in topics for lag in outside[topic])[:least]
        first = least - len(others)
        fewest += first
        start += sum(crowd[:first]) + sum(others)
        for number in range(first, min(most, len(crowd))):
            left = others[least - number - 1] if number < least else 0
            steps.append(crowd[number] - left)
    steps.sort()
    lags = list(accumulate(steps, initial=start))
    turn = bisect_left(steps, 0)  # before this each lag is less than the one before
    number = bisect_right(lags, limit, lo=turn) - 1
    return None if number < turn else fewest + number


def _member_classes(
    case: Case, region: Region
) -> Counter[tuple[int, tuple[Slots, ...]]]:
    """Count members by capacity and by how many they may hold of which topics."""
    slots: dict[str, list[Slots]] = {}
    for pool in region.pools:
        topics: dict[str, list[str]] = {}
        for topic in pool.topics:
            for name in region.eligible[topic]:
                topics.setdefault(name, []).append(topic)
        for name, mine in topics.items():
            slots.setdefault(name, []).append((tuple(mine), *pool.limits[name]))
    return Counter((case.capacity[name], tuple(held)) for name, held in slots.items())
