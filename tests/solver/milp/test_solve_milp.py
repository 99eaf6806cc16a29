"""Programs in PuLP against brute force, over all policies.

Reaches into `solver` to tell answers that HiGHS cannot give from wrong ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from rebalance import InstanceError, to_json
from solver import NAMED, Status, parse_policy, values_of
from solver.milp.lexicographic_milp import HELD, RECOUNT
from solver.objectives import check_policy
from tests.references.brute import Brute
from tests.solver.milp.cases import answer, lags, policies_for, values
from tests.solver.routes import instance
from tests.support.amount import seeds, share
from tests.support.shapes import SHAPES, Document, member, rebalance, shape
from tests.support.strategies import SMALL, TINY, Limits, seeded_rebalance
from verify import TooLarge

SEEDS = seeds(share(200, 250))
"""`tests.solver.test_engines_agree` asks HiGHS for many more, all of them tiny."""
DEALS = 4
"""Number of parts of the seeds, so that several workers share them."""


def check_agrees(document: Document) -> None:
    """Assert that every policy has the value that brute force finds."""
    laid_out = instance(document)
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for text in policies_for(laid_out):
        policy = parse_policy(text)
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
        check_agrees(seeded_rebalance(seed, (TINY, SMALL)[seed % 2]))


@pytest.mark.heavy
@pytest.mark.parametrize("deal", range(DEALS))
def test_highs_agrees_on_larger_topics(deal: int) -> None:
    limits = Limits(members=4, topics=2, partitions=5)
    for seed in SEEDS[deal::DEALS]:
        check_agrees(seeded_rebalance(3000 + seed, limits))


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_shapes(name: str) -> None:
    check_agrees(shape(name))


def test_bug_presolve_loses_the_optimum() -> None:
    """HiGHS with presolve returns 121773: the same peak with one more move."""
    document = lags(41704, 80065, 95570)
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
    document = lags(897025, 585828)
    document["members"]["m1"]["owned"] = {"t": [0, 1]}
    outcome = answer(document, "per-topic; lag-spread, rack")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [311197, 0]


@pytest.mark.parametrize("text", sorted(NAMED))
def test_nothing_to_assign(text: str) -> None:
    for document in (
        {"format": "rebalance/1", "group": "g", "topics": {}, "members": {}},
        lags(members=2),
        lags(1, 2, members=0),
    ):
        empty = {"t": {"partitions": 0, "lag": []}}
        filled = {**document, "topics": document["topics"] or empty}
        assert answer(filled, text).status is Status.OPTIMAL, text


def test_capacities_count_as_fractions() -> None:
    document = lags(10, 10, 10, 10)
    document["members"]["m0"]["capacity"] = 3
    outcome = answer(document, "none; peak-lag")
    assert values(outcome) == [30]  # 30 / 3 and 10 / 1, in thirds
    assert outcome.objectives[0].scale == 3


def test_infeasible_spread_states_the_least() -> None:
    outcome = answer(lags(1, 1, 1), "spread=0")
    assert outcome.status is Status.INFEASIBLE
    assert outcome.reason is not None
    assert "differ by 1 or more" in outcome.reason


def test_infeasible_budget_states_the_least() -> None:
    outcome = answer(shape("CHAIN"), "dec-min; stickiness; max-moves=2")
    assert outcome.status is Status.INFEASIBLE
    assert outcome.reason is not None
    assert "every one moves 3 or more" in outcome.reason


def test_same_bytes() -> None:
    document = seeded_rebalance(7, SMALL)
    backwards = json.loads(json.dumps(document))
    for part in ("topics", "members"):
        backwards[part] = dict(reversed(list(document[part].items())))
    for text in policies_for(instance(document)):
        one, other = (
            to_json(answer(d, text).to_document(instance(d)))
            for d in (document, backwards)
        )
        assert one == other, text


@pytest.mark.heavy
def test_same_bytes_whatever_the_hash() -> None:
    script = (
        "from tests.solver.milp.cases import *\n"
        "from tests.support.strategies import seeded_rebalance\n"
        "from rebalance import to_json\n"
        "d = seeded_rebalance(11)\n"
        "for t in policies_for(instance(d)):\n"
        "    print(to_json(answer(d, t).to_document(instance(d))))\n"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(written) == 1
