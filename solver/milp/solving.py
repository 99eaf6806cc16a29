"""Answer any policy by integer programs: the second formulation, through PuLP.

Balance first: dec-min becomes the limits of its face, the others rows. Then level by
level: minimize, check in integers, make the bound safe, hold the level, go on.
"""

from __future__ import annotations

from dataclasses import replace

from rebalance import Assignment, Instance
from solver.limits import LimitExceededError, Limits
from solver.milp import cbc
from solver.milp.backend import Backend
from solver.milp.candidates import candidates
from solver.milp.case import Case, case_of
from solver.milp.facing import find_face
from solver.milp.levels import reach_levels, unproved
from solver.milp.refusals import TooLargeError
from solver.milp.search import Incumbent
from solver.milp.settling import settle
from solver.milp.writing import written
from solver.objectives import check_policy
from solver.policy import BalanceKind, Policy
from solver.result import Result, Status


def solve(
    instance: Instance,
    policy: Policy,
    *,
    limits: Limits,
    hint: Assignment | None = None,
    backend: Backend = Backend.HIGHS,
) -> Result:
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
    Result
        OPTIMAL if every level is proved; the search's word is safe in the sense of
        `solver.milp.safety`.

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
    except (LimitExceededError, TooLargeError) as refusal:
        return _as_it_stands(instance, best, refusal.reason, case)


def _solve(case: Case, best: Incumbent) -> Result:
    policy = case.policy
    if policy.balance.kind is BalanceKind.DEC_MIN:
        face = find_face(case)
        if face is None:
            why = case.limits.exceeded() or "no balanced assignment was found"
            return _as_it_stands(case.instance, best, why, case)
        case = replace(case, face=face)
    if best.assignment is None:
        settled = settle(case, best)
        if settled.impossible:
            return Result(
                policy=policy, status=Status.INFEASIBLE, reason=settled.reason
            )
        if best.assignment is None:
            return _as_it_stands(case.instance, best, settled.reason, case)
    if not policy.objectives:
        return _as_it_stands(case.instance, best, None, case)
    program = written(case, policy.balance, policy.max_moves)
    objectives, reason = reach_levels(case, program, best)
    proved = all(one.is_proved for one in objectives)
    return Result(
        policy=policy,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        assignment=best.assignment,
        objectives=objectives,
        reason=None if proved else reason,
    )


def _as_it_stands(
    instance: Instance, best: Incumbent, reason: str | None, case: Case | None
) -> Result:
    """Answer with what there is; it may be proved all the same."""
    if best.assignment is None:
        return Result(policy=best.policy, status=Status.UNKNOWN, reason=reason)
    objectives = tuple(unproved(instance, best, 0, case))
    proved = all(one.is_proved for one in objectives)
    return Result(
        policy=best.policy,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        assignment=best.assignment,
        objectives=objectives,
        reason=None if proved else reason,
    )
