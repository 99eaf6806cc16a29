"""Dec-min assignment that is best in moves and rack mismatches, with a price bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int64, count_rack_mismatches
from solver import exact
from solver.exact import OptimalFace, load_bounds_of, load_value, optimal_face_of
from solver.flow_policies.cheapest_flow import cheapest_flow, member_groups
from solver.flow_policies.move_rack_weights import COST_MAX, Weights, combined_weights
from solver.flow_policies.place_classes import (
    Places,
    can_mismatch,
    place_classes_of,
    places_of,
)
from solver.limits import LimitExceededError, Limits
from solver.objectives import count_moves
from solver.policy import WeightedObjective
from solver.result import Certificate, Result, Status


class CheapestDecMin(NamedTuple):
    """A dec-min assignment that is lexicographically best in some objectives."""

    assignment: Assignment
    certificate: Certificate  # of the balance; its prices prove the weighted sum
    weights: Weights  # of the sum
    is_proved: bool
    reason: str | None = None  # limit that ended the flow: this is the stickiest


def cheapest_dec_min(
    instance: Instance,
    objectives: Sequence[WeightedObjective],
    limits: Limits | None = None,
) -> CheapestDecMin | None:
    """Return the dec-min assignment that is lexicographically best in the objectives.

    If rack mismatches do not count, or a limit ends the flow that counts them, it is
    the stickiest one, which the exact core computes. None if costs could exceed 64
    bits, or there are too many racks.
    """
    sticky = exact.solve(instance)
    weights = combined_weights(instance, objectives)
    if weights is None:
        return None
    if weights.mismatch == 0 or not can_mismatch(instance):
        return _stickiest(sticky)
    places = places_of(instance)
    if places is None:
        return None
    certificate = sticky.require_certificate()
    face = optimal_face_of(instance, certificate)
    try:
        found = cheapest_flow(instance, places, face, weights, limits or Limits())
    except LimitExceededError as error:
        reason = error.reason if sticky.status is Status.OPTIMAL else None
        return _stickiest(sticky)._replace(is_proved=False, reason=reason)
    if found is None:
        return None
    assignee, price = found
    certificate = replace(certificate, price=price, weights=weights)
    assignment = Assignment(assignee=assignee)
    cost = weights.total(
        count_moves(instance, assignment), count_rack_mismatches(instance, assignment)
    )
    is_proved = proves_cost(instance, places, face, assignment, certificate, cost)
    return CheapestDecMin(assignment, certificate, weights, is_proved)


def _stickiest(sticky: Result) -> CheapestDecMin:
    return CheapestDecMin(
        sticky.require_assignment(),
        sticky.require_certificate(),
        Weights(1, 0),
        sticky.status is Status.OPTIMAL,
    )


def proves_cost(
    instance: Instance,
    places: Places,
    face: OptimalFace,
    assignment: Assignment,
    certificate: Certificate,
    cost: int,
) -> bool:
    """Return whether a certificate proves balance, and that no dec-min costs less.

    The cost of each partition is at least the least cost plus price of an eligible
    member; the prices of all loads together are at most `load_value`.
    """
    if not exact.prove(instance, assignment, certificate).balanced:
        return False
    price_bound = _least_priced_cost(instance, places, face, certificate)
    bounds = load_bounds_of(instance, certificate)
    price = certificate.price.astype(np.int64)
    load_bound = int(load_value(bounds, price, assignment.loads(instance)))
    return price_bound - load_bound == cost


def _least_priced_cost(
    instance: Instance, places: Places, face: OptimalFace, certificate: Certificate
) -> int:
    """Return the sum over partitions of the least cost plus price of a member."""
    weights = Weights(*(certificate.weights or (1, 0)))
    price = certificate.price.astype(np.int64)
    classes = place_classes_of(instance, places)
    first = classes.first
    topic, owner = instance.partition_topic[first], instance.owner[first]
    cheapest = _cheapest_prices(instance, places, face, price)[topic]
    least = cheapest.min(axis=1) + weights.mismatch * places.known[first]
    for slot in range(places.racks + 1):
        matching = np.minimum(least, cheapest[:, slot])
        least = np.where(places.can_match(first, slot), matching, least)
    least += weights.move * (owner != NOBODY)
    can_stay = (owner != NOBODY) & (face.place[owner] == face.floor[topic])
    staying = price[owner] + weights.mismatch * places.is_mismatch(first, owner)
    least = np.where(can_stay, np.minimum(least, staying), least)
    return int((least * classes.amount).sum())


def _cheapest_prices(
    instance: Instance, places: Places, face: OptimalFace, price: Int64
) -> Int64:
    """Return the least price of a member on the face, int64 (T, slots)."""
    groups = member_groups(instance, places, face)
    of_group = np.full(groups.number.max(initial=-1) + 1, COST_MAX)
    np.minimum.at(of_group, groups.number, price)
    cheapest = np.full((len(instance.topics), places.racks + 1), COST_MAX)
    entries = groups.entry_topic, groups.entry_slot
    np.minimum.at(cheapest, entries, of_group[groups.entry_group])
    return cheapest
