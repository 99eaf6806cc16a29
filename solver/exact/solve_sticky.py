"""Exact solve of ``sticky``: dec-min balance, then stickiness, in polynomial time.

Dec-min levels by decomposition, one min-cost flow on the optimal face, then concrete
partition numbers; a closed form when all subscriptions are equal. docs/method.md proves
that each result is optimal.
"""

from __future__ import annotations

import numpy as np

from rebalance import NOBODY, Assignment, CertificateProof, Instance, Int32, Int64
from solver.exact.certificate import prove, shift_prices
from solver.exact.dec_min_levels import dec_min_levels
from solver.exact.equal_subscriptions import assign_equal
from solver.exact.materialize import materialize
from solver.exact.reduced_instance import (
    OUTSIDE,
    ReducedInstance,
    owned_counts,
    reduce_by_capacity,
)
from solver.exact.stickiest import stickiest
from solver.exact.weighted_levels import Levels
from solver.policy import STICKY
from solver.result import Certificate, ObjectiveResult, Result, Status


def solve(instance: Instance) -> Result:
    """Solve the policy ``sticky``: dec-min balance first, then stickiness.

    Members without subscriptions, topics without subscribers, no partitions and no
    members are ordinary input. Deterministic; `solver.exact.materialize` and
    `solver.exact.equal_subscriptions` state how ties are broken.

    Returns
    -------
    Result
        OPTIMAL, after the certificate was checked against the instance.
    """
    reduced, capacity = reduce_by_capacity(instance)
    if reduced.class_size.size == 1:
        assignee, level, price = assign_equal(
            instance.owner, instance.topic_offsets, reduced
        )
        return _checked(instance, assignee, Certificate(level=level, price=price))
    return _solve_by_flow(instance, reduced, capacity)


def solve_without_closed_form(instance: Instance) -> Result:
    """Solve by the flows even where the closed form applies; tests compare the two."""
    return _solve_by_flow(instance, *reduce_by_capacity(instance))


def _solve_by_flow(
    instance: Instance, reduced: ReducedInstance, capacity: Int64
) -> Result:
    owner, topic_offsets = instance.owner, instance.topic_offsets
    owned = owned_counts(owner, topic_offsets, reduced.topics, len(instance.members))
    levels = dec_min_levels(reduced, owned, capacity)
    plan = stickiest(reduced, owned, levels)
    assignee = materialize(owner, topic_offsets, reduced, owned, plan)
    certificate = Certificate(
        level=_by_member(reduced, levels.low, outside=0),
        price=shift_prices(plan.price, _by_member(reduced, levels.place, OUTSIDE)),
        threshold=_thresholds(instance, reduced, levels),
    )
    return _checked(instance, assignee, certificate)


def _checked(instance: Instance, assignee: Int32, certificate: Certificate) -> Result:
    """Return the result; its status follows from the check of the certificate."""
    assignment = Assignment(assignee=assignee)
    check = prove(instance, assignment, certificate)
    owned = int(np.count_nonzero(instance.owner != NOBODY))
    stickiness = ObjectiveResult(
        of=STICKY.objectives[0],
        value=owned - check.kept,
        bound=owned - check.most_kept if check.balanced else 0,
        proof=CertificateProof() if check.balanced else None,
    )
    return Result(
        policy=STICKY,
        assignment=assignment,
        status=Status.OPTIMAL if check.holds else Status.FEASIBLE,
        objectives=(stickiness,),
        certificate=certificate,
    )


def _thresholds(
    instance: Instance, reduced: ReducedInstance, levels: Levels
) -> Int64 | None:
    """Return the threshold of each member; members outside get their first key."""
    if levels.number.size == 0 or instance.capacity is None:
        return None
    inside = reduced.member_class != OUTSIDE
    of_class = reduced.member_class[inside]
    threshold = np.stack((np.ones_like(instance.capacity), instance.capacity), axis=1)
    threshold[inside, 0] = levels.number[of_class]
    threshold[inside, 1] = levels.over[of_class]
    return threshold


def _by_member(reduced: ReducedInstance, of_class: Int32, outside: int) -> Int32:
    """Return the number of each member's class."""
    of_member = np.full(reduced.member_class.size, outside, dtype=np.int32)
    inside = reduced.member_class != OUTSIDE
    of_member[inside] = of_class[reduced.member_class[inside]]
    return of_member
