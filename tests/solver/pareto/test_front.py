"""Whole fronts against trying everything; limits; what a point carries."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from threading import Event

import numpy as np
import pytest

import verify
from rebalance import Assignment, Instance
from rebalance.errors import InstanceError
from solver.limits import Limits
from solver.pareto import Front, Measure, balance_front, peak_lag_front, program, walk
from solver.pareto.counts import counts_of
from solver.pareto.document import document_of
from solver.pareto.hull import corners
from solver.policy import Balance, dec_min, no_balance, per_topic
from tests import strategies
from tests.shapes import SHAPES, Document, member, rebalance, shape
from tests.solver.brute import Brute
from tests.solver.pareto import brute
from tests.solver.routes import instance
from tests.strategies import seeded_rebalance

INSTANCES = int(os.environ.get("ORACLE_INSTANCES", "2000"))
WIDE = strategies.Limits(members=5, topics=4, partitions=3)
MOST = 3000  # assignments to try


def pairs(front: Front) -> list[tuple[int, int]]:
    assert front.is_complete, front.reason
    assert all(point.bound == point.value for point in front.points)
    return [(point.moves, point.value) for point in front.points]


def drawn(count: int, limits: strategies.Limits = WIDE) -> list[tuple[int, Document]]:
    found = [(seed, seeded_rebalance(seed, limits)) for seed in range(count)]
    return [(s, one) for s, one in found if brute.size(instance(one)) <= MOST]


@pytest.mark.parametrize("measure", Measure)
def test_balance_agrees_with_trying_everything(measure: Measure) -> None:
    for seed, document in drawn(INSTANCES // 20):
        laid_out = instance(document)
        expected = brute.front(laid_out, brute.balance(measure))
        assert pairs(balance_front(laid_out, measure)) == expected, seed


def test_plans_on_the_hull_are_the_best_of_their_moves() -> None:
    inside = 0
    for seed, document in drawn(INSTANCES // 10):
        laid_out = instance(document)
        counts = counts_of(laid_out)
        front = brute.front(laid_out, brute.balance(Measure.SQUARES))
        found = list(corners(counts, max(counts.partitions, 1), Limits()))
        for moves, squares, plan in found:
            assert (counts.moves(plan), sum(counts.loads(plan))) == (
                moves,
                counts.partitions,
            )
            assert squares == min(s for k, s in front if k <= moves), seed
        assert not found or {front[0], front[-1]} <= {one[:2] for one in found}
        inside += len({one.moves for one in found}) > 2
    assert inside


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


def test_plans_on_a_line_are_found_between_its_ends() -> None:
    """Ten moves, each as good as any other: nothing is below the line of the ends."""
    counts = counts_of(instance(pairs_of_loads(3, 1, 10)))
    found = {moves: s for moves, s, _ in corners(counts, 3, Limits())}
    assert found == {moves: 100 - 2 * moves for moves in range(11)}


def test_plans_on_the_hull_agree_with_programs() -> None:
    for document in (churn(), pairs_of_loads(5, 2, 4)):
        counts = counts_of(instance(document))
        top = counts.partitions
        prices = [2 * v + 1 for v in range(top)]
        found = list(corners(counts, top, Limits()))
        assert len(found) > 4
        for moves, squares, plan in found:
            best = program.cheapest(
                counts, moves, prices, [0] * top, limits=Limits(), hint=plan
            )
            assert best.bound == squares


def test_peak_lag_agrees_with_trying_everything() -> None:
    for seed, document in drawn(INSTANCES // 25):
        laid_out = instance(document)
        if laid_out.lag is None or int(laid_out.lag.max(initial=0)) > 2**40:
            continue
        expected = brute.front(laid_out, brute.peak_lag)
        assert pairs(peak_lag_front(laid_out)) == expected, seed


@pytest.mark.parametrize("chosen", [dec_min, per_topic], ids=str)
def test_peak_lag_under_a_balance_agrees_with_trying_everything(
    chosen: Balance,
) -> None:
    for seed, document in drawn(INSTANCES // 50):
        laid_out = instance(document)
        if laid_out.lag is None or int(laid_out.lag.max(initial=0)) > 2**40:
            continue
        tries = Brute(document)
        found = pairs(peak_lag_front(laid_out, chosen))
        budgets = range(brute.moves(laid_out, _nobody(laid_out)) + 1)
        best = [tries.best(f"{chosen}; peak-lag; max-moves={k}") for k in budgets]
        corners = [
            (k, one[0])
            for k, one in enumerate(best)
            if one is not None and (not k or one != best[k - 1])
        ]
        assert found == corners, seed


def _nobody(laid_out: Instance) -> Assignment:
    return Assignment(assignee=np.full_like(laid_out.owner, -1))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("measure", Measure)
def test_named_shapes(name: str, measure: Measure) -> None:
    laid_out = instance(shape(name))
    found = pairs(balance_front(laid_out, measure))
    assert found[0][0] == 0
    if brute.size(laid_out) <= MOST:
        assert found == brute.front(laid_out, brute.balance(measure))


@pytest.mark.parametrize(
    ("name", "measure", "expected"),
    [
        ("STAIRCASE", Measure.SQUARES, [(0, 14), (2, 12), (3, 10)]),
        ("HOARDER", Measure.SCORE, [(0, 9), (1, 7), (2, 3)]),
    ],
)
def test_a_point_off_the_hull_is_found(
    name: str, measure: Measure, expected: list[tuple[int, int]]
) -> None:
    """No price of a move makes the middle one the best: an end always costs less."""
    assert brute.is_off_the_hull(expected)
    assert pairs(balance_front(instance(shape(name)), measure)) == expected


def test_capacities_play_no_part_in_balance() -> None:
    document = shape("STAIRCASE")
    plain = pairs(balance_front(instance(document)))
    document["members"]["d"]["capacity"] = 7
    assert pairs(balance_front(instance(document))) == plain


def test_capacities_count_in_peak_lag_with_a_scale() -> None:
    lags = {"t": {"partitions": 2, "lag": [6, 3]}}
    owned = member(["t"], {"t": [0, 1]}, 1, capacity=2)
    document = rebalance(lags, {"a": owned, "b": member(["t"], capacity=3)})
    front = peak_lag_front(instance(document))
    assert (front.scale, pairs(front)) == (6, [(0, 27), (1, 12)])


def churn() -> Document:
    """Return eight members of mixed subscriptions, forty partitions, one newcomer."""
    with open("docs/examples/front.json", encoding="utf-8") as file:  # noqa: PTH123
        document: Document = json.load(file)
    return document


def test_the_example_of_the_docs() -> None:
    laid_out = instance(churn())
    score = pairs(balance_front(laid_out))
    assert (score[0], score[-1]) == ((0, 112), (10, 0))
    lag = pairs(peak_lag_front(laid_out))
    assert (len(lag), lag[0], lag[-1]) == (8, (0, 38095), (7, 14837))


@pytest.mark.parametrize("chosen", [no_balance, per_topic, dec_min], ids=str)
def test_each_point_of_lag_is_judged_by_itself(chosen: Balance) -> None:
    _check_judged(churn(), peak_lag_front(instance(churn()), chosen), "peak-lag")


@pytest.mark.parametrize("measure", Measure)
def test_each_point_of_balance_is_judged_by_itself(measure: Measure) -> None:
    document = churn()
    document["members"]["idle"] = {"subscription": []}  # which KIP-54's score counts
    front = balance_front(instance(document), measure)
    _check_judged(document, front, measure.value)


def _check_judged(document: Document, front: Front, of: str) -> None:
    """Take each assignment alone: optimal, by terms or by the word of a search."""
    written = json.loads(json.dumps(document_of(instance(document), front)))
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
    written = document_of(instance(document), balance_front(instance(document)))
    boast = json.loads(json.dumps(written["points"][0]["assignment"]))
    (level,) = boast["objectives"]
    level["value"] = level["bound"] = level["value"] - 2
    verdict = verify.judge(document, boast)
    assert verdict["objectives"][0]["claimed"] == {"value": level["value"]}
    assert verdict["evidence"]["status"]["unproved"] == ["kip54-score"]
    boast["policy"] = "none; kip54-score; max-moves=0"
    boast["objectives"] = []
    assert verify.judge(document, boast)["evidence"]["status"]["claimed"] == "optimal"


def test_a_stop_leaves_bounds_that_hold() -> None:
    laid_out = instance(churn())
    stop = Event()
    stop.set()
    whole = dict(pairs(balance_front(laid_out)))
    front = balance_front(laid_out, limits=Limits(stop=stop))
    assert not front.is_complete
    assert front.reason == "interrupted"
    _check_open(front, whole)


def test_a_limit_ends_the_writing_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: object) -> None:
        raise AssertionError("searched all the same")

    monkeypatch.setattr(program, "search", search)
    counts, stop = counts_of(instance(churn())), Event()
    stop.set()
    found = program.cheapest(
        counts, 3, [1] * 40, [0], limits=Limits(stop=stop), hint=counts.own
    )
    assert (found.plan, found.bound) == (None, None)


def test_a_limit_of_effort_is_kept_and_strikes_at_the_same_place() -> None:
    laid_out = instance(churn())
    whole = dict(pairs(peak_lag_front(laid_out)))
    first = peak_lag_front(laid_out, limits=Limits(effort=0.001))
    again = peak_lag_front(laid_out, limits=Limits(effort=0.001))
    assert document_of(laid_out, first) == document_of(laid_out, again)
    _check_open(first, whole)


def _check_open(front: Front, whole: dict[int, int]) -> None:
    """Compare what a broken-off front says with the whole one."""

    def best(budget: int) -> int:
        return min(value for moves, value in whole.items() if moves <= budget)

    for point in front.points:
        assert point.bound <= best(point.moves) <= point.value
        if point.is_proved:
            assert whole[point.moves] == point.value
    is_open = {k for run in front.open for k in range(run.first, run.last + 1)}
    for run in front.open:
        assert run.bound <= best(run.last)
    settled = {p.moves for p in front.points if p.value == p.bound}
    assert whole.keys() <= is_open | settled


def test_bug_a_seed_past_32_bits_is_taken() -> None:
    counts = counts_of(instance(pairs_of_loads(3, 1, 2)))
    plan = dict(counts.own)
    limits = Limits(seed=2**40)
    top = counts.partitions
    prices = [2 * v + 1 for v in range(top)]
    found = program.cheapest(counts, 0, prices, [0] * top, limits=limits, hint=plan)
    assert found.bound == sum(n * n for n in counts.loads(plan))


def test_bug_tables_too_large_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more effort makes them smaller: without a limit the search would not end."""
    monkeypatch.setattr(walk, "_CELLS_MAX", 10)
    front = balance_front(instance(seeded_rebalance(0, WIDE)))
    assert not front.is_complete
    assert front.open
    assert front.reason == "too large for a search to the end"


def test_progress_tells_of_every_budget() -> None:
    told: list[tuple[int, int]] = []
    balance_front(instance(shape("STAIRCASE")), progress=lambda *one: told.append(one))
    assert told
    assert told[-1][0] == told[-1][1]


def test_the_same_front_comes_twice() -> None:
    laid_out = instance(churn())
    once, twice = (document_of(laid_out, peak_lag_front(laid_out)) for _ in range(2))
    assert json.dumps(once) == json.dumps(twice)


def test_peak_lag_needs_lag() -> None:
    with pytest.raises(InstanceError, match="needs lag for peak-lag"):
        peak_lag_front(instance(shape("CHAIN")))


def test_a_front_of_an_unowned_group_is_one_point() -> None:
    laid_out = instance(churn())
    claims = replace(
        laid_out.claims,
        offsets=laid_out.claims.offsets * 0,
        partitions=laid_out.claims.partitions[:0],
    )
    assert [k for k, _ in pairs(balance_front(replace(laid_out, claims=claims)))] == [0]
