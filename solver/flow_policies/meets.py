"""Whether an assignment meets a balance that asks for less than dec-min."""

from __future__ import annotations

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver.exact import solve
from solver.objectives import capacities, common_capacity
from solver.policy import Balance, BalanceKind


def meets(instance: Instance, balance: Balance, assignment: Assignment) -> bool:
    """Tell whether a valid assignment meets ``kip54``, ``spread`` or ``none``."""
    if balance.kind is BalanceKind.KIP54:
        return _is_kip54(instance, assignment)
    if balance.most is None:
        return True
    return spread_of(instance, assignment) <= balance.most * common_capacity(instance)


def spread_of(instance: Instance, assignment: Assignment) -> int:
    """Return how far loads ÷ capacity in play lie apart, in 1 ÷ common capacity."""
    common, loads = common_capacity(instance), assignment.loads(instance).tolist()
    play, weights = instance.in_play.tolist(), capacities(instance)
    shares = [
        load * (common // weight)
        for load, weight, here in zip(loads, weights, play, strict=True)
        if here
    ]
    return max(shares, default=0) - min(shares, default=0)


def least_spread(instance: Instance) -> int | None:
    """Return the least spread of all assignments; None where capacities differ.

    Without them a dec-min assignment has the largest least load, too (Frank and
    Murota, *Decreasing minimization on M-convex sets*, 2022), so no spread is less.
    """
    answer = solve(instance)
    if (
        answer.require_certificate().threshold is not None
        or common_capacity(instance) != 1
    ):
        return None
    return spread_of(instance, answer.require_assignment())


def _is_kip54(instance: Instance, assignment: Assignment) -> bool:
    """Tell whether no partition can go to a subscriber with two or more fewer."""
    loads = assignment.loads(instance)
    far = np.iinfo(np.int64).max
    of_class = np.full(instance.n_classes, far)
    np.minimum.at(of_class, instance.member_class, loads)
    least = np.full(len(instance.topics), far)
    listed = np.repeat(of_class, np.diff(instance.class_offsets))
    np.minimum.at(least, instance.class_topics, listed)
    given = assignment.assignee != NOBODY
    held = loads[assignment.assignee[given]]
    return bool((held - least[instance.partition_topic[given]] <= 1).all())
