"""Why there is no assignment, with the least there could be."""

from __future__ import annotations

from fractions import Fraction

from solver.cpsat.constraints import each_partition_once, spread_at_most
from solver.cpsat.face import open_face
from solver.cpsat.problem import Looks, Problem, problem_of
from solver.cpsat.program import Program
from solver.cpsat.search import Search
from solver.limits import LimitExceededError
from solver.policy import BalanceKind, Policy
from solver.result import Status


def no_spread(problem: Problem, policy: Policy, search: Search) -> str:
    """Say that no assignment has loads so close, and what the least spread is."""
    weighed = "" if problem.common == 1 else " ÷ capacity"
    reason = f"no assignment has loads{weighed} at most {policy.balance.most} apart"
    least = _least_spread(problem, search)
    return reason if least is None else f"{reason}; the least spread is {least}"


def too_many_moves(policy: Policy, fewest: int, *, exact: bool) -> str:
    """Say that a budget is too small for the balance, and what it would take."""
    match policy.balance.kind:
        case BalanceKind.DEC_MIN:
            goal = "a dec-min assignment"
        case BalanceKind.KIP54:
            goal = "an assignment balanced by KIP-54"
        case BalanceKind.PER_TOPIC:
            goal = "an assignment balanced within each topic"
        case _:
            goal = f"an assignment with loads at most {policy.balance.most} apart"
    number = str(fewest) if exact else f"at least {fewest}"
    return (
        f"the fewest moves to {goal} are {number}, more than "
        f"max-moves={policy.max_moves}"
    )


def _least_spread(problem: Problem, search: Search) -> Fraction | None:
    """Minimize the spread alone; None if a limit strikes first."""
    bare = problem_of(problem.instance, Looks())
    try:
        program = Program(bare, open_face(bare), search.check)
        each_partition_once(program)
        most = bare.common * problem.instance.n_partitions
        width = program.define(0, most, lambda _: most)
        spread_at_most(program, width)
        found = search.minimize(program, width)
    except LimitExceededError:
        return None
    if found.status is not Status.OPTIMAL:
        return None
    return Fraction(found.value, bare.common)
