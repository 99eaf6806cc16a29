"""Every policy by integer programs: a start, a program, and one search a level."""

from __future__ import annotations

from typing import Final

import psutil

from rebalance import Assignment, Instance
from rebalance.errors import InstanceError
from solver.cpsat import constraints
from solver.cpsat.face import Face
from solver.cpsat.known_bound import KnownBound
from solver.cpsat.levels import Climb
from solver.cpsat.objectives import moves, refuse_too_large
from solver.cpsat.opening import Opening, open_problem
from solver.cpsat.plan import assignment_of
from solver.cpsat.problem import Looks, Problem, problem_of
from solver.cpsat.program import Program
from solver.cpsat.reasons import no_spread, too_many_moves
from solver.cpsat.result import outcome_of
from solver.cpsat.search import RefusedError, Search
from solver.limits import LimitExceededError, Limits, resident_bytes
from solver.objectives import check_policy
from solver.policy import BalanceKind, Policy
from solver.result import Result, Status

BYTES_A_CHOICE: Final = 1_500
CHOICES_A_SECOND: Final = 60_000
"""What building a program takes, and bringing it to CP-SAT; measured roughly."""


def solve(
    instance: Instance,
    policy: Policy,
    *,
    limits: Limits,
    hint: Assignment | None = None,
    known_bound: KnownBound | None = None,
) -> Result:
    """Answer a policy with CP-SAT.

    Parameters
    ----------
    instance, policy
    limits : Limits
        One that strikes makes the answer FEASIBLE or UNKNOWN.
    hint : Assignment or None
        Something good to begin with; used if it is allowed.
    known_bound : KnownBound or None
        Lower bound on the first objective; the result carries its proof wherever the
        bound of the result equals it, and its certificate.

    Raises
    ------
    InstanceError
        If the policy cannot be asked of this instance, or if a level's sums are past
        what CP-SAT can add up.
    """
    check_policy(instance, policy)
    problem = problem_of(instance, Looks.of(policy))
    for level in policy.objectives:
        refuse_too_large(problem, level)
    search = Search(limits=limits)
    opening = open_problem(instance, policy, search, hint)
    if opening.face is None:
        return _nothing(policy, search)
    try:
        return _search(problem, policy, search, opening, opening.face, known_bound)
    except RefusedError as refused:
        raise InstanceError(
            f"policy: {policy} has sums past what cp-sat can add up",
            subject=instance.group,
        ) from refused


def _search(
    problem: Problem,
    policy: Policy,
    search: Search,
    opening: Opening,
    face: Face,
    given: KnownBound | None,
) -> Result:
    """Search with a program, unless the start is known to be best without."""
    start, late = opening.start, _too_large(problem, search)
    if start is not None:
        climb = _climb_from(start, problem, search, opening, given)
        if late is not None or all(
            climb.is_least(number, level)
            for number, level in enumerate(policy.objectives)
        ):
            return outcome_of(climb, policy, reason=late)
    if late is not None:
        return Result(policy=policy, status=Status.UNKNOWN, reason=late)
    program: Program | None = None
    try:
        program = program_of(problem, policy, face, search)
        if start is None:
            found = _find_any(program, policy, search)
            if isinstance(found, str):
                return Result(policy=policy, status=Status.INFEASIBLE, reason=found)
            start = found
    except LimitExceededError:
        pass
    if start is None:
        return _nothing(policy, search)
    climb = _climb_from(start, problem, search, opening, given)
    if program is not None:
        if policy.max_moves is not None:
            constraints.moves_at_most(program, policy.max_moves)
        climb.climb(program, policy.objectives)
    return outcome_of(climb, policy, reason=search.why())


def program_of(problem: Problem, policy: Policy, face: Face, search: Search) -> Program:
    """Write the program of a balance; the budget is not in it.

    Raises
    ------
    LimitExceededError
        If a limit strikes on the way.
    """
    program = Program(problem, face, search.check)
    constraints.each_partition_once(program)
    constraints.loads_within(program)
    constraints.pool_loads_within(program)
    constraints.alike_in_order(program)
    balance = policy.balance
    if balance.kind is BalanceKind.KIP54:
        constraints.balanced_by_kip54(program)
    if balance.most is not None:
        # No loads are further apart than there are partitions.
        width = min(balance.most, problem.instance.n_partitions)
        constraints.spread_at_most(program, width * problem.common)
    return program


def _find_any(
    program: Program, policy: Policy, search: Search
) -> Assignment | str | None:
    """Find an allowed assignment; or say why there is none; or None: not known."""
    problem = program.problem
    moved = None if policy.max_moves is None else moves(program).expression
    found = search.minimize(program, moved)
    if found.status is Status.INFEASIBLE:
        return no_spread(problem, policy, search)
    if policy.max_moves is not None and found.plan is not None:
        if found.bound > policy.max_moves:
            exact = found.status is Status.OPTIMAL
            return too_many_moves(policy, found.bound, exact=exact)
        if found.value > policy.max_moves:
            return None
    return None if found.plan is None else assignment_of(problem, found.plan)


def _climb_from(
    start: Assignment,
    problem: Problem,
    search: Search,
    opening: Opening,
    given: KnownBound | None,
) -> Climb:
    return Climb(
        problem=problem,
        search=search,
        best=start,
        least_loads=opening.least_loads,
        given=given,
    )


def _too_large(problem: Problem, search: Search) -> str | None:
    """Say why a program would not be built before a limit strikes, if it would not."""
    left, memory = search.limits.left, search.limits.memory
    if left is not None and problem.choices > left * CHOICES_A_SECOND:
        return f"too large for a program within the {search.why()}"
    room = psutil.virtual_memory().available
    if memory is not None:
        room = min(room, memory - resident_bytes())
    if problem.choices * BYTES_A_CHOICE > room:
        return f"a program of {problem.choices} variables does not fit the memory"
    return None


def _nothing(policy: Policy, search: Search) -> Result:
    return Result(policy=policy, status=Status.UNKNOWN, reason=search.why())
