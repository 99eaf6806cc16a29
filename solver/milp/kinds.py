"""Partitions that are alike for a policy, counted together.

Two partitions are of one kind if nothing that the policy looks at tells them apart:
the subscribers of their topic always, the topic itself where the policy goes topic by
topic, owner, lag and racks only where some part of the policy counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rebalance import Instance
from rebalance.claims import NOBODY, Int64
from solver.milp.refusals import too_many
from solver.policy import BalanceKind as Balanced
from solver.policy import Objective, Policy

UNTOLD = -1
PAIRS_MAX = 150_000
"""More (kind, taker) than this: PuLP alone takes seconds, a search has no chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a policy looks at."""

    topics: bool
    owners: bool
    lags: bool
    racks: bool

    @classmethod
    def of(cls, policy: Policy) -> View:
        """Read it off the balance, the levels and the budget."""
        wanted = {o for level in policy.objectives for o in level.measures}
        by_topic = {Objective.TOPIC_PEAK_LAG, Objective.PER_TOPIC_SPREAD}
        return cls(
            topics=policy.balance.kind is Balanced.PER_TOPIC
            or not by_topic.isdisjoint(wanted),
            owners=Objective.STICKINESS in wanted or policy.max_moves is not None,
            lags=policy.needs_lag,
            racks=Objective.RACK in wanted,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Partitions that are alike.

    Attributes
    ----------
    rows : tuple of int
        Rows of the instance, ascending.
    group : int
        Index into `Kinds.groups`: who may take them.
    topic, owner : int
        `UNTOLD` if the policy does not look or there is none.
    lag : int
        Records of each; 0 if the policy does not look.
    near : frozenset of int, or None
        Racks with a replica; None if unknown or not looked at.
    """

    rows: tuple[int, ...]
    group: int
    topic: int = UNTOLD
    owner: int = UNTOLD
    lag: int = 0
    near: frozenset[int] | None = None

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """All partitions that have a subscriber, kind by kind.

    Attributes
    ----------
    kinds : tuple of Kind
        In the order of their first rows.
    groups : tuple of tuple of int
        Distinct sets of subscribers, ascending within each.
    members : int
    """

    kinds: tuple[Kind, ...]
    groups: tuple[tuple[int, ...], ...]
    members: int

    def takers(self, kind: Kind) -> tuple[int, ...]:
        """Return who may take a partition of the kind."""
        return self.groups[kind.group]


def kinds_of(instance: Instance, view: View) -> Kinds:
    """Sort the partitions of an instance into kinds.

    Raises
    ------
    TooLargeError
        If there are more than `PAIRS_MAX` (kind, taker).
    """
    group_of_topic, groups = _groups(instance)
    reduced = np.flatnonzero(group_of_topic[instance.partition_topic] != NOBODY)
    topic = instance.partition_topic[reduced].astype(np.int64)
    nothing = np.full(reduced.size, UNTOLD, dtype=np.int64)
    near = _near(instance, reduced) if view.racks else [None] * reduced.size
    code: dict[frozenset[int] | None, int] = {}
    racks = np.array([code.setdefault(one, len(code)) for one in near], dtype=np.int64)
    columns = (
        group_of_topic[topic],
        topic if view.topics else nothing,
        instance.owner[reduced].astype(np.int64) if view.owners else nothing,
        instance.lag[reduced]
        if view.lags and instance.lag is not None
        else nothing * 0,
        racks,
    )
    found = []
    for rows in _equal_runs(columns, [len(group) for group in groups]):
        first = rows[0]
        found.append(
            Kind(
                rows=tuple(reduced[rows].tolist()),
                group=int(columns[0][first]),
                topic=int(columns[1][first]),
                owner=int(columns[2][first]),
                lag=int(columns[3][first]),
                near=near[first],
            )
        )
    found.sort(key=lambda kind: kind.rows[0])
    members = len(instance.members)
    return Kinds(kinds=tuple(found), groups=tuple(groups), members=members)


def _equal_runs(columns: tuple[Int64, ...], takers: list[int]) -> list[Int64]:
    """Return the positions that are equal in all columns, each run ascending.

    The first column is the group; ``takers`` counts those of each.
    """
    size = columns[0].size
    if size == 0:
        return []
    order = np.lexsort((np.arange(size), *columns))
    new = np.zeros(size - 1, dtype=np.bool_)
    for column in columns:
        new |= column[order[1:]] != column[order[:-1]]
    starts = np.flatnonzero(np.r_[True, new])
    pairs = int(np.array(takers)[columns[0][order[starts]]].sum())
    if pairs > PAIRS_MAX:
        raise too_many(pairs)
    return list(np.split(order, starts[1:]))


def _groups(instance: Instance) -> tuple[Int64, list[tuple[int, ...]]]:
    """Give each distinct set of subscribers a number; a topic without has `NOBODY`."""
    classes: list[list[int]] = [[] for _ in instance.topics]
    present = instance.class_sizes > 0
    for k, (start, end) in enumerate(pairwise(instance.class_offsets.tolist())):
        if present[k]:
            for topic in instance.class_topics[start:end].tolist():
                classes[topic].append(k)
    number: dict[tuple[int, ...], int] = {}
    of_topic = np.full(len(instance.topics), NOBODY, dtype=np.int64)
    for topic, wanting in enumerate(classes):
        if wanting and instance.topic_sizes[topic]:
            of_topic[topic] = number.setdefault(tuple(wanting), len(number))
    groups = [
        tuple(np.flatnonzero(np.isin(instance.member_class, listed)).tolist())
        for listed in number
    ]
    return of_topic, groups


def _near(instance: Instance, rows: Int64) -> list[frozenset[int] | None]:
    """Return the racks of each row's replicas; None where none are known."""
    racks = instance.racks
    if racks is None:
        return [None] * rows.size
    return [
        frozenset(racks.replicas[racks.offsets[p] : racks.offsets[p + 1]].tolist())
        or None
        for p in rows.tolist()
    ]
