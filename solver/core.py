"""The exact core: best balance, then the most kept, in polynomial time, proved.

Levels, then stickiness on the optimal face, then real partition numbers; a closed form
when all subscriptions are equal. docs/method.md tells why each answer is optimal.
"""

from __future__ import annotations

import numpy as np

from rebalance import Assignment, Instance
from solver.answer import Answer, Status
from solver.certificate import Certificate, prove
from solver.equal import assign_equal
from solver.flow import Int32, Int64
from solver.handout import hand_out
from solver.levels import class_levels
from solver.owned import owned_pairs
from solver.served import OUTSIDE, Served, served_by_capacity
from solver.shares import Levels
from solver.stickiness import stickiest


def solve(instance: Instance) -> Answer:
    """Answer the policy ``sticky``: dec-min balance first, then stickiness.

    Members without subscription, topics without subscriber, no partitions and no
    members are ordinary. Deterministic; ties are stated in `solver.handout` and
    `solver.equal`.

    Returns
    -------
    Answer
        OPTIMAL, after the certificate has been checked against the instance.
    """
    served, weight = served_by_capacity(instance)
    if served.class_size.size == 1:
        assignee, level, price = assign_equal(*_ownership(instance), served)
        return _answer(instance, assignee, Certificate(level=level, price=price))
    return _by_flow(instance, served, weight)


def solve_by_flow(instance: Instance) -> Answer:
    """Answer as `solve` does, without the closed form: the other route, for tests."""
    return _by_flow(instance, *served_by_capacity(instance))


def _by_flow(instance: Instance, served: Served, weight: Int64) -> Answer:
    owner, topic_offsets = _ownership(instance)
    owned = owned_pairs(owner, topic_offsets, served.topics, len(instance.members))
    levels = class_levels(served, owned, weight)
    plan = stickiest(served, owned, levels)
    assignee = hand_out(owner, topic_offsets, served, owned, plan)
    certificate = Certificate(
        level=by_member(served, levels.low),
        price=plan.price,
        threshold=_thresholds(instance, served, levels),
    )
    return _answer(instance, assignee, certificate)


def _answer(instance: Instance, assignee: Int32, certificate: Certificate) -> Answer:
    assignment = Assignment(assignee=assignee)
    proof = prove(instance, assignment, certificate)
    return Answer(
        assignment=assignment,
        status=Status.OPTIMAL if proof.holds else Status.FEASIBLE,
        certificate=certificate,
        kept=proof.kept,
        most_kept=proof.most_kept,
    )


def _ownership(instance: Instance) -> tuple[Int32, Int64]:
    return instance.owner, instance.topic_offsets


def _thresholds(instance: Instance, served: Served, levels: Levels) -> Int64 | None:
    """Spread thresholds from classes to members; those outside have their first key."""
    if levels.number.size == 0 or instance.capacity is None:
        return None
    inside = served.member_class != OUTSIDE
    of_class = served.member_class[inside]
    threshold = np.stack((np.ones_like(instance.capacity), instance.capacity), axis=1)
    threshold[inside, 0] = levels.number[of_class]
    threshold[inside, 1] = levels.over[of_class]
    return threshold


def by_member(served: Served, of_class: Int32) -> Int32:
    """Spread a number from classes to members; those outside have 0."""
    of_member = np.zeros(served.member_class.size, dtype=np.int32)
    inside = served.member_class != OUTSIDE
    of_member[inside] = of_class[served.member_class[inside]]
    return of_member
