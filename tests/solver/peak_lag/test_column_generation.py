"""Packing bounds and assignments, against enumeration and the judge.

Reaches into `solver.peak_lag` to compare packings with brute force.
"""

from __future__ import annotations

import json
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

import verify
from rebalance import to_json
from solver import Limits, parse_policy
from solver.peak_lag import solve
from solver.peak_lag.column_generation import (
    Columns,
    _least_lag_of_weight,
    pack,
    packing_term,
)
from solver.peak_lag.feasible_region import peak_lag_of
from solver.peak_lag.lag_instance import LagInstance
from solver.peak_lag.minimize_peak import has_few_lags
from solver.peak_lag.work import Work
from tests.references.brute import Brute
from tests.solver.peak_lag.settings import lag_instances
from tests.solver.peak_lag.test_local_search import check_allowed
from tests.solver.routes import instance
from tests.support import last_drawn
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document, member, rebalance

SEEDS = seeds(max(20, INSTANCES // 40))
DEALS = 4
"""Number of parts of the seeds, so that several workers share them."""
POLICIES = ("none; peak-lag", "dec-min; peak-lag", "per-topic; peak-lag")


def heap(seed: int) -> Document:
    """Return two or three members alike, and few partitions with lag on each."""
    rng = Random(seed)  # noqa: S311
    topics = {
        name: {
            "partitions": n,
            "lag": [rng.choice((0, rng.randint(1, 30))) for _ in range(n)],
        }
        for name, n in (("t", rng.randint(2, 5)), ("u", rng.randint(0, 2)))
    }
    members = {name: member(["t", "u"]) for name in "abc"[: rng.randint(2, 3)]}
    for participant in members.values():
        participant["capacity"] = 2 if seed % 3 == 0 else 1
    document = rebalance(topics, members)
    last_drawn.note(document, seed)
    return document


def largest_peak(lag_instance: LagInstance) -> int:
    return int(lag_instance.region.lag.sum() * lag_instance.region.unit[0])


@pytest.mark.parametrize("deal", range(DEALS))
def test_packing_and_answers_with_little_lag(deal: int) -> None:
    for seed in SEEDS[deal::DEALS]:
        document = heap(seed)
        brute = Brute(document)
        check_what_is_packed(document, brute)
        check_answers(document, brute)


def check_what_is_packed(document: Document, brute: Brute) -> None:
    """Assert that a term is no more than the best, and a packing less than before."""
    for lag_instance, policy in zip(
        lag_instances(document), ("dec-min", "per-topic", "none"), strict=True
    ):
        if not has_few_lags(lag_instance):
            continue
        best: Any = (brute.best(f"{policy}; peak-lag") or [0])[0]
        start = largest_peak(lag_instance)
        holder, term = pack(lag_instance, 0, start, Work(limits=Limits()))
        if term is not None:
            assert term.bound <= best
        if holder is not None:
            check_allowed(lag_instance, holder)
            assert best <= peak_lag_of(lag_instance.region, holder) < start
        above = best + int(lag_instance.region.unit[0])
        holder, _ = pack(lag_instance, 0, above, Work(limits=Limits()))
        if holder is not None:
            assert peak_lag_of(lag_instance.region, holder) == best


def check_answers(document: Document, brute: Brute) -> None:
    """Assert that answers are the best, and proved to the judge."""
    laid_out = instance(document)
    for policy in POLICIES:
        outcome = solve(laid_out, parse_policy(policy), limits=Limits(effort=20))
        assert [objective.value for objective in outcome.objectives] == brute.best(
            policy
        )
        verdict = verify.judge(
            document, json.loads(to_json(outcome.to_document(laid_out)))
        )
        (objective,) = verdict["objectives"]
        assert verdict["verdict"] == "valid"
        assert objective["proved"] or objective["rests_on"] == "search", objective


def test_least_lag_of_a_weight() -> None:
    lags, weights = np.array([9, 7, 5, 5, 3]), np.array([4, 2, 2, 1, 0])
    for wanted in range(1, 10):
        least = min(
            int(lags[list(some)].sum())
            for n in range(1, 6)
            for some in combinations(range(5), n)
            if weights[list(some)].sum() >= wanted
        )
        assert _least_lag_of_weight(lags, weights, wanted) == least


def test_prices_prove_bounds_beyond_counting() -> None:
    """A member with 6 or 5 can hold at most one 4; one 4 is left over."""
    lags = np.array([6, 6, 5, 4, 4, 4, 4])
    columns = Columns(lags, 3, Work(limits=Limits()))
    found = columns.relax(11)
    assert found is not None
    value, prices = found
    assert value > 3
    term = packing_term(lags, prices, 3)
    assert term.bound > 11
    assert term.steps is not None
    assert all(weight >= 0 for _, weight in term.steps)
    assert [x for x, _ in term.steps] == sorted({x for x, _ in term.steps})


def test_a_limit_leaves_packing_undone() -> None:
    lag_instance = lag_instances(heap(1))[0]
    stopped = Limits(seconds=0)
    found = pack(lag_instance, 0, largest_peak(lag_instance), Work(limits=stopped))
    assert found == (None, None)
