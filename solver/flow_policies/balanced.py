"""The best of the dec-min assignments for sums of moves and rack mismatches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from rebalance.figures import count_kept, count_rack_mismatches
from solver.exact import optimal_face_of, solve
from solver.flow_policies.kinds import can_mismatch, places_of
from solver.flow_policies.levels import Weights, joined
from solver.flow_policies.network import cheapest
from solver.flow_policies.proof import is_proved
from solver.limits import LimitExceededError, Limits
from solver.policy import WeightedObjective
from solver.result import Certificate, Result, Status


class Balanced(NamedTuple):
    """A dec-min assignment that is best in some levels, and why.

    Attributes
    ----------
    assignment : Assignment
    certificate : Certificate
        Of balance, and by its prices of every level.
    weights : Weights
        What the prices speak of.
    is_proved : bool
    reason : str or None
        Why it is only the stickiest, and in racks maybe not the best.
    """

    assignment: Assignment
    certificate: Certificate
    weights: Weights
    is_proved: bool
    reason: str | None = None


def balanced(
    instance: Instance,
    levels: Sequence[WeightedObjective],
    limits: Limits | None = None,
) -> Balanced | None:
    """Find the dec-min assignment that is best in the levels, in their order.

    Without a say of racks it is the core's, the stickiest; so it is where a limit ends
    the flow that counts racks.

    Returns
    -------
    Balanced or None
        None if the sums could pass 64 bits, or racks are too many.
    """
    answer = solve(instance)
    weights = joined(instance, levels)
    if weights is None:
        return None
    if weights.mismatch == 0 or not can_mismatch(instance):
        return _stickiest(answer)
    places = places_of(instance)
    if places is None:
        return None
    face = optimal_face_of(instance, answer.require_certificate())
    try:
        found = cheapest(instance, places, face, weights, limits or Limits())
    except LimitExceededError as left:
        stickiest = _stickiest(answer)
        reason = left.reason if stickiest.is_proved else None
        return stickiest._replace(is_proved=False, reason=reason)
    if found is None:
        return None
    certificate = Certificate(
        level=answer.require_certificate().level,
        price=found.price,
        threshold=answer.require_certificate().threshold,
        weights=(weights.move, weights.mismatch),
    )
    assignment = Assignment(assignee=found.assignee)
    cost = weights.total(
        count_moves(instance, assignment), count_rack_mismatches(instance, assignment)
    )
    proved = is_proved(instance, places, face, assignment, certificate, weights, cost)
    return Balanced(assignment, certificate, weights, proved)


def count_moves(instance: Instance, assignment: Assignment) -> int:
    """Count the owned partitions that do not stay with their owner."""
    owned = int(np.count_nonzero(instance.owner != NOBODY))
    return owned - count_kept(instance, assignment)


def _stickiest(answer: Result) -> Balanced:
    proved = answer.status is Status.OPTIMAL
    return Balanced(
        answer.require_assignment(), answer.require_certificate(), Weights(1, 0), proved
    )
