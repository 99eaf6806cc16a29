"""Policies of moves, racks and loads, answered by flow and proved by prices.

Three ways lead to a flow. Under ``dec-min`` there is the face of a certificate.
``per-topic`` is dec-min of another instance, by pairs. Where the levels settle each
partition alone, a third instance holds what they leave open; the best-balanced of its
assignments is then the likeliest to meet a balance that asks for less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rebalance import Assignment, Instance
from rebalance.documents import BoundTerm, CertificateProof, TermsProof
from solver.flow_policies.balanced import Balanced, balanced, count_moves
from solver.flow_policies.kinds import places_of
from solver.flow_policies.levels import parts_of, weights_of
from solver.flow_policies.meets import least_spread, meets
from solver.flow_policies.pairs import Pairs, pairs_of
from solver.flow_policies.restricted import Restricted, restricted
from solver.limits import Limits
from solver.objectives import scale_of, value_of
from solver.policy import BalanceKind, Objective, Policy, WeightedObjective
from solver.result import Certificate, ObjectiveResult, Result, Status, Value, zero_term

MOVES = WeightedObjective.of(Objective.STICKINESS)
LOAD = WeightedObjective.of(Objective.LOAD)


def solve(
    instance: Instance, policy: Policy, *, limits: Limits | None = None
) -> Result | None:
    """Answer a policy by flow.

    Returns
    -------
    Result or None
        OPTIMAL or INFEASIBLE, proved; FEASIBLE where a limit ended the flow that counts
        racks; None if this is not done by flow.
    """
    match policy.balance.kind:
        case BalanceKind.DEC_MIN:
            return _dec_min(instance, policy, limits)
        case BalanceKind.PER_TOPIC:
            return _per_topic(instance, policy, limits)
        case _:
            return _alone(instance, policy, limits)


def _dec_min(
    instance: Instance, policy: Policy, limits: Limits | None
) -> Result | None:
    parts = parts_of(policy)
    if policy.max_moves is not None:
        stickiest = balanced(instance, ())
        refused = _over_budget(instance, policy, stickiest)
        if refused is not None:
            return refused
    if not parts.is_whole:
        return None
    found = balanced(instance, _then_moves(parts.after), limits)
    if found is None:
        return None
    shown = found.certificate
    return _answer(instance, policy, found, found.assignment, certificate=shown)


def _per_topic(
    instance: Instance, policy: Policy, limits: Limits | None
) -> Result | None:
    parts = parts_of(policy)
    unknown = not parts.is_whole or LOAD in policy.objectives
    if unknown and policy.max_moves is None:
        return None
    pairs = pairs_of(instance)
    if pairs is None:
        return None
    if policy.max_moves is not None:
        stickiest = balanced(pairs.instance, ())
        refused = _over_budget(pairs.instance, policy, stickiest)
        if refused is not None:
            return refused
    if unknown:
        return None
    found = balanced(pairs.instance, _then_moves(parts.before), limits)
    if found is None:
        return None
    assignment = pairs.given(found.assignment)
    term = _price_term(instance, pairs, found)
    return _answer(instance, policy, found, assignment, term=term)


def _alone(instance: Instance, policy: Policy, limits: Limits | None) -> Result | None:
    """Answer where levels settle each partition alone, and maybe ``load`` the rest."""
    parts = parts_of(policy)
    if not parts.is_whole:
        return None
    has_load, kind = LOAD in policy.objectives, policy.balance.kind
    asked = instance
    if not has_load and kind is BalanceKind.KIP54:
        asked = replace(instance, capacity=None)  # which its counts do not know
    first = parts.before
    if not has_load and (
        first or kind is BalanceKind.NONE or policy.max_moves is not None
    ):
        first = _then_moves(first)
    room: Restricted | None = None
    if first:
        places = places_of(instance)
        if places is None:
            return None
        room = restricted(asked, places, first)
    last = _then_moves(parts.after) if has_load else ()
    found = balanced(asked if room is None else room.instance, last, limits)
    if found is None:
        return None
    assignment = found.assignment
    if room is not None:
        assignment = room.given(assignment, instance.n_partitions)
    if not meets(instance, policy.balance, assignment):
        return _refused(instance, policy)
    certificate = _with_thresholds(instance, found.certificate) if has_load else None
    return _answer(
        instance,
        policy,
        found,
        assignment,
        certificate=certificate,
        alone=parts.before,
    )


def _then_moves(levels: Sequence[WeightedObjective]) -> tuple[WeightedObjective, ...]:
    """Let moves decide last: nothing should move for nothing, or break a budget."""
    return tuple(levels) if MOVES in levels else (*levels, MOVES)


def _over_budget(
    instance: Instance, policy: Policy, stickiest: Balanced | None
) -> Result | None:
    """Refuse a budget that the fewest moves of the balance are over."""
    if stickiest is None or not stickiest.is_proved or policy.max_moves is None:
        return None
    least = count_moves(instance, stickiest.assignment)
    if least <= policy.max_moves:
        return None
    reason = (
        f"the fewest moves of a {policy.balance} assignment are {least}; "
        f"max-moves allows {policy.max_moves}"
    )
    return Result(policy=policy, status=Status.INFEASIBLE, reason=reason)


def _refused(instance: Instance, policy: Policy) -> Result | None:
    """Refuse a spread that nothing meets, where that is known."""
    least = least_spread(instance)
    most = policy.balance.most
    if least is None or most is None or least <= most:
        return None
    reason = f"the least spread of an assignment is {least}; {policy.balance} asks less"
    return Result(policy=policy, status=Status.INFEASIBLE, reason=reason)


def _answer(
    instance: Instance,
    policy: Policy,
    found: Balanced,
    assignment: Assignment,
    *,
    certificate: Certificate | None = None,
    alone: Sequence[WeightedObjective] = (),
    term: BoundTerm | None = None,
) -> Result | None:
    """Write the answer, if it is within the budget; else the budget may bind."""
    moves = count_moves(instance, assignment)
    if policy.max_moves is not None and moves > policy.max_moves:
        return None
    if not found.is_proved and found.reason is None:
        return None
    achieved = tuple(
        _achieved(instance, level, found, assignment, alone=alone, term=term)
        for level in policy.objectives
    )
    return Result(
        policy=policy,
        status=Status.OPTIMAL if found.is_proved else Status.FEASIBLE,
        assignment=assignment,
        objectives=achieved,
        certificate=certificate,
        reason=found.reason,
    )


def _achieved(
    instance: Instance,
    level: WeightedObjective,
    found: Balanced,
    assignment: Assignment,
    *,
    alone: Sequence[WeightedObjective],
    term: BoundTerm | None,
) -> ObjectiveResult:
    value = bound = value_of(instance, assignment, level)
    settled = level in alone or level == LOAD
    if not found.is_proved and not settled:
        # Proved is that nothing moves less; where seats were narrowed, nothing.
        moves = count_moves(instance, assignment)
        bound = 0 if alone else weights_of(level).total(moves, 0)
    proof: CertificateProof | TermsProof = CertificateProof()
    if bound == 0 and (settled or not found.is_proved or term is not None):
        proof = zero_term()
    elif level in alone:
        proof = _by_term(BoundTerm(kind="separate", bound=0), bound)
    elif term is not None:
        proof = _by_term(term, bound)
    return ObjectiveResult(
        of=level,
        value=value,
        bound=bound,
        scale=scale_of(instance, level),
        proof=proof,
    )


def _by_term(term: BoundTerm, value: Value) -> TermsProof:
    return TermsProof(terms=[term.model_copy(update={"bound": value})])


def _price_term(instance: Instance, pairs: Pairs, found: Balanced) -> BoundTerm:
    """Write prices by topic and member, and what they speak of."""
    move, mismatch = found.weights
    return BoundTerm(
        kind="prices",
        bound=0,
        weight={"stickiness": move, "rack": mismatch},
        price={
            topic: dict(prices)
            for topic, prices in pairs.prices(instance, found.certificate.price).items()
        },
    )


def _with_thresholds(instance: Instance, certificate: Certificate) -> Certificate:
    """Write levels as keys, where only members that are given nothing differ.

    The others are then of one capacity w, and level q ends before the key (q + 1, w).
    """
    capacity = instance.capacity
    if certificate.threshold is not None or capacity is None:
        return certificate
    if np.unique(capacity[instance.in_play]).size <= 1:
        return certificate
    number = certificate.level.astype(np.int64) + 1
    return replace(certificate, threshold=np.stack((number, capacity), axis=1))
