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
from tests.solver.routes import instance, lagging
from tests.solver.test_engines_agree import POLICIES
from tests.support.amount import seeds, share
from tests.support.shapes import Document, member, rebalance
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


def test_bug_presolve_loses_the_optimum() -> None:
    """HiGHS with presolve returns 121773: the same peak with one more move."""
    document = lagging(41704, 80065, 95570)
    document["members"]["m1"]["owned"] = {"t": [0]}
    document["members"]["m0"]["owned"] = {"t": [1, 2]}
    outcome = answer(document, "none; 2*stickiness + peak-lag")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [121771]


def test_bug_rounding_loses_the_optimum_of_large_sums() -> None:
    """HiGHS takes 1038778303422169480 for the least there is, in one row."""
    lag = [849655785183482423, 718692260011160693, 33117322648757153]
    lag += [156005239139862197, 97809259350823314]
    document = rebalance(
        {"t0": 4, "t1": 5},
        {
            "m0": member(["t0", "t1"], {"t1": [1], "t0": [0]}),
            "m1": member(["t1"], {"t1": [0, 2, 3, 4]}),
            "m2": member(["t0"], {"t0": [1, 2, 3]}),
        },
    )
    document["topics"]["t1"]["lag"] = lag
    outcome = answer(document, "sticky-lag")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [1, 980582367183062890]


def test_bug_a_start_makes_highs_cut_off_the_optimum() -> None:
    """HiGHS, with a solution to start from, calls 4380720 the best."""
    document = rebalance(
        {"t0": 6, "t1": 3},
        {
            "m0": member(["t1"], capacity=4),
            "m1": member(["t0"], {"t0": [0, 1, 2, 3, 4, 5]}, capacity=2),
            "m2": member(["t0", "t1"], {"t1": [0, 1, 2]}),
        },
    )
    lag = [969760, 580374, 574145, 126534, 519921, 132404]
    document["topics"]["t0"]["lag"] = lag
    document["topics"]["t1"]["lag"] = [55713, 839520, 783852]
    assert values(answer(document, "lag-aware")) == [4376264]


def test_bug_no_room_between_rows_hides_the_optimum() -> None:
    """Held at exactly its least, a goal left HiGHS no way but (6, 3, 3)."""
    document = rebalance(
        {"t0": 6, "t1": 6},
        {
            "m0": member(["t1"], {"t1": [3, 5]}),
            "m1": member(["t0", "t1"], {"t0": [1, 4, 5], "t1": [0, 1, 2, 4]}),
            "m2": member(["t0"], {"t0": [2]}),
        },
    )
    document["topics"]["t0"]["lag"] = [665682, 0, 0, 947499, 0, 687252]
    lag = [79342, 737766, 805534, 813285, 880329, 628534]
    document["topics"]["t1"]["lag"] = lag
    assert values(answer(document, "none; lag-deviation, load")) == [
        1852710,
        [5, 4, 3],
    ]


def test_bug_a_first_solution_makes_highs_cut_off_the_optimum() -> None:
    """HiGHS 1.13 without presolve: the high digit of the spread is 304, not 303."""
    document = lagging(897025, 585828)
    document["members"]["m1"]["owned"] = {"t": [0, 1]}
    outcome = answer(document, "per-topic; lag-spread, rack")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [311197, 0]
