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
from solver.served import OUTSIDE, Served, served_of
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
    served = served_of(instance)
    if served.class_size.size == 1:
        return _answer(instance, *assign_equal(*_ownership(instance), served))
    return solve_by_flow(instance, served)


def solve_by_flow(instance: Instance, served: Served | None = None) -> Answer:
    """Answer as `solve` does, without the closed form: the other route, for tests."""
    served = served_of(instance) if served is None else served
    owner, topic_offsets = _ownership(instance)
    owned = owned_pairs(owner, topic_offsets, served.topics, len(instance.members))
    level_of_class = class_levels(served, owned)
    plan = stickiest(served, owned, level_of_class)
    assignee = hand_out(owner, topic_offsets, served, owned, plan)
    return _answer(instance, assignee, _by_member(served, level_of_class), plan.price)


def _answer(instance: Instance, assignee: Int32, level: Int32, price: Int32) -> Answer:
    assignment = Assignment(assignee=assignee)
    certificate = Certificate(level=level, price=price)
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


def _by_member(served: Served, level_of_class: Int32) -> Int32:
    """Spread levels from classes to members; those outside have level 0."""
    level = np.zeros(served.member_class.size, dtype=np.int32)
    inside = served.member_class != OUTSIDE
    level[inside] = level_of_class[served.member_class[inside]]
    return level
