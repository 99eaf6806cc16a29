"""Is anything allowed at all? Asked only when no assignment at hand is.

Only a spread and a budget can be too tight. Instead of asking a solver whether there is
a solution, these minimize what is too large: so the answer "no" rests on a bound, made
safe like any other, and the user learns how much would do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from solver.milp.case import Case
from solver.milp.objectives import load_spread, moves
from solver.milp.program import Goal
from solver.milp.search import Incumbent, Step, minimize
from solver.milp.writing import written
from solver.policy import Balance, BalanceKind, no_balance


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Whether it is proved that nothing is allowed, and why nothing was found."""

    impossible: bool
    reason: str | None


def settle(case: Case, best: Incumbent) -> Settled:
    """Look for any allowed assignment; it is offered to ``best``."""
    balance, budget = case.policy.balance, case.policy.max_moves
    step = Step()
    if balance.kind is BalanceKind.SPREAD:
        step = _least_spread(case, best)
        most = balance.most or 0
        if step.bound is not None and step.bound > most * case.members.common:
            least = Fraction(step.bound, case.members.common)
            return Settled(impossible=True, reason=_too_wide(balance, least))
        if best.assignment is None and step.found is None:
            return Settled(impossible=False, reason=step.reason)
    if best.assignment is None and budget is not None:
        program = written(case, balance, None)
        step = minimize(case, program, moves(program), best)
        if step.bound is not None and step.bound > budget:
            return Settled(
                impossible=True, reason=_too_few(balance, budget, step.bound)
            )
    if best.assignment is None:
        program = written(case, balance, budget)
        step = minimize(case, program, Goal(terms=[]), best)
    return Settled(impossible=False, reason=step.reason)


def _least_spread(case: Case, best: Incumbent) -> Step:
    program = written(case, no_balance, None)
    return minimize(case, program, load_spread(program, case.members), best)


def _too_wide(balance: Balance, least: Fraction) -> str:
    return (
        f"{balance}: no assignment keeps all loads that close to each other; "
        f"they differ by {least} or more"
    )


def _too_few(balance: Balance, budget: int, least: int) -> str:
    which = "" if balance.kind is BalanceKind.NONE else f" with {balance}"
    return (
        f"max-moves={budget}: no assignment{which} moves so few partitions; "
        f"every one moves {least} or more"
    )
