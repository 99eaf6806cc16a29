"""The feasible region of a balance: eligible members and load bounds, by pool.

Every assignment that a balance allows is in its region. A region consists of pools:
topics, the members that are eligible for their partitions, and bounds on how many of
them each of these holds. No topic is in two pools.

- ``per-topic``: each topic is a pool. All its subscribers are eligible for all of its
  partitions, so the even way to share n of them is the n least keys (`verify.keys`),
  and which keys these are is not a choice, except that equal ones stand for each other.
- ``dec-min``: if all members in play have the same subscription, everything is one
  such pool. Otherwise a certificate that proves the balance gives the pools: topics and
  members of one level (`verify.certificate`).
- other balances, and dec-min without certificate: all subscribers, any number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heapreplace

from verify.case import Case
from verify.certificate import (
    Certificate,
    Limits,
    Pool,
    level_pools,
    levels_of,
    pool_of,
)
from verify.keys import count_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The assignments that a balance leaves open."""

    pools: Sequence[Pool]  # disjoint sets of topics
    eligible: Mapping[str, Sequence[str]]  # topic -> members that may hold any of it
    is_open: bool  # whether every valid assignment is in it


def region_of(
    case: Case, balance: str, certificate: Certificate | None = None
) -> Region:
    """Return the region of a balance; the certificate, if any, has proved it."""
    topics = assignable_topics(case)
    if balance == "per-topic":
        return _region(case, [_even_pool(case, [topic]) for topic in topics])
    equal = all(len(case.subscribers[topic]) == len(case.in_play) for topic in topics)
    if balance == "dec-min" and equal:
        return _region(case, [_even_pool(case, topics)] if topics else [])
    if balance == "dec-min" and certificate is not None:
        return _region(case, level_pools(case, levels_of(case, certificate)))
    pools = [
        pool_of(case, [t], dict.fromkeys(case.subscribers[t], (0, case.partitions[t])))
        for t in topics
    ]
    return _region(case, pools, is_open=True)


def region_of_topic(case: Case, region: Region, topic: str) -> Region:
    """Return the part of a region that is about one topic."""
    pools = [pool for pool in region.pools if topic in pool.topics]
    if pools and len(pools[0].topics) > 1:
        most = {name: pools[0].limits[name][1] for name in region.eligible[topic]}
        limits = {name: (0, number) for name, number in most.items()}
        pools = [Pool([topic], case.partitions[topic], limits)]
    return _region(case, pools, is_open=region.is_open)


def assignable_topics(case: Case) -> list[str]:
    """Return the topics that have partitions and subscribers."""
    subscribed = case.subscribers.items()
    return [topic for topic, names in subscribed if names and case.partitions[topic]]


def even_limits(units: int, capacities: Mapping[str, int]) -> Limits:
    """Share units evenly among members who are eligible for all of them.

    All keys at or below the fair share, units * w / W, come before all above it, and
    fewer units than members are then left; they are assigned one by one.
    """
    if not units or not capacities:
        return dict.fromkeys(capacities, (0, 0))
    together = sum(capacities.values())
    weighted = len(set(capacities.values())) > 1

    def key(number: int, name: str) -> tuple[Fraction | int, int, str, int]:
        return *sort_key(number, capacities[name] if weighted else 1), name, number

    held = {name: units * w // together for name, w in capacities.items()}
    last = max(key(number, name) for name, number in held.items())
    following = [key(number + 1, name) for name, number in held.items()]
    heapify(following)
    for _ in range(units - sum(held.values())):
        last = following[0]
        heapreplace(following, key(last[3] + 1, last[2]))
    threshold = (last[3], capacities[last[2]])
    return {name: count_keys(w, threshold) for name, w in capacities.items()}


def sort_key(number: int, capacity: int) -> tuple[Fraction | int, int]:
    """Return a value that orders a key as `verify.keys` does."""
    return (Fraction(number, capacity) if capacity > 1 else number), -capacity


def _even_pool(case: Case, topics: Sequence[str]) -> Pool:
    units = sum(map(case.partitions.__getitem__, topics))
    names = case.subscribers[topics[0]]
    shares = even_limits(units, {name: case.capacity[name] for name in names})
    return pool_of(case, topics, shares)


def _region(case: Case, pools: Sequence[Pool], *, is_open: bool = False) -> Region:
    eligible = {
        topic: [name for name in case.subscribers[topic] if name in pool.limits]
        for pool in pools
        for topic in pool.topics
    }
    return Region(pools=pools, eligible=eligible, is_open=is_open)
