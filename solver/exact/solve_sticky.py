"""Exact solve of ``sticky``: dec-min balance, then stickiness, in polynomial time.

Dec-min levels by decomposition, one min-cost flow on the optimal face, then concrete
partition numbers; a closed form when all subscriptions are equal. docs/method.md proves
that each result is optimal.
"""

from __future__ import annotations

import numpy as np

from rebalance import NOBODY, Assignment, CertificateProof, Instance, Int64
from solver.exact.certificate import CertificateCheck, prove, shift_prices
from solver.exact.checked_solve import solve_columns, solve_one_class
from solver.exact.dec_min_levels import dec_min_levels
from solver.exact.materialize import materialize
from solver.exact.reduced_instance import (
    OUTSIDE,
    ReducedInstance,
    by_member,
    distinct_capacities,
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
    if distinct_capacities(instance) > 1:
        return solve_without_closed_form(instance)
    solve_kernel = solve_one_class if instance.n_classes == 1 else solve_columns
    assignee, level, price, balanced, kept, most_kept = solve_kernel(
        instance.topic_offsets,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
        instance.owner,
    )
    certificate = Certificate(level=level, price=price)
    assignment = Assignment(assignee=assignee)
    check = CertificateCheck(bool(balanced), int(kept), int(most_kept))
    return _result(instance, assignment, certificate, check)


def solve_without_closed_form(instance: Instance) -> Result:
    """Solve by the flows, in separate steps, even where one kernel could do it all.

    Serves capacities, and tests that compare the two.
    """
    reduced, capacity = reduce_by_capacity(instance)
    owner, topic_offsets = instance.owner, instance.topic_offsets
    owned = owned_counts(owner, topic_offsets, reduced.topics, len(instance.members))
    levels = dec_min_levels(reduced, owned, capacity)
    plan = stickiest(reduced, owned, levels)
    certificate = Certificate(
        level=by_member(reduced, levels.low, 0),
        price=shift_prices(plan.price, by_member(reduced, levels.place, OUTSIDE)),
        threshold=_thresholds(instance, reduced, levels),
    )
    assignee = materialize(owner, topic_offsets, reduced, owned, plan)
    assignment = Assignment(assignee=assignee)
    check = prove(instance, assignment, certificate)
    return _result(instance, assignment, certificate, check)


def _result(
    instance: Instance,
    assignment: Assignment,
    certificate: Certificate,
    check: CertificateCheck,
) -> Result:
    """Return the result; its status follows from the check of the certificate."""
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
