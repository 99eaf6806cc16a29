"""Answers against brute force and the judge, under every policy that is answered.

Reaches into `solver.peak_lag` to compare its bounds with brute force.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import verify
from rebalance import Instance, InstanceError, to_json
from solver import Limits, Result, Status, parse_policy, values_of
from solver.peak_lag import solve
from solver.peak_lag.bounds import bound_peak_lag
from solver.peak_lag.lag_instance import build_lag_instance
from solver.peak_lag.work import Work
from solver.peak_lag_policies import can_answer
from tests.references.brute import Brute
from tests.solver.peak_lag.settings import lagging
from tests.solver.routes import instance
from tests.support.amount import seeds, share
from tests.support.shapes import SHAPES, Document, member, rebalance, shape
from tests.support.strategies import TINY
from verify import TooLarge

POLICIES = (
    "lag-aware",
    "sticky-lag",
    "lag-sticky",
    "dec-min; peak-lag",
    "none; peak-lag",
    "none; peak-lag, lag-spread",
    "per-topic; peak-lag, stickiness",
    "per-topic; peak-lag, lag-spread, lag-deviation",
    "dec-min; peak-lag, lag-deviation, stickiness",
    "dec-min; stickiness, peak-lag, lag-spread",
    "per-topic; topic-peak-lag",
    "none; topic-peak-lag",
)
SEEDS = seeds(max(1, share(50, 100)))
DEALS = 4
"""Number of parts of the seeds, so that several workers share them."""


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


@pytest.mark.parametrize("deal", range(DEALS))
def test_answers_are_those_of_brute_force(deal: int) -> None:
    for seed in SEEDS[deal::DEALS]:
        check_every_policy(lagging(seed, TINY))


def check_every_policy(document: Document) -> None:
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for policy in POLICIES:
        if document["topics"]:
            best = brute.best(str(parse_policy(policy)))
            assert best is not None
            check(document, policy, best)


@pytest.mark.parametrize("deal", range(DEALS))
def test_no_term_is_above_the_best(deal: int) -> None:
    for seed in SEEDS[deal::DEALS]:
        check_terms(lagging(seed + 10_000, TINY))


def check_terms(document: Document) -> None:
    try:
        brute = Brute(document)
    except TooLarge:
        return
    laid_out = instance(document)
    if laid_out.lag is None:
        return
    for policy in ("dec-min; peak-lag", "lag-aware", "none; peak-lag"):
        lag_instance = build_lag_instance(laid_out, parse_policy(policy).balance)
        best: Any = brute.best(str(parse_policy(policy)))
        if lag_instance is None:
            continue
        known = bound_peak_lag(laid_out, lag_instance, Work(limits=Limits()))
        assert known.value == max(term.bound for term in known.terms)
        for term in known.terms:
            assert term.bound <= best[0], (policy, term)


@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes(name: str) -> None:
    document = shape(name)
    try:
        brute = Brute(document)
    except (TooLarge, InstanceError):
        return
    for policy in POLICIES:
        best = brute.best(str(parse_policy(policy)))
        try:
            laid_out, outcome = answered(document, policy)
        except InstanceError:
            continue
        assert outcome.assignment is not None
        assert [objective.value for objective in outcome.objectives] == best, policy
        counted = values_of(laid_out, outcome.assignment, outcome.policy)
        assert counted == tuple(best or ()), policy


def test_the_search_finds_peaks_below_the_greedy_one() -> None:
    _, outcome = answered(shape("LAG_GREEDY_FAILS"), "lag-aware")
    assert outcome.objectives[0].value == 3
    assert outcome.objectives[0].proof is not None
    assert outcome.objectives[0].proof.by == "terms"


def test_zero_and_equal_lags_need_no_search() -> None:
    for lag in ([0] * 6, [7] * 6):
        topics = {"t": {"partitions": 6, "lag": lag}}
        members = {name: member(["t"]) for name in ("a", "b", "c")}
        _, outcome = answered(rebalance(topics, members), "dec-min; peak-lag")
        (found,) = outcome.objectives
        assert found.value == found.bound == 2 * lag[0]
        assert found.proof is not None
        assert found.proof.by == "terms"


def test_a_heavy_tail_is_proved_by_the_pigeonhole() -> None:
    """The largest lag sits somewhere, with the two least of the others."""
    topics = {"t": {"partitions": 6, "lag": [90, 8, 7, 6, 5, 4]}}
    members = {"a": member(["t"]), "b": member(["t"])}
    _, outcome = answered(rebalance(topics, members), "dec-min; peak-lag")
    assert outcome.objectives[0].value == 99
    assert outcome.objectives[0].proof is not None
    assert outcome.objectives[0].proof.by == "terms"


def test_topics_at_their_least_prove_more_than_all_together() -> None:
    """The member with the largest lag also holds one of the other topic."""
    topics = {
        "t": {"partitions": 2, "lag": [90, 1]},
        "u": {"partitions": 2, "lag": [50, 40]},
    }
    members = {"a": member(["t", "u"]), "b": member(["t", "u"])}
    document = rebalance(topics, members)
    laid_out, outcome = answered(document, "lag-aware")
    assert outcome.objectives[0].value == outcome.objectives[0].bound == 130
    lag_instance = build_lag_instance(laid_out, parse_policy("lag-aware").balance)
    assert lag_instance is not None
    known = bound_peak_lag(laid_out, lag_instance, Work(limits=Limits()))
    kinds = {term.kind: term.bound for term in known.terms}
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
    assert all(can_answer(parse_policy(policy)) for policy in POLICIES)


def test_bug_topic_terms_in_units_of_another_scale() -> None:
    """Issue 12: with capacities, a topic's mean was rounded up in units of its own."""
    topics = {
        "t": {"partitions": 3, "lag": [10, 10, 9]},
        "u": {"partitions": 2, "lag": [5, 4]},
    }
    members = {
        "a": member(["t", "u"]) | {"capacity": 2},
        "b": member(["t"]) | {"capacity": 2},
        "c": member(["u"]) | {"capacity": 3},
    }
    document = rebalance(topics, members)
    policy = "none; topic-peak-lag"
    best = Brute(document).best(str(parse_policy(policy)))
    assert best is not None
    check(document, policy, best)


def test_lags_near_the_end_of_64_bits() -> None:
    huge = 2**62 - 7
    topic = {"partitions": 4, "lag": [huge, 5, huge, 7]}
    document = rebalance({"t": topic}, {"a": member(["t"]), "b": member(["t"])})
    check(document, "dec-min; peak-lag", [huge + 7])
