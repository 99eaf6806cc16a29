"""Answers with and without a search; see also `tests.solver.test_engines_agree`.

Reaches into `solver` for the policies that peak lag answers, and for what its searches
count at most, which tiny rebalances never reach.
"""

from __future__ import annotations

import json
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import verify
from rebalance import Instance, to_json
from solver import Limits, Result, Status, parse_policy, values_of
from solver.peak_lag import bounds, set_partition, solve
from solver.peak_lag_policies import can_answer
from tests.references.brute import Brute
from tests.solver.peak_lag.settings import lagging
from tests.solver.routes import instance
from tests.support import last_drawn
from tests.support.amount import INSTANCES, seeds
from tests.support.examples import costly
from tests.support.shapes import Document, member, rebalance, shape
from tests.support.strategies import TINY
from verify import TooLarge


def answered(document: Document, policy: str) -> tuple[Instance, Result]:
    """Solve until it is proved, or for much longer than tiny ones take."""
    laid_out = instance(document)
    limits = Limits(effort=20)
    return laid_out, solve(laid_out, parse_policy(policy), limits=limits)


def check(document: Document, policy: str, best: list[Any]) -> None:
    """Assert that a result is optimal, proved, valid, and states its values."""
    laid_out, outcome = answered(document, policy)
    assert outcome.status is Status.OPTIMAL
    assert outcome.assignment is not None
    assert [objective.value for objective in outcome.objectives] == best
    counted = values_of(laid_out, outcome.assignment, outcome.policy)
    assert list(counted) == best
    written = json.loads(to_json(outcome.to_document(laid_out)))
    verdict = verify.judge(document, written)
    assert verdict["verdict"] == "valid", verdict
    assert verdict["policy"]["balance_met"], verdict
    for objective in verdict["objectives"]:
        assert "evidence" not in objective, verdict
        if objective["rests_on"] != "search":
            assert objective["proved"], verdict


def all_to_all(lag: list[int], members: str) -> Document:
    topics = {"t": {"partitions": len(lag), "lag": lag}}
    return rebalance(topics, {name: member(["t"]) for name in members})


@pytest.mark.parametrize(
    ("document", "policy", "peak"),
    [
        (shape("LAG_GREEDY_FAILS"), "lag-aware", 3),
        (all_to_all([0] * 6, "abc"), "dec-min; peak-lag", 0),
        (all_to_all([7] * 6, "abc"), "dec-min; peak-lag", 14),
        # The largest lag sits somewhere, with the two least of the others.
        (all_to_all([90, 8, 7, 6, 5, 4], "ab"), "dec-min; peak-lag", 99),
    ],
)
def test_terms_prove_what_needs_no_search(
    document: Document, policy: str, peak: int
) -> None:
    (found,) = answered(document, policy)[1].objectives
    assert (found.value, found.bound) == (peak, peak)
    assert found.proof is not None
    assert found.proof.by == "terms"


def test_topics_at_their_least_prove_more_than_all_together() -> None:
    """The member with the largest lag also holds one of the other topic."""
    topics = {
        "t": {"partitions": 2, "lag": [90, 1]},
        "u": {"partitions": 2, "lag": [50, 40]},
    }
    members = {"a": member(["t", "u"]), "b": member(["t", "u"])}
    document = rebalance(topics, members)
    _, outcome = answered(document, "lag-aware")
    assert outcome.objectives[0].value == outcome.objectives[0].bound == 130
    assert outcome.objectives[0].proof is not None
    terms = outcome.objectives[0].proof.model_dump()["terms"]
    kinds = {term["kind"]: term["bound"] for term in terms}
    assert kinds == {"average": 91, "crowd": 91, "topic-crowd": 130}


def test_what_is_for_others_is_left_to_them() -> None:
    for policy in (
        "sticky",
        "kip54; peak-lag",
        "spread=1; peak-lag",
        "dec-min; topic-peak-lag",
        "dec-min; peak-lag; max-moves=3",
        "dec-min; peak-lag + stickiness",
        "per-topic; stickiness, peak-lag",
        "dec-min; peak-lag, rack",
        "dec-min; lag-spread, peak-lag",
    ):
        assert not can_answer(parse_policy(policy)), policy


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
    capacity = 2 if seed % 3 == 0 else 1
    names = "abc"[: rng.randint(2, 3)]
    document = rebalance(
        topics, {name: member(["t", "u"], capacity=capacity) for name in names}
    )
    last_drawn.note(document, seed)
    return document


@pytest.mark.parametrize(
    ("module", "limit", "value"),
    [
        (bounds, "_ENTRIES", bounds._ENTRIES),
        (bounds, "_ENTRIES", 5),  # too many classes of members for some lags
        pytest.param(bounds, "_ENTRIES", 1, marks=pytest.mark.heavy),  # for every lag
        (set_partition, "_SUBSETS_MAX", 1),  # too many subsets prove nothing
    ],
)
@costly()
@example(seed=619)  # a member without partitions, after all are assigned
@given(seed=st.integers(0, 10**6))
def test_the_least_peak_is_that_of_brute_force(
    module: ModuleType, limit: str, value: int, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, limit, value)
        check_least_peak(lagging(seed, TINY))


def check_least_peak(document: Document) -> None:
    """Assert that the least peak under every balance is that of brute force."""
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for balance in ("dec-min", "per-topic", "none") if document["topics"] else ():
        policy = f"{balance}; peak-lag"
        check(document, policy, brute.best(policy) or [])


def test_the_least_peak_of_few_partitions_with_lag() -> None:
    for seed in seeds(max(20, INSTANCES // 40)):
        check_least_peak(heap(seed))


@pytest.mark.parametrize("balance", ["none", "per-topic", "dec-min"])
@pytest.mark.parametrize(
    ("partitions", "members", "capacities"),
    [
        (30, 6, (1,)),
        (60, 10, (1,)),
        pytest.param(24, 5, (1, 2), marks=pytest.mark.heavy),
    ],
)
def test_uniform_lags_are_proved(
    balance: str, partitions: int, members: int, capacities: tuple[int, ...]
) -> None:
    """The mean is out of reach, or hard to reach; no bound by terms proves this."""
    rng, half = Random(partitions), partitions // 2  # noqa: S311
    topics = {
        name: {"partitions": half, "lag": [rng.randrange(100_001) for _ in range(half)]}
        for name in "tu"
    }
    group = {
        f"m{i}": member(["t", "u"], capacity=capacities[i % len(capacities)])
        for i in range(members)
    }
    document, policy = rebalance(topics, group), f"{balance}; peak-lag"
    found = solve(instance(document), parse_policy(policy), limits=Limits(effort=8))
    (objective,) = found.objectives
    check(document, policy, [objective.value])
