"""Programs in PuLP against brute force, over all policies.

Reaches into `solver` to tell answers that HiGHS cannot give from wrong ones.
"""

from __future__ import annotations

import pytest

from rebalance import InstanceError
from solver import Status, parse_policy, values_of
from solver.milp.lexicographic_milp import HELD, RECOUNT
from solver.objectives import check_policy
from tests.references.brute import Brute
from tests.solver.milp.cases import answer, values
from tests.solver.routes import instance
from tests.solver.test_engines_agree import POLICIES
from tests.support.amount import seeds, share
from tests.support.shapes import Document
from tests.support.strategies import SMALL, TINY, Limits, seeded_rebalance
from verify import TooLarge

SEEDS = seeds(max(4, share(150, 200)))
"""`tests.solver.test_engines_agree` asks HiGHS for many more, with small lags."""
SIZES = (TINY, SMALL, Limits(members=4, topics=2, partitions=5))
DEALS = 4
"""Number of parts of the seeds, so that several workers share them."""


def check_agrees(document: Document) -> None:
    """Assert that every policy has the value that brute force finds."""
    laid_out = instance(document)
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for text in POLICIES:
        policy = parse_policy(text)
        if policy.needs_lag and laid_out.lag is None:
            continue
        try:
            check_policy(laid_out, policy)
        except InstanceError:
            continue  # a level could pass 64 bits
        outcome = answer(document, text)
        wanted = brute.best(str(policy))
        if wanted is None:
            assert outcome.status is Status.INFEASIBLE, text
            assert outcome.reason
            assert outcome.assignment is None
            continue
        assert outcome.assignment is not None, text
        found = values(outcome)
        stated = tuple(objective.value for objective in outcome.objectives)
        assert stated == values_of(laid_out, outcome.assignment, policy)
        if outcome.status is Status.OPTIMAL:
            assert found == wanted, text
            continue
        # Rarely: a recount refutes an answer of HiGHS, or it had to hold a huge value.
        assert outcome.reason in {HELD, RECOUNT}, text
        first = next(at for at, o in enumerate(outcome.objectives) if not o.is_proved)
        assert found[:first] == wanted[:first]
        bound = outcome.objectives[first].bound
        listed = list(bound) if isinstance(bound, tuple) else bound
        assert listed <= wanted[first]  # type: ignore[operator]


@pytest.mark.parametrize("deal", range(DEALS))
def test_highs_agrees_with_brute_force(deal: int) -> None:
    for seed in SEEDS[deal::DEALS]:
        check_agrees(seeded_rebalance(seed, SIZES[seed % 3]))
