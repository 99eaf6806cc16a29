"""Solve policies of moves, rack mismatches and loads by flows on an optimal face.

Under ``dec-min`` this is the face of the given instance; under ``per-topic``, and where
objectives come before ``load``, that of an auxiliary instance. The weaker balances
``kip54`` and ``spread=k`` are solved if the best-balanced of the optimal assignments
meets them; otherwise they are left to an integer program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rebalance import Assignment, BoundTerm, CertificateProof, Instance, TermsProof
from solver import exact
from solver.flow_policies.auxiliary_instances import (
    AuxiliaryInstance,
    pair_topics,
    restrict_to_best,
    unchanged,
)
from solver.flow_policies.cheapest_dec_min import CheapestDecMin, cheapest_dec_min
from solver.flow_policies.move_rack_weights import (
    EXACT_BALANCES,
    LOAD,
    linear_parts,
    weights_of,
    with_moves,
)
from solver.flow_policies.place_classes import places_of
from solver.limits import Limits
from solver.objectives import (
    common_capacity,
    count_moves,
    meets_kip54_or_spread,
    scale_of,
    spread_of,
    value_of,
)
from solver.policy import BalanceKind, Policy, WeightedObjective
from solver.result import Certificate, ObjectiveResult, Result, Status, zero_term


def solve(
    instance: Instance, policy: Policy, *, limits: Limits | None = None
) -> Result | None:
    """Solve a policy by flows.

    Returns
    -------
    Result or None
        OPTIMAL or INFEASIBLE, proved; FEASIBLE if a limit ended the flow that counts
        rack mismatches; None if the policy is not solved by flows.
    """
    parts = linear_parts(policy)
    # Where the balance is exact, the fewest moves refute a budget for any objectives.
    refutes = policy.balance.kind in EXACT_BALANCES and policy.max_moves is not None
    if parts is None and not refutes:
        return None
    separable, on_face = parts or ([], [])
    auxiliary = _auxiliary_instance(instance, policy, separable)
    if auxiliary is None:
        return None
    refusal = _refuse_budget(auxiliary.instance, policy) if refutes else None
    if refusal is not None or parts is None:
        return refusal
    if policy.balance.kind in EXACT_BALANCES or LOAD in policy.objectives:
        on_face = with_moves(on_face)
    found = cheapest_dec_min(auxiliary.instance, on_face, limits)
    if found is None or not (found.is_proved or found.reason):
        return None
    assignment = auxiliary.restore(found.assignment, instance)
    if not meets_kip54_or_spread(instance, policy.balance, assignment):
        return _refuse_spread(instance, policy)
    result = _result(instance, policy, auxiliary, found, assignment, separable)
    moves, budget = count_moves(instance, assignment), policy.max_moves
    return result if budget is None or moves <= budget else None


def _auxiliary_instance(
    instance: Instance, policy: Policy, separable: Sequence[WeightedObjective]
) -> AuxiliaryInstance | None:
    """Return the instance whose dec-min assignments solve the policy; None if none."""
    kind = policy.balance.kind
    if kind is BalanceKind.PER_TOPIC:
        return pair_topics(instance)
    if kind is not BalanceKind.DEC_MIN and LOAD not in policy.objectives:
        if kind is BalanceKind.KIP54:
            instance = replace(instance, capacity=None)  # KIP-54 compares counts
        if separable or kind is BalanceKind.NONE or policy.max_moves is not None:
            separable = with_moves(separable)
    if not separable:
        return unchanged(instance)
    places = places_of(instance)
    return None if places is None else restrict_to_best(instance, places, separable)


def _refuse_budget(instance: Instance, policy: Policy) -> Result | None:
    """Return INFEASIBLE if the stickiest assignment exceeds the budget of moves."""
    if policy.max_moves is None:
        return None
    sticky = exact.solve(instance)
    least = count_moves(instance, sticky.require_assignment())
    if sticky.status is not Status.OPTIMAL or least <= policy.max_moves:
        return None
    reason = (
        f"the fewest moves of a {policy.balance} assignment are {least}; "
        f"max-moves allows {policy.max_moves}"
    )
    return Result(policy=policy, status=Status.INFEASIBLE, reason=reason)


def _refuse_spread(instance: Instance, policy: Policy) -> Result | None:
    """Return INFEASIBLE if the least spread is known and larger than allowed.

    With equal capacities of 1, a dec-min assignment also has the largest least load
    (Frank and Murota, *Decreasing minimization on M-convex sets*, 2022), so no spread
    is less than its.
    """
    most = policy.balance.most
    if most is None or common_capacity(instance) != 1:
        return None
    least = spread_of(instance, exact.solve(instance).require_assignment())
    if least <= most:
        return None
    reason = f"the least spread of an assignment is {least}; {policy.balance} asks less"
    return Result(policy=policy, status=Status.INFEASIBLE, reason=reason)


def _result(
    instance: Instance,
    policy: Policy,
    auxiliary: AuxiliaryInstance,
    found: CheapestDecMin,
    assignment: Assignment,
    separable: Sequence[WeightedObjective],
) -> Result:
    """Return the result with the evidence that its kind of balance allows."""
    certificate: Certificate | None = None
    evidence: CertificateProof | BoundTerm = CertificateProof()
    if policy.balance.kind is BalanceKind.PER_TOPIC:
        move, mismatch = found.weights
        evidence = BoundTerm(
            kind="prices",
            bound=0,
            weight={"stickiness": move, "rack": mismatch},
            price=auxiliary.named_prices(found.certificate.price, instance),
        )
    elif policy.balance.kind is BalanceKind.DEC_MIN or LOAD in policy.objectives:
        certificate = _with_thresholds(instance, found.certificate)
    return Result(
        policy=policy,
        status=Status.OPTIMAL if found.is_proved else Status.FEASIBLE,
        assignment=assignment,
        objectives=tuple(
            _objective_result(
                instance, objective, found, assignment, separable, evidence
            )
            for objective in policy.objectives
        ),
        certificate=certificate,
        reason=found.reason,
    )


def _objective_result(
    instance: Instance,
    objective: WeightedObjective,
    found: CheapestDecMin,
    assignment: Assignment,
    separable: Sequence[WeightedObjective],
    evidence: CertificateProof | BoundTerm,
) -> ObjectiveResult:
    value = bound = value_of(instance, assignment, objective)
    is_settled = objective in separable or objective == LOAD
    if not found.is_proved and not is_settled:
        # The assignment is the stickiest on the face. Separable objectives have
        # restricted the face: then nothing is known of the other assignments.
        moves = count_moves(instance, assignment)
        bound = 0 if separable else weights_of(objective).total(moves, 0)
    if objective in separable:
        evidence = BoundTerm(kind="separate", bound=0)
    has_term = isinstance(evidence, BoundTerm)
    proof: CertificateProof | TermsProof = CertificateProof()
    if bound == 0 and (is_settled or not found.is_proved or has_term):
        proof = zero_term()
    elif isinstance(evidence, BoundTerm):
        proof = TermsProof(terms=[evidence.model_copy(update={"bound": bound})])
    return ObjectiveResult(
        of=objective,
        value=value,
        bound=bound,
        scale=scale_of(instance, objective),
        proof=proof,
    )


def _with_thresholds(instance: Instance, certificate: Certificate) -> Certificate:
    """Return the certificate with its levels as keys, where the judge expects keys.

    Capacities can differ in the given instance but be equal, w, among the members that
    the auxiliary instance has in play: level q is then the key (q + 1, w).
    """
    capacity = instance.capacity
    if certificate.threshold is not None or capacity is None:
        return certificate
    if np.unique(capacity[instance.in_play]).size <= 1:
        return certificate
    number = certificate.level.astype(np.int64) + 1
    return replace(certificate, threshold=np.stack((number, capacity), axis=1))
