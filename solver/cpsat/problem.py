"""What a program is about: alike partitions as kinds, members in play, pools of topics.

Only what the policy looks at tells partitions apart, so the program has one integer a
kind and member, however many partitions the kind has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rebalance import Instance
from rebalance.claims import NOBODY, Int64
from rebalance.instance import ABSENT
from solver.policy import BalanceKind, Objective, Policy

TOPIC_WISE = frozenset({Objective.TOPIC_PEAK_LAG, Objective.PER_TOPIC_SPREAD})


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What tells two partitions apart, beside who subscribes to them."""

    topics: bool = False
    owners: bool = False
    lags: bool = False
    racks: bool = False

    @classmethod
    def of(cls, policy: Policy) -> Looks:
        """Return what a policy looks at."""
        asked = {one for level in policy.objectives for one in level.measures}
        by_topic = policy.balance.kind is BalanceKind.PER_TOPIC
        return cls(
            topics=by_topic or bool(asked & TOPIC_WISE),
            owners=Objective.STICKINESS in asked or policy.max_moves is not None,
            lags=policy.needs_lag,
            racks=Objective.RACK in asked,
        )


class Pool(NamedTuple):
    """Topics that share their subscribers; one topic where topics are looked at."""

    subscribers: tuple[int, ...]
    size: int


class Kind(NamedTuple):
    """Partitions that are alike; ``far`` are the racks that hold no replica of them."""

    pool: int
    owner: int
    lag: int
    far: frozenset[int]
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An instance as a policy sees it.

    Members in play are numbered densely from 0, in their order; K kinds.

    Attributes
    ----------
    instance : Instance
    looks : Looks
    members : tuple of int
        Number in the instance of each member in play.
    capacity : tuple of int
    common : int
        Least common multiple of the capacities: loads and lags are told in its parts.
    units : tuple of int
        ``common // capacity``: what one partition, or one record, weighs on a member.
    racks : tuple of int
        Of each member; -1 none.
    pools : tuple of Pool
    columns : int64 (K, 4)
        Pool, owner (-1 nobody), lag and number in ``fars`` of each kind.
    fars : tuple of frozenset
    first : int64 (K+1,)
        Kind k is the partitions ``rows[first[k]:first[k+1]]``.
    rows : int64
        Partitions of the instance, kind by kind.
    """

    instance: Instance
    looks: Looks
    members: tuple[int, ...]
    capacity: tuple[int, ...]
    common: int
    units: tuple[int, ...]
    racks: tuple[int, ...]
    pools: tuple[Pool, ...]
    columns: Int64
    fars: tuple[frozenset[int], ...]
    first: Int64
    rows: Int64

    @property
    def kinds(self) -> Iterator[Kind]:
        """Go through the kinds in order."""
        counts = np.diff(self.first).tolist()
        for (pool, owner, lag, far), n in zip(
            self.columns.tolist(), counts, strict=True
        ):
            yield Kind(pool, owner, lag, self.fars[far], n)

    @property
    def choices(self) -> int:
        """Number of pairs of a kind and a subscriber: what the program grows with."""
        width = np.array([len(pool.subscribers) for pool in self.pools] or [0])
        return int(width[self.columns[:, 0]].sum()) if self.columns.size else 0

    @property
    def total_lag(self) -> int:
        """Lag of all partitions that are given to somebody."""
        counts = np.diff(self.first)
        lags = zip(self.columns[:, 2].tolist(), counts.tolist(), strict=True)
        return sum(lag * n for lag, n in lags)

    @property
    def owned(self) -> int:
        """Partitions with an owner."""
        return int(np.diff(self.first)[self.columns[:, 1] != NOBODY].sum())

    def pools_of(self) -> list[list[int]]:
        """List the pools of each member."""
        found: list[list[int]] = [[] for _ in self.members]
        for number, pool in enumerate(self.pools):
            for member in pool.subscribers:
                found[member].append(number)
        return found


def problem_of(instance: Instance, looks: Looks) -> Problem:
    """Lay an instance out for a program that looks at so much of it."""
    pool_of_topic, audiences = _pools(instance, by_topic=looks.topics)
    members = sorted({m for audience in audiences for m in audience})
    number = np.full(len(instance.members) + 1, NOBODY, dtype=np.int64)
    number[members] = np.arange(len(members))
    pool = pool_of_topic[instance.partition_topic]
    given = np.flatnonzero(pool != ABSENT)
    nothing = np.zeros(instance.n_partitions, dtype=np.int64)
    far = nothing
    fars: tuple[frozenset[int], ...] = (frozenset(),)
    if looks.racks:
        far, fars = _far_racks(instance, members)
    owner = number[instance.owner] if looks.owners else nothing + NOBODY
    lag = nothing if instance.lag is None or not looks.lags else instance.lag
    table = np.stack([pool, owner, lag, far], axis=1)[given]
    order = np.lexsort(table.T[::-1])
    table = table[order]
    fresh = np.any(table[1:] != table[:-1], axis=1)
    first = np.r_[0, np.flatnonzero(fresh) + 1, len(table)] if len(table) else [0]
    sizes = np.bincount(table[:, 0], minlength=len(audiences)).tolist()
    capacity = [1] * len(members)
    if instance.capacity is not None:
        capacity = [int(instance.capacity[m]) for m in members]
    common = math.lcm(*capacity)
    racks = instance.racks
    return Problem(
        instance=instance,
        looks=looks,
        members=tuple(members),
        capacity=tuple(capacity),
        common=common,
        units=tuple(common // w for w in capacity),
        racks=tuple(ABSENT if racks is None else int(racks.member[m]) for m in members),
        pools=tuple(
            Pool(tuple(number[list(audience)].tolist()), size)
            for audience, size in zip(audiences, sizes, strict=True)
        ),
        columns=table[np.asarray(first[:-1], dtype=np.int64)],
        fars=fars,
        first=np.asarray(first, dtype=np.int64),
        rows=given[order],
    )


def _pools(
    instance: Instance, *, by_topic: bool
) -> tuple[Int64, list[tuple[int, ...]]]:
    """Tell the pool of each topic, -1 for none, and the subscribers of each pool."""
    people: list[list[int]] = [[] for _ in range(instance.n_classes)]
    for member, k in enumerate(instance.member_class.tolist()):
        people[k].append(member)
    classes: list[list[int]] = [[] for _ in instance.topics]
    listed = np.repeat(np.arange(instance.n_classes), np.diff(instance.class_offsets))
    for k, topic in zip(listed.tolist(), instance.class_topics.tolist(), strict=True):
        if people[k]:
            classes[topic].append(k)
    pool_of = np.full(len(instance.topics), ABSENT, dtype=np.int64)
    number: dict[tuple[int, ...], int] = {}
    sizes = instance.topic_sizes.tolist()
    for topic, wanting in enumerate(classes):
        if wanting and sizes[topic]:
            key = (topic, *wanting) if by_topic else tuple(wanting)
            pool_of[topic] = number.setdefault(key, len(number))
    audiences = [
        tuple(sorted(m for k in key[by_topic:] for m in people[k])) for key in number
    ]
    return pool_of, audiences


def _far_racks(
    instance: Instance, members: list[int]
) -> tuple[Int64, tuple[frozenset[int], ...]]:
    """Tell of each partition the racks of members that hold no replica of it.

    A partition whose racks are unknown is far from nobody.
    """
    far = np.zeros(instance.n_partitions, dtype=np.int64)
    fars = {frozenset[int](): 0}
    racks = instance.racks
    if racks is not None:
        present = frozenset(racks.member[members].tolist()) - {ABSENT}
        ends = racks.offsets.tolist()
        replicas = racks.replicas.tolist()
        for p in np.flatnonzero(np.diff(racks.offsets)).tolist():
            away = present - set(replicas[ends[p] : ends[p + 1]])
            far[p] = fars.setdefault(away, len(fars))
    return far, tuple(fars)
