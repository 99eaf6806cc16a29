"""Pareto frontier of moves against peak lag.

Both ends first: the fewest moves that the balance allows, and the least peak lag, which
`solver.peak_lag` bounds with terms. Then CP-SAT minimizes peak lag for each limit on
moves between them, given the best assignment and the best bound known so far.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from rebalance import NOBODY, Assignment, Instance, TermsProof
from solver import cpsat
from solver.engines import solve
from solver.limits import Limits
from solver.objectives import check_policy, count_moves, scale_of, value_of
from solver.pareto.frontier import Frontier, KnownFrontier, KnownValue, Progress
from solver.policy import Balance, Objective, Policy, WeightedObjective, no_balance
from solver.result import KnownBound, Result, zero_term

PEAK_LAG: Final = WeightedObjective.of(Objective.PEAK_LAG)
MOVES: Final = WeightedObjective.of(Objective.STICKINESS)

_EFFORT_OF_END: Final = 1.0
"""Effort of the search for the least peak lag without a limit on moves."""


def peak_lag_frontier(
    instance: Instance,
    balance: Balance = no_balance,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Frontier:
    """Find every Pareto-optimal pair of moves and peak lag within a balance.

    Reaching a limit leaves points unproved and ranges open, with bounds.

    Raises
    ------
    InstanceError
        If no topic has lag, or if sums could exceed 64 bits.
    """
    limits = limits or Limits()
    both = Policy(balance=balance, objectives=(PEAK_LAG, MOVES))
    check_policy(instance, both)
    frontier = Frontier(
        objective="peak-lag", balance=str(balance), scale=scale_of(instance, PEAK_LAG)
    )
    stickiest = solve(instance, replace(both, objectives=(MOVES,)), limits=limits)
    if stickiest.assignment is None:
        missing = "no assignment that meets the balance was found"
        return replace(frontier, reason=limits.exceeded() or missing)
    effort = min(_EFFORT_OF_END, limits.effort or _EFFORT_OF_END)
    lowest = solve(instance, both, limits=replace(limits, effort=effort))
    known = _known_by_ends(instance, stickiest.assignment, lowest)
    search = partial(_search, known, instance, balance)
    reason = known.settle(search, limits, progress)
    return replace(
        frontier, points=known.points(), open=known.open_ranges(), reason=reason
    )


def _search(
    known: KnownFrontier,
    instance: Instance,
    balance: Balance,
    most: int,
    limits: Limits,
) -> None:
    """Minimize peak lag within a limit on moves, and record the result."""
    found = cpsat.solve(
        instance,
        Policy(balance=balance, objectives=(PEAK_LAG,), max_moves=most),
        limits=limits,
        hint=known.at(most).assignment,
        known_bounds=_known_bounds(known.at(most)),
    )
    _add(known, instance, most, found)


def _known_by_ends(
    instance: Instance, stickiest: Assignment, lowest: Result
) -> KnownFrontier:
    """Return the frontier known from the fewest moves and from the lowest peak."""
    last = int(np.count_nonzero(instance.owner != NOBODY))
    if lowest.assignment is not None and lowest.objectives[0].is_proved:
        last = count_moves(instance, lowest.assignment)
    first, value = _moves_and_peak_lag(instance, stickiest)
    start = KnownValue(assignment=stickiest, value=value, bound=0, proof=zero_term())
    known = KnownFrontier(first, max(first, last), start)
    _add(known, instance, known.last, lowest)
    return known


def _add(known: KnownFrontier, instance: Instance, most: int, found: Result) -> None:
    """Record the value and the bound of an engine for a limit on moves."""
    if found.assignment is None:
        return
    moves, value = _moves_and_peak_lag(instance, found.assignment)
    known.add_assignment(moves, value, found.assignment)
    bound = found.objectives[0].bound
    assert isinstance(bound, int)  # noqa: S101 - only ``load`` is a vector
    known.add_bound(most, bound, found.objectives[0].proof or zero_term())


def _known_bounds(known: KnownValue) -> dict[Objective, KnownBound]:
    if not isinstance(known.proof, TermsProof):
        return {}
    return {Objective.PEAK_LAG: KnownBound(value=known.bound, proof=known.proof)}


def _moves_and_peak_lag(instance: Instance, assignment: Assignment) -> tuple[int, int]:
    value = value_of(instance, assignment, PEAK_LAG)
    assert isinstance(value, int)  # noqa: S101 - only ``load`` is a vector
    return count_moves(instance, assignment), value
