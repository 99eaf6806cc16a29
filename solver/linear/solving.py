"""Answer any policy by integer programs: the second formulation, through PuLP.

Balance first: dec-min becomes the limits of its face, the others rows. Then level by
level: minimize, check in integers, make the bound safe, hold the level, go on.
"""

from __future__ import annotations

from dataclasses import replace

from rebalance import Assignment, Instance
from solver.answer import Status
from solver.limits import Limits, StruckError
from solver.linear import cbc
from solver.linear.backend import Backend
from solver.linear.candidates import candidates
from solver.linear.case import Case, case_of
from solver.linear.facing import find_face
from solver.linear.levels import reach_levels, unproved
from solver.linear.refusals import TooLargeError
from solver.linear.search import Incumbent
from solver.linear.settling import settle
from solver.linear.writing import written
from solver.outcome import Outcome
from solver.policy import Policy
from solver.policy.policy import Kind
from solver.values import check_policy


def solve(
    instance: Instance,
    policy: Policy,
    *,
    limits: Limits,
    hint: Assignment | None = None,
    backend: Backend = Backend.HIGHS,
) -> Outcome:
    """Answer a policy.

    Parameters
    ----------
    instance : Instance
    policy : Policy
    limits : Limits
    hint : Assignment, optional
        Where to start; it need not be allowed.
    backend : Backend

    Returns
    -------
    Outcome
        OPTIMAL if every level is proved; the search's word is safe in the sense of
        `solver.linear.safety`.

    Raises
    ------
    InstanceError
        If the instance cannot be asked this.
    OutsideError
        If CBC is asked for and does not run on this machine.
    """
    check_policy(instance, policy)
    if backend is Backend.CBC:
        cbc.version()
    best = Incumbent(instance, policy)
    for one in candidates(instance, hint):
        best.offer(one)
    case = None
    try:
        case = case_of(instance, policy, limits, backend)
        return _solve(case, best)
    except (StruckError, TooLargeError) as refusal:
        return _as_it_stands(instance, best, refusal.reason, case)


def _solve(case: Case, best: Incumbent) -> Outcome:
    policy = case.policy
    if policy.balance.kind is Kind.DEC_MIN:
        face = find_face(case)
        if face is None:
            why = case.limits.struck() or "no balanced assignment was found"
            return _as_it_stands(case.instance, best, why, case)
        case = replace(case, face=face)
    if best.assignment is None:
        settled = settle(case, best)
        if settled.impossible:
            return Outcome(
                policy=policy, status=Status.INFEASIBLE, reason=settled.reason
            )
        if best.assignment is None:
            return _as_it_stands(case.instance, best, settled.reason, case)
    if not policy.levels:
        return _as_it_stands(case.instance, best, None, case)
    program = written(case, policy.balance, policy.max_moves)
    objectives, reason = reach_levels(case, program, best)
    proved = all(one.is_proved for one in objectives)
    return Outcome(
        policy=policy,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        assignment=best.assignment,
        objectives=objectives,
        reason=None if proved else reason,
    )


def _as_it_stands(
    instance: Instance, best: Incumbent, reason: str | None, case: Case | None
) -> Outcome:
    """Answer with what there is; it may be proved all the same."""
    if best.assignment is None:
        return Outcome(policy=best.policy, status=Status.UNKNOWN, reason=reason)
    objectives = tuple(unproved(instance, best, 0, case))
    proved = all(one.is_proved for one in objectives)
    return Outcome(
        policy=best.policy,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        assignment=best.assignment,
        objectives=objectives,
        reason=None if proved else reason,
    )
