"""Solve any policy with CP-SAT: warm start, one program, one run per objective."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

import psutil

from rebalance import Assignment, Instance, InstanceError
from solver.cpsat import constraints
from solver.cpsat.balance_region import CpRegion, open_region
from solver.cpsat.cp_instance import CpInstance, Distinctions, cp_instance_of
from solver.cpsat.lexicographic import LexicographicSolve
from solver.cpsat.objective_expressions import moves, reject_too_large
from solver.cpsat.run_solver import CpRuns, CpSolution, ModelInvalidError
from solver.cpsat.variables import CpProgram
from solver.cpsat.warm_start import warm_start
from solver.limits import LimitExceededError, Limits, resident_bytes
from solver.objectives import check_policy
from solver.policy import BalanceKind, Objective, Policy
from solver.result import KnownBound, Result, Status

BYTES_PER_CHOICE: Final = 1_500
CHOICES_PER_SECOND: Final = 60_000
"""Memory and speed of building a program and passing it to CP-SAT, measured roughly.

A second counts as one unit of effort.
"""


def solve(
    instance: Instance,
    policy: Policy,
    *,
    limits: Limits,
    hint: Assignment | None = None,
    known_bounds: Mapping[Objective, KnownBound] = MappingProxyType({}),
    spent: float = 0.0,
) -> Result:
    """Solve a policy with CP-SAT.

    Parameters
    ----------
    limits : Limits
        One that is exceeded makes the result FEASIBLE or UNKNOWN.
    hint : Assignment or None
        A good assignment to start from; used if it is allowed.
    known_bounds : mapping of Objective to KnownBound
        Lower bounds. The result carries their certificate, and the proof of each where
        the bound of the result equals it.
    spent : float
        Effort spent before, which counts towards the limit.

    Raises
    ------
    InstanceError
        If the policy does not apply to the instance, or if an objective has sums that
        CP-SAT cannot compute.
    """
    cp = _checked(instance, policy)
    start = warm_start(cp, policy, hint)
    lexicographic = LexicographicSolve(
        cp=cp,
        policy=policy,
        runs=CpRuns(limits=limits, spent=spent),
        best=start.assignment,
        least_loads=start.least_loads,
        given=known_bounds,
    )
    return _searched(lexicographic, start.region)


def _checked(instance: Instance, policy: Policy) -> CpInstance:
    """Return the instance for CP-SAT, if the policy applies to it."""
    check_policy(instance, policy)
    cp = cp_instance_of(instance, Distinctions.of(policy))
    for objective in policy.objectives:
        reject_too_large(cp, objective)
    return cp


def _searched(lexicographic: LexicographicSolve, region: CpRegion) -> Result:
    """Build and search the program, unless it is too large or nothing is left open."""
    cp, policy, runs = lexicographic.cp, lexicographic.policy, lexicographic.runs
    too_large = _too_large(cp, runs)
    if too_large is not None or lexicographic.is_optimal():
        return lexicographic.result(reason=too_large)
    try:
        runs.spent += cp.n_choices / CHOICES_PER_SECOND
        runs.check()
        infeasible = _run(lexicographic, build_program(cp, policy, region, runs))
    except LimitExceededError:
        infeasible = None  # the result states the values known by now
    except ModelInvalidError as invalid:
        raise InstanceError(
            f"policy: {policy} has sums that exceed the integers of cp-sat",
            subject=cp.instance.group,
        ) from invalid
    if infeasible is not None:
        return Result(policy=policy, status=Status.INFEASIBLE, reason=infeasible)
    return lexicographic.result(reason=runs.reason())


def _run(lexicographic: LexicographicSolve, program: CpProgram) -> str | None:
    """Search a program; return why it is infeasible if it is."""
    policy = lexicographic.policy
    if lexicographic.best is None:
        found = _find_any(program, policy, lexicographic.runs)
        if isinstance(found, str):
            return found
        lexicographic.best = found
    if lexicographic.best is not None:
        if policy.max_moves is not None:
            constraints.moves_at_most(program, policy.max_moves)
        lexicographic.run(program)
    return None


def building_effort(instance: Instance, policy: Policy) -> float:
    """Return the effort that `solve` spends before its first run."""
    cp = cp_instance_of(instance, Distinctions.of(policy))
    return cp.n_choices / CHOICES_PER_SECOND


def build_program(
    cp: CpInstance, policy: Policy, region: CpRegion, runs: CpRuns
) -> CpProgram:
    """Build the program of a balance, without objectives and move budget.

    Raises
    ------
    LimitExceededError
        If a limit is exceeded meanwhile.
    """
    program = CpProgram(cp, region, runs.check)
    constraints.assign_each_partition_once(program)
    constraints.loads_in_region(program)
    constraints.pool_loads_in_region(program)
    constraints.order_interchangeable(program)
    if policy.balance.kind is BalanceKind.KIP54:
        constraints.balanced_by_kip54(program)
    if policy.balance.most is not None:
        # No two loads differ by more than the number of partitions.
        most = min(policy.balance.most, cp.instance.n_partitions)
        constraints.spread_at_most(program, most * cp.common)
    return program


def _find_any(
    program: CpProgram, policy: Policy, runs: CpRuns
) -> Assignment | str | None:
    """Find an allowed assignment, or the reason why none exists, or neither."""
    budget = policy.max_moves
    found = runs.minimize(program, None if budget is None else moves(program))
    if found.status is Status.INFEASIBLE:
        return _spread_too_small(program.cp, policy, runs)
    if found.counts is None:
        return None
    if budget is None or found.value <= budget:
        return program.cp.assignment(found.counts)
    return _budget_too_small(policy, found) if found.bound > budget else None


def _too_large(cp: CpInstance, runs: CpRuns) -> str | None:
    """Return why a program could not be built within the limits, if it could not."""
    left, memory = runs.limits.left, runs.limits.memory
    if left is not None and cp.n_choices > left * CHOICES_PER_SECOND:
        return f"too large for a program within the {runs.reason()}"
    available = psutil.virtual_memory().available
    if memory is not None:
        available = min(available, memory - resident_bytes())
    if cp.n_choices * BYTES_PER_CHOICE > available:
        return f"a program of {cp.n_choices} variables does not fit the memory"
    return None


def _spread_too_small(cp: CpInstance, policy: Policy, runs: CpRuns) -> str:
    """Return that no assignment has so small a spread, and the least one, if proved."""
    per_capacity = "" if cp.common == 1 else " ÷ capacity"
    most = policy.balance.most
    reason = f"no assignment has loads{per_capacity} at most {most} apart"
    bare = cp_instance_of(cp.instance, Distinctions())
    most_weighted = bare.common * cp.instance.n_partitions
    try:
        program = CpProgram(bare, open_region(bare), runs.check)
        constraints.assign_each_partition_once(program)
        spread = program.derive(0, most_weighted, lambda _: most_weighted)
        constraints.spread_at_most(program, spread)
        found = runs.minimize(program, spread)
    except LimitExceededError:
        return reason
    if found.status is not Status.OPTIMAL:
        return reason
    return f"{reason}; the least spread is {Fraction(found.value, bare.common)}"


def _budget_too_small(policy: Policy, fewest: CpSolution) -> str:
    """Return that the balance needs more moves, and how many."""
    match policy.balance.kind:
        case BalanceKind.DEC_MIN:
            goal = "a dec-min assignment"
        case BalanceKind.KIP54:
            goal = "an assignment balanced by KIP-54"
        case BalanceKind.PER_TOPIC:
            goal = "an assignment balanced within each topic"
        case _:
            goal = f"an assignment with loads at most {policy.balance.most} apart"
    at_least = "" if fewest.status is Status.OPTIMAL else "at least "
    return (
        f"the fewest moves to {goal} are {at_least}{fewest.bound}, more than "
        f"max-moves={policy.max_moves}"
    )
