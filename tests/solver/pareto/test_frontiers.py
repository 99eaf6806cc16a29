"""Frontiers against enumeration; limits; what a point carries.

Reaches into `solver.pareto` to compare supported plans with enumeration.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
import pytest

import verify
from rebalance import InstanceError
from solver import Balance, Limits, no_balance, parse_policy, values_of
from solver.pareto import (
    Frontier,
    balance_frontier,
    document_of,
    peak_lag_frontier,
)
from solver.pareto.supported_plans import EligiblePairs, supported_plans
from solver.policy import dec_min, per_topic
from tests.references.brute import Brute
from tests.solver.routes import instance
from tests.support import strategies
from tests.support.amount import INSTANCES, seeds, share
from tests.support.shapes import SHAPES, Document, member, rebalance, shape
from tests.support.strategies import seeded_rebalance
from verify import TooLarge

BALANCE = importlib.import_module("solver.pareto.moves_and_balance")
FRONTIER = importlib.import_module("solver.pareto.frontier")
WIDE = strategies.Limits(members=5, topics=4, partitions=3)
MOVES = parse_policy("none; stickiness")


def pairs(frontier: Frontier) -> list[tuple[int, int]]:
    assert frontier.is_complete, frontier.reason
    assert all(point.bound == point.value for point in frontier.points)
    return [(point.moves, point.value) for point in frontier.points]


def drawn(count: int) -> Iterator[tuple[int, Document]]:
    for seed in seeds(count):
        document = seeded_rebalance(seed, WIDE)
        with suppress(TooLarge):
            Brute(document)
            yield seed, document


def corners(document: Document, policy: str) -> list[tuple[int, Any]]:
    """Return every pair of moves and value that no other pair beats."""
    brute = Brute(document)
    budgets = range(int((instance(document).owner >= 0).sum()) + 1)
    best = [brute.best(f"{policy}; max-moves={budget}") for budget in budgets]
    return [
        (budget, values[0])
        for budget, values in enumerate(best)
        if values is not None and (not budget or values != best[budget - 1])
    ]


def squares(document: Document) -> list[tuple[int, Any]]:
    return corners(document, "none; sum-of-squares")


def test_balance_agrees_with_enumeration() -> None:
    for seed, document in drawn(share(10, 25)):
        assert pairs(balance_frontier(instance(document))) == squares(document), seed


def test_supported_plans_are_the_best_of_their_moves() -> None:
    inside = 0
    for seed, document in drawn(share(10, 25)):
        laid_out = instance(document)
        eligible = EligiblePairs(laid_out)
        expected = squares(document)
        top = max(laid_out.n_partitions, 1)
        found = list(supported_plans(eligible, top, Limits()))
        for moves, squared, plan in found:
            assignment = eligible.assignment_of(plan)
            assert values_of(laid_out, assignment, MOVES) == (moves,), seed
            assert (assignment.loads(laid_out) ** 2).sum() == squared, seed
            assert squared == min(s for k, s in expected if k <= moves), seed
        ends = {expected[0], expected[-1]}
        assert not found or ends <= {point[:2] for point in found}
        inside += len({point.moves for point in found}) > 2
    assert inside


def test_a_plan_keeps_owned_partitions_and_is_counted_back() -> None:
    for seed, document in drawn(INSTANCES // 10):
        laid_out = instance(document)
        eligible = EligiblePairs(laid_out)
        for _, _, plan in supported_plans(eligible, laid_out.n_partitions, Limits()):
            assignee = eligible.assignment_of(plan).assignee
            assert eligible.plan_of(assignee).tolist() == plan.tolist(), seed


def pairs_of_loads(high: int, low: int, each: int) -> Document:
    """Return one topic, so many members with a high load, and as many with a low."""
    starts = [
        *range(0, high * each, high),
        *range(high * each, (high + low) * each, low),
    ]
    members = {
        f"m{place:02}": member(
            ["t"],
            {"t": [*range(start, start + (high if place < each else low))]},
            1,
        )
        for place, start in enumerate(starts)
    }
    return rebalance({"t": {"partitions": (high + low) * each}}, members)


def test_plans_on_one_edge_are_found_between_its_ends() -> None:
    """Ten moves of equal gain: all plans lie on the line between the ends."""
    eligible = EligiblePairs(instance(pairs_of_loads(3, 1, 10)))
    found = {moves: s for moves, s, _ in supported_plans(eligible, 3, Limits())}
    assert found == {moves: 100 - 2 * moves for moves in range(11)}


def test_flows_and_programs_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without supported plans, CP-SAT alone finds and proves the same frontier."""
    for document in (churn(), pairs_of_loads(5, 2, 4), shape("STAIRCASE")):
        expected = pairs(balance_frontier(instance(document)))
        with monkeypatch.context() as patch:
            patch.setattr(BALANCE, "supported_plans", lambda *_: ())
            frontier = balance_frontier(instance(document))
        assert pairs(frontier) == expected
        engines = {p.proof.engine for p in frontier.points if p.proof.by == "search"}
        assert any(engine.startswith("cp-sat") for engine in engines)


@pytest.mark.parametrize("chosen", [no_balance, dec_min, per_topic], ids=str)
def test_peak_lag_agrees_with_enumeration(chosen: Balance) -> None:
    for seed, document in drawn(share(40, 50)):
        laid_out = instance(document)
        if laid_out.lag is None or int(laid_out.lag.max(initial=0)) > 2**40:
            continue
        expected = corners(document, f"{chosen}; peak-lag")
        assert pairs(peak_lag_frontier(laid_out, chosen)) == expected, seed


@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes(name: str) -> None:
    """No price of a move makes the middle point of STAIRCASE the best one."""
    found = pairs(balance_frontier(instance(shape(name))))
    assert found[0][0] == 0
    assert name != "STAIRCASE" or found == [(0, 14), (2, 12), (3, 10)]
    with suppress(TooLarge):
        assert found == squares(shape(name))


def test_each_point_of_balance_has_its_kip54_score() -> None:
    document = churn()
    document["members"]["idle"] = {"subscription": []}  # which the score counts
    written = document_of(instance(document), balance_frontier(instance(document)))
    for point in written["points"]:
        verdict = verify.judge(document, point["assignment"])
        assert point["kip54_score"] == verdict["figures"]["kip54_score"]
    lag = document_of(instance(churn()), peak_lag_frontier(instance(churn())))
    assert all("kip54_score" not in point for point in lag["points"])


def test_capacities_play_no_part_in_balance() -> None:
    document = shape("STAIRCASE")
    plain = pairs(balance_frontier(instance(document)))
    document["members"]["d"]["capacity"] = 7
    assert pairs(balance_frontier(instance(document))) == plain


def test_capacities_count_in_peak_lag_with_a_scale() -> None:
    lags = {"t": {"partitions": 2, "lag": [6, 3]}}
    owned = member(["t"], {"t": [0, 1]}, 1, capacity=2)
    document = rebalance(lags, {"a": owned, "b": member(["t"], capacity=3)})
    frontier = peak_lag_frontier(instance(document))
    assert (frontier.scale, pairs(frontier)) == (6, [(0, 27), (1, 12)])


def churn() -> Document:
    """Return eight members of mixed subscriptions, forty partitions, one newcomer."""
    with open("docs/examples/front.json", encoding="utf-8") as file:  # noqa: PTH123
        document: Document = json.load(file)
    return document


def test_the_example_of_the_docs() -> None:
    laid_out = instance(churn())
    balance = balance_frontier(laid_out)
    assert (len(pairs(balance)), *pairs(balance)[-1:]) == (11, (10, 200))
    scores = [point.kip54_score for point in balance.points]
    assert (scores[0], scores[-1]) == (112, 0)
    lag = pairs(peak_lag_frontier(laid_out))
    assert (len(lag), lag[0], lag[-1]) == (8, (0, 38095), (7, 14837))


@pytest.mark.parametrize("chosen", [None, no_balance, per_topic, dec_min], ids=str)
def test_each_point_is_judged_by_itself(chosen: Balance | None) -> None:
    """Take each assignment alone: optimal, by terms or by the word of a search."""
    document, laid_out = churn(), instance(churn())
    of, frontier = "sum-of-squares", balance_frontier(laid_out)
    if chosen is not None:
        of, frontier = "peak-lag", peak_lag_frontier(laid_out, chosen)
    written = json.loads(json.dumps(document_of(laid_out, frontier)))
    assert (written["format"], written["complete"]) == ("front/1", True)
    assert "open" not in written
    for point in written["points"]:
        assert point["status"] == point["assignment"]["status"] == "optimal"
        verdict = verify.judge(document, point["assignment"])
        assert verdict["verdict"] == "valid"
        balanced = {"dec_min_balanced", "kip54_balanced"}  # which no point claims
        assert verdict["evidence"].keys() <= balanced
        assert verdict["figures"]["moves"] == point["moves"]
        (level,) = verdict["objectives"]
        assert (level["of"], level["value"]) == (of, point["value"])
        assert level["bound"] == point["value"]
        assert "evidence" not in level
        assert level["rests_on"] == point["proof"]["by"]
        assert level["proved"] == (level["rests_on"] == "terms")


def test_a_boast_of_a_point_is_seen_through() -> None:
    document = churn()
    written = document_of(instance(document), balance_frontier(instance(document)))
    boast = json.loads(json.dumps(written["points"][0]["assignment"]))
    (level,) = boast["objectives"]
    level["value"] = level["bound"] = level["value"] - 2
    verdict = verify.judge(document, boast)
    assert verdict["objectives"][0]["claimed"] == {"value": level["value"]}
    assert verdict["evidence"]["status"]["unproved"] == ["sum-of-squares"]
    boast["policy"] = "none; sum-of-squares; max-moves=0"
    boast["objectives"] = []
    assert verify.judge(document, boast)["evidence"]["status"]["claimed"] == "optimal"


def test_a_stop_leaves_bounds_that_hold() -> None:
    laid_out = instance(churn())
    stop = Event()
    stop.set()
    whole = dict(pairs(balance_frontier(laid_out)))
    frontier = balance_frontier(laid_out, limits=Limits(stop=stop))
    assert not frontier.is_complete
    assert frontier.reason == "interrupted"
    _check_open(frontier, whole)


def test_an_effort_limit_ends_at_the_same_step() -> None:
    laid_out = instance(churn())
    whole = dict(pairs(peak_lag_frontier(laid_out)))
    first = peak_lag_frontier(laid_out, limits=Limits(effort=0.001))
    again = peak_lag_frontier(laid_out, limits=Limits(effort=0.001))
    assert document_of(laid_out, first) == document_of(laid_out, again)
    _check_open(first, whole)


def _check_open(frontier: Frontier, whole: dict[int, int]) -> None:
    """Compare an interrupted frontier with the complete one."""

    def best(budget: int) -> int:
        return min(value for moves, value in whole.items() if moves <= budget)

    for point in frontier.points:
        assert point.bound <= best(point.moves) <= point.value
        if point.is_proved:
            assert whole[point.moves] == point.value
    is_open = {k for run in frontier.open for k in range(run.first, run.last + 1)}
    for run in frontier.open:
        assert run.bound <= best(run.last)
    settled = {p.moves for p in frontier.points if p.value == p.bound}
    assert whole.keys() <= is_open | settled


def test_bug_a_seed_past_32_bits_is_taken() -> None:
    staircase = instance(shape("STAIRCASE"))
    limits = Limits(seed=2**40)
    assert pairs(balance_frontier(staircase, limits=limits)) == pairs(
        balance_frontier(staircase)
    )


@pytest.mark.heavy
def test_without_a_limit_the_effort_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Equal input gives equal output, and the document states why the search ended."""
    rng = np.random.default_rng(0)
    document = churn()
    for topic in document["topics"].values():
        topic["lag"] = rng.integers(0, 100_000, topic["partitions"]).tolist()
    monkeypatch.setattr(FRONTIER, "DEFAULT_EFFORT", 0.02)
    laid_out = instance(document)
    once, twice = (document_of(laid_out, peak_lag_frontier(laid_out)) for _ in "12")
    assert once == twice
    assert once["reason"] == "effort limit of 0.02"
    assert once["open"]
    assert not once["complete"]


def test_progress_reports_every_limit_on_moves() -> None:
    reported: list[tuple[int, int]] = []
    balance_frontier(
        instance(shape("STAIRCASE")), progress=lambda *one: reported.append(one)
    )
    assert reported
    assert reported[-1][0] == reported[-1][1]


def test_peak_lag_needs_lag() -> None:
    with pytest.raises(InstanceError, match="needs lag for peak-lag"):
        peak_lag_frontier(instance(shape("CHAIN")))


def test_a_front_of_an_unowned_group_is_one_point() -> None:
    laid_out = instance(churn())
    claims = replace(
        laid_out.claims,
        offsets=laid_out.claims.offsets * 0,
        partitions=laid_out.claims.partitions[:0],
    )
    assert [
        k for k, _ in pairs(balance_frontier(replace(laid_out, claims=claims)))
    ] == [0]
