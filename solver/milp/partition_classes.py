"""Equivalence classes of partitions: the columns of the program, before PuLP.

Two partitions are interchangeable if the policy cannot distinguish them. The eligible
members always count; the topic counts for policies by topic, and owner, lag, and racks
count where the balance, an objective, or the move budget refers to them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np

from rebalance import NOBODY, Instance
from solver.limits import LimitExceededError
from solver.objectives import capacities, common_capacity
from solver.policy import BalanceKind, Objective, Policy

COLUMNS_MAX: Final = 150_000
"""Pairs of class and eligible member; PuLP alone needs seconds for more."""


@dataclass(frozen=True, slots=True)
class MilpClass:
    """Interchangeable partitions; left open where the policy is indifferent."""

    rows: tuple[int, ...]  # of the instance, ascending
    group: int  # index into `MilpInstance.groups`: the eligible members
    topic: int  # or NOBODY, if not referred to
    owner: int  # or NOBODY, also if there is none
    lag: int  # of each partition, in units of `MilpInstance.lag_unit`; or 0
    racks: frozenset[int] | None  # with a replica; None also if unknown

    @property
    def count(self) -> int:
        """Number of partitions."""
        return len(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class MilpInstance:
    """An instance as a policy distinguishes it."""

    instance: Instance
    classes: tuple[MilpClass, ...]  # of all partitions with an eligible member, by row
    groups: tuple[tuple[int, ...], ...]  # distinct sets of eligible members, ascending
    in_play: tuple[int, ...]  # members that subscribe to a topic with partitions
    capacity: tuple[int, ...]  # (M,): 1 where none is given
    common: int  # least common multiple of the capacities in play
    lag_unit: int  # greatest common divisor of all lags, at least 1

    @property
    def group_sizes(self) -> list[int]:
        """Number of partitions per group."""
        sizes = [0] * len(self.groups)
        for each in self.classes:
            sizes[each.group] += each.count
        return sizes

    @property
    def reachable(self) -> list[int]:
        """Number of partitions for which each member is eligible, (M,)."""
        reach = [0] * len(self.capacity)
        for members, size in zip(self.groups, self.group_sizes, strict=True):
            for c in members:
                reach[c] += size
        return reach

    def unit(self, member: int) -> int:
        """Return the amount that one partition or record counts with a member: s[c]."""
        return self.common // self.capacity[member]


def milp_instance(instance: Instance, policy: Policy) -> MilpInstance:
    """Group the partitions into the equivalence classes of a policy.

    Raises
    ------
    LimitExceededError
        If the program would have more than `COLUMNS_MAX` columns.
    """
    group_of, groups = _groups(instance)
    lag_unit = 1 if instance.lag is None else int(np.gcd.reduce(instance.lag)) or 1
    rows_of = _rows_by_class(instance, policy, group_of)
    columns = sum(len(groups[key[0]]) for key in rows_of)
    if columns > COLUMNS_MAX:
        raise LimitExceededError(f"a program of {columns} columns is too large")
    return MilpInstance(
        instance=instance,
        classes=tuple(
            MilpClass(tuple(rows), group, topic, owner, lag // lag_unit, near)
            for (group, topic, owner, lag, near), rows in rows_of.items()
        ),
        groups=groups,
        in_play=tuple(np.flatnonzero(instance.in_play).tolist()),
        capacity=tuple(capacities(instance)),
        common=common_capacity(instance),
        lag_unit=lag_unit,
    )


def _rows_by_class(
    instance: Instance, policy: Policy, group_of: dict[int, int]
) -> dict[tuple[int, int, int, int, frozenset[int] | None], list[int]]:
    """Return rows by group, topic, owner, lag, and racks, as in `MilpClass`.

    Rows without an eligible member are left out.
    """
    objectives = {o for each in policy.objectives for o in each.measures}
    by_topic = policy.balance.kind is BalanceKind.PER_TOPIC or bool(
        {Objective.TOPIC_PEAK_LAG, Objective.PER_TOPIC_SPREAD} & objectives
    )
    by_owner = Objective.STICKINESS in objectives or policy.max_moves is not None
    owners, lags = instance.owner.tolist(), [0] * instance.n_partitions
    if policy.needs_lag and instance.lag is not None:
        lags = instance.lag.tolist()
    racks = instance.racks if Objective.RACK in objectives else None
    found = defaultdict(list)
    for row, topic in enumerate(instance.partition_topic.tolist()):
        if topic not in group_of:
            continue
        near = None
        if racks is not None:
            ends = racks.offsets[row], racks.offsets[row + 1]
            near = frozenset(racks.replicas[slice(*ends)].tolist()) or None
        shown = topic if by_topic else NOBODY, owners[row] if by_owner else NOBODY
        found[group_of[topic], *shown, lags[row], near].append(row)
    return found


def _groups(instance: Instance) -> tuple[dict[int, int], tuple[tuple[int, ...], ...]]:
    """Return the group of each topic with partitions and subscribers, and all groups.

    Topics whose subscribers are equal share a group.
    """
    subscribers: dict[int, list[int]] = defaultdict(list)
    for member in range(len(instance.members)):
        for topic in instance.topics_of(member).tolist():
            subscribers[topic].append(member)
    number: dict[tuple[int, ...], int] = {}
    group_of = {
        topic: number.setdefault(tuple(members), len(number))
        for topic, members in sorted(subscribers.items())
        if instance.topic_sizes[topic]
    }
    return group_of, tuple(number)
