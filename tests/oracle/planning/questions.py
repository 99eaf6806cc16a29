"""Questions for plans, with the solver that answers them."""

from __future__ import annotations

from oracle.planning import PlanQuestion
from rebalance import Instance, Rebalance, rebalance_of
from solver import Limits, Policy, Result, parse_policy, solve
from tests.support.shapes import Document


def question(policy: str = "sticky", *, effort: float | None = None) -> PlanQuestion:
    """Return a question under a policy."""

    def solve_one(instance: Instance, policy: Policy) -> Result:
        limits = None if effort is None else Limits(effort=effort)
        return solve(instance, policy, limits=limits)

    return PlanQuestion(policy=parse_policy(policy), solve_one=solve_one)


def group(document: Document) -> Rebalance:
    """Return the validated document."""
    return rebalance_of(document)
