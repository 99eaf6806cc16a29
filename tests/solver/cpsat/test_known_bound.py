"""A lower bound from the caller: a constraint, with its proof in the result."""

from __future__ import annotations

import pytest

from rebalance import BoundTerm, SearchProof, TermsProof
from solver import (
    Limits,
    MiscountError,
    Objective,
    Result,
    Status,
    cpsat,
    exact,
    parse_policy,
)
from tests.solver.routes import instance, judged, lagging
from tests.support.shapes import Document

# Two of the three largest share a member: 30 + 20, while the average is 38.
CROWDED = lagging(30, 25, 20, members=2)
CROWD = BoundTerm(kind="crowd", bound=45, at_least=20)


def solve_with(document: Document, policy: str, term: BoundTerm) -> Result:
    laid_out = instance(document)
    bound = cpsat.KnownBound(
        value=term.bound,
        proof=TermsProof(terms=[term]),
        certificate=exact.solve(laid_out).certificate,
    )
    return cpsat.solve(
        laid_out,
        parse_policy(policy),
        limits=Limits(),
        known_bounds={Objective.PEAK_LAG: bound},
    )


@pytest.mark.parametrize("policy", ["none; peak-lag", "dec-min; peak-lag, stickiness"])
def test_a_bound_that_is_reached_proves_the_value(policy: str) -> None:
    result = solve_with(CROWDED, policy, CROWD)
    assert result.status is Status.OPTIMAL
    assert result.objectives[0].bound == 45
    assert result.objectives[0].proof == TermsProof(terms=[CROWD])
    assert result.certificate is not None
    verdict = judged(CROWDED, result)
    assert verdict["verdict"] == "valid", verdict


def test_a_search_beyond_the_bound_names_its_terms() -> None:
    """Both partitions of 20 are on a unless two move; the average is 24."""
    document = lagging(7, 20, 20)
    document["members"]["a"] = document["members"].pop("m0")
    document["members"]["a"]["owned"] = {"t": [0, 1, 2]}
    average = BoundTerm(kind="average", bound=24)
    result = solve_with(document, "none; peak-lag; max-moves=1", average)
    first = result.objectives[0]
    assert (first.value, first.bound) == (27, 27)
    assert isinstance(first.proof, SearchProof)
    assert first.proof.terms == [average]


def test_a_bound_that_an_assignment_beats_is_an_error() -> None:
    wrong = BoundTerm(kind="crowd", bound=46, at_least=20)
    with pytest.raises(MiscountError):
        solve_with(CROWDED, "none; peak-lag", wrong)
