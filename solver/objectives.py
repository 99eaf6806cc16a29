"""Values of objectives: exact integers, computed from the columns of an assignment.

`solver.solve` recomputes the values of every engine's result with this module; no
engine uses it to build its program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rebalance import (
    NOBODY,
    Assignment,
    Instance,
    InstanceError,
    Int64,
    count_kept,
    count_rack_mismatches,
    member_lag,
)
from solver.constants import INT64_MAX
from solver.policy import Balance, BalanceKind, Objective, Policy, WeightedObjective
from solver.result import Value

COMMON_CAPACITY_BITS: Final = 10_000
"""Bits of the common capacity, at most.

Bounds the work of computing it for thousands of coprime capacities, and its 3,011
decimal digits are below Python's limit of 4,300 for the conversion to text.
"""


def capacities(instance: Instance) -> list[int]:
    """Return the capacity of each member; 1 if no member states one."""
    if instance.capacity is None:
        return [1] * len(instance.members)
    return [int(w) for w in instance.capacity.tolist()]


def common_capacity(instance: Instance) -> int:
    """Return the least common multiple of the capacities of members in play.

    Raises
    ------
    InstanceError
        If it has more than `COMMON_CAPACITY_BITS` bits.
    """
    if instance.capacity is None:
        return 1
    common = 1
    for capacity in np.unique(instance.capacity[instance.in_play]).tolist():
        common = math.lcm(common, capacity)
        if common.bit_length() > COMMON_CAPACITY_BITS:
            raise InstanceError(
                "the least common multiple of the capacities is not below "
                f"2^{COMMON_CAPACITY_BITS}",
                subject=instance.group,
            )
    return common


def scale_of(instance: Instance, objective: WeightedObjective) -> int:
    """Return the denominator of an objective's value: it is in units of 1 ÷ scale."""
    return math.lcm(*(_scale(instance, measure) for measure in objective.measures))


def value_of(
    instance: Instance, assignment: Assignment, objective: WeightedObjective
) -> Value:
    """Return the value of an objective, in units of 1 ÷ `scale_of`."""
    if objective.only is Objective.LOAD:
        return scaled_loads(instance, assignment)
    return _weighted(instance, objective, lambda m: _MEASURES[m](instance, assignment))


def values_of(
    instance: Instance, assignment: Assignment, policy: Policy
) -> tuple[Value, ...]:
    """Return the value of every objective of a policy."""
    return tuple(
        value_of(instance, assignment, objective) for objective in policy.objectives
    )


def check_policy(instance: Instance, policy: Policy) -> None:
    """Reject a policy that does not apply to an instance.

    Raises
    ------
    InstanceError
        If the policy needs lag and there are partitions, but the instance has none; or
        if the scale or a value of an objective could exceed 64 bits.
    """
    if policy.needs_lag and instance.lag is None and instance.n_partitions:
        which = next(
            o.value for s in policy.objectives for o in s.measures if o.needs_lag
        )
        raise InstanceError(
            f"policy needs lag for {which}, and no topic tells any",
            subject=instance.group,
        )
    for objective in policy.objectives:
        largest = max(scale_of(instance, objective), largest_value(instance, objective))
        if largest > INT64_MAX:
            bits = largest.bit_length()
            value = largest if bits <= 128 else f"2^{bits - 1}"
            raise InstanceError(
                f"policy: {objective} could reach {value}, past 2^63 - 1",
                subject=instance.group,
            )


def largest_value(instance: Instance, objective: WeightedObjective) -> int:
    """Return an upper bound on the value of an objective and on partial sums of it."""
    return _weighted(instance, objective, lambda measure: _largest(instance, measure))


def _weighted(
    instance: Instance, objective: WeightedObjective, count: Callable[[Objective], int]
) -> int:
    """Return the weighted sum of counts, in units of 1 ÷ `scale_of`."""
    scale = scale_of(instance, objective)
    return sum(
        weight * (scale // _scale(instance, measure)) * count(measure)
        for weight, measure in objective.terms
    )


def _largest(instance: Instance, measure: Objective) -> int:
    partitions, members = instance.n_partitions, int(instance.in_play.sum())
    lag = 0 if instance.lag is None else int(instance.lag.sum())
    match measure:
        case Objective.STICKINESS | Objective.RACK:
            return partitions
        case Objective.LOAD | Objective.PER_TOPIC_SPREAD:
            return partitions * common_capacity(instance)
        case Objective.LAG_DEVIATION:
            return 2 * lag * max(_shares(instance), members)
        case _:
            return lag * common_capacity(instance)


def _scale(instance: Instance, measure: Objective) -> int:
    match measure:
        case Objective.STICKINESS | Objective.RACK:
            return 1
        case Objective.LAG_DEVIATION:
            return _shares(instance)
        case _:
            return common_capacity(instance)


def _shares(instance: Instance) -> int:
    """Return the sum of the capacities of members in play, at least 1."""
    weights = capacities(instance)
    return max(1, sum(weights[c] for c in _members_in_play(instance)))


def _members_in_play(instance: Instance) -> list[int]:
    return np.flatnonzero(instance.in_play).tolist()


def count_moves(instance: Instance, assignment: Assignment) -> int:
    """Count the owned partitions that do not stay with their owner."""
    owned = int(np.count_nonzero(instance.owner != NOBODY))
    return owned - count_kept(instance, assignment)


def _peak_lag(instance: Instance, assignment: Assignment) -> int:
    return max(_lags(instance, assignment), default=0)


def _lag_spread(instance: Instance, assignment: Assignment) -> int:
    lags = _lags(instance, assignment)
    return max(lags) - min(lags) if lags else 0


def _topic_peak_lag(instance: Instance, assignment: Assignment) -> int:
    topic, total = _topic_totals(instance, assignment, instance.lag)
    first = np.flatnonzero(np.diff(topic, prepend=-1))
    if instance.lag is None or not first.size:
        return 0
    return sum(np.maximum.reduceat(total, first).tolist())


def _per_topic_spread(instance: Instance, assignment: Assignment) -> int:
    topic, total = _topic_totals(instance, assignment, None)
    first = np.flatnonzero(np.diff(topic, prepend=-1))
    if not first.size:
        return 0
    most = np.maximum.reduceat(total, first)
    least = np.minimum.reduceat(total, first)
    listed = np.repeat(instance.class_sizes, np.diff(instance.class_offsets))
    subscribers = np.zeros(len(instance.topics), np.int64)
    np.add.at(subscribers, instance.class_topics, listed)
    holders = np.diff(np.r_[first, topic.size])
    least[holders < subscribers[topic[first]]] = 0  # a subscriber has none of it
    return sum((most - least).tolist())


def _scaled(instance: Instance, totals: list[int]) -> list[int]:
    """Divide the totals of members in play by capacity, in units of 1 ÷ common."""
    common, weights = common_capacity(instance), capacities(instance)
    return [totals[c] * (common // weights[c]) for c in _members_in_play(instance)]


def scaled_loads(instance: Instance, assignment: Assignment) -> tuple[int, ...]:
    """Return load ÷ capacity of members in play, largest first, 1 ÷ common each."""
    loads = _scaled(instance, assignment.loads(instance).tolist())
    return tuple(sorted(loads, reverse=True))


def spread_of(instance: Instance, assignment: Assignment) -> Fraction:
    """Return the largest minus the least load ÷ capacity of the members in play."""
    loads = scaled_loads(instance, assignment) or (0,)
    return Fraction(loads[0] - loads[-1], common_capacity(instance))


def is_kip54_balanced(instance: Instance, assignment: Assignment) -> bool:
    """Return whether no subscriber of a partition has two partitions fewer."""
    loads = assignment.loads(instance)
    largest = np.iinfo(np.int64).max
    of_class = np.full(instance.n_classes, largest)
    np.minimum.at(of_class, instance.member_class, loads)
    least = np.full(len(instance.topics), largest)
    of_entry = np.repeat(of_class, np.diff(instance.class_offsets))
    np.minimum.at(least, instance.class_topics, of_entry)
    assigned = assignment.assignee != NOBODY
    held = loads[assignment.assignee[assigned]]
    return bool((held - least[instance.partition_topic[assigned]] <= 1).all())


def meets_kip54_or_spread(
    instance: Instance, balance: Balance, assignment: Assignment
) -> bool:
    """Return whether a valid assignment meets a balance of these two kinds.

    It always meets ``none``; ``dec-min`` and ``per-topic`` are not checked.
    """
    if balance.kind is BalanceKind.KIP54:
        return is_kip54_balanced(instance, assignment)
    return balance.most is None or spread_of(instance, assignment) <= balance.most


def _lags(instance: Instance, assignment: Assignment) -> list[int]:
    return _scaled(instance, member_lag(instance, assignment).tolist())


def _deviation(instance: Instance, assignment: Assignment) -> int:
    lags, weights = member_lag(instance, assignment).tolist(), capacities(instance)
    total, shares = sum(lags), _shares(instance)
    return sum(
        abs(shares * lags[c] - total * weights[c]) for c in _members_in_play(instance)
    )


def _topic_totals(
    instance: Instance, assignment: Assignment, amount: Int64 | None
) -> tuple[Int64, NDArray[Any]]:
    """Sum an amount per partition, or 1 if it is None, by topic and member.

    Returns the topic, ascending, and the total ÷ capacity, in units of 1 ÷ common
    capacity, of each pair with a partition; totals of dtype object where they could
    exceed 64 bits.
    """
    given = np.flatnonzero(assignment.assignee != NOBODY)
    n_members = max(len(instance.members), 1)
    code = instance.partition_topic[given].astype(np.int64) * n_members
    pair, at = np.unique(code + assignment.assignee[given], return_inverse=True)
    total: NDArray[Any] = np.zeros(pair.size, np.int64)
    np.add.at(total, at, 1 if amount is None else amount[given])
    common = common_capacity(instance)
    if common > 1:
        units = [common // capacity for capacity in capacities(instance)]
        total = total * np.array(units, dtype=object)[pair % n_members]
    return pair // n_members, total


_MEASURES: Final[Mapping[Objective, Callable[[Instance, Assignment], int]]] = {
    Objective.STICKINESS: count_moves,
    Objective.PEAK_LAG: _peak_lag,
    Objective.TOPIC_PEAK_LAG: _topic_peak_lag,
    Objective.LAG_SPREAD: _lag_spread,
    Objective.LAG_DEVIATION: _deviation,
    Objective.RACK: count_rack_mismatches,
    Objective.PER_TOPIC_SPREAD: _per_topic_spread,
}
"""The integer measures; ``load`` is a vector."""
