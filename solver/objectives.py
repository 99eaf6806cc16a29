"""What an assignment is worth to a policy: exact integers, counted from the columns.

Every engine's answer is counted anew by this before anything is said of it; no engine
uses it to build its program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY, Bools, Int64
from rebalance.errors import InstanceError
from rebalance.figures import count_kept, count_rack_mismatches
from solver.policy import Objective, Policy, WeightedObjective
from solver.result import Value

INT64_MAX = 2**63 - 1


def in_play(instance: Instance) -> Bools:
    """Tell who subscribes to a topic that has partitions, bool (M,)."""
    return instance.in_play


def capacities(instance: Instance) -> list[int]:
    """Return the capacity of each member; 1 when none tells one."""
    if instance.capacity is None:
        return [1] * len(instance.members)
    return [int(w) for w in instance.capacity.tolist()]


def common_capacity(instance: Instance) -> int:
    """Return the least common multiple of the capacities of members in play."""
    if instance.capacity is None:
        return 1
    return math.lcm(*map(int, instance.capacity[in_play(instance)].tolist()))


def scale_of(instance: Instance, level: WeightedObjective) -> int:
    """Return the denominator of a level's value: it counts 1 ÷ scale."""
    return math.lcm(*(_scale(instance, one) for one in level.measures))


def value_of(
    instance: Instance, assignment: Assignment, level: WeightedObjective
) -> Value:
    """Count a level of an assignment, in units of 1 ÷ `scale_of`."""
    if level.only is Objective.LOAD:
        return _load(instance, assignment)
    scale = scale_of(instance, level)
    total = 0
    for weight, objective in level.terms:
        units = scale // _scale(instance, objective)
        total += weight * units * _count(instance, assignment, objective)
    return total


def values_of(
    instance: Instance, assignment: Assignment, policy: Policy
) -> tuple[Value, ...]:
    """Count every level of a policy."""
    return tuple(value_of(instance, assignment, level) for level in policy.objectives)


def check_policy(instance: Instance, policy: Policy) -> None:
    """Refuse what an instance cannot be asked.

    Raises
    ------
    InstanceError
        If the policy needs lag and there are partitions, but the instance tells none;
        or if a level or a sum on the way to it could pass 64 bits.
    """
    if policy.needs_lag and instance.lag is None and instance.n_partitions:
        which = next(
            o.value for s in policy.objectives for o in s.measures if o.needs_lag
        )
        raise InstanceError(
            f"policy needs lag for {which}, and no topic tells any",
            subject=instance.group,
        )
    for level in policy.objectives:
        largest = largest_value(instance, level)
        if largest > INT64_MAX:
            raise InstanceError(
                f"policy: {level} could reach {largest}, past 2^63 - 1",
                subject=instance.group,
            )


def largest_value(instance: Instance, level: WeightedObjective) -> int:
    """Return what no value of a level, nor a sum on the way to it, is above."""
    scale = scale_of(instance, level)
    total = 0
    for weight, objective in level.terms:
        units = scale // _scale(instance, objective)
        total += weight * units * _largest(instance, objective)
    return total


def _largest(instance: Instance, objective: Objective) -> int:
    partitions, members = instance.n_partitions, int(in_play(instance).sum())
    lag = 0 if instance.lag is None else int(instance.lag.sum())
    common = common_capacity(instance)
    match objective:
        case Objective.STICKINESS | Objective.RACK:
            return partitions
        case Objective.LOAD | Objective.PER_TOPIC_SPREAD:
            return partitions * common
        case Objective.LAG_DEVIATION:
            return 2 * lag * max(_shares(instance), members)
        case _:
            return lag * common


def _scale(instance: Instance, objective: Objective) -> int:
    match objective:
        case Objective.STICKINESS | Objective.RACK:
            return 1
        case Objective.LAG_DEVIATION:
            return _shares(instance)
        case _:
            return common_capacity(instance)


def _shares(instance: Instance) -> int:
    """Return the capacities of members in play together, at least 1."""
    play = in_play(instance).tolist()
    weights = capacities(instance)
    return max(1, sum(w for w, here in zip(weights, play, strict=True) if here))


def _count(instance: Instance, assignment: Assignment, objective: Objective) -> int:
    return _COUNTS[objective](instance, assignment)


def _moves(instance: Instance, assignment: Assignment) -> int:
    owned = int(np.count_nonzero(instance.owner != NOBODY))
    return owned - count_kept(instance, assignment)


def _peak_lag(instance: Instance, assignment: Assignment) -> int:
    return max(_lags(instance, assignment), default=0)


def _lag_spread(instance: Instance, assignment: Assignment) -> int:
    lags = _lags(instance, assignment)
    return max(lags) - min(lags) if lags else 0


def _topic_peak_lag(instance: Instance, assignment: Assignment) -> int:
    topic, total = _cells(instance, assignment, instance.lag)
    first = np.flatnonzero(np.diff(topic, prepend=-1))
    if instance.lag is None or not first.size:
        return 0
    return sum(np.maximum.reduceat(total, first).tolist())


def _per_topic_spread(instance: Instance, assignment: Assignment) -> int:
    topic, total = _cells(instance, assignment, None)
    first = np.flatnonzero(np.diff(topic, prepend=-1))
    if not first.size:
        return 0
    most = np.maximum.reduceat(total, first)
    least = np.minimum.reduceat(total, first)
    takers = np.zeros(len(instance.topics), np.int64)
    held_by = np.diff(np.r_[first, topic.size])
    sizes = np.bincount(instance.member_class, minlength=instance.n_classes)
    listed = np.repeat(sizes, np.diff(instance.class_offsets))
    np.add.at(takers, instance.class_topics, listed)
    least[held_by < takers[topic[first]]] = 0  # some subscriber has nothing of it
    return sum((most - least).tolist())


def _scaled(instance: Instance, totals: list[int]) -> list[int]:
    """Divide totals by capacity, for members in play, in units of 1 ÷ common."""
    common = common_capacity(instance)
    play = in_play(instance).tolist()
    weights = capacities(instance)
    return [
        total * (common // weight)
        for total, weight, here in zip(totals, weights, play, strict=True)
        if here
    ]


def _load(instance: Instance, assignment: Assignment) -> tuple[int, ...]:
    loads = _scaled(instance, assignment.loads(instance).tolist())
    return tuple(sorted(loads, reverse=True))


def _member_lags(instance: Instance, assignment: Assignment) -> list[int]:
    """Sum lag by member; the instance's total fits 64 bits, so each sum does."""
    totals = np.zeros(len(instance.members), dtype=np.int64)
    if instance.lag is not None:
        given = assignment.assignee != NOBODY
        np.add.at(totals, assignment.assignee[given], instance.lag[given])
    return [int(n) for n in totals.tolist()]


def _lags(instance: Instance, assignment: Assignment) -> list[int]:
    return _scaled(instance, _member_lags(instance, assignment))


def _deviation(instance: Instance, assignment: Assignment) -> int:
    lags = _member_lags(instance, assignment)
    total, shares = sum(lags), _shares(instance)
    weights, play = capacities(instance), in_play(instance).tolist()
    return sum(
        abs(shares * lag - total * weight)
        for lag, weight, here in zip(lags, weights, play, strict=True)
        if here
    )


class _Cells(NamedTuple):
    """Who holds how much of which topic; only pairs that hold something.

    Attributes
    ----------
    topic : int64 (C,)
        Ascending.
    total : int64 (C,), or object where the numbers could pass 64 bits
        Load or lag ÷ capacity, in units of 1 ÷ common.
    """

    topic: Int64
    total: NDArray[Any]


def _cells(instance: Instance, assignment: Assignment, amount: Int64 | None) -> _Cells:
    """Add up an amount of each partition, 1 if there is none, by topic and holder."""
    given = np.flatnonzero(assignment.assignee != NOBODY)
    members = len(instance.members)
    cell = instance.partition_topic[given].astype(np.int64) * members
    cell += assignment.assignee[given]
    order = np.argsort(cell, kind="stable")
    cell = cell[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    total = np.diff(np.r_[first, cell.size])
    if amount is not None:
        total = np.add.reduceat(amount[given][order], first) if first.size else total
    common, weights = common_capacity(instance), capacities(instance)
    if common > 1:
        unit = np.array([common // weight for weight in weights], dtype=object)
        total = total * unit[cell[first] % members]
    return _Cells(cell[first] // max(members, 1), total)


_COUNTS: Final[Mapping[Objective, Callable[[Instance, Assignment], int]]] = {
    Objective.STICKINESS: _moves,
    Objective.PEAK_LAG: _peak_lag,
    Objective.TOPIC_PEAK_LAG: _topic_peak_lag,
    Objective.LAG_SPREAD: _lag_spread,
    Objective.LAG_DEVIATION: _deviation,
    Objective.RACK: count_rack_mismatches,
    Objective.PER_TOPIC_SPREAD: _per_topic_spread,
}
"""Every objective that is an integer."""
