"""The instance as a CP-SAT program sees it: equivalence classes and topic pools.

Partitions that the policy does not distinguish form one equivalence class. A program
has one integer per class and member, however many partitions the class has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rebalance import ABSENT, NOBODY, Assignment, Instance, Int64
from solver.objectives import capacities, common_capacity
from solver.policy import BalanceKind, Objective, Policy

ClassCounts = list[dict[int, int]]
"""Per class: member to its number of partitions of the class, where that is not 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinctions:
    """Attributes that distinguish two partitions, apart from their subscribers."""

    topics: bool = False
    owners: bool = False
    lags: bool = False
    racks: bool = False

    @classmethod
    def of(cls, policy: Policy) -> Distinctions:
        """Return the attributes on which a policy depends."""
        used = {
            measure for objective in policy.objectives for measure in objective.measures
        }
        by_topic = used & {Objective.TOPIC_PEAK_LAG, Objective.PER_TOPIC_SPREAD}
        return cls(
            topics=policy.balance.kind is BalanceKind.PER_TOPIC or bool(by_topic),
            owners=Objective.STICKINESS in used or policy.max_moves is not None,
            lags=policy.needs_lag,
            racks=Objective.RACK in used,
        )


class TopicPool(NamedTuple):
    """Topics with the same subscribers; a single topic if topics are distinguished."""

    subscribers: tuple[int, ...]
    size: int


class CpClass(NamedTuple):
    """Interchangeable partitions; ``far``: racks that hold no replica of them."""

    pool: int
    owner: int
    lag: int
    far: frozenset[int]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CpInstance:
    """An instance in which only the given distinctions exist.

    Members in play are numbered from 0, in their order. *Weighted* loads and lags are
    divided by capacity, in units of 1 / common.
    """

    instance: Instance
    distinctions: Distinctions
    members: tuple[int, ...]  # number in the instance of each member in play
    capacity: tuple[int, ...]  # per member
    common: int  # least common multiple of the capacities
    units: tuple[int, ...]  # per member: weight of one partition, or record, of it
    racks: tuple[int, ...]  # per member; -1: none
    pools: tuple[TopicPool, ...]
    classes: tuple[CpClass, ...]  # sorted by pool, owner, lag, and racks; K classes
    first: Int64  # (K+1,): class k consists of rows[first[k]:first[k+1]]
    rows: Int64  # partitions of the instance, class by class

    @property
    def n_choices(self) -> int:
        """Number of pairs of a class and a subscriber: the size of a program."""
        return sum(len(self.pools[class_.pool].subscribers) for class_ in self.classes)

    @property
    def total_lag(self) -> int:
        """Lag of all partitions that are assigned."""
        return sum(class_.lag * class_.size for class_ in self.classes)

    @property
    def owned(self) -> int:
        """Number of partitions with an owner."""
        return sum(class_.size for class_ in self.classes if class_.owner != NOBODY)

    def pools_of_members(self) -> list[list[int]]:
        """List the pools of each member."""
        found: list[list[int]] = [[] for _ in self.members]
        for number, pool in enumerate(self.pools):
            for member in pool.subscribers:
                found[member].append(number)
        return found

    def class_counts(self, assignment: Assignment) -> ClassCounts:
        """Count the partitions of each class and member; all must be assigned."""
        holder = np.searchsorted(self.members, assignment.assignee[self.rows])
        width = len(self.members) + 1
        first = np.repeat(np.arange(len(self.classes)), np.diff(self.first)) * width
        keys, sizes = np.unique(first + holder, return_counts=True)
        counts: ClassCounts = [{} for _ in self.classes]
        for key, size in zip(keys.tolist(), sizes.tolist(), strict=True):
            counts[key // width][key % width] = size
        return counts

    def assignment(self, counts: ClassCounts) -> Assignment:
        """Choose partitions: within a class, lower numbers go to earlier members."""
        assignee = np.full(self.instance.n_partitions, NOBODY, dtype=np.int32)
        for at, given in zip(self.first.tolist(), counts, strict=False):
            for member, count in sorted(given.items()):
                assignee[self.rows[at : at + count]] = self.members[member]
                at += count  # noqa: PLW2901
        return Assignment(assignee=assignee)


@dataclass(frozen=True, slots=True, kw_only=True)
class CpTotals:
    """Sums over class counts, from which the values of derived variables follow."""

    kept: int  # partitions that stay with their owner
    loads: list[int]  # per member
    lags: list[int]
    weighted_loads: list[int]
    weighted_lags: list[int]
    pool_loads: list[dict[int, int]]  # per pool: member to partitions of the pool
    pool_lags: list[dict[int, int]]  # per pool: member to records of the pool

    @property
    def load_vector(self) -> tuple[int, ...]:
        """All weighted loads, largest first."""
        return tuple(sorted(self.weighted_loads, reverse=True))

    @classmethod
    def of(cls, cp: CpInstance, counts: ClassCounts) -> CpTotals:
        """Add up the counts."""
        loads, lags = [0] * len(cp.members), [0] * len(cp.members)
        pool_loads: list[dict[int, int]] = [{} for _ in cp.pools]
        pool_lags: list[dict[int, int]] = [{} for _ in cp.pools]
        kept = 0
        for class_, given in zip(cp.classes, counts, strict=True):
            kept += given.get(class_.owner, 0)
            of_pool, behind = pool_loads[class_.pool], pool_lags[class_.pool]
            for member, count in given.items():
                loads[member] += count
                lags[member] += class_.lag * count
                of_pool[member] = of_pool.get(member, 0) + count
                behind[member] = behind.get(member, 0) + class_.lag * count
        return cls(
            kept=kept,
            loads=loads,
            lags=lags,
            weighted_loads=[u * n for u, n in zip(cp.units, loads, strict=True)],
            weighted_lags=[u * n for u, n in zip(cp.units, lags, strict=True)],
            pool_loads=pool_loads,
            pool_lags=pool_lags,
        )


def cp_instance_of(instance: Instance, distinctions: Distinctions) -> CpInstance:
    """Group the partitions of an instance into classes, and its topics into pools."""
    pool_of_topic, subscribers = _pools(instance, by_topic=distinctions.topics)
    members = np.flatnonzero(instance.in_play).tolist()
    number = np.full(len(instance.members) + 1, NOBODY, dtype=np.int64)
    number[members] = np.arange(len(members))
    table, far_sets = _attributes(instance, distinctions, pool_of_topic, number)
    assigned = np.flatnonzero(table[:, 0] != ABSENT)
    order = assigned[np.lexsort(table[assigned].T[::-1])]
    table = table[order]
    is_first = np.r_[True, np.any(table[1:] != table[:-1], axis=1)][: len(table)]
    first = np.r_[np.flatnonzero(is_first), len(table)]
    keys = zip(table[is_first].tolist(), np.diff(first).tolist(), strict=True)
    pool_sizes = np.bincount(table[:, 0], minlength=len(subscribers)).tolist()
    weights, common = capacities(instance), common_capacity(instance)
    capacity = tuple(weights[m] for m in members)
    racks = instance.racks
    return CpInstance(
        instance=instance,
        distinctions=distinctions,
        members=tuple(members),
        capacity=capacity,
        common=common,
        units=tuple(common // w for w in capacity),
        racks=tuple(ABSENT if racks is None else int(racks.member[m]) for m in members),
        pools=tuple(
            TopicPool(tuple(number[list(some)].tolist()), size)
            for some, size in zip(subscribers, pool_sizes, strict=True)
        ),
        classes=tuple(
            CpClass(g, o, records, far_sets[f], n) for (g, o, records, f), n in keys
        ),
        first=first,
        rows=order,
    )


def _pools(
    instance: Instance, *, by_topic: bool
) -> tuple[Int64, list[tuple[int, ...]]]:
    """Return the pool of each topic, -1 for none, and the subscribers of each pool."""
    members: list[list[int]] = [[] for _ in range(instance.n_classes)]
    for member, k in enumerate(instance.member_class.tolist()):
        members[k].append(member)
    subscribed: list[list[int]] = [[] for _ in instance.topics]
    listed = np.repeat(np.arange(instance.n_classes), np.diff(instance.class_offsets))
    for k, topic in zip(listed.tolist(), instance.class_topics.tolist(), strict=True):
        if members[k]:
            subscribed[topic].append(k)
    pool_of = np.full(len(instance.topics), ABSENT, dtype=np.int64)
    number: dict[tuple[int, ...], int] = {}
    sizes = instance.topic_sizes.tolist()
    for topic, classes in enumerate(subscribed):
        if classes and sizes[topic]:
            key = (topic, *classes) if by_topic else tuple(classes)
            pool_of[topic] = number.setdefault(key, len(number))
    return pool_of, [
        tuple(sorted(m for k in key[by_topic:] for m in members[k])) for key in number
    ]


def _attributes(
    instance: Instance, distinctions: Distinctions, pool_of_topic: Int64, number: Int64
) -> tuple[Int64, list[frozenset[int]]]:
    """Return pool, owner, lag and number of far racks of each partition; those racks.

    Far racks have members but hold no replica; a partition of unknown racks has none.
    """
    far = np.zeros(instance.n_partitions, dtype=np.int64)
    far_sets = {frozenset[int](): 0}
    if distinctions.racks and instance.racks is not None:
        racks = instance.racks
        present = frozenset(racks.member[instance.in_play].tolist()) - {ABSENT}
        ends, replicas = racks.offsets.tolist(), racks.replicas.tolist()
        for p in np.flatnonzero(np.diff(racks.offsets)).tolist():
            away = present - set(replicas[ends[p] : ends[p + 1]])
            far[p] = far_sets.setdefault(away, len(far_sets))
    pool = pool_of_topic[instance.partition_topic]
    owner = number[instance.owner] if distinctions.owners else np.full_like(far, NOBODY)
    lag = np.zeros_like(far)
    if distinctions.lags and instance.lag is not None:
        lag = instance.lag
    return np.stack([pool, owner, lag, far], axis=1), list(far_sets)
