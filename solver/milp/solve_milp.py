"""Solve any policy by integer programs in PuLP: the second formulation.

The first one is `solver.cpsat`; the two share no formulation code. AUTO never selects
this engine: it exists to check the other engines, and for ``--engine highs``.

Balance first: dec-min becomes the load bounds of its face, every other balance becomes
rows. Then the objectives, one after the other (`lexicographic_milp`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from pulp import LpAffineExpression as Expression

from rebalance import Instance
from solver import exact
from solver.limits import LimitExceededError, Limits
from solver.milp import highs
from solver.milp.constraint_rows import kip54_load_bounds, policy_program
from solver.milp.counted_limits import CountedLimits
from solver.milp.dec_min_face import DecMinFace, dec_min_face, key_of
from solver.milp.lexicographic_milp import (
    Incumbent,
    minimize,
    minimize_objectives,
    reason_of,
    rounded,
    unproved,
)
from solver.milp.objective_rows import load_spread, moves, unary_loads
from solver.milp.partition_classes import MilpInstance, milp_instance
from solver.objectives import check_policy
from solver.policy import BalanceKind, Policy, no_balance
from solver.result import ObjectiveResult, Result, Status


def solve(instance: Instance, policy: Policy, *, limits: Limits) -> Result:
    """Return the best assignment for a policy.

    Returns
    -------
    Result
        OPTIMAL if every objective is proved, by search. Reaching a limit makes it
        FEASIBLE or UNKNOWN, and so do a program of more than
        `partition_classes.COLUMNS_MAX` columns and numbers too large for rows of
        `milp_program.ROW_MAX`.

    Raises
    ------
    InstanceError
        If the policy does not apply to the instance.
    """
    check_policy(instance, policy)
    best = Incumbent(instance, policy)
    best.offer(exact.solve(instance).require_assignment())
    if instance.capacity is not None:  # KIP-54 ignores capacities
        unweighted = replace(instance, capacity=None)
        best.offer(exact.solve(unweighted).require_assignment())
    if best.assignment is not None and not policy.objectives:
        return _result(best, (), None)
    try:
        counted = CountedLimits.of(limits)
        counted.check()
        return _search(milp_instance(instance, policy), best, counted)
    except LimitExceededError as error:
        return _result(best, unproved(instance, best, 0), error.reason)


def _search(case: MilpInstance, best: Incumbent, limits: CountedLimits) -> Result:
    policy, face = best.policy, None
    if policy.balance.kind is BalanceKind.DEC_MIN:
        face = find_dec_min_face(case.instance, limits)
    if best.assignment is None and (reason := _infeasible(case, best, limits, face)):
        return Result(policy=policy, status=Status.INFEASIBLE, reason=reason)
    program = policy_program(
        case, limits, policy.balance, max_moves=policy.max_moves, face=face
    )
    if best.assignment is None:
        minimize(program, Expression(), best, limits)
    if best.assignment is None:
        return _result(best, (), reason_of(limits))
    return _result(best, *minimize_objectives(program, best, limits))


def _result(
    best: Incumbent, objectives: tuple[ObjectiveResult, ...], reason: str | None
) -> Result:
    if best.assignment is None:
        return Result(policy=best.policy, status=Status.UNKNOWN, reason=reason)
    is_proved = all(each.is_proved for each in objectives)
    return Result(
        policy=best.policy,
        status=Status.OPTIMAL if is_proved else Status.FEASIBLE,
        assignment=best.assignment,
        objectives=objectives,
        reason=None if is_proved else reason,
    )


def find_dec_min_face(instance: Instance, limits: CountedLimits) -> DecMinFace:
    """Return all dec-min assignments: a program finds one, and its prices prove it.

    Dec-min is a convex flow: minimize the sum of rank[c, n] * step[c, n], where rank
    numbers the keys of `dec_min_face`, the least first. The linear relaxation is a
    network, and any cost that grows with the key has exactly the dec-min assignments
    as its optima (M-convexity).

    Raises
    ------
    LimitExceededError
        If the program is too large, or a limit was reached.
    """
    case = milp_instance(instance, Policy(balance=no_balance))
    high = case.reachable
    if case.common == 1:
        _, high = kip54_load_bounds(case)  # dec-min implies KIP-54 balanced
    program = policy_program(case, limits, no_balance)
    steps = unary_loads(program, high)
    keys = {place: key_of(place[1], case.capacity[place[0]]) for place in steps}
    rank = {key: n for n, key in enumerate(sorted(set(keys.values())))}
    cost = Expression((column, rank[keys[place]]) for place, column in steps.items())
    program.problem.setObjective(cost)
    found = rounded(program, highs.minimize(program.problem, limits, presolve=False))
    face = None
    if found is not None:
        held = [Counter[int]() for _ in case.groups]
        for each in case.classes:
            held[each.group].update(found.assignee[list(each.rows)].tolist())
        face = dec_min_face(case.groups, held, case.capacity)
    if face is None:
        raise LimitExceededError(reason_of(limits))
    return face


def _infeasible(
    case: MilpInstance, best: Incumbent, limits: CountedLimits, face: DecMinFace | None
) -> str | None:
    """Return why no assignment is allowed; None if that is not proved.

    A spread and a move budget can be too small. These programs minimize the excess,
    instead of asking for any solution: so INFEASIBLE rests on a safe bound, and the
    reason states how much would suffice. Their solutions are offered as well.
    """
    balance, budget = best.policy.balance, best.policy.max_moves
    if balance.kind is BalanceKind.SPREAD:
        program = policy_program(case, limits, no_balance)
        bound = minimize(program, load_spread(program), best, limits)
        if bound is not None and bound > (balance.most or 0) * case.common:
            return (
                f"{balance}: no assignment keeps all loads that close to each other; "
                f"they differ by {Fraction(bound, case.common)} or more"
            )
    if budget is not None:
        program = policy_program(case, limits, balance, face=face)
        goal = moves(program)
        owned = int(goal.constant)
        bound = minimize(program, goal - owned, best, limits)
        if bound is not None and bound + owned > budget:
            which = "" if balance.kind is BalanceKind.NONE else f" with {balance}"
            return (
                f"max-moves={budget}: no assignment{which} moves so few partitions; "
                f"every one moves {bound + owned} or more"
            )
    return None
