"""Lower bounds on objectives that need no search, with the terms that prove them."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance.documents import BoundTerm, TermsProof
from solver.cpsat.problem import Problem
from solver.policy import Objective, WeightedObjective
from solver.result import Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBound:
    """A proved lower bound on a policy's first objective, which must be an integer.

    Attributes
    ----------
    value : int
        In the units of the objective (`solver.objectives.scale_of`).
    proof : TermsProof
    certificate : Certificate or None
        Certificate of dec-min balance if the terms rest on its load bounds.
    """

    value: int
    proof: TermsProof
    certificate: Certificate | None = None


def trivial_bound(problem: Problem, objective: WeightedObjective) -> KnownBound:
    """Return 0, or for peak lag the average: total lag ÷ total capacity, rounded up."""
    kind, value = "zero", 0
    if objective.only is Objective.PEAK_LAG and problem.members:
        whole = problem.common * problem.total_lag
        kind, value = "average", -(-whole // sum(problem.capacity))
    terms = [BoundTerm(kind=kind, bound=value)]
    return KnownBound(value=value, proof=TermsProof(terms=terms))
