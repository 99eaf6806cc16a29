"""Bounds that need no search."""

from __future__ import annotations

from rebalance.documents import BoundTerm
from solver.cpsat.problem import Problem
from solver.policy import Objective, WeightedObjective


def plain_terms(problem: Problem, level: WeightedObjective) -> list[BoundTerm]:
    """Return what bounds a level without search: zero, and the average of the lags."""
    terms = [BoundTerm(kind="zero", bound=0)]
    if level.only is Objective.PEAK_LAG and problem.members:
        whole = problem.common * problem.total_lag
        average = -(-whole // sum(problem.capacity))
        terms.append(BoundTerm(kind="average", bound=average))
    return terms
